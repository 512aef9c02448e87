// The ledger, or one line of it, as text for other places: Markdown, LaTeX, CSV, JSON. Bytes are exact everywhere.
import { ledger_now } from './book.mjs';
import { line_key } from './line.mjs';
import { in_latex } from './latex.mjs';
import { verdict_sentence } from './verdict.mjs';

/** @typedef {import('./view.mjs').View} View */

/** What is copied: with `of` the line of that key, else all.
 * @typedef {{of?: string}} Which */

/** The lines of the ledger with their parts. @param {View} view @param {Which} which */
const lines_of = (view, { of }) =>
  ledger_now(view).parts.flatMap(({ id, lines }) =>
    lines
      .filter((line) => of === undefined || line_key(id, line) === of)
      .map((line) => ({ id, line })),
  );

/** @param {View} view @param {Which} [which] @returns {string} */
export function markdown(view, which = {}) {
  if (which.of !== undefined) return line_markdown(view, which);
  const { n, report, catalog } = view;
  const now = ledger_now(view);
  const name = (/** @type {string} */ id) =>
    catalog.parts.find((part) => part.id === id)?.name ?? id;
  const row = (/** @type {string} */ what, /** @type {number} */ bytes) =>
    `| ${what} | ${n.gib(bytes)} | ${n.gb(bytes)} | ${n.count(bytes)} |`;
  return [
    `${report.model.id ?? report.model.model_type}: ${verdict_sentence(report, n)}`,
    '',
    '| part | GiB | GB | bytes |',
    '|---|--:|--:|--:|',
    ...now.parts.map(({ id, bytes }) => row(name(id), bytes)),
    row('**Allocated**', now.allocated),
    row('Reserved', now.reserved),
    '',
    ...report.assumptions.map((sentence) => `- ${sentence}`),
    '',
  ].join('\n');
}

/** @param {View} view @param {Which} which */
const line_markdown = (view, which) =>
  lines_of(view, which)
    .map(({ line: { what, where, symbols, figures, bytes, why, source } }) =>
      [
        `**${what}**${where && where !== what ? ` (\`${where}\`)` : ''}: ${view.n.bytes(bytes)}, ${view.n.both(bytes)}`,
        '',
        `- \`${symbols}\`${figures === symbols ? '' : ` = \`${figures}\``}`,
        `- alive as ${why}`,
        `- rule: ${source}`,
        '',
      ].join('\n'),
    )
    .join('\n');

/** A table for LaTeX, or one line as an equation. @param {View} view @param {Which} [which] @returns {string} */
export function latex(view, which = {}) {
  const bytes_in = (/** @type {number} */ bytes) =>
    `${String(Math.round(bytes)).replace(/\B(?=(\d{3})+$)/g, '{,}')}`;
  if (which.of !== undefined)
    return lines_of(view, which)
      .map(
        ({ line }) =>
          `% ${line.what}${line.where ? `, ${line.where}` : ''}\n\\[ ${line.latex} = ${bytes_in(line.bytes)}\\ \\text{bytes} \\]\n`,
      )
      .join('');
  const now = ledger_now(view);
  const name = (/** @type {string} */ id) =>
    view.catalog.parts.find((part) => part.id === id)?.name ?? id;
  return [
    `% ${scenario_of(view)}`,
    '\\begin{tabular}{lrr}',
    'what & working & bytes \\\\',
    '\\hline',
    ...now.parts
      .filter(({ bytes }) => bytes > 0)
      .flatMap(({ id, bytes, lines }) => [
        `\\textbf{${in_latex(name(id))}} & & ${bytes_in(bytes)} \\\\`,
        ...lines.map(
          (line) =>
            `\\quad ${in_latex(line.what)}${line.where && line.where !== line.what ? ` \\texttt{${in_latex(line.where)}}` : ''} & $${line.latex.split(' = ')[0]}$ & ${bytes_in(line.bytes)} \\\\`,
        ),
      ]),
    '\\hline',
    `\\textbf{Allocated} & & ${bytes_in(now.allocated)} \\\\`,
    `Reserved & & ${bytes_in(now.reserved)} \\\\`,
    '\\end{tabular}',
    '',
  ].join('\n');
}

/** @param {View} view */
const scenario_of = ({ report }) =>
  `${report.model.id ?? report.model.model_type}, step ${report.peak.step}`;

/** @param {unknown} value */
const csv_cell = (value) =>
  /[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value);

/** @param {View} view @param {Which} [which] @returns {string} */
export function csv(view, which = {}) {
  const rows = [['part', 'what', 'where', 'count', 'symbols', 'figures', 'bytes', 'why', 'source']];
  for (const { id, line } of lines_of(view, which)) {
    const { what, where, count, symbols, figures, bytes, why, source } = line;
    rows.push([id, what, where, String(count), symbols, figures, String(bytes), why, source]);
  }
  return rows.map((row) => row.map(csv_cell).join(',')).join('\n') + '\n';
}

/** The timeline's columns. @param {View} view @returns {string} */
export function timeline_csv({ report }) {
  const { timeline } = report;
  const ids = Object.keys(timeline.parts);
  const head = ['event', 'place', 'allocated', 'reserved', ...ids];
  const rows = timeline.event.map((event, i) => [
    event,
    timeline.places[timeline.place[i]] ?? '',
    timeline.allocated[i],
    timeline.reserved[i],
    ...ids.map((id) => timeline.parts[id][i]),
  ]);
  return [head, ...rows].map((row) => row.map(csv_cell).join(',')).join('\n') + '\n';
}

/** The whole report, or a line as it stands in it. @param {View} view @param {Which} [which] @returns {string} */
export const json = (view, which = {}) =>
  which.of === undefined
    ? JSON.stringify(view.report, null, 1)
    : lines_of(view, which)
        .map(({ id, line }) => JSON.stringify({ part: id, ...line }, null, 1))
        .join('\n');
