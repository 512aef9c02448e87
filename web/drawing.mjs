// The parts of the picture: grid, areas, marks, limits, names, peak, axis. Places are shares of the picture, so that text
// keeps its size on every screen; only the areas are stretched.
import { svg } from './dom.mjs';
import * as scale from './scale.mjs';

/** @typedef {import('./view.mjs').View} View */

/** @param {number} share */
export const percent = (share) => `${Number((100 * share).toFixed(3))}%`;

/** What the picture is drawn with, figured once for all of its layers.
 * @param {View} view */
export function frame({ report, catalog }) {
  const { timeline, verdict, peak } = report;
  const order = catalog.parts
    .map(({ id }) => id)
    .filter((id) => timeline.parts[id]?.some((bytes) => bytes > 0));
  const limit = verdict ? verdict.usable_bytes : null;
  const highest = Math.max(peak.reserved_bytes, peak.allocated_bytes, ...timeline.reserved);
  const { top, limit_shown } = scale.vertical(highest, limit);
  const { first, total } = scale.drawn(timeline);
  return {
    timeline,
    events: timeline.event.map((event) => Math.max(0, event - first)),
    order,
    limit,
    limit_shown,
    top,
    total,
    layers: scale.stack(timeline, order),
    x: (/** @type {number} */ event) => Math.max(0, event - first) / total,
    y: (/** @type {number} */ bytes) => 1 - bytes / top,
  };
}

/** @typedef {ReturnType<typeof frame>} Frame */

/** @param {Frame} f */
export function areas(f) {
  const { timeline, layers, order, total, top } = f;
  const above = layers[layers.length - 1];
  // From the top down, each down to the floor: a lower layer covers what is not the upper one's own.
  const fills = order.map((id, i) => {
    const path = scale.area(scale.staircase(f.events, total, layers[i], top));
    return svg('path', { class: `fill ${id}`, d: path, 'data-key': id });
  });
  const rules = order.slice(0, -1).map((id, i) => {
    const path = scale.rule(f.events, total, layers[i], above, top);
    return svg('path', { class: 'between', d: path, 'data-key': `over ${id}` });
  });
  const reserved = scale.staircase(f.events, total, timeline.reserved, top);
  return svg(
    'svg',
    {
      'data-key': 'areas',
      viewBox: `0 0 ${scale.kWide} ${scale.kHigh}`,
      preserveAspectRatio: 'none',
      width: '100%',
      height: '100%',
    },
    svg('path', { class: 'reserved', d: reserved, 'data-key': 'reserved' }),
    ...fills.reverse(),
    ...rules,
  );
}

/** @param {View} view @param {Frame} f */
export function grid({ n, report }, f) {
  const step = scale.grid_step(f.top, 5);
  const lines = [];
  const digits = step < 2 ** 30 ? 2 : 0;
  // A tick gives way to the peak's name where that stands at the same height.
  const { x: peak_x, y: peak_y } = {
    x: f.x(report.peak.event),
    y: f.y(report.peak.allocated_bytes),
  };
  const hidden = (/** @type {number} */ y, /** @type {boolean} */ right) =>
    Math.abs(y - peak_y) < 0.06 && (right ? peak_x > 0.75 : peak_x < 0.25);
  for (let bytes = step; bytes < f.top; bytes += step) {
    const y = percent(f.y(bytes));
    const tick = (/** @type {string} */ text, /** @type {boolean} */ right) =>
      hidden(f.y(bytes), right)
        ? []
        : [
            svg(
              'text',
              {
                class: right ? 'tick end' : 'tick',
                x: right ? '100%' : 0,
                y,
                dy: -4,
                'data-key': text,
              },
              text,
            ),
          ];
    lines.push(
      svg('line', { class: 'grid', x1: 0, x2: '100%', y1: y, y2: y, 'data-key': `line ${bytes}` }),
      ...tick(`${n.gib(bytes, digits)} GiB`, false),
      ...tick(`${n.gb(bytes, 1)} GB`, true),
    );
  }
  return lines;
}

/** @param {Frame} f */
export const marks = (f) =>
  f.timeline.marks.slice(1).map(({ event, step, phase }) => {
    const x = percent(f.x(event));
    const kind = phase === 'forward' ? 'mark step' : 'mark';
    return svg('line', {
      class: kind,
      x1: x,
      x2: x,
      y1: 0,
      y2: '100%',
      'data-key': `${step} ${phase}`,
    });
  });

