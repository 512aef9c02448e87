// Where a guess is drawn and typed: a slider and a figure for each amount, columns that are drawn with the pointer, choices.
import { h, svg } from './dom.mjs';
import { kGiB } from './number.mjs';

/** @typedef {import('./exercise.mjs').Exercise} Exercise */
/** @typedef {import('./exercise.mjs').Item} Item */
/** @typedef {import('./exercise.mjs').Guess} Guess */
/** @typedef {import('./number.mjs').Numbers} Numbers */

/** @param {number} share */
const percent = (share) => `${Number((100 * Math.min(1, Math.max(0, share))).toFixed(3))}%`;

/** Steps of a slider over its whole scale. */
export const kStops = 512;

/** A mark for the i-th of several: A, B, C. @param {number} i */
export const letter = (i) => String.fromCharCode(65 + (i % 26));

/** @param {Exercise} exercise @param {Guess} guess @param {string | null} typing key of the field that is being typed in
 * @param {Numbers} n @returns {Element} */
export function guess_view(exercise, guess, typing, n) {
  const { question, amounts, items } = exercise;
  if (!amounts) return picks(exercise, guess);
  return h(
    'div',
    { class: `guess ${question.kind}` },
    question.kind === 'series'
      ? columns(exercise, guess, false, n)
      : bars(exercise, guess, false, n),
    h(
      'div',
      { class: 'amounts', role: 'group', 'aria-label': 'Your guess' },
      ...items.map((item, i) => amount(exercise, item, i, guess, typing, n)),
    ),
  );
}

/** @param {Exercise} exercise @param {Item} item @param {number} i @param {Guess} guess @param {string | null} typing
 * @param {Numbers} n */
function amount({ question, top }, { key, name }, i, guess, typing, n) {
  const value = guess[key];
  const label = question.kind === 'size' ? 'Your guess' : name;
  return h(
    'div',
    { class: 'amount', 'data-key': key },
    h(
      'label',
      { for: `amount-${key}` },
      question.kind === 'parts' && h('i', { class: `swatch ${key}` }),
      question.kind === 'series' && h('b', {}, `${letter(i)} `),
      label,
    ),
    h('input', {
      type: 'range',
      min: 0,
      max: kStops,
      step: 1,
      value: Math.round((kStops * (value ?? 0)) / top),
      'aria-label': label,
      'aria-valuetext': value === undefined ? 'not guessed yet' : n.both(value),
      'data-amount': key,
    }),
    h(
      'span',
      { class: 'in' },
      h('input', {
        type: 'text',
        class: 'figure',
        id: `amount-${key}`,
        inputmode: 'decimal',
        autocomplete: 'off',
        'data-typed': key,
        value: value === undefined || typing === key ? null : n.gib(value),
      }),
      ' GiB',
    ),
    h(
      'span',
      { class: 'gb' },
      value === undefined ? '' : h('data', { value }, `${n.gb(value)} GB`),
    ),
  );
}

/** The scale's figures, from nothing to its top. @param {number} top bytes @param {Numbers} n */
const ticks = (top, n) =>
  [0, 0.25, 0.5, 0.75, 1].map((share) => ({
    share,
    text: `${n.count((share * top) / kGiB)}${share === 1 ? ' GiB' : ''}`,
  }));

/** One bar for the guess and, once it may be seen, one for the truth, on one scale.
 * @param {Exercise} exercise @param {Guess} guess @param {boolean} revealed @param {Numbers} n @returns {Element} */
export function bars({ question, items, top, report }, guess, revealed, n) {
  const parts = question.kind === 'parts';
  const own = parts
    ? items.map(({ key }) => ({ key, bytes: guess[key] ?? 0 }))
    : [{ key: 'mine', bytes: guess.size ?? 0 }];
  // A size that is a whole peak is shown as what it is made of.
  const whole = question.run !== undefined || parts;
  const truth =
    whole && report
      ? report.parts.map(({ id, bytes }) => ({ key: id, bytes }))
      : [{ key: 'true', bytes: items[0]?.truth ?? 0 }];
  return h(
    'div',
    { class: 'bars-of', 'data-key': 'bars' },
    (!revealed || Object.keys(guess).length > 0) &&
      bar('you', own, top, revealed || parts ? null : 'size'),
    revealed && bar('computed', truth, top, null),
    svg(
      'svg',
      { class: 'scale', 'aria-hidden': 'true' },
      ...ticks(top, n).map(({ share, text }) =>
        svg(
          'text',
          { x: percent(share), y: '1em', class: `tick at-${100 * share}`, 'data-key': `${share}` },
          text,
        ),
      ),
    ),
  );
}

