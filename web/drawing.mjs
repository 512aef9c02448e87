// The parts of the picture: grid, areas, marks, limits, names, peak, axis. Places are shares of the picture, so that text
// keeps its size on every screen; only the areas are stretched.
import { svg } from './dom.mjs';
import * as scale from './scale.mjs';

/** @typedef {import('./view.mjs').View} View */

/** @param {number} share */
export const percent = (share) => `${Number((100 * share).toFixed(3))}%`;

/** @type {WeakMap<import('./types.mjs').Report, Frame>} */
const frames = new WeakMap();

/** What the picture is drawn with, figured once for a report.
 * @param {View} view @returns {Frame} */
export function frame({ report, catalog }) {
  const known = frames.get(report) ?? figure(report, catalog);
  frames.set(report, known);
  return known;
}

/** @param {import('./types.mjs').Report} report @param {import('./types.mjs').Catalog} catalog */
function figure({ timeline, verdict, peak }, catalog) {
  const order = catalog.parts
    .map(({ id }) => id)
    .filter((id) => timeline.parts[id]?.some((bytes) => bytes > 0));
  const limit = verdict ? verdict.usable_bytes : null;
  const highest = Math.max(peak.reserved_bytes, peak.allocated_bytes, ...timeline.reserved);
  const { top, limit_shown } = scale.vertical(highest, limit);
  const { first, total } = scale.drawn(timeline);
  const events = timeline.event.map((event) => Math.max(0, event - first));
  const layers = scale.stack(timeline, order);
  const above = layers[layers.length - 1];
  const stairs = (/** @type {number[]} */ values) => scale.staircase(events, total, values, top);
  return {
    timeline,
    order,
    limit,
    limit_shown,
    names: name_places(order, layers, events, total, top, catalog),
    areas: layers.map((layer) => scale.area(stairs(layer))),
    rules: layers.slice(0, -1).map((layer) => scale.rule(events, total, layer, above, top)),
    reserved: stairs(timeline.reserved),
    top,
    x: (/** @type {number} */ event) => Math.max(0, event - first) / total,
    y: (/** @type {number} */ bytes) => 1 - bytes / top,
  };
}

/** Where each layer bears its name: on a wide screen, or on every screen, since names keep their size and the picture
 * does not.
 * @param {string[]} order @param {number[][]} layers @param {number[]} events @param {number} total @param {number} top
 * @param {import('./types.mjs').Catalog} catalog */
function name_places(order, layers, events, total, top, catalog) {
  return order.flatMap((id, i) => {
    const lower = layers[i - 1] ?? events.map(() => 0);
    const name = catalog.parts.find((part) => part.id === id)?.name.toLowerCase() ?? id;
    for (const [wide, high, kind] of /** @type {[number, number, string][]} */ ([
      [0.02 + 0.0185 * name.length, 0.07, 'on'],
      [0.01 + 0.0095 * name.length, 0.045, 'on roomy'],
    ])) {
      const place = scale.label_place(lower, layers[i], events, total, top, { wide, high });
      if (place) return [{ ...place, id, name, kind }];
    }
    return [];
  });
}

/** @typedef {ReturnType<typeof figure>} Frame */

