// The peak as one number grows, drawn over two hundred values of it. Only as many are counted as the curve needs: tensors
// grow evenly with it, so that the peak, the largest of all moments, is convex, and a convex curve that meets its chord in the
// middle is straight. What the allocator adds by rounding is not: it steps, and the view says so.
import { h, svg } from './dom.mjs';
import { size } from './number.mjs';
import { table } from './table.mjs';
import { phase_name } from './verdict.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./sweep.mjs').Letter} Letter */
/** @typedef {NonNullable<import('./view.mjs').Cost>} Cost */
/** One value of the curve; `cost` is null where it lies on a straight piece between two that were counted.
 * @typedef {{value: number, peak: number, parts: {[id: string]: number}, cost: Cost | null}} Point */
/** @typedef {{done: boolean, counted: number, points: Point[], miss: number}} Sample */

export const kPoints = 200;
// Counted at first, evenly; pieces that are not straight are halved.
const kFirstPoints = 9;
// Share of the highest peak by which a middle may miss its chord: less than a pixel.
const kStraight = 1 / 1000;

/** Values from low to high, evenly: whole, and of lengths multiples of eight, which kernels are made for.
 * @param {number} low @param {number} high @param {number} [points] */
export function values_between(low, high, points = kPoints) {
  const step = (high - low) / (points - 1);
  const unit = step >= 8 ? 8 : 1;
  const all = Array.from({ length: points }, (_, i) =>
    i === points - 1 ? high : Math.max(low, Math.round((low + i * step) / unit) * unit),
  );
  return [...new Set(all)];
}

/** Counts what the curve needs. Values that cannot be counted are left out.
 * @param {number[]} values ascending @param {(value: number) => import('./view.mjs').Cost | undefined} cost undefined while it
 * is not known @returns {Sample} */
export function sampled(values, cost) {
  /** @type {Map<number, import('./view.mjs').Cost | undefined>} */
  const asked = new Map();
  const at = (/** @type {number} */ i) => {
    if (!asked.has(i)) asked.set(i, cost(values[i]));
    return asked.get(i);
  };
  const last = values.length - 1;
  const first = [
    ...new Set(
      Array.from({ length: kFirstPoints }, (_, i) => Math.round((i * last) / (kFirstPoints - 1))),
    ),
  ];
  for (const i of first) at(i);
  const highest = () => Math.max(...[...asked.values()].map((one) => one?.peak ?? 0));
  const top = highest();
  let done = true;
  let miss = 0;
  const open = first.slice(1).map((b, i) => [first[i], b]);
  for (let piece = open.pop(); piece; piece = open.pop()) {
    const [a, b] = piece;
    const [from, to] = [at(a), at(b)];
    const middle = (a + b) >> 1;
    const mid = b - a < 2 ? null : at(middle);
    if (from === undefined || to === undefined || mid === undefined) done = false;
    else if (b - a >= 2 && (from || to || mid)) {
      const share = (values[middle] - values[a]) / (values[b] - values[a]);
      const off = from && to && mid ? distance(from, to, mid, share) : Infinity;
      if (off <= kStraight * top) miss = Math.max(miss, off);
      else open.push([a, middle], [middle, b]);
    }
  }
  return { done, miss, ...filled(values, asked) };
}

/** How far a cost lies from the straight line between two, in bytes; without end where its moment is another.
 * @param {Cost} from @param {Cost} to @param {Cost} mid @param {number} share */
function distance(from, to, mid, share) {
  if (from.when !== to.when || from.when !== mid.when) return Infinity;
  const ids = Object.keys({ ...from.parts, ...to.parts, ...mid.parts });
  const part = (/** @type {Cost} */ one, /** @type {string} */ id) => one.parts[id] ?? 0;
  return Math.max(
    ...ids.map((id) =>
      Math.abs(part(mid, id) - part(from, id) - share * (part(to, id) - part(from, id))),
    ),
  );
}

/** All values, those between counted ones by the straight line. @param {number[]} values
 * @param {Map<number, import('./view.mjs').Cost | undefined>} asked */
