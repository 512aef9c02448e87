// The ledger: the seven parts at a moment; each opens into its lines, each line into its working.
import { h } from './dom.mjs';
import { cells, line_rows } from './line.mjs';
import { traced } from './number.mjs';
import { shown_point } from './picture.mjs';
import { peak_point, point_at } from './scale.mjs';
import { phase_name } from './verdict.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./types.mjs').Part} Part */

/** The ledger that is shown. While a moment is being estimated its totals are known (the timeline has them), its lines
 * are not.
 * @param {View} view @returns {{parts: Part[], known: boolean, event: number, point: number, allocated: number, reserved: number,
 *   at_peak: boolean}} */
export function ledger_now(view) {
  const { report, moment } = view;
  const { timeline, peak } = report;
  const i = shown_point(view);
  const event = timeline.event[i];
  if (i === peak_point(timeline, peak.event)) {
    const { allocated_bytes: allocated, reserved_bytes: reserved } = peak;
    return {
      parts: report.parts,
      known: true,
      event: peak.event,
      point: i,
      allocated,
      reserved,
      at_peak: true,
    };
  }
  const base = {
    event,
    point: i,
    allocated: timeline.allocated[i],
    reserved: timeline.reserved[i],
    at_peak: false,
  };
  if (moment && moment.event === event) return { ...base, parts: moment.parts, known: true };
  const parts = report.parts.map(({ id }) => ({
    id,
    bytes: timeline.parts[id]?.[i] ?? 0,
    lines: [],
  }));
  return { ...base, parts, known: false };
}

/** @param {View} view @returns {Element} */
export function ledger(view) {
  const { ui, report } = view;
  const now = ledger_now(view);
  const mark =
    report.timeline.marks[
      point_at(
        report.timeline.marks.map(({ event }) => event),
        now.event,
      )
    ];
  return h(
    'div',
    { class: now.known ? 'ledger' : 'ledger waiting' },
    h(
      'div',
      { class: 'head' },
      h(
        'h2',
        { id: 'ledger-title' },
        now.at_peak
          ? 'The ledger at the peak'
          : [
              `The ledger in the ${phase_name(mark.phase)} of step `,
              traced('timeline.marks', mark.step),
            ],
      ),
      !now.at_peak &&
        h(
          'button',
          { type: 'button', class: 'link', 'data-act': 'peak', 'data-key': 'peak' },
          'Back to the peak',
        ),
      h('span', { class: 'spacer' }),
      h('input', {
        type: 'search',
        class: 'figure find',
        'data-find': true,
        'data-key': 'find',
        'aria-label': 'Search the ledger: what, where, why',
        placeholder: 'why is … alive?',
        autocomplete: 'off',
        spellcheck: 'false',
        value: ui.find,
      }),
      h(
        'button',
        {
          type: 'button',
          class: 'link',
          'data-act': 'exact',
          'data-key': 'exact',
          'aria-pressed': String(ui.exact),
        },
        ui.exact ? 'Show GiB and GB' : 'Show bytes',
      ),
      h(
        'button',
        { type: 'button', class: 'link', 'data-act': 'all', 'data-key': 'all' },
        ui.parts.length > 0 ? 'Close all' : 'Open all',
      ),
    ),
    h(
      'table',
      { 'aria-labelledby': 'ledger-title', class: ui.exact ? 'exact' : null },
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          h('th', { scope: 'col' }, 'what'),
          h('th', { scope: 'col', class: 'f' }, 'working'),
          ui.exact
            ? h('th', { scope: 'col', class: 'n wide' }, 'bytes')
            : [
                h('th', { scope: 'col', class: 'n' }, 'GiB'),
                h('th', { scope: 'col', class: 'n gb' }, 'GB'),
              ],
        ),
      ),
      ...(words_of(ui.find).length > 0 && now.known
        ? found_rows(view, now)
        : [...now.parts.map((part) => part_rows(view, part, now)), totals(view, now)]),
    ),
  );
}

/** Where a part of the ledger that is shown stands in the report. @param {{at_peak: boolean}} now @param {string} id */
const path_of_part = (now, id) => `${now.at_peak ? '' : 'moment.'}parts[id=${id}]`;

/** @param {ReturnType<typeof ledger_now>} now @param {string} id @param {import('./types.mjs').Line} line */
const path_of_line = (now, id, line) =>
  `${path_of_part(now, id)}.lines.${now.parts.find((part) => part.id === id)?.lines.indexOf(line)}`;

/** @param {string} text */
const words_of = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

