// One exercise of the workshop: what is given, the question, the guess, the comparison, why.
import { write_code, write_place, kOwn } from './course.mjs';
import { h, math } from './dom.mjs';
import { with_figures } from './examples.mjs';
import { guess_view } from './guess.mjs';
import { beside, made_of, picture_of } from './reveal.mjs';
import { formula } from './working.mjs';

/** @typedef {import('./workshop.mjs').Stage} Stage */
/** @typedef {import('./exercise.mjs').Exercise} Exercise */
/** @typedef {import('./types.mjs').Example} Example */

/** What is given: the scenario in words and the model's letters; of several runs the first.
 * @param {Stage} stage @param {Exercise} exercise */
export function given(stage, { report, subject, example, items, reports }) {
  const { catalog, n } = stage;
  if (subject === null || !report) return null;
  const row = example.scenarios.find(({ label }) => label === subject);
  const letters = report.model.letters;
  const several = reports.length > 1 && items.some(({ key }) => key === subject);
  return h(
    'div',
    { class: 'given', 'data-key': 'given' },
    row && h('p', {}, several && h('b', {}, 'The first run: '), stage.say(row.scenario, report)),
    h(
      'ul',
      { class: 'legend' },
      ...catalog.letters
        .filter(({ symbol }) => letters[symbol] > (symbol === 'A' ? 1 : 0) && symbol !== 'S')
        .map(({ symbol, mathml, meaning }) =>
          h(
            'li',
            { 'data-key': symbol },
            math('math', {}, formula(mathml).firstElementChild ?? symbol),
            ` = ${n.count(letters[symbol])}`,
            h('span', {}, ` ${meaning.replace(/:.*$/, '')}`),
          ),
        ),
    ),
  );
}

/** @param {Stage} stage @param {Exercise} exercise @returns {(Element | null)[]} */
export function lesson(stage, exercise) {
  const { example, number, count } = exercise;
  const { n, revealed } = stage;
  return [
    h(
      'p',
      { class: 'crumbs' },
      h('a', { href: '#workshop' }, 'Workshop'),
      ` › ${example.number > 0 ? `${n.count(example.number)}. ` : ''}${example.title}, question ${n.count(number)} of ${n.count(count)}`,
    ),
    h(
      'h1',
      { class: 'title ask', tabindex: -1, 'data-key': 'ask' },
      ...with_figures(exercise.ask, n),
    ),
    stage.refused.length > 0
      ? h('div', { class: 'problem' }, ...stage.refused.map((text) => h('p', {}, text)))
      : exercise.known
        ? given(stage, exercise)
        : h('p', { class: 'dim', role: 'status' }, 'The core is replaying the runs …'),
    ...(exercise.known && stage.refused.length === 0
      ? revealed
        ? answer(stage, exercise)
        : question(stage, exercise)
      : []),
    foot(stage, exercise),
  ];
}

/** @param {Stage} stage @param {Exercise} exercise */
function question(stage, exercise) {
  return [
    h(
      'section',
      { class: 'asked', 'aria-label': 'Your guess', 'data-key': 'asked' },
      guess_view(exercise, stage.guess, stage.typing, stage.n),
      h(
        'p',
        { class: 'do' },
        h(
          'button',
          {
            type: 'button',
            class: stage.complete ? 'main-act' : 'main-act early',
            'data-do': 'reveal',
          },
          'Compare',
        ),
        h(
          'button',
          { type: 'button', class: 'link', 'data-do': 'show' },
          'Show it without a guess',
        ),
        h('span', { class: 'dim', role: 'status', id: 'missing' }, stage.trouble ?? ''),
      ),
    ),
  ];
}

/** @param {Stage} stage @param {Exercise} exercise */
function answer(stage, exercise) {
  const { n, judged, guess, sources, catalog } = stage;
  return [
    h(
      'section',
      { class: 'compared', 'aria-labelledby': 'result', 'data-key': 'compared' },
      h(
        'div',
        { class: `result ${judged?.grade ?? 'shown'}`, role: 'status' },
        h('h2', { id: 'result', tabindex: -1 }, judged ? judged.said[0] : 'The answer'),
        ...(judged?.said.slice(1).map((text) => h('p', {}, text)) ?? []),
      ),
      picture_of(exercise, guess, sources, n),
      beside(exercise, guess, n),
      exercise.why.length > 0 &&
        h('p', { class: 'why-so' }, h('b', {}, 'Why: '), ...with_figures(exercise.why, n)),
      made_of(exercise, sources, catalog, n),
      exercise.number === exercise.count && example_says(stage, exercise.example),
      h(
        'p',
        { class: 'do' },
        next(stage, exercise),
        h('button', { type: 'button', class: 'link', 'data-do': 'again' }, 'Guess again'),
      ),
    ),
  ];
}

/** The example's own story, at its end. @param {Stage} stage @param {Example} example */
export function example_says(stage, example) {
  if (example.lesson === '') return null;
  return h(
    'div',
    { class: 'told', 'data-key': 'told' },
    h('p', { class: 'lesson' }, h('b', {}, 'To take away: '), ...stage.tell(example.lesson)),
    h(
      'details',
      {},
      h('summary', {}, 'The whole story'),
      ...example.story.map((paragraph) => h('p', {}, ...stage.tell(paragraph))),
    ),
  );
}

/** @param {Stage} stage @param {Exercise} exercise */
function next(stage, { example, number, count }) {
  const at = stage.examples.findIndex(({ id }) => id === example.id);
  const following = number < count ? example : stage.examples[at + 1];
  return at < 0 && number === count
    ? h('a', { class: 'main-act', href: '#workshop' }, 'To the workshop')
    : following
      ? h(
          'a',
          {
            class: 'main-act',
            href: write_place({
              scene: 'exercise',
              example: following.id,
              number: number < count ? number + 1 : 1,
              scenario: example.id === kOwn ? stage.place.scenario : '',
            }),
          },
          number < count ? 'Next question' : 'Next example',
        )
      : h('a', { class: 'main-act', href: '#workshop' }, 'To the workshop');
}

/** @param {Stage} stage @param {Exercise} exercise */
function foot(stage, exercise) {
  const { example, number, subject } = exercise;
  const own = example.id === kOwn ? stage.place.scenario : '';
  return h(
    'p',
    { class: 'foot', 'data-key': 'foot' },
    h('span', {}, 'Code: ', h('code', {}, write_code(example.id, number, stage.answer))),
    h(
      'button',
      { type: 'button', class: 'link', 'data-do': 'copy', 'data-key': 'copy' },
      stage.copied ?? 'Copy its address',
    ),
    h(
      'a',
      { href: write_place({ scene: 'presenter', example: example.id, number, scenario: own }) },
      'Present',
    ),
    h(
      'a',
      { href: write_place({ scene: 'sheet', example: example.id, scenario: own }) },
      'Print a sheet',
    ),
    subject !== null &&
      h('a', { href: stage.address(example, subject) }, 'Open the scenario on the page'),
  );
}