function filled(values, asked) {
  const known = [...asked]
    .flatMap(([i, cost]) => (cost ? [{ i, cost }] : []))
    .sort((a, b) => a.i - b.i);
  /** @type {Point[]} */
  const points = [];
  known.forEach(({ i, cost }, k) => {
    points.push({ value: values[i], peak: cost.peak, parts: cost.parts, cost });
    const next = known[k + 1];
    // Where a value between them could not be counted, nothing is drawn as if it could.
    for (let j = i + 1; next && j < next.i; j++) {
      if (asked.has(j)) continue;
      const share = (values[j] - values[i]) / (values[next.i] - values[i]);
      const mix = (/** @type {number} */ a, /** @type {number} */ b) =>
        Math.round(a + share * (b - a));
      const ids = Object.keys({ ...cost.parts, ...next.cost.parts });
      points.push({
        value: values[j],
        peak: mix(cost.peak, next.cost.peak),
        parts: Object.fromEntries(
          ids.map((id) => [id, mix(cost.parts[id] ?? 0, next.cost.parts[id] ?? 0)]),
        ),
        cost: null,
      });
    }
  });
  return { points, counted: known.length };
}

/** Where the peak's moment changes: the first counted value of every moment but the first.
 * @param {Point[]} points @returns {{value: number, before: number, from: string, to: string}[]} */
export function moves(points) {
  const counted = points.flatMap(({ value, cost }) => (cost ? [{ value, when: cost.when }] : []));
  return counted.slice(1).flatMap(({ value, when }, i) => {
    const { value: before, when: was } = counted[i];
    return when === was ? [] : [{ value, before, from: was, to: when }];
  });
}

/** "2 backward" as words. @param {string} when */
export function moment(when) {
  const [step, phase] = when.split(' ');
  return `step ${step}, ${phase_name(phase)}`;
}

/** The curve's sample in a view. @param {View} view @param {Letter} letter @param {number} high */
export const sample_of = (view, letter, high) =>
  sampled(values_between(letter.stops[0], high), (value) => view.cost({ [letter.path]: value }));

/** @param {View} view @param {Letter} letter @param {number} high the largest value */
export function whole_curve(view, letter, high) {
  const { n } = view;
  const sample = sample_of(view, letter, high);
  const { points, done, counted, miss } = sample;
  const total = values_between(letter.stops[0], high).length;
  const moved = moves(points);
  return h(
    'div',
    { 'data-key': 'whole' },
    h(
      'p',
      { class: 'dim', role: 'status' },
      done
        ? `${n.count(counted)} of ${n.count(total)} values were counted. Between them the curve is drawn straight: every middle lay within ${n.both(miss)} of the line. What the allocator adds by rounding can step in between.`
        : `${n.count(counted)} values counted… `,
      !done &&
        h(
          'button',
          { type: 'button', class: 'link', 'data-act': 'curve', 'data-key': 'stop' },
          'Stop',
        ),
    ),
    points.length > 1 && drawing(view, letter, points, moved),
    done &&
      h(
        'ul',
        { class: 'moves' },
        ...moved.map(({ value, before, from, to }) =>
          h(
            'li',
            { 'data-key': `${value}` },
            `From ${n.count(value)} on`,
            before + 1 < value && ` (at ${n.count(before)} not yet)`,
            ` the peak is in ${moment(to)}; before, it is in ${moment(from)}.`,
          ),
        ),
        moved.length === 0 &&
          points.some(({ cost }) => cost) &&
          h('li', {}, `Over all of it the peak is in ${moment(points[0].cost?.when ?? '')}.`),
      ),
    done &&
      h(
        'details',
        { class: 'figures', 'data-key': 'counted' },
        h('summary', {}, 'The counted values as a table'),
        table(
          `The peak by ${letter.name}, counted values`,
          [letter.name, 'peak', 'reserved', 'at its worst in'],
          points.flatMap(({ value, cost }) =>
            cost
              ? [
                  h(
                    'tr',
                    { 'data-key': `${value}` },
                    h('th', { scope: 'row' }, n.count(value)),
                    h('td', {}, size(n, cost.peak)),
                    h('td', {}, size(n, cost.reserved)),
                    h('td', {}, moment(cost.when)),
                  ),
                ]
              : [],
          ),
        ),
      ),
  );
}

/** The card's line over a chart, with its name; nothing where the card is not known.
 * @param {import('./types.mjs').Report} report @param {string | null} line how far down, in per cent @param {import('./number.mjs').Numbers} n */
