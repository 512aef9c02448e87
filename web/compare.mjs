// Up to four scenarios side by side: what tells them apart, the peak of each made of its parts, and what explains a difference.
import { h, svg } from './dom.mjs';
import { size, size_range } from './number.mjs';
import { rules } from './rules.mjs';
import { table } from './table.mjs';
import { differing } from './trail.mjs';
import { phase_name, verdict_sentence } from './verdict.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./view.mjs').Pin} Pin */
/** @typedef {import('./types.mjs').Report} Report */

/** So many are pinned beside the present one. */
export const kMostPins = 3;
// Bytes that show in two decimals of GiB.
const kSeen = 2 ** 30 / 200;
const kLines = 6;

/** The report without what no column shows. @param {View} view @returns {Pin} */
export const pin_of = ({ scenario, report }) => ({
  scenario,
  report: {
    ...report,
    timeline: { ...report.timeline, event: [], allocated: [], reserved: [], parts: {} },
  },
});

/** @param {View} view @returns {Element} */
export function compare(view) {
  const { ui, problems } = view;
  const columns = [...ui.pins, { scenario: view.scenario, report: view.report }];
  const full = ui.pins.length >= kMostPins;
  return h(
    'div',
    { class: 'compare' },
    h(
      'p',
      {},
      h(
        'button',
        { type: 'button', class: 'link', 'data-act': 'pin', disabled: full || problems.length > 0 },
        'Pin the present scenario',
      ),
      ' ',
      h(
        'span',
        { class: 'dim' },
        full
          ? 'No more than these fit beside each other.'
          : ui.pins.length === 0
            ? 'Then change anything above: both stand side by side here.'
            : '',
      ),
    ),
    ui.pins.length > 0 && stacks(view, columns),
    ui.pins.length > 0 && limit_said(view, columns),
    ui.pins.length > 0 && figures(view, columns),
    ui.pins.length > 0 &&
      columns
        .slice(1)
        .map((column, i) => explained(view, columns[0], column, name_of(columns, i + 1))),
    rules(view),
  );
}

/** A, B, C and Now. @param {Pin[]} columns @param {number} i */
const name_of = (columns, i) =>
  i === columns.length - 1 ? 'Now' : String.fromCharCode('A'.charCodeAt(0) + i);

/** @param {Pin} pin */
const model_of = ({ report }) =>
  (report.model.id ?? report.model.model_type).split('/').pop() ?? '';

/** The peaks as bars on one scale. @param {View} view @param {Pin[]} columns */
function stacks({ n, catalog }, columns) {
  const usable = Math.max(...columns.map(({ report }) => report.verdict?.usable_bytes ?? 0));
  const highest = Math.max(...columns.map(({ report }) => report.peak.allocated_bytes));
  // A card far above the bars would flatten them.
  const top = Math.max(highest, usable <= 2.3 * highest ? usable : 0);
  const share = (/** @type {number} */ bytes) => `${((100 * bytes) / top).toFixed(3)}%`;
  return h(
    'ol',
    { class: 'stacks' },
    ...columns.map((column, i) => {
      const { report } = column;
      let at = 0;
      const card = report.verdict?.usable_bytes ?? Infinity;
      const list = report.parts.map(({ id, bytes }) => {
        const rect = svg('rect', {
          class: `fill ${id}`,
          x: share(at),
          width: share(bytes),
          y: 0,
          height: '100%',
          'data-key': id,
        });
        at += bytes;
        return rect;
      });
      const said = report.parts
        .filter(({ bytes }) => bytes > 0)
        .map(({ id, bytes }) => {
          const part = catalog.parts.find((one) => one.id === id)?.name.toLowerCase() ?? id;
          return `${part} ${n.gib(bytes)} GiB`;
        });
      return h(
        'li',
        { 'data-key': name_of(columns, i) },
        h('span', { class: 'who' }, h('b', {}, name_of(columns, i)), ` ${model_of(column)}`),
        svg(
          'svg',
          {
            class: 'stack',
            width: '100%',
            height: '100%',
            role: 'img',
            'aria-label': said.join(', '),
          },
          ...list,
          card <= top &&
            svg('line', {
              class: 'limit',
              x1: share(card),
              x2: share(card),
              y1: '-12%',
              y2: '112%',
              'data-key': 'limit',
            }),
        ),
        h('span', { class: 'sum' }, size(n, report.peak.allocated_bytes)),
      );
    }),
  );
}

