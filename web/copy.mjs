// The ledger as text for other places: Markdown, CSV, JSON. Bytes are exact everywhere.
import { ledger_now } from './book.mjs';
import { verdict_sentence } from './verdict.mjs';

/** @typedef {import('./view.mjs').View} View */

/** @param {View} view @returns {string} */
export function markdown(view) {
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

/** @param {unknown} value */
const csv_cell = (value) =>
  /[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value);

/** @param {View} view @returns {string} */
export function csv(view) {
  const rows = [['part', 'what', 'where', 'count', 'symbols', 'figures', 'bytes', 'why', 'source']];
  for (const { id, lines } of ledger_now(view).parts) {
    for (const line of lines) {
      const { what, where, count, symbols, figures, bytes, why, source } = line;
      rows.push([id, what, where, String(count), symbols, figures, String(bytes), why, source]);
    }
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

/** @param {View} view @returns {string} */
export const json = ({ report }) => JSON.stringify(report, null, 1);
