// A sheet to be printed: the questions without answers, and the answers on a page of their own.
import { write_code, write_place } from './course.mjs';
import { h } from './dom.mjs';
import { with_figures } from './examples.mjs';
import { letter } from './guess.mjs';
import { given } from './lesson.mjs';
import { size } from './number.mjs';

/** @typedef {import('./workshop.mjs').Stage} Stage */
/** @typedef {import('./exercise.mjs').Exercise} Exercise */

/** @param {Stage} stage @param {Exercise[]} exercises @returns {(Element | null)[]} */
export function sheet(stage, exercises) {
  const known = exercises.every((exercise) => exercise.known);
  const { place, examples } = stage;
  const [first] = exercises;
  const title =
    place.example === null
      ? 'Accounting for the memory of a training step'
      : (first?.example.title ?? '');
  return [
    h(
      'p',
      { class: 'crumbs' },
      h('a', { href: '#workshop' }, 'Workshop'),
      ' › ',
      place.example === null
        ? 'all examples'
        : h('a', { href: write_place({ ...place, scene: 'exercise' }) }, title),
    ),
    h('h1', { class: 'title', tabindex: -1 }, title),
    h(
      'p',
      { class: 'do' },
      h(
        'button',
        { type: 'button', class: 'main-act', 'data-do': 'print', 'aria-disabled': String(!known) },
        'Print',
      ),
      h(
        'span',
        { class: 'dim', role: 'status' },
        known
          ? 'Questions first; the answers begin a page of their own.'
          : `The core is replaying the runs: ${stage.n.count(exercises.filter((one) => one.known).length)} of ${stage.n.count(exercises.length)} questions …`,
      ),
    ),
    h(
      'section',
      { class: 'sheet', 'aria-label': 'Questions' },
      place.example !== null && h('h2', { class: 'hidden' }, 'Questions'),
      h('p', { class: 'name-line' }, 'Name: ', h('i', { class: 'blank' })),
      ...grouped(exercises).map(([example, own]) =>
        h(
          'section',
          { class: 'of-example', 'data-key': example.id, 'aria-label': example.title },
          examples.length > 0 && place.example === null && h('h2', {}, example.title),
          ...own.map((exercise) => asked(stage, exercise)),
        ),
      ),
    ),
    h(
      'section',
      { class: 'sheet answers', 'aria-labelledby': 'answers-title' },
      h('h2', { id: 'answers-title', class: 'title' }, 'Answers'),
      ...(known ? exercises.map((exercise) => answered(stage, exercise)) : []),
    ),
  ];
}

/** @param {Exercise[]} exercises @returns {[import('./types.mjs').Example, Exercise[]][]} */
function grouped(exercises) {
  /** @type {Map<import('./types.mjs').Example, Exercise[]>} */
  const groups = new Map();
  for (const one of exercises) groups.set(one.example, [...(groups.get(one.example) ?? []), one]);
  return [...groups];
}

/** @param {Stage} stage @param {Exercise} exercise */
function asked(stage, exercise) {
  const { n } = stage;
  const { example, number, items, amounts, question } = exercise;
  const blank = () => h('i', { class: 'blank' });
  return h(
    'article',
    { class: 'on-paper', 'data-key': `${number}` },
    h(
      'h3',
      {},
      h('code', {}, write_code(example.id, number, null)),
      ' ',
      ...with_figures(exercise.ask, n),
    ),
    given(stage, exercise),
    !amounts
      ? h(
          'ul',
          { class: 'boxes' },
          ...items.map(({ name }) => h('li', {}, h('i', { class: 'box' }), ` ${name}`)),
        )
      : question.kind === 'size'
        ? h('p', {}, 'My guess: ', blank(), ' GiB')
        : h(
            'ul',
            { class: 'boxes' },
            ...items.map(({ name }, i) =>
              h(
                'li',
                {},
                question.kind === 'series' && h('b', {}, `${letter(i)} `),
                `${name}: `,
                blank(),
                ' GiB',
              ),
            ),
          ),
  );
}

/** @param {Stage} stage @param {Exercise} exercise */
function answered({ n }, exercise) {
  const { example, number, items, amounts, question } = exercise;
  const right = items.filter(({ truth }) => truth === 1).map(({ name }) => name);
  return h(
    'article',
    { class: 'on-paper' },
    h('h3', {}, h('code', {}, write_code(example.id, number, null))),
    amounts
      ? h(
          'ul',
          { class: 'boxes' },
          ...items.map(({ name, truth }, i) =>
            h(
              'li',
              {},
              question.kind === 'series' && h('b', {}, `${letter(i)} `),
              name === '' ? '' : `${name}: `,
              size(n, truth),
            ),
          ),
        )
      : h('p', {}, right.length > 0 ? right.join('; ') : 'none of them'),
    exercise.why.length > 0 && h('p', {}, ...with_figures(exercise.why, n)),
  );
}