export const card_line = ({ verdict }, line, n) =>
  line === null
    ? []
    : [
        svg('line', { class: 'limit', x1: 0, x2: '100%', y1: line, y2: line, 'data-key': 'limit' }),
        svg(
          'text',
          { class: 'said limit-name', x: 0, y: line, dy: -5, 'data-key': 'name' },
          `${verdict?.card ?? 'usable'}: ${n.gib(verdict?.usable_bytes ?? 0)} GiB`,
        ),
      ];

/** What a chart says under itself where it stands alone. @param {View['report']} report @param {Letter} letter @param {string} values */
export const caption = ({ model }, letter, values) =>
  `${(model.id ?? model.model_type).split('/').pop()}: peak memory by ${letter.name}, ${values}`;

const kBox = 1000;

/** The parts stacked over the values, the card's line, and where the moment changes.
 * @param {View} view @param {Letter} letter @param {Point[]} points @param {ReturnType<typeof moves>} moved */
function drawing({ n, report, catalog }, letter, points, moved) {
  const usable = report.verdict?.usable_bytes ?? null;
  const top = 1.1 * Math.max(usable ?? 0, ...points.map(({ peak }) => peak));
  const [low, high] = [points[0].value, points[points.length - 1].value];
  const x = (/** @type {number} */ value) =>
    Number(((kBox * (value - low)) / (high - low)).toFixed(1));
  const y = (/** @type {number} */ bytes) => Number((kBox - (kBox * bytes) / top).toFixed(1));
  const below = points.map(() => 0);
  const areas = catalog.parts.map(({ id }) => {
    const floor = [...below];
    points.forEach(({ parts }, i) => (below[i] += parts[id] ?? 0));
    const up = points.map(({ value }, i) => `${x(value)} ${y(below[i])}`);
    const back = points.map(({ value }, i) => `${x(value)} ${y(floor[i])}`).reverse();
    return svg('path', {
      class: `fill ${id}`,
      d: `M${[...up, ...back].join('L')}Z`,
      'data-key': id,
    });
  });
  const line = usable === null ? null : `${(y(usable) / kBox) * 100}%`;
  const now = points.filter(({ cost }) => cost);
  const said = now.map(({ value, peak }) => `${n.count(value)}: ${n.gib(peak)} GiB`);
  return h(
    'figure',
    { class: 'bars', 'data-key': 'curve' },
    svg(
      'svg',
      {
        id: 'curve',
        width: '100%',
        height: '100%',
        role: 'img',
        'data-caption': caption(report, letter, [low, high].map(n.count).join(' to ')),
        'aria-labelledby': 'curve-text',
      },
      svg('title', { id: 'curve-text' }, `The peak by ${letter.name}: ${said.join(', ')}.`),
      svg(
        'svg',
        {
          viewBox: `0 0 ${kBox} ${kBox}`,
          preserveAspectRatio: 'none',
          width: '100%',
          height: '100%',
          'data-key': 'areas',
        },
        ...areas,
      ),
      ...moved.map(({ value }) =>
        svg('line', {
          class: 'mark',
          x1: `${x(value) / 10}%`,
          x2: `${x(value) / 10}%`,
          y1: 0,
          y2: '100%',
          'data-key': `move ${value}`,
        }),
      ),
      ...card_line(report, line, n),
      svg(
        'text',
        {
          class: 'said end peak',
          x: '100%',
          y: `${y(points[points.length - 1].peak) / 10}%`,
          dy: -5,
          'data-key': 'end',
        },
        `${n.gib(points[points.length - 1].peak)} GiB`,
      ),
    ),
    h(
      'div',
      { class: 'ends' },
      ...[0, 1, 2, 3, 4].map((i) =>
        h('span', { 'data-key': `${i}` }, n.count(Math.round(low + (i * (high - low)) / 4))),
      ),
    ),
  );
}

/** Every value as text; what was not counted says so. @param {View} view @param {Letter} letter @param {number} high */
export function curve_csv(view, letter, high) {
  const ids = view.catalog.parts.map(({ id }) => id);
  const head = [letter.path, 'peak_bytes', 'counted', 'reserved_bytes', 'when', ...ids];
  const rows = sample_of(view, letter, high).points.map(({ value, peak, parts, cost }) => [
    value,
    peak,
    cost !== null,
    cost?.reserved ?? '',
    cost?.when ?? '',
    ...ids.map((id) => parts[id] ?? 0),
  ]);
  return `${[head, ...rows].map((row) => row.join(',')).join('\n')}\n`;
}
