// From bytes and events to places in the picture. Places are whole units of a box that is stretched to fit, so that
// paths stay short; nothing here makes nodes.

/** @typedef {import('./types.mjs').Timeline} Timeline */

export const kWide = 4000;
export const kHigh = 1000;

/** The events that are drawn: the steps. Loading the model comes before the first of them.
 * @param {Timeline} timeline */
export function drawn({ marks, events_total }) {
  const first = marks[0]?.event ?? 0;
  return { first, total: Math.max(1, events_total - first) };
}

/** A round distance between gridlines, in bytes: 1, 2 or 5 times a power of two GiB below one, of ten above.
 * @param {number} top bytes @param {number} lines about how many lines are wanted */
export function grid_step(top, lines) {
  const wanted = top / lines / 2 ** 30;
  if (wanted < 1) return 2 ** Math.ceil(Math.log2(wanted)) * 2 ** 30;
  const power = 10 ** Math.floor(Math.log10(wanted));
  const factor = [1, 2, 5, 10].find((f) => f * power >= wanted) ?? 10;
  return factor * power * 2 ** 30;
}

/** The top of the picture: room above the peak, and the card's limit where it is near enough to be shown without
 * flattening what matters.
 * @param {number} highest bytes of what is drawn @param {number | null} limit bytes
 * @returns {{top: number, limit_shown: boolean}} */
export function vertical(highest, limit) {
  const limit_shown = limit !== null && limit <= highest * 2.3;
  return {
    top: Math.max(highest * 1.12, limit_shown && limit !== null ? limit * 1.06 : 0) || 1,
    limit_shown,
  };
}

/** Heights of the stacked parts: for each part, the top of its layer at every point.
 * @param {Timeline} timeline @param {string[]} order parts from the bottom up @returns {number[][]} */
export function stack(timeline, order) {
  let below = timeline.event.map(() => 0);
  return order.map((id) => {
    const own = timeline.parts[id] ?? [];
    below = below.map((bytes, i) => bytes + (own[i] ?? 0));
    return below;
  });
}

/** A staircase: every value holds until the next point, as memory does. Equal neighbours cost nothing.
 * @param {number[]} events @param {number} total events in all @param {number[]} values bytes @param {number} top bytes */
export function staircase(events, total, values, top) {
  const x_of = (/** @type {number} */ event) => Math.round((kWide * event) / Math.max(1, total));
  const y_of = (/** @type {number} */ bytes) => kHigh - Math.round((kHigh * bytes) / top);
  let x = 0;
  let y = y_of(values[0] ?? 0);
  let path = `M0 ${y}`;
  for (let i = 1; i < events.length; i++) {
    const next = y_of(values[i]);
    if (next === y) continue;
    const to = x_of(events[i]);
    path += (to > x ? `h${to - x}` : '') + `v${next - y}`;
    x = to;
    y = next;
  }
  return `${path}H${kWide}`;
}

/** A staircase closed down to the floor. @param {string} stairs */
export const area = (stairs) => `${stairs}V${kHigh}H0z`;

/** The rule between a layer and what lies on it: only the flat pieces, and only where something lies on it. Upright pieces
 * would eat peaks that are thinner than the rule.
 * @param {number[]} events ascending @param {number} total @param {number[]} values the layer's top
 * @param {number[]} above the top of everything @param {number} top bytes */
export function rule(events, total, values, above, top) {
  const x_of = (/** @type {number} */ event) => Math.round((kWide * event) / Math.max(1, total));
  const y_of = (/** @type {number} */ bytes) => kHigh - Math.round((kHigh * bytes) / top);
  let path = '';
  let [x, y] = [NaN, NaN];
  for (let i = 0; i < events.length; i++) {
    if (above[i] - values[i] < top / 250) continue;
    const [from, to] = [x_of(events[i]), x_of(events[i + 1] ?? total)];
    const level = y_of(values[i]);
    if (to === from) continue;
    path +=
      from === x && level === y
        ? ''
        : Number.isNaN(x)
          ? `M${from} ${level}`
          : `m${from - x} ${level - y}`;
    path += `h${to - from}`;
    [x, y] = [to, level];
  }
  return path.replace(
    /h\d+(?:h\d+)+/g,
    (run) => `h${run.match(/\d+/g)?.reduce((sum, part) => sum + Number(part), 0)}`,
  );
}

/** Index of the last point at or before an event.
 * @param {number[]} events ascending @param {number} event */
export function point_at(events, event) {
  let low = 0;
  let high = events.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (events[middle] <= event) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Index of the point that shows the most memory.
 * @param {Timeline} timeline @param {number} event the peak's event, which is always among the points */
export const peak_point = (timeline, event) => point_at(timeline.event, event);

/** Where a layer is thick enough, for long enough, to bear its name.
 * @param {number[]} lower the layer's floor @param {number[]} upper its top, bytes
 * @param {number[]} events @param {number} total @param {number} top bytes
 * @param {{wide: number, high: number}} room shares of the picture that a name needs
 * @returns {{x: number, y: number} | null} shares of the picture */
export function label_place(lower, upper, events, total, top, room) {
  let best = null;
  let thickest = room.high * top;
  for (let start = 0; start < events.length; start++) {
    const until = events[start] + room.wide * total;
    if (until > total) break;
    let floor = lower[start];
    let ceiling = upper[start];
    for (let i = start; i < events.length && events[i] < until; i++) {
      if (lower[i] > floor) floor = lower[i];
      if (upper[i] < ceiling) ceiling = upper[i];
      if (ceiling - floor <= thickest) break;
    }
    if (ceiling - floor > thickest) {
      thickest = ceiling - floor;
      best = {
        x: (events[start] + (room.wide * total) / 2) / total,
        y: 1 - (floor + ceiling) / 2 / top,
      };
    }
  }
  return best;
}