/** @param {string} name @param {{key: string, bytes: number}[]} pieces @param {number} top
 * @param {string | null} draws key of the amount that is drawn by dragging the bar */
function bar(name, pieces, top, draws) {
  let at = 0;
  return h(
    'div',
    { class: 'bar-of', 'data-key': name },
    h('span', { class: 'whose' }, name),
    svg(
      'svg',
      { class: draws ? 'strip draws' : 'strip', 'aria-hidden': 'true', 'data-draw': draws },
      ...pieces
        .filter(({ bytes }) => bytes > 0)
        .flatMap(({ key, bytes }) => {
          const x = at / top;
          at += bytes;
          return [
            svg('rect', {
              class: `fill ${key}`,
              x: percent(x),
              width: percent(Math.min(1 - x, bytes / top)),
              height: '100%',
              'data-key': key,
            }),
            x > 0 &&
              svg('line', { class: 'gap', x1: percent(x), x2: percent(x), y1: 0, y2: '100%' }),
          ];
        })
        .filter(Boolean),
    ),
  );
}

/** Columns that are drawn with the pointer; the truth stands beside the guess once it may be seen.
 * @param {Exercise} exercise @param {Guess} guess @param {boolean} revealed @param {Numbers} n
 * @param {{[key: string]: {key: string, bytes: number}[]}} [stacks] what the truth of an item is made of
 * @returns {Element} */
export function columns({ items, top }, guess, revealed, n, stacks = {}) {
  const wide = 1 / items.length;
  return h(
    'div',
    { class: 'columns-of', 'data-key': 'columns' },
    h(
      'div',
      { class: 'heights', 'aria-hidden': 'true' },
      ...ticks(top, n)
        .reverse()
        .map(({ share, text }) => h('span', { 'data-key': `${share}` }, text)),
    ),
    h(
      'div',
      { class: 'field' },
      svg(
        'svg',
        { class: revealed ? 'plan' : 'plan draws', 'data-plan': !revealed, 'aria-hidden': 'true' },
        ...ticks(top, n).map(({ share }) =>
          svg('line', { class: 'grid', x1: 0, x2: '100%', y1: percent(share), y2: percent(share) }),
        ),
        ...items.flatMap(({ key, truth }, i) => {
          const own = guess[key] ?? 0;
          const both = revealed && Object.keys(guess).length > 0;
          const half = both ? wide * 0.38 : wide * 0.76;
          const left = (i + 0.12) * wide;
          const pieces = stacks[key] ?? [{ key: 'true', bytes: truth }];
          return [
            column('mine', left, half, 0, own, top, `${key} own`),
            ...(revealed ? stacked(pieces, both ? left + half : left, half, top, key) : []),
          ];
        }),
      ),
      h(
        'div',
        { class: 'under', 'aria-hidden': 'true' },
        ...items.map((_, i) => h('span', { 'data-key': `${i}` }, letter(i))),
      ),
    ),
  );
}

/** @param {{key: string, bytes: number}[]} pieces @param {number} x @param {number} width @param {number} top
 * @param {string} key */
function stacked(pieces, x, width, top, key) {
  let below = 0;
  return pieces.map((piece) => {
    below += piece.bytes;
    return column(
      piece.key,
      x,
      width,
      below - piece.bytes,
      piece.bytes,
      top,
      `${key} ${piece.key}`,
    );
  });
}

/** @param {string} kind @param {number} x @param {number} width @param {number} from bytes @param {number} bytes
 * @param {number} top @param {string} key */
const column = (kind, x, width, from, bytes, top, key) =>
  svg('rect', {
    class: `fill ${kind}`,
    x: percent(x),
    width: percent(width),
    y: percent(1 - (from + bytes) / top),
    height: percent(bytes / top),
    'data-key': key,
  });

/** @param {Exercise} exercise @param {Guess} guess */
function picks({ question, items, example, number }, guess) {
  const many = question.kind === 'ticks';
  return h(
    'fieldset',
    { class: 'guess picks' },
    h('legend', { class: 'hidden' }, many ? 'Choose all that do' : 'Choose one'),
    ...items.map(({ key, name }) =>
      h(
        'label',
        { class: 'pick', 'data-key': key },
        h('input', {
          type: many ? 'checkbox' : 'radio',
          name: `pick-${example.id}-${number}`,
          'data-pick': key,
          checked: guess[key] === 1,
        }),
        ` ${name}`,
      ),
    ),
  );
}