/** The lines of a ledger in which every word stands. @param {Part[]} parts @param {string} text @returns {Part[]} */
export const search = (parts, text) =>
  parts
    .map(({ id, lines }) => {
      const found = lines.filter(({ what, where, why, symbols }) => {
        const said = `${id} ${what} ${where} ${why} ${symbols}`.toLowerCase();
        return words_of(text).every((word) => said.includes(word));
      });
      return { id, lines: found, bytes: found.reduce((sum, { bytes }) => sum + bytes, 0) };
    })
    .filter(({ lines }) => lines.length > 0);

/** What a search found, each line with the reason why it is alive, and the sum. @param {View} view @param {ReturnType<typeof ledger_now>} now */
function found_rows(view, now) {
  const found = search(now.parts, view.ui.find);
  /** @param {string} id @param {import('./types.mjs').Line} line */
  const path_of = (id, line) => path_of_line(now, id, line);
  const sum = found.flatMap(({ id, lines }) => lines.map((line) => `${path_of(id, line)}.bytes`));
  const count = found.reduce((sum, { lines }) => sum + lines.length, 0);
  const bytes = found.reduce((sum, part) => sum + part.bytes, 0);
  return [
    ...found.map(({ id, lines }) =>
      h(
        'tbody',
        { 'data-key': `found ${id}`, class: 'part' },
        ...[...lines]
          .sort((a, b) => b.bytes - a.bytes)
          .flatMap((line) => line_rows(view, id, line, path_of(id, line), true)),
      ),
    ),
    h(
      'tbody',
      { class: 'totals', 'data-key': 'found' },
      h(
        'tr',
        { class: 'sum' },
        h(
          'th',
          { scope: 'row', role: 'status' },
          count === 0
            ? 'No line has these words'
            : count === 1
              ? 'One line'
              : `${view.n.count(count)} lines`,
        ),
        h('td', { class: 'f' }),
        cells(view, bytes, sum.join(' + ')),
      ),
    ),
  ];
}

/** @param {View} view @param {Part} part @param {ReturnType<typeof ledger_now>} now */
function part_rows(view, part, now) {
  const { ui, catalog, n } = view;
  const about = catalog.parts.find(({ id }) => id === part.id);
  const open = ui.parts.includes(part.id);
  const name = about?.name ?? part.id;
  const empty = part.bytes === 0;
  const lines = [...part.lines].sort((a, b) => b.bytes - a.bytes);
  const path = path_of_part(now, part.id);
  const total = now.known ? `${path}.bytes` : `timeline.parts.${part.id}.${now.point}`;
  return h(
    'tbody',
    { 'data-key': part.id, class: empty ? 'part empty' : 'part' },
    h(
      'tr',
      { class: 'total', 'data-key': 'total' },
      h(
        'th',
        { scope: 'rowgroup' },
        h('i', { class: `swatch ${part.id}` }),
        empty
          ? name
          : h(
              'button',
              { type: 'button', 'data-part': part.id, 'aria-expanded': String(open) },
              name,
            ),
        h(
          'span',
          { class: 'about', 'data-path': `catalog.parts[id=${part.id}].what` },
          about?.what ?? '',
        ),
      ),
      h(
        'td',
        { class: 'f count', 'data-path': `${path}.lines.length` },
        empty || !lines.length
          ? ''
          : lines.length === 1
            ? 'one line'
            : `${n.count(lines.length)} lines`,
      ),
      cells(view, part.bytes, total),
    ),
    open &&
      !empty &&
      lines.flatMap((line) => line_rows(view, part.id, line, path_of_line(now, part.id, line))),
  );
}

/** @param {View} view @param {ReturnType<typeof ledger_now>} now */
function totals(view, now) {
  const unused = now.reserved - now.allocated;
  const [allocated, reserved] = now.at_peak
    ? ['peak.allocated_bytes', 'peak.reserved_bytes']
    : [`timeline.allocated.${now.point}`, `timeline.reserved.${now.point}`];
  /** @param {string} key @param {string} name @param {string} about @param {number} bytes @param {string} path */
  const row = (key, name, about, bytes, path) =>
    h(
      'tr',
      { class: key, 'data-key': key },
      h('th', { scope: 'row' }, name, h('span', { class: 'about' }, about)),
      h('td', { class: 'f' }),
      cells(view, bytes, path),
    );
  return h(
    'tbody',
    { class: 'totals', 'data-key': 'totals' },
    row('sum', 'Allocated', 'the seven parts together', now.allocated, allocated),
    row(
      'unused',
      'Reserved, unused',
      'kept by PyTorch’s allocator for later',
      unused,
      `${reserved} - ${allocated}`,
    ),
    row('reserved', 'Reserved', 'what PyTorch has taken from the card', now.reserved, reserved),
  );
}
