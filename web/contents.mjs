// The workshop's list of worked examples: what was done, and the ways in.
import { kOwn, write_code, write_place } from './course.mjs';
import { h } from './dom.mjs';
import { questions_of } from './questions.mjs';

/** @typedef {import('./workshop.mjs').Stage} Stage */
/** @typedef {import('./types.mjs').Example} Example */

const kGrades = /** @type {{[grade: string]: string}} */ ({
  right: 'right',
  near: 'close',
  off: 'tried',
});

/** @param {Stage} stage @returns {Element[]} */
export function course(stage) {
  const { examples, done, n } = stage;
  const all = examples.flatMap((example) => codes_of(example));
  const right = all.filter((code) => done[code]?.grade === 'right').length;
  return [
    h('h1', { class: 'title', tabindex: -1 }, 'Workshop'),
    h(
      'p',
      { class: 'lead' },
      'Learn to account for the memory of a training step: guess first, draw or type what you expect, then see what the replay holds and what your account left out. ',
      'Everything happens in this browser; nothing leaves the machine.',
    ),
    h(
      'p',
      { class: 'dim' },
      Object.keys(done).length === 0
        ? `${n.count(examples.length)} worked examples, ${n.count(all.length)} questions.`
        : `${n.count(right)} of ${n.count(all.length)} questions right so far.`,
    ),
    h('ol', { class: 'course' }, ...examples.map((example) => entry(stage, example))),
    h(
      'div',
      { class: 'tools' },
      h(
        'p',
        {},
        h('label', { for: 'code' }, 'Open an exercise by its code'),
        ' ',
        h('input', {
          type: 'text',
          id: 'code',
          class: 'figure wide',
          autocomplete: 'off',
          autocapitalize: 'off',
          spellcheck: 'false',
          'data-code': true,
        }),
        ' ',
        h('button', { type: 'button', class: 'link', 'data-do': 'code' }, 'Open'),
        h('span', { id: 'code-problem', class: 'problem', role: 'status' }, stage.trouble ?? ''),
      ),
      h(
        'p',
        {},
        h(
          'a',
          { href: write_place({ scene: 'exercise', example: kOwn, scenario: stage.scenario }) },
          'Make an exercise of the scenario on the page',
        ),
        ': its address is the exercise, to be sent or shown.',
      ),
      h(
        'p',
        {},
        h(
          'a',
          { href: write_place({ scene: 'sheet' }) },
          'A sheet of all questions, to be printed',
        ),
      ),
      Object.keys(done).length > 0 &&
        h(
          'p',
          {},
          h(
            'button',
            { type: 'button', class: 'link', 'data-do': 'forget', 'data-key': 'forget' },
            'Forget what was done on this machine',
          ),
        ),
    ),
  ];
}

/** @param {Example} example */
const codes_of = (example) =>
  questions_of(example).map((_, i) => write_code(example.id, i + 1, null));

/** @param {Stage} stage @param {Example} example */
function entry({ done, n }, example) {
  const codes = codes_of(example);
  const next = codes.findIndex((code) => done[code]?.grade !== 'right');
  return h(
    'li',
    { 'data-key': example.id },
    h('span', { class: 'number' }, n.count(example.number)),
    h(
      'a',
      {
        href: write_place({
          scene: 'exercise',
          example: example.id,
          number: Math.max(0, next) + 1,
        }),
      },
      example.title,
    ),
    h(
      'span',
      { class: 'marks' },
      ...codes.map((code, i) => {
        const grade = done[code]?.grade;
        return h(
          'span',
          { class: `mark-of ${grade ?? 'open'}` },
          h(
            'span',
            { class: 'hidden' },
            `question ${n.count(i + 1)} ${grade ? kGrades[grade] : 'open'}; `,
          ),
        );
      }),
    ),
    h(
      'a',
      { class: 'aside', href: write_place({ scene: 'presenter', example: example.id }) },
      'Present',
      h('span', { class: 'hidden' }, `: ${example.title}`),
    ),
    h(
      'a',
      { class: 'aside', href: write_place({ scene: 'sheet', example: example.id }) },
      'Sheet',
      h('span', { class: 'hidden' }, `: ${example.title}`),
    ),
  );
}
