// The presenter's view: one example on a projector, one thing at a time, in large type, by keys.
import { write_place } from './course.mjs';
import { h } from './dom.mjs';
import { with_figures } from './examples.mjs';
import { guess_view } from './guess.mjs';
import { given } from './lesson.mjs';
import { beside, made_of, picture_of } from './reveal.mjs';

/** @typedef {import('./workshop.mjs').Stage} Stage */
/** @typedef {import('./exercise.mjs').Exercise} Exercise */

/** One slide: of the whole example, or of one of its questions.
 * @typedef {{kind: 'title' | 'given' | 'ask' | 'answer' | 'why' | 'parts' | 'lesson', number: number}} Slide */

// Letters beyond which a sentence is no headline.
const kLong = 260;

/** The slides of an example, in order. @param {Exercise[]} exercises @param {string} lesson @returns {Slide[]} */
export const slides_of = (exercises, lesson) => [
  { kind: 'title', number: 1 },
  ...exercises.flatMap(
    ({ number, subject, why, question }) =>
      /** @type {Slide[]} */ ([
        ...(subject === null ? [] : [{ kind: 'given', number }]),
        { kind: 'ask', number },
        { kind: 'answer', number },
        ...(question.kind === 'parts' || (question.kind === 'size' && question.run)
          ? [{ kind: 'parts', number }]
          : []),
        ...(why.length > 0 ? [{ kind: 'why', number }] : []),
      ]),
  ),
  ...(lesson === '' ? [] : [/** @type {Slide} */ ({ kind: 'lesson', number: 1 })]),
];

/** Where a question begins. @param {Slide[]} slides @param {number} number */
export const first_of = (slides, number) =>
  number <= 1
    ? 0
    : Math.max(
        0,
        slides.findIndex((slide) => slide.number === number),
      );

/** @param {Stage} stage @param {Exercise[]} exercises @param {Slide[]} slides @returns {(Element | null)[]} */
export function presenter(stage, exercises, slides) {
  const { n, place } = stage;
  const at = Math.min(place.slide, slides.length - 1);
  const { example } = exercises[0];
  const slide = slides[at];
  const exercise = exercises[slide.number - 1];
  return [
    h(
      'section',
      {
        class: `slide of-${slide.kind}`,
        'data-key': `slide ${at}`,
        'aria-live': 'polite',
        'aria-label': 'Slide',
      },
      ...(exercise.known || slide.kind === 'title'
        ? body(stage, exercise, slide)
        : [h('p', { class: 'dim' }, 'The core is replaying the runs …')]),
    ),
    h(
      'p',
      { class: 'foot', 'data-key': 'foot' },
      h(
        'button',
        { type: 'button', class: 'link', 'data-do': 'back', 'aria-disabled': String(at === 0) },
        '← Back',
      ),
      h(
        'button',
        {
          type: 'button',
          class: 'link',
          'data-do': 'on',
          'aria-disabled': String(at === slides.length - 1),
        },
        'On →',
      ),
      h('span', {}, `${n.count(at + 1)} of ${n.count(slides.length)}`),
      h('span', { class: 'keys' }, 'Arrow keys or space; F fills the screen; Escape ends it.'),
      h(
        'a',
        { href: write_place({ ...place, scene: 'exercise', number: slide.number, slide: 0 }) },
        'End',
      ),
      h('span', { class: 'dim' }, example.title),
    ),
  ];
}

/** @param {Stage} stage @param {Exercise} exercise @param {Slide} slide */
function body(stage, exercise, { kind }) {
  const { n, guess, sources, catalog, judged } = stage;
  const { example } = exercise;
  const asked = h('h1', { class: 'title ask', tabindex: -1 }, ...with_figures(exercise.ask, n));
  switch (kind) {
    case 'title':
      return [h('h1', { class: 'title huge', tabindex: -1 }, example.title)];
    case 'given':
      return [h('h1', { class: 'title ask', tabindex: -1 }, 'The run'), given(stage, exercise)];
    case 'ask':
      return [asked, guess_view(exercise, guess, stage.typing, n)];
    case 'answer':
      return [
        asked,
        picture_of(exercise, guess, sources, n),
        beside(exercise, guess, n),
        ...(judged && stage.guessed ? judged.said.map((text) => h('p', {}, text)) : []),
      ];
    case 'parts':
      return [
        h('h1', { class: 'title ask', tabindex: -1 }, 'Made of'),
        made_of(exercise, sources, catalog, n),
      ];
    case 'why': {
      const long = exercise.why.reduce((sum, { text }) => sum + text.length, 0) > kLong;
      return [
        h(
          'h1',
          { class: long ? 'title ask' : 'title huge', tabindex: -1 },
          ...with_figures(exercise.why, n),
        ),
      ];
    }
    default:
      return [h('h1', { class: 'title huge', tabindex: -1 }, ...stage.tell(example.lesson))];
  }
}
