// A recorded run beside the estimate: its live memory drawn over its events, and the sizes in which both differ.
import { h, svg } from './dom.mjs';
import { size } from './number.mjs';
import { kHigh, kWide, area, staircase } from './scale.mjs';
import { differences } from './snapshot.mjs';
import { table } from './table.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./snapshot.mjs').History} History */

// More lines than these nobody reads.
const kMost = 12;

/** What the reader has dropped: being read, refused with a sentence, or a history.
 * @typedef {{name: string, reading?: boolean, problem?: string, history?: History}} Dropped */

/** @param {View} view @returns {Element} */
export function recorded(view) {
  const { dropped } = view.ui;
  return h(
    'div',
    { class: 'recorded' },
    h(
      'p',
      {},
      h(
        'label',
        { for: 'snapshot' },
        'A history that torch.cuda.memory._dump_snapshot wrote (it is read here, as data, and stays on this machine): ',
      ),
      h('input', { type: 'file', id: 'snapshot', 'data-snapshot': true, 'data-key': 'file' }),
    ),
    dropped?.reading && h('p', { class: 'dim', role: 'status' }, `${dropped.name} is being read…`),
    dropped?.problem !== undefined &&
      h('p', { class: 'problem', role: 'alert' }, `${dropped.name}: ${dropped.problem}`),
    dropped?.history && history_view(view, dropped.history),
  );
}

/** @param {View} view @param {History} history */
function history_view(view, history) {
  const { n, report } = view;
  const top = 1.06 * Math.max(history.peak, report.peak.allocated_bytes);
  const path = area(staircase(history.at, history.events, history.allocated, top));
  const estimated = kHigh - (kHigh * report.peak.allocated_bytes) / top;
  const found = differences(history, report);
  return h(
    'div',
    { 'data-key': 'history' },
    h(
      'p',
      {},
      'Recorded at its worst: ',
      size(n, history.peak),
      '; estimated: ',
      size(n, report.peak.allocated_bytes),
      `; difference: ${n.signed_gib(history.peak - report.peak.allocated_bytes)} GiB. `,
      history.missed > 0 &&
        `What was allocated before the recording began is not in it: at least ${n.both(history.missed)}.`,
    ),
    h(
      'div',
      { class: 'bars' },
      svg(
        'svg',
        {
          width: '100%',
          height: '100%',
          viewBox: `0 0 ${kWide} ${kHigh}`,
          preserveAspectRatio: 'none',
          role: 'img',
          'aria-label': `Recorded memory over ${n.count(history.events)} events; the highest is ${n.gib(history.peak)} GiB. The line is the estimate.`,
        },
        svg('path', { class: 'fill runtime', d: path }),
        svg('line', { class: 'limit', x1: 0, x2: kWide, y1: estimated, y2: estimated }),
      ),
    ),
    h('p', { class: 'dim' }, 'Recorded memory over its events; the line is the estimate.'),
    found.length === 0
      ? h('p', {}, 'At their peaks both hold tensors of the same sizes.')
      : table(
          'Sizes that differ',
          ['size', 'recorded', 'estimated', 'recorded by', 'estimated as'],
          found
            .slice(0, kMost)
            .map(({ bytes, recorded, estimated, lines, names }) =>
              h(
                'tr',
                { 'data-key': `${bytes}` },
                h('th', { scope: 'row' }, size(n, bytes)),
                h('td', {}, n.count(recorded)),
                h('td', {}, n.count(estimated)),
                h('td', { class: 'words' }, lines.join('; ') || '—'),
                h('td', { class: 'words' }, names.join('; ') || '—'),
              ),
            ),
          'Sizes of which the two hold different numbers at their peaks',
        ),
  );
}
