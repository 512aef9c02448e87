// The picture's figures as a table: every phase of both steps.
import { h } from './dom.mjs';
import { size, traced } from './number.mjs';
import { table } from './table.mjs';
import { phase_name } from './verdict.mjs';

/** @typedef {import('./view.mjs').View} View */

const kColumns = /** @type {const} */ ([
  'start_bytes',
  'peak_bytes',
  'end_bytes',
  'reserved_bytes',
]);

/** @param {View} view @returns {Element} */
export function phase_table(view) {
  const { report, n } = view;
  return table(
    'Memory by phase',
    ['', 'at its start', 'peak', 'at its end', 'reserved'],
    report.phases.map((row, i) =>
      h(
        'tr',
        { 'data-key': `${row.step} ${row.phase}` },
        h(
          'th',
          { scope: 'row' },
          'Step ',
          traced(`phases.${i}.step`, row.step),
          `, ${phase_name(row.phase)}`,
        ),
        ...kColumns.map((key) => h('td', {}, size(n, row[key], `phases.${i}.${key}`))),
      ),
    ),
    'Allocated memory by phase',
  );
}