/** What the red lines are. @param {View} view @param {Pin[]} columns */
function limit_said({ n }, columns) {
  const cards = new Map(
    columns.flatMap(({ report: { verdict } }) =>
      verdict ? [[verdict.card ?? 'as typed', verdict.usable_bytes]] : [],
    ),
  );
  return h(
    'p',
    { class: 'usable' },
    [...cards].map(([card, bytes], i) => [i > 0 && '; ', `${card}: `, size(n, bytes), ' usable']),
  );
}

/** @param {View} view @param {Pin[]} columns */
function figures(view, columns) {
  const { n, catalog, ui } = view;
  const base = columns[0].report;
  /** @param {string} key @param {Element | string | (Element | string)[]} name @param {(pin: Pin, i: number) => import('./dom.mjs').Child} cell
   * @param {string} [kind] */
  const row = (key, name, cell, kind) =>
    h(
      'tr',
      { 'data-key': key, class: kind ?? null },
      h('th', { scope: 'row' }, name),
      ...columns.map((pin, i) => h('td', { 'data-key': `${i}` }, cell(pin, i))),
    );
  /** A size, and by how much it differs from the first. @param {number} bytes @param {number} first @param {number} i */
  const against = (bytes, first, i) => {
    if (i === 0 || Math.abs(bytes - first) < kSeen) return size(n, bytes);
    const by = bytes - first;
    return [
      size(n, bytes),
      ' ',
      h('data', { class: by < 0 ? 'by less' : 'by', value: by }, n.signed_gib(by)),
    ];
  };
  const part_bytes = (/** @type {Report} */ report, /** @type {string} */ id) =>
    report.parts.find((part) => part.id === id)?.bytes ?? 0;
  const settings = differing(
    view,
    columns.map(({ scenario }) => scenario),
  );
  return table(
    'Scenarios side by side',
    ['', ...columns.map((_, i) => name_of(columns, i))],
    [
      ...settings.map(({ id, label, said }) => row(`set ${id}`, label, (_, i) => said[i], 'set')),
      row('verdict', 'verdict', ({ report }) => verdict_sentence(report, n)),
      row(
        'peak',
        'peak',
        ({ report }, i) => against(report.peak.allocated_bytes, base.peak.allocated_bytes, i),
        'strong',
      ),
      row(
        'when',
        'at its worst in',
        ({ report: { peak } }) => `step ${n.count(peak.step)}, ${phase_name(peak.phase)}`,
      ),
      ...catalog.parts
        .filter(({ id }) => columns.some(({ report }) => part_bytes(report, id) > 0))
        .map(({ id, name }) =>
          row(`part ${id}`, [h('i', { class: `swatch ${id}` }), name], ({ report }, i) =>
            against(part_bytes(report, id), part_bytes(base, id), i),
          ),
        ),
      row('reserved', 'reserved', ({ report }, i) =>
        against(report.peak.reserved_bytes, base.peak.reserved_bytes, i),
      ),
      row('smi', 'nvidia-smi', ({ report }) => size_range(n, report.peak.process_bytes)),
      row('parameters', 'trained parameters', ({ report }) => n.count(report.parameters.trainable)),
      h(
        'tr',
        { 'data-key': 'acts' },
        h('td', {}),
        ...columns.map((_, i) =>
          h(
            'td',
            { 'data-key': `${i}` },
            i < ui.pins.length && [
              h(
                'button',
                {
                  type: 'button',
                  class: 'link',
                  'data-open': `${i}`,
                  'aria-label': `Open ${name_of(columns, i)}`,
                },
                'Open',
              ),
              ' ',
              h(
                'button',
                {
                  type: 'button',
                  class: 'link',
                  'data-unpin': `${i}`,
                  'aria-label': `Let ${name_of(columns, i)} go`,
                },
                'Let go',
              ),
            ],
          ),
        ),
      ),
    ],
  );
}

