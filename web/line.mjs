// One line of the ledger, and what opens under it: the working, the letters, why and how long the tensors are alive.
import { h, svg } from './dom.mjs';
import { point_at } from './scale.mjs';
import { phase_name } from './verdict.mjs';
import { formula, legend, meanings, workings } from './working.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./types.mjs').Line} Line */

/** The cells of a size: GiB and GB, or exact bytes. @param {View} view @param {number} bytes @param {string} path */
export function cells({ n, ui }, bytes, path) {
  /** @param {string} kind @param {string} text @param {string | null} title */
  const cell = (kind, text, title) =>
    h('td', { class: kind }, h('data', { value: bytes, title, 'data-path': path }, text));
  if (ui.exact) return [cell('n wide', n.count(bytes), null)];
  return [cell('n', n.gib(bytes), n.bytes(bytes)), cell('n gb', n.gb(bytes), n.bytes(bytes))];
}

/** Names a line among those of its part. @param {string} part @param {Line} line */
export const line_key = (part, line) =>
  `${part} ${line.what} ${line.where} ${line.symbols} ${line.why}`;

/** @param {View} view @param {string} part @param {Line} line @param {string} path of the line in the report
 * @param {boolean} [reason] says why it is alive at once */
export function line_rows(view, part, line, path, reason = false) {
  const { ui, n, catalog } = view;
  const key = line_key(part, line);
  const open = ui.lines.includes(key);
  const row = h(
    'tr',
    { class: open ? 'line open' : 'line', 'data-key': key },
    h(
      'th',
      { scope: 'row' },
      h(
        'button',
        {
          type: 'button',
          'data-line': key,
          'aria-expanded': String(open),
          'data-path': `${path}.what`,
        },
        line.what,
      ),
      h(
        'span',
        {
          class: 'where',
          title: line.count > 1 ? `${n.count(line.count)} tensors` : null,
          'data-path': `${path}.where; ${path}.count`,
        },
        line.where === line.what ? '' : ` ${line.where}`,
        line.count > 1 ? `\u00a0×\u00a0${n.count(line.count)}` : '',
      ),
      reason &&
        h('span', { class: 'alive' }, h('i', { class: `swatch ${part}` }), `alive as: ${line.why}`),
    ),
    h(
      'td',
      {
        class: 'f',
        title: meanings(line.symbols, catalog.letters) || null,
        'data-path': `${path}.mathml`,
      },
      formula(n.localise(line.mathml)),
    ),
    cells(view, line.bytes, `${path}.bytes`),
  );
  return open ? [row, working_row(view, part, line, key, path)] : [row];
}

const kCopies = [
  ['markdown', 'Markdown'],
  ['latex', 'LaTeX'],
  ['csv', 'CSV'],
  ['json', 'JSON'],
];

/** @param {View} view @param {string} part @param {Line} line @param {string} key @param {string} path */
function working_row(view, part, line, key, path) {
  const { n, ui } = view;
  const each = line.count > 1 ? `, ${n.bytes(line.bytes / line.count)} each` : '';
  return h(
    'tr',
    { class: 'working', 'data-key': `${key} working` },
    h(
      'td',
      { colspan: ui.exact ? 3 : 4 },
      h(
        'div',
        { 'data-path': `${path}.mathml; ${path}.mathml_figures; ${path}.bytes` },
        workings(line, n),
        legend(line, view),
      ),
      h(
        'dl',
        {},
        h('dt', {}, 'Size'),
        h(
          'dd',
          { 'data-path': `${path}.bytes; ${path}.bytes / ${path}.count` },
          `${n.bytes(line.bytes)}${each}`,
        ),
        h('dt', {}, 'Alive as'),
        h('dd', { 'data-path': `${path}.why` }, line.why),
        line.where !== '' && [
          h('dt', {}, 'Where'),
          h('dd', { 'data-path': `${path}.where` }, line.where),
        ],
        h('dt', {}, 'Rule'),
        h('dd', { 'data-path': `${path}.source` }, line.source),
        h('dt', {}, 'Life'),
        h(
          'dd',
          {
            'data-path': `${path}.born_event; ${path}.dies_event; timeline.events_total; timeline.marks`,
          },
          life(view, part, line),
        ),
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
