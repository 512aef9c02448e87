// The picture's figures as a table: every phase of both steps.
import { h } from './dom.mjs';
import { size } from './number.mjs';
import { phase_name } from './verdict.mjs';

/** @typedef {import('./view.mjs').View} View */

/** @param {View} view @returns {Element} */
export function phase_table(view) {
  const { report, n } = view;
  const heads = ['', 'at its start', 'peak', 'at its end', 'reserved'];
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Memory by phase' },
    h(
      'table',
      { class: 'phases' },
      h('caption', {}, 'Allocated memory by phase'),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          ...heads.map((head) =>
            h(head === '' ? 'td' : 'th', { scope: head === '' ? null : 'col' }, head),
          ),
        ),
      ),
      h(
        'tbody',
        {},
        ...report.phases.map((row) =>
          h(
            'tr',
            { 'data-key': `${row.step} ${row.phase}` },
            h('th', { scope: 'row' }, `Step ${row.step}, ${phase_name(row.phase)}`),
            ...[row.start_bytes, row.peak_bytes, row.end_bytes, row.reserved_bytes].map((bytes) =>
              h('td', {}, size(n, bytes)),
            ),
          ),
        ),
      ),
    ),
  );
}
