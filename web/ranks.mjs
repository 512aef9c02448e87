// Replicated or divided? One rank beside the same run on one device alone, part by part: what every rank holds as before, what
// divides, and what is new. Only what is sharded divides by the number of ranks.
import { h } from './dom.mjs';
import { size } from './number.mjs';
import { table } from './table.mjs';
import { phase_name } from './verdict.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./types.mjs').Report} Report */
/** @typedef {import('./types.mjs').Scenario} Scenario */
/** @typedef {import('./types.mjs').Problem} Problem */

/** A part on one device alone and on one rank, in bytes. `kind` says what became of it; `fresh` are tensors that a device alone
 * does not have, by what they are.
 * @typedef {{id: string, alone: number, rank: number, kind: 'none' | 'replicated' | 'divided' | 'partly' | 'new' | 'more' |
 *   'host', by: number | null, fresh: {what: string, bytes: number}[]}} Division */

// Shares within which a part counts as equal: padding of shards and the allocator's rounding are below it.
const kEqual = 0.01;
// Bytes below which nobody sees a line of a table in GiB.
const kSeen = 2 ** 20;
const kMost = 4;

/** What became of each part.
 * @param {Report} alone without `parallel` @param {Report} rank @param {number[]} sizes by which something may divide: ranks,
 * and those of one dimension of them @returns {Division[]} */
export function divisions(alone, rank, sizes) {
  return rank.parts.map(({ id, bytes, lines }) => {
    const before = alone.parts.find((part) => part.id === id);
    const was = before?.bytes ?? 0;
    const known = new Set((before?.lines ?? []).map(({ what }) => what));
    /** @type {Map<string, number>} */
    const sums = new Map();
    // Workspaces and rounding are the allocator's, not the strategy's.
    for (const line of id === 'runtime' ? [] : lines)
      if (!known.has(line.what)) sums.set(line.what, (sums.get(line.what) ?? 0) + line.bytes);
    const fresh = [...sums]
      .map(([what, bytes]) => ({ what, bytes }))
      .filter(({ bytes }) => bytes >= kSeen)
      .sort((a, b) => b.bytes - a.bytes);
    const near = (/** @type {number} */ a, /** @type {number} */ b) =>
      Math.abs(a - b) <= kEqual * Math.max(a, b);
    const old = bytes - fresh.reduce((sum, one) => sum + one.bytes, 0);
    const by = sizes.find((count) => count > 1 && was >= kSeen && near(old * count, was)) ?? null;
    const host = (rank.host?.[/** @type {'weights_bytes'} */ (`${id}_bytes`)] ?? 0) > 0;
    /** @type {Division['kind']} */
    const kind =
      was < kSeen && bytes < kSeen
        ? 'none'
        : host && old < kSeen
          ? 'host'
          : was < kSeen
            ? 'new'
            : near(old, was)
              ? 'replicated'
              : by !== null
                ? 'divided'
                : old < was
                  ? 'partly'
                  : 'more';
    return { id, alone: was, rank: bytes, kind, by, fresh };
  });
}

/** Ranks, and the ranks of one dimension of them. @param {Scenario} parallel as the core completed it */
export function dimensions(parallel) {
  const number = (/** @type {string} */ key) => Number(parallel[key] ?? 1) || 1;
  const all = number('world_size');
  const tensor = parallel.strategy === 'tp' ? all : number('tensor_parallel_size');
  return [...new Set([all, all / number('dp_replicate_size'), all / tensor, tensor])];
}

/** The same run on one device. @param {Scenario} scenario @returns {Scenario} */
export const without_ranks = ({ parallel: _, ...rest }) => rest;

/** @type {{key: string, answer: Report | {problems: Problem[]} | null}} */
let kept = { key: '', answer: null };

/** @param {View} view @param {import('./page.mjs').Outside} outside @returns {Element} */
export function ranks(view, outside) {
  const parallel = view.report.scenario.parallel;
  if (!parallel || view.scenario.parallel === undefined) {
    return h(
      'p',
      { class: 'dim' },
      'Choose cards that train together, among the settings of the machine: then this table says what each part of the memory does.',
    );
  }
  const alone = without_ranks(view.scenario);
  const key = JSON.stringify(alone);
  if (kept.key !== key) {
    kept = { key, answer: null };
    void outside.estimate(alone).then((answer) => {
      if (kept.key !== key) return;
      kept.answer = answer;
      outside.again(['ranks']);
    });
  }
  const { answer } = kept;
  if (!answer) return h('p', { class: 'dim' }, '…');
  if (!('peak' in answer)) {
    return h(
      'div',
      {},
      h('p', {}, 'On one device alone this run cannot be estimated:'),
      ...answer.problems.map(({ message }) => h('p', { class: 'problem' }, message)),
    );
  }
  return beside(view, answer, /** @type {Scenario} */ (parallel));
}

