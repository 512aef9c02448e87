// What is shown once a guess is made: the guess beside the truth, the difference by part, what was left out, why.
import { h } from './dom.mjs';
import { largest_of } from './check.mjs';
import { is_report } from './exercise.mjs';
import { bars, columns, letter } from './guess.mjs';
import { size } from './number.mjs';
import { table } from './table.mjs';

/** @typedef {import('./exercise.mjs').Exercise} Exercise */
/** @typedef {import('./exercise.mjs').Guess} Guess */
/** @typedef {import('./number.mjs').Numbers} Numbers */
/** @typedef {import('./types.mjs').Catalog} Catalog */
/** @typedef {import('./story.mjs').Sources} Sources */

/** The guess beside the truth, as a picture. @param {Exercise} exercise @param {Guess} guess @param {Sources} sources
 * @param {Numbers} n @returns {Element | null} */
export function picture_of(exercise, guess, sources, n) {
  if (!exercise.amounts) return null;
  return exercise.question.kind === 'series'
    ? columns(exercise, guess, true, n, stacks_of(exercise, sources))
    : bars(exercise, guess, true, n);
}

/** Where the columns are whole peaks, what each is made of. @param {Exercise} exercise @param {Sources} sources */
function stacks_of({ question, items }, sources) {
  if (question.of !== '*.peak.allocated_bytes') return {};
  return Object.fromEntries(
    items.flatMap(({ key }) => {
      const report = sources[key];
      return is_report(report)
        ? [[key, report.parts.map(({ id, bytes }) => ({ key: id, bytes }))]]
        : [];
    }),
  );
}

/** The guess beside the truth, as a table. @param {Exercise} exercise @param {Guess} guess @param {Numbers} n */
export function beside({ question, amounts, items, reports }, guess, n) {
  const guessed = Object.keys(guess).length > 0;
  if (!amounts) {
    // Verdicts are shown with the peaks that they are about.
    const peaks = question.kind === 'ticks' && reports.length === items.length;
    const amount = (/** @type {number} */ i) =>
      peaks ? reports[i].peak.allocated_bytes : items[i].value;
    const sizes = items.some((_, i) => typeof amount(i) === 'number');
    return table(
      'Your choice beside the answer',
      ['', ...(guessed ? ['you'] : []), 'computed', ...(sizes ? [peaks ? 'peak' : 'size'] : [])],
      items.map(({ key, name, truth, value }, i) =>
        h(
          'tr',
          { 'data-key': key },
          h('th', { scope: 'row', class: 'words' }, name),
          guessed && h('td', {}, guess[key] === 1 ? 'yes' : '—'),
          h('td', {}, truth === 1 ? h('b', {}, 'yes') : peaks ? String(value) : '—'),
          sizes && h('td', {}, size_or_dash(amount(i), n)),
        ),
      ),
    );
  }
  const parts = question.kind === 'parts';
  const sum = (/** @type {(item: import('./exercise.mjs').Item) => number} */ of) =>
    items.reduce((all, item) => all + of(item), 0);
  return table(
    'Your guess beside the computed sizes',
    guessed ? ['', 'you', 'computed', 'difference, GiB'] : ['', 'computed'],
    [
      ...items.map(({ key, name, truth }, i) =>
        row(
          key,
          [
            parts && h('i', { class: `swatch ${key}` }),
            question.kind === 'series' && h('b', {}, `${letter(i)} `),
            name || 'size',
          ],
          guessed ? (guess[key] ?? 0) : null,
          truth,
          n,
        ),
      ),
      parts
        ? row(
            'sum',
            ['Allocated'],
            guessed ? sum(({ key }) => guess[key] ?? 0) : null,
            sum(({ truth }) => truth),
            n,
          )
        : null,
    ],
  );
}

/** @param {unknown} bytes @param {Numbers} n */
const size_or_dash = (bytes, n) => (typeof bytes === 'number' ? size(n, bytes) : '—');

/** @param {string} key @param {import('./dom.mjs').Leaf[]} name @param {number | null} own null where
 * nothing was guessed @param {number} truth @param {Numbers} n */
const row = (key, name, own, truth, n) =>
  h(
    'tr',
    { 'data-key': key, class: key === 'sum' ? 'sum' : null },
    h('th', { scope: 'row', class: 'words' }, ...name),
    own !== null && h('td', {}, size(n, own)),
    h('td', {}, size(n, truth)),
    own !== null && h('td', {}, n.signed_gib(own - truth)),
  );

/** What a computed peak is made of: its parts with the largest tensors of each, or the parts of every run.
 * @param {Exercise} exercise @param {Sources} sources @param {Catalog} catalog @param {Numbers} n @returns {Element | null} */
export function made_of({ question, items, report }, sources, catalog, n) {
  const name = (/** @type {string} */ id) =>
    catalog.parts.find((part) => part.id === id)?.name ?? id;
  if (question.kind === 'series' && question.of === '*.peak.allocated_bytes') {
    const reports = items.map(({ key }) => sources[key]).filter(is_report);
    const ids = reports[0]?.parts.map(({ id }) => id) ?? [];
    return table(
      'The computed peaks by part, in GiB',
      ['', ...items.map((_, i) => letter(i))],
      ids.map((id) =>
        h(
          'tr',
          { 'data-key': id },
          h('th', { scope: 'row' }, h('i', { class: `swatch ${id}` }), name(id)),
          ...reports.map(({ parts }) => {
            const bytes = parts.find((part) => part.id === id)?.bytes ?? 0;
            return h('td', {}, h('data', { value: bytes, title: n.exact(bytes) }, n.gib(bytes)));
          }),
        ),
      ),
      'The computed peaks by part, in GiB',
    );
  }
  if (!report || (question.kind !== 'parts' && (question.kind !== 'size' || !question.run)))
    return null;
  return table(
    'What the computed peak is made of',
    question.kind === 'parts' ? ['', 'its largest tensors'] : ['', '', 'its largest tensors'],
    report.parts
      .filter(({ bytes }) => bytes > 0)
      .map((part) =>
        h(
          'tr',
          { 'data-key': part.id },
          h('th', { scope: 'row' }, h('i', { class: `swatch ${part.id}` }), name(part.id)),
          question.kind === 'size' && h('td', {}, size(n, part.bytes)),
          h('td', { class: 'words' }, largest_of(part, n)),
        ),
      ),
    'What the computed peak is made of',
  );
}
