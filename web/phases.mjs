// The picture's figures as a table: every phase of both steps.
import { h } from './dom.mjs';
import { size } from './number.mjs';
import { table } from './table.mjs';
import { phase_name } from './verdict.mjs';

/** @typedef {import('./view.mjs').View} View */

/** @param {View} view @returns {Element} */
export function phase_table(view) {
  const { report, n } = view;
  return table(
    'Memory by phase',
    ['', 'at its start', 'peak', 'at its end', 'reserved'],
    report.phases.map((row) =>
      h(
        'tr',
        { 'data-key': `${row.step} ${row.phase}` },
        h('th', { scope: 'row' }, `Step ${row.step}, ${phase_name(row.phase)}`),
        ...[row.start_bytes, row.peak_bytes, row.end_bytes, row.reserved_bytes].map((bytes) =>
          h('td', {}, size(n, bytes)),
        ),
      ),
    ),
    'Allocated memory by phase',
  );
}