/** Bytes of a part by what they are. @param {Report} report @param {string} id @returns {Map<string, {bytes: number, symbols: string}>} */
function by_what(report, id) {
  /** @type {Map<string, {bytes: number, symbols: string}>} */
  const sums = new Map();
  for (const { what, bytes, symbols } of report.parts.find((part) => part.id === id)?.lines ?? []) {
    const sum = sums.get(what);
    sums.set(what, {
      bytes: (sum?.bytes ?? 0) + bytes,
      symbols: sum && sum.symbols !== symbols ? '' : symbols,
    });
  }
  return sums;
}

/** The lines that make a part differ, the largest first. @param {Report} a @param {Report} b @param {string} id of the part */
export function moved_lines(a, b, id) {
  const [from, to] = [a, b].map((report) => by_what(report, id));
  return [...new Set([...from.keys(), ...to.keys()])]
    .map((what) => {
      const [was, is] = [from.get(what)?.bytes ?? 0, to.get(what)?.bytes ?? 0];
      return { what, was, is, symbols: (to.get(what) ?? from.get(what))?.symbols ?? '' };
    })
    .filter(({ was, is }) => Math.abs(is - was) >= kSeen)
    .sort((one, two) => Math.abs(two.is - two.was) - Math.abs(one.is - one.was));
}

/** Why the second needs more or less than the first. @param {View} view @param {Pin} first @param {Pin} second @param {string} name */
function explained({ n, catalog }, first, second, name) {
  const [a, b] = [first.report, second.report];
  const by = b.peak.allocated_bytes - a.peak.allocated_bytes;
  const parts = catalog.parts
    .map(({ id, name: called }) => {
      const [was, is] = [a, b].map(
        (report) => report.parts.find((part) => part.id === id)?.bytes ?? 0,
      );
      return { id, called, by: is - was };
    })
    .filter((part) => Math.abs(part.by) >= kSeen)
    .sort((one, two) => Math.abs(two.by) - Math.abs(one.by));
  const moved = a.peak.phase !== b.peak.phase || a.peak.step !== b.peak.step;
  return h(
    'details',
    { class: 'figures', open: true, 'data-key': `why ${name}` },
    h('summary', {}, `Why ${name} differs from A by ${n.signed_gib(by)} GiB`),
    h(
      'div',
      { class: 'why-parts' },
      moved &&
        h(
          'p',
          {},
          `The worst moment moves: from the ${phase_name(a.peak.phase)} of step ${n.count(a.peak.step)} (${a.peak.moment}) to the ${phase_name(b.peak.phase)} of step ${n.count(b.peak.step)} (${b.peak.moment}).`,
        ),
      parts.length === 0 &&
        h('p', { class: 'dim' }, 'No part differs by as much as two decimals show.'),
      h(
        'ul',
        {},
        ...parts.map((part) => {
          const lines = moved_lines(a, b, part.id);
          return h(
            'li',
            { 'data-key': part.id },
            h('i', { class: `swatch ${part.id}` }),
            `${part.called} `,
            h('data', { value: part.by }, `${n.signed_gib(part.by)} GiB`),
            lines.length > 0 &&
              h(
                'ul',
                {},
                ...lines
                  .slice(0, kLines)
                  .map((line) =>
                    h(
                      'li',
                      { 'data-key': line.what },
                      `${line.what}: `,
                      line.was === 0
                        ? `new, ${n.gib(line.is)} GiB`
                        : line.is === 0
                          ? `gone, was ${n.gib(line.was)} GiB`
                          : `${n.gib(line.was)} → ${n.gib(line.is)} GiB`,
                      line.symbols !== '' && h('span', { class: 'dim' }, ` = ${line.symbols}`),
                    ),
                  ),
                lines.length > kLines &&
                  h(
                    'li',
                    { class: 'dim', 'data-key': 'more' },
                    `and ${n.count(lines.length - kLines)} smaller ones`,
                  ),
              ),
          );
        }),
      ),
    ),
  );
}