/** @param {View} view @param {Report} alone @param {Scenario} parallel @returns {Element} */
export function beside(view, alone, parallel) {
  const { n, report, catalog } = view;
  const rows = divisions(alone, report, dimensions(parallel));
  const name = (/** @type {string} */ id) => catalog.parts.find((one) => one.id === id)?.name ?? id;
  const moved = alone.peak.phase !== report.peak.phase || alone.peak.step !== report.peak.step;
  const [one, all] = [alone.peak.allocated_bytes, report.peak.allocated_bytes];
  const said = (/** @type {Division} */ { kind, by, fresh }) => [
    {
      none: '',
      replicated: 'replicated: as on one device',
      divided: `divided by ${n.count(by ?? 1)}`,
      partly: 'divided in part',
      new: 'new',
      more: 'more than on one device',
      host: 'in host memory',
    }[kind],
    fresh.length > 0 && kind !== 'new' && kind !== 'more' ? '; new beside it' : '',
  ];
  const share = (/** @type {number} */ part, /** @type {number} */ whole) =>
    whole > 0 ? `${n.decimal(part / whole, 2)} ×` : '';
  return h(
    'div',
    { class: 'ranks', 'data-of': JSON.stringify({ parallel: null }) },
    h(
      'p',
      {},
      'Dividing by the number of devices holds only for what is sharded. The peak of one rank beside the same run on one device alone:',
    ),
    table(
      'Replicated or divided',
      ['', 'one device alone', 'one rank', 'ratio', 'what it does'],
      [
        ...rows
          .filter(({ kind }) => kind !== 'none')
          .flatMap((row) => [
            h(
              'tr',
              { 'data-key': row.id, 'data-kind': row.kind },
              h('th', { scope: 'row' }, h('i', { class: `swatch ${row.id}` }), name(row.id)),
              h('td', {}, size(n, row.alone, `parts[id=${row.id}].bytes`)),
              h('td', {}, size(n, row.rank, `now.parts[id=${row.id}].bytes`)),
              h(
                'td',
                { 'data-path': `now.parts[id=${row.id}].bytes / parts[id=${row.id}].bytes` },
                share(row.rank, row.alone),
              ),
              h('td', { class: 'words', 'data-path': 'now.scenario.parallel' }, said(row)),
            ),
            ...row.fresh
              .slice(0, kMost)
              .map(({ what, bytes }) =>
                h(
                  'tr',
                  { 'data-key': `${row.id} ${what}`, class: 'fresh' },
                  h('th', { scope: 'row', class: 'words' }, `new: ${what}`),
                  h('td', {}),
                  h('td', {}, size(n, bytes, lines_path(report, row.id, what))),
                  h('td', {}),
                  h('td', { class: 'words' }, ''),
                ),
              ),
          ]),
        h(
          'tr',
          { 'data-key': 'all', class: 'sum' },
          h('th', { scope: 'row' }, 'Allocated at the peak'),
          h('td', {}, size(n, one, 'peak.allocated_bytes')),
          h('td', {}, size(n, all, 'now.peak.allocated_bytes')),
          h(
            'td',
            { 'data-path': 'now.peak.allocated_bytes / peak.allocated_bytes' },
            share(all, one),
          ),
          h('td', {}),
        ),
        ...['weights', 'gradients', 'optimizer'].map((id) => {
          const bytes = report.host?.[/** @type {'weights_bytes'} */ (`${id}_bytes`)] ?? 0;
          return bytes === 0
            ? null
            : h(
                'tr',
                { 'data-key': `host ${id}`, class: 'host' },
                h(
                  'th',
                  { scope: 'row', class: 'words' },
                  `in host memory: ${name(id).toLowerCase()}`,
                ),
                h('td', {}),
                h('td', {}, size(n, bytes, `now.host.${id}_bytes`)),
                h('td', {}),
                h('td', {}),
              );
        }),
      ],
    ),
    moved &&
      h(
        'p',
        { 'data-path': 'peak; now.peak' },
        `The worst moment is another one: alone the ${phase_name(alone.peak.phase)} of step ${n.count(alone.peak.step)}, ` +
          `on a rank the ${phase_name(report.peak.phase)} of step ${n.count(report.peak.step)}. Parts that live only for a while differ for that reason too.`,
      ),
    h('p', { class: 'dim' }, which_rank(parallel)),
  );
}

/** Where the bytes of a tensor are in the present report. @param {Report} report @param {string} id @param {string} what */
const lines_path = (report, id, what) =>
  (report.parts.find((part) => part.id === id)?.lines ?? [])
    .flatMap((line, i) => (line.what === what ? [`now.parts[id=${id}].lines.${i}.bytes`] : []))
    .join(' + ');

/** Whether ranks differ. @param {Scenario} parallel */
const which_rank = ({ zero_redundancy_optimizer }) =>
  zero_redundancy_optimizer === true
    ? 'Ranks differ: each keeps the optimizer’s state of its own parameters, and whole parameters do not divide evenly. The figures are of the rank that is chosen.'
    : 'All ranks need the same: what divides unevenly is filled up.';