/** @param {View} view @param {Frame} f */
export function limits({ report, n }, f) {
  const { peak, verdict } = report;
  const y = percent(f.y(peak.reserved_bytes));
  const nodes = [
    svg(
      'text',
      { class: 'said reserved-name', x: '100%', y, dy: -6, 'data-key': 'reserved' },
      `reserved ${n.gib(peak.reserved_bytes)} GiB`,
    ),
  ];
  if (!verdict || f.limit === null) return nodes;
  const name = `${verdict.card}: ${n.gib(f.limit)} GiB`;
  if (!f.limit_shown) {
    return [
      ...nodes,
      svg('text', { class: 'said limit-name', x: '50%', y: 12, 'data-key': 'limit' }, `↑ ${name}`),
    ];
  }
  const at = percent(f.y(f.limit));
  return [
    ...nodes,
    svg('line', { class: 'limit', x1: 0, x2: '100%', y1: at, y2: at, 'data-key': 'line' }),
    svg('text', { class: 'said limit-name', x: '50%', y: at, dy: 14, 'data-key': 'limit' }, name),
  ];
}

/** @param {View} view @param {Frame} f */
export function names({ catalog }, f) {
  const floor = f.timeline.event.map(() => 0);
  return f.order.flatMap((id, i) => {
    const lower = i > 0 ? f.layers[i - 1] : floor;
    const name = catalog.parts.find((part) => part.id === id)?.name.toLowerCase() ?? id;
    // On a wide screen, or on every screen: names keep their size, the picture does not.
    for (const [room, kind] of /** @type {const} */ ([
      [{ wide: 0.02 + 0.0185 * name.length, high: 0.07 }, 'on'],
      [{ wide: 0.01 + 0.0095 * name.length, high: 0.045 }, 'on roomy'],
    ])) {
      const place = scale.label_place(lower, f.layers[i], f.events, f.total, f.top, room);
      if (place) {
        return [
          svg(
            'text',
            {
              class: `${kind} ${id}`,
              x: percent(place.x),
              y: percent(place.y),
              dy: '.35em',
              'data-key': id,
            },
            name,
          ),
        ];
      }
    }
    return [];
  });
}

/** @param {View} view @param {Frame} f */
export function peak({ report, n }, f) {
  const { peak } = report;
  const share = f.x(peak.event);
  const [x, y] = [percent(share), percent(f.y(peak.allocated_bytes))];
  const side = share > 0.5 ? ' end' : '';
  return [
    svg('circle', { class: 'dot', cx: x, cy: y, r: 4, 'data-key': 'dot' }),
    svg(
      'text',
      { class: `said peak${side}`, x, y, dx: side ? -10 : 10, dy: -2, 'data-key': 'text' },
      `peak ${n.gib(peak.allocated_bytes)} GiB`,
    ),
  ];
}

/** Names of phases and steps, under the picture.
 * @param {Frame} f */
export function axis(f) {
  const { marks } = f.timeline;
  const texts = marks.flatMap(({ event, step, phase }, i) => {
    const end = marks[i + 1]?.event ?? f.timeline.events_total;
    const [from, to] = [f.x(event), f.x(end)];
    const narrow = to - from < 0.08;
    const short = phase === 'step' ? 'step' : phase;
    return [
      svg(
        'text',
        {
          class: narrow ? 'phase end' : 'phase',
          x: percent(narrow ? to : (from + to) / 2),
          y: 14,
          'data-key': `${step} ${phase}`,
        },
        short,
      ),
    ];
  });
  const steps = marks
    .filter(({ phase }) => phase === 'forward')
    .map(({ event, step }, i, all) => {
      const end = all[i + 1]?.event ?? f.timeline.events_total;
      const [from, to] = [f.x(event), f.x(end)];
      return [
        svg('line', {
          class: 'brace',
          x1: percent(from + 0.002),
          x2: percent(to - 0.002),
          y1: 21,
          y2: 21,
          'data-key': `brace ${step}`,
        }),
        svg(
          'text',
          { class: 'phase strong', x: percent((from + to) / 2), y: 36, 'data-key': `step ${step}` },
          step === 1 ? 'first step' : step === 2 ? 'second step' : `step ${step}`,
        ),
      ];
    });
  return svg(
    'svg',
    { class: 'axis', width: '100%', height: 40, 'aria-hidden': 'true' },
    ...texts,
    ...steps,
  );
}
