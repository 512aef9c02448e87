// What a card's memory is made of: the parts, what is reserved beyond them, the context, others, what is to spare; each with
// its place in the report.

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./types.mjs').Report} Report */

/** @typedef {{id: string, name: string, low: number, high: number, path: string}} Segment sizes in bytes */

/** Reserved memory as a card may show it. @param {Report} report */
export const reserved_of = ({ peak, reserved }) =>
  reserved?.on_card ?? { low: peak.reserved_bytes, high: peak.reserved_bytes };

/** @param {Report} report */
export const reserved_path = ({ reserved }) =>
  reserved ? 'reserved.on_card' : 'peak.reserved_bytes';

/** What the card's memory is made of, from left to right. Ranges add up to ranges.
 * @param {View} view @returns {Segment[]} */
export function segments({ report, catalog }) {
  const { peak, context, verdict: found } = report;
  const parts = report.parts.map(({ id, bytes }) => ({
    id,
    name: catalog.parts.find((part) => part.id === id)?.name.toLowerCase() ?? id,
    low: bytes,
    high: bytes,
    path: `parts[id=${id}].bytes`,
  }));
  const reserved = reserved_of(report);
  const needed = found?.needed_bytes ?? peak.process_bytes;
  return [
    ...parts,
    {
      id: 'unused',
      name: 'reserved, unused',
      low: reserved.low - peak.allocated_bytes,
      high: reserved.high - peak.allocated_bytes,
      path: `${reserved_path(report)} - peak.allocated_bytes`,
    },
    {
      id: 'context',
      name: 'CUDA context',
      low: context.low,
      high: context.high,
      path: 'context',
    },
    {
      id: 'others',
      name: 'other processes',
      low: needed.low - peak.process_bytes.low,
      high: needed.high - peak.process_bytes.high,
      path: 'verdict.needed_bytes - peak.process_bytes',
    },
    ...(found && found.spare_bytes.high > 0
      ? [
          {
            id: 'spare',
            name: 'to spare',
            low: Math.max(0, found.spare_bytes.low),
            high: found.spare_bytes.high,
            path: 'verdict.spare_bytes',
          },
        ]
      : []),
  ].filter(({ high }) => high > 0);
}