/** @param {Frame} f */
export function areas({ order, areas, rules, reserved }) {
  // From the top down, each down to the floor: a lower layer covers what is not the upper one's own.
  const fills = order.map((id, i) =>
    svg('path', { class: `fill ${id}`, d: areas[i], 'data-key': id }),
  );
  const between = rules.map((path, i) =>
    svg('path', { class: 'between', d: path, 'data-key': `over ${order[i]}` }),
  );
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
    ...between,
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
    (Math.abs(y - peak_y) < 0.06 && (right ? peak_x > 0.75 : peak_x < 0.25)) ||
    (Math.abs(y - f.y(report.peak.reserved_bytes)) < 0.05 && right) ||
    y < 0.04;
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
                // A mark of a scale is no figure of the report: it says which height it stands at.
                'data-scale': bytes,
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

/** The marks that are drawn. Accumulated micro-batches alternate between forward and backward: one stretch.
 * @param {View} view @param {Frame} f */
const drawn_marks = ({ report }, f) =>
  f.timeline.marks.filter(({ phase }) => phase !== 'backward' || !(report.model.letters.A > 1));

/** @param {View} view @param {Frame} f */
export const marks = (view, f) =>
  drawn_marks(view, f)
    .slice(1)
    .map(({ event, step, phase }) => {
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
  const reserved = f.y(peak.reserved_bytes);
  const limit = f.limit !== null && f.limit_shown ? f.y(f.limit) : null;
  // Under its line where the limit is right above it.
  const under = limit !== null && reserved > limit && reserved - limit < 0.07;
  const nodes = [
    svg(
      'text',
      {
        class: 'said reserved-name',
        x: '100%',
        y: percent(reserved),
        dy: under ? 15 : -6,
        'data-key': 'reserved',
        'data-path': 'peak.reserved_bytes',
      },
      `reserved ${n.gib(peak.reserved_bytes)} GiB`,
    ),
  ];
  if (!verdict || f.limit === null) return nodes;
  const name = `${verdict.card ?? 'usable'}: ${n.gib(f.limit)} GiB`;
  // Away from the peak, whose name stands at its left or right.
  const x = f.x(peak.event) > 0.45 ? '11%' : '50%';
  const path = 'verdict.card; verdict.usable_bytes';
  const said = { class: 'said limit-name', x, 'data-key': 'limit', 'data-path': path };
  if (limit === null) {
    return [...nodes, svg('text', { ...said, y: 12 }, `↑ ${name}`)];
  }
  const at = percent(limit);
  return [
    ...nodes,
    svg('line', { class: 'limit', x1: 0, x2: '100%', y1: at, y2: at, 'data-key': 'line' }),
    svg('text', { ...said, y: at, dy: -5 }, name),
  ];
}

/** @param {Frame} f */
export const names = (f) =>
  f.names.map(({ id, name, kind, x, y }) =>
    svg(
      'text',
      { class: `${kind} ${id}`, x: percent(x), y: percent(y), dy: '.35em', 'data-key': id },
      name,
    ),
  );

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
      {
        class: `said peak${side}`,
        x,
        y,
        dx: side ? -10 : 10,
        dy: -2,
        'data-key': 'text',
        'data-path': 'peak.allocated_bytes',
      },
      `peak ${n.gib(peak.allocated_bytes)} GiB`,
    ),
  ];
}

/** Names of phases and steps, under the picture.
 * @param {View} view @param {Frame} f */
export function axis(view, f) {
  const { letters } = view.report.model;
  const stretches = drawn_marks(view, f);
  const end_of = (/** @type {number} */ i, /** @type {{event: number}[]} */ all) =>
    all[i + 1]?.event ?? f.timeline.events_total;
  const phases = stretches.map(({ event, step, phase }, i) => {
    const [from, to] = [f.x(event), f.x(end_of(i, stretches))];
    const narrow = to - from < 0.08;
    const name = phase === 'forward' && letters.A > 1 ? `${letters.A} × forward, backward` : phase;
    const x = percent(narrow ? to : (from + to) / 2);
    return svg(
      'text',
      {
        class: narrow ? 'phase end' : 'phase',
        x,
        y: '34%',
        'data-key': `${step} ${phase}`,
        'data-path': letters.A > 1 ? 'model.letters.A' : null,
      },
      name,
    );
  });
  const firsts = stretches.filter(({ phase }) => phase === 'forward');
  const steps = firsts.flatMap(({ event, step }, i) => {
    const [from, to] = [f.x(event), f.x(end_of(i, firsts))];
    const [x1, x2] = [percent(from + 0.002), percent(to - 0.002)];
    return [
      svg('line', { class: 'brace', x1, x2, y1: '52%', y2: '52%', 'data-key': `brace ${step}` }),
      svg(
        'text',
        {
          class: 'phase strong',
          x: percent((from + to) / 2),
          y: '92%',
          'data-key': `step ${step}`,
        },
        step === 1 ? 'first step' : 'second step',
      ),
    ];
  });
  return svg('svg', { class: 'axis', width: '100%', 'aria-hidden': 'true' }, ...phases, ...steps);
}
