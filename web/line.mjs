// One line of the ledger, and what opens under it: the working, the letters, why and how long the tensors are alive.
import { h, svg } from './dom.mjs';
import { point_at } from './scale.mjs';
import { phase_name } from './verdict.mjs';
import { formula, legend, meanings, workings } from './working.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./types.mjs').Line} Line */

/** The cells of a size: GiB and GB, or exact bytes. @param {View} view @param {number} bytes */
export function cells({ n, ui }, bytes) {
  if (ui.exact) return [h('td', { class: 'n wide' }, h('data', { value: bytes }, n.count(bytes)))];
  return [
    h('td', { class: 'n' }, h('data', { value: bytes, title: n.bytes(bytes) }, n.gib(bytes))),
    h('td', { class: 'n gb' }, h('data', { value: bytes, title: n.bytes(bytes) }, n.gb(bytes))),
  ];
}

/** Names a line among those of its part. @param {string} part @param {Line} line */
export const line_key = (part, line) =>
  `${part} ${line.what} ${line.where} ${line.symbols} ${line.why}`;

/** @param {View} view @param {string} part @param {Line} line @param {boolean} [reason] says why it is alive at once */
export function line_rows(view, part, line, reason = false) {
  const { ui, n, catalog } = view;
  const key = line_key(part, line);
  const open = ui.lines.includes(key);
  const row = h(
    'tr',
    { class: open ? 'line open' : 'line', 'data-key': key },
    h(
      'th',
      { scope: 'row' },
      h('button', { type: 'button', 'data-line': key, 'aria-expanded': String(open) }, line.what),
      h(
        'span',
        { class: 'where', title: line.count > 1 ? `${n.count(line.count)} tensors` : null },
        line.where === line.what ? '' : ` ${line.where}`,
        line.count > 1 ? `\u00a0×\u00a0${n.count(line.count)}` : '',
      ),
      reason &&
        h('span', { class: 'alive' }, h('i', { class: `swatch ${part}` }), `alive as: ${line.why}`),
    ),
    h(
      'td',
      { class: 'f', title: meanings(line.symbols, catalog.letters) || null },
      formula(n.localise(line.mathml)),
    ),
    cells(view, line.bytes),
  );
  return open ? [row, working_row(view, part, line, key)] : [row];
}

const kCopies = [
  ['markdown', 'Markdown'],
  ['latex', 'LaTeX'],
  ['csv', 'CSV'],
  ['json', 'JSON'],
];

/** @param {View} view @param {string} part @param {Line} line @param {string} key */
function working_row(view, part, line, key) {
  const { n, ui } = view;
  const each = line.count > 1 ? `, ${n.bytes(line.bytes / line.count)} each` : '';
  return h(
    'tr',
    { class: 'working', 'data-key': `${key} working` },
    h(
      'td',
      { colspan: ui.exact ? 3 : 4 },
      workings(line, n),
      legend(line, view),
      h(
        'dl',
        {},
        h('dt', {}, 'Size'),
        h('dd', {}, `${n.bytes(line.bytes)}${each}`),
        h('dt', {}, 'Alive as'),
        h('dd', {}, line.why),
        line.where !== '' && [h('dt', {}, 'Where'), h('dd', {}, line.where)],
        h('dt', {}, 'Rule'),
        h('dd', {}, line.source),
        h('dt', {}, 'Life'),
        h('dd', {}, life(view, part, line)),
      ),
      h(
        'p',
        { class: 'copies' },
        'Copy this line: ',
        kCopies.map(([act, name]) => [
          h(
            'button',
            { type: 'button', class: 'link', 'data-act': act, 'data-of': key, 'data-key': act },
            name,
          ),
          ' ',
        ]),
      ),
    ),
  );
}

/** From birth to death, in words and as a bar under the two steps.
 * @param {View} view @param {string} part @param {Line} line */
function life({ report, n }, part, line) {
  const { events_total: total, marks } = report.timeline;
  const place = (/** @type {number} */ event) => {
    const mark =
      marks[
        point_at(
          marks.map((row) => row.event),
          event,
        )
      ];
    return mark ? `${phase_name(mark.phase)} of step ${mark.step}` : 'loading';
  };
  const from = Math.max(0, line.born_event);
  const to = line.dies_event ?? total;
  const born = line.born_event <= 0 ? 'from the start' : `from the ${place(line.born_event)}`;
  const dies = line.dies_event === null ? 'to the end' : `to the ${place(line.dies_event)}`;
  const share = (/** @type {number} */ event) =>
    `${((100 * event) / Math.max(1, total)).toFixed(2)}%`;
  return [
    `${born} ${dies}`,
    h(
      'span',
      { class: 'dim' },
      ` (events ${n.count(from)} to ${n.count(to)} of ${n.count(total)})`,
    ),
    svg(
      'svg',
      { class: 'life', width: '100%', height: 10, 'aria-hidden': 'true' },
      svg('line', { class: 'axis', x1: 0, x2: '100%', y1: 5, y2: 5 }),
      ...marks.map(({ event }) =>
        svg('line', { class: 'axis', x1: share(event), x2: share(event), y1: 2, y2: 8 }),
      ),
      svg('line', {
        class: `span ${part}`,
        x1: share(from),
        x2: share(Math.max(to, from + total / 250)),
        y1: 5,
        y2: 5,
      }),
    ),
  ];
}
