// How far it goes: the largest that fits, the peak as one letter grows, and micro-batch against length.
import { caption, card_line, curve_csv, moment, sample_of, whole_curve } from './curve.mjs';
import { h, svg } from './dom.mjs';
import { size } from './number.mjs';
import { is_object } from './scenario.mjs';
import { largest, largest_model, limit_of, smallest_card, value_of } from './solve.mjs';
import { table } from './table.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {{id: string, name: string, path: string, stops: number[]}} Letter what can be varied */

// Vocabularies of GPT-2, Llama 2 and 3, Qwen, Gemma 2 and 3.
const kVocabularies = [32000, 50257, 128256, 151936, 256000, 262144];
const kLayers = [1, 2, 4, 8, 12, 16, 24, 32, 40, 48, 64, 80];
// The most that is tried for a number: beyond it nothing is trained.
const kMost = /** @type {{[id: string]: number}} */ ({ batch: 4096, length: 2097152, rank: 65536 });

/** @param {View} view @returns {Letter[]} */
export function letters(view) {
  const numbers = view.controls
    .filter(
      ({ id, stops, when }) =>
        stops && ['batch', 'length', 'rank'].includes(id) && when?.(view.full) !== false,
    )
    .map(({ id, label, paths, stops }) => ({
      id,
      name: label.toLowerCase(),
      path: paths[0],
      stops: stops ?? [],
    }));
  return [
    ...numbers,
    { id: 'V', name: 'vocabulary', path: 'config.vocab_size', stops: kVocabularies },
    { id: 'L', name: 'layers', path: 'config.num_hidden_layers', stops: kLayers },
  ];
}

/** @param {View} view @returns {Element} */
export function sweep(view) {
  const all = letters(view);
  const letter = all.find(({ id }) => id === view.ui.letter) ?? all[0];
  if (view.problems.length > 0) return h('p', { class: 'dim' }, kUncounted);
  // What is being drawn is counted first.
  const high = highest(view, letter);
  if (view.ui.curve && high !== null) sample_of(view, letter, high);
  return h(
    'div',
    { class: 'sweep' },
    solved(view, all),
    h(
      'p',
      { class: 'vary' },
      h('label', { for: 'letter' }, 'The peak by'),
      ' ',
      h(
        'select',
        { id: 'letter', 'data-letter': true, 'data-key': 'letter' },
        ...all.map(({ id, name }) => h('option', { value: id, selected: id === letter.id }, name)),
      ),
    ),
    curve(view, letter),
    map(view, all),
    h(
      'p',
      { class: 'copies', 'data-key': 'map-copies' },
      h('button', { type: 'button', class: 'link', 'data-act': 'map' }, 'Copy the map as CSV'),
    ),
  );
}

const kUncounted = 'To be seen once the scenario can be counted.';

// --- The largest that fits ---

/** @param {View} view @param {Letter[]} all */
function solved(view, all) {
  const { report, n } = view;
  const { verdict } = report;
  const card = smallest_card(view);
  const smallest = h(
    'li',
    { 'data-key': 'card' },
    'Smallest card that is enough: ',
    card === undefined
      ? '…'
      : card === null
        ? 'none of those known'
        : pick(card.card.name, 'card', card.card.id),
  );
  if (!verdict) return h('ul', { class: 'solved' }, smallest);
  const model = largest_model(view);
  return h(
    'ul',
    { class: 'solved' },
    ...all
      .filter(({ id }) => id in kMost)
      .map(({ id, name, path }) => {
        const found = largest(view, path, Math.min(kMost[id], limit_of(view, path)));
        return h(
          'li',
          { 'data-key': id },
          `Largest ${name} that fits: `,
          found.surely !== null
            ? pick(n.count(found.surely), path, found.surely)
            : found.known
              ? 'none'
              : '…',
          found.perhaps !== null &&
            found.perhaps !== found.surely && [
              '; perhaps up to ',
              pick(n.count(found.perhaps), path, found.perhaps),
            ],
        );
      }),
    h(
      'li',
      { 'data-key': 'model' },
      'Largest model that fits: ',
      model === undefined
        ? '…'
        : model === null
          ? 'none of the presets'
          : pick(model.model.id.split('/').pop() ?? '', 'model', model.model.id),
    ),
    smallest,
  );
}

/** A figure that can be taken. @param {string} text @param {string} path @param {number | string} value */
const pick = (text, path, value) =>
  h(
    'button',
    { type: 'button', class: 'link', 'data-take': path, 'data-value': JSON.stringify(value) },
    text,
  );

// --- The peak by one letter ---

/** @param {View} view @param {Letter} letter */
export function points(view, { id, path, stops }) {
  // What is not said is the model's own.
  const now = value_of(view, path) || view.report.model.letters[id];
  const values = stops.includes(now) || !Number.isFinite(now) ? stops : [...stops, now];
  return values
    .sort((a, b) => a - b)
    .map((value) => ({ value, now: value === now, cost: view.cost({ [path]: value }) }));
}

/** Those that are drawn: all that the card could hold twice over, and the first beyond.
 * @template {{cost: NonNullable<import('./view.mjs').Cost>}} T @param {T[]} known @param {number | null} usable bytes
 * @returns {T[]} */
export function near(known, usable) {
  if (usable === null) return known;
  const beyond = known.findIndex(({ cost }) => cost.peak > 2 * usable);
  return beyond < 0 ? known : known.slice(0, Math.max(beyond + 1, 3));
}

/** The largest value that a curve is drawn to; null where values are names of sizes, or none is known yet.
 * @param {View} view @param {Letter} letter */
function highest(view, letter) {
  if (!(letter.id in kMost)) return null;
  const known = points(view, letter).flatMap(({ value, now, cost }) =>
    cost ? [{ value, now, cost }] : [],
  );
  const last = near(known, view.report.verdict?.usable_bytes ?? null).at(-1)?.value ?? 0;
  return last > letter.stops[0] + 1 ? last : null;
}

/** @param {Letter} letter @param {boolean} whole the curve is drawn */
function copies(letter, whole) {
  const chart = whole ? '#curve' : '#bars';
  /** @param {string} act @param {string} name */
  const button = (act, name) => [
    h(
      'button',
      { type: 'button', class: 'link', 'data-act': act, 'data-chart': chart, 'data-key': act },
      name,
    ),
    ' ',
  ];
  return h(
    'p',
    { class: 'copies', 'data-key': 'copies' },
    letter.id in kMost && button('curve', whole ? 'Show the stops again' : 'Draw the whole curve'),
    'Copy: ',
    button('sweep', 'CSV'),
    button('chart-svg', 'SVG'),
    button('chart-png', 'PNG'),
  );
}

/** @param {View} view @param {Letter} letter */
function curve(view, letter) {
  const { n, report } = view;
  const all = points(view, letter);
  const done = all.filter(({ cost }) => cost !== undefined).length;
  const known = all.flatMap(({ value, now, cost }) => (cost ? [{ value, now, cost }] : []));
  const drawn = near(known, report.verdict?.usable_bytes ?? null);
  const high = highest(view, letter);
  const whole = view.ui.curve && high !== null;
  return h(
    'div',
    { 'data-key': `curve ${letter.id}` },
    h(
      'p',
      { class: 'dim', role: 'status' },
      done < all.length ? `${n.count(done)} of ${n.count(all.length)} counted…` : '',
    ),
    drawn.length > 0 && !whole && bars(view, letter, drawn),
    whole && high !== null && whole_curve(view, letter, high),
    drawn.length > 0 && copies(letter, whole),
    drawn.length > 0 &&
      h(
        'details',
        { class: 'figures', 'data-key': 'figures' },
        h('summary', {}, 'The same figures as a table'),
        figures(view, letter, known),
      ),
    known.length === 0 &&
      done === all.length &&
      h('p', { class: 'dim' }, `The ${letter.name} of this model cannot be varied here.`),
  );
}

/** @typedef {{value: number, now: boolean, cost: NonNullable<import('./view.mjs').Cost>}} Point */

/** The parts stacked at every stop, and the card's line. Places are shares of the whole, so that text keeps its size.
 * @param {View} view @param {Letter} letter @param {Point[]} drawn */
function bars(view, letter, drawn) {
  const { n, report, catalog } = view;
  const usable = report.verdict?.usable_bytes ?? null;
  const top = 1.1 * Math.max(usable ?? 0, ...drawn.map(({ cost }) => cost.peak));
  const share = (/** @type {number} */ bytes) => Number(((100 * bytes) / top).toFixed(3));
  const wide = 100 / drawn.length;
  const order = catalog.parts.map(({ id }) => id);
  const stacks = drawn.flatMap(({ cost, value }, i) => {
    let below = 0;
    return order
      .filter((id) => cost.parts[id] > 0)
      .map((id) => {
        const from = below;
        below += cost.parts[id];
        return svg('rect', {
          class: `fill ${id}`,
          'data-key': `${value} ${id}`,
          x: `${(i + 0.1) * wide}%`,
          width: `${0.8 * wide}%`,
          y: `${100 - share(below)}%`,
          height: `${share(below) - share(from)}%`,
        });
      });
  });
  const line = usable === null ? null : `${100 - share(usable)}%`;
  const said = drawn.map(({ value, cost }) => `${n.count(value)}: ${n.gib(cost.peak)} GiB`);
  return h(
    'figure',
    { class: 'bars', 'data-key': 'bars' },
    svg(
      'svg',
      {
        id: 'bars',
        width: '100%',
        height: '100%',
        role: 'img',
        'data-caption': caption(
          report,
          letter,
          drawn.map(({ value }) => n.count(value)).join(' · '),
        ),
        'aria-labelledby': 'bars-text',
      },
      svg('title', { id: 'bars-text' }, `The peak by ${letter.name}: ${said.join(', ')}.`),
      svg('g', { 'data-key': 'bars' }, ...stacks),
      ...card_line(report, line, n),
    ),
    h(
      'div',
      { class: 'stops' },
      ...drawn.map(({ value, now, cost }) =>
        h(
          'button',
          {
            type: 'button',
            class: 'link',
            'data-key': `${value}`,
            'data-take': letter.path,
            'data-value': JSON.stringify(value),
            'aria-current': now ? 'true' : null,
            title: `${n.exact(cost.peak)}; ${moment(cost.when)}`,
          },
          n.count(value),
        ),
      ),
    ),
  );
}

/** @param {View} view @param {Letter} letter @param {Point[]} known */
function figures({ n, report }, letter, known) {
  const judged = report.verdict !== null;
  const heads = [letter.name, 'peak', 'reserved', 'at its worst in', ...(judged ? ['fits'] : [])];
  return table(
    `The peak by ${letter.name}`,
    heads,
    known.map(({ value, now, cost }, i) =>
      h(
        'tr',
        { 'data-key': `${value}`, 'aria-current': now ? 'true' : null },
        h('th', { scope: 'row' }, pick(n.count(value), letter.path, value)),
        h('td', {}, size(n, cost.peak)),
        h('td', {}, size(n, cost.reserved)),
        h(
          'td',
          { class: i > 0 && known[i - 1].cost.when !== cost.when ? 'moved' : null },
          moment(cost.when),
        ),
        judged && h('td', {}, cost.fits ?? ''),
      ),
    ),
  );
}

/** The curve as text, bytes exact. @param {View} view @returns {string} */
export function sweep_csv(view) {
  const all = letters(view);
  const letter = all.find(({ id }) => id === view.ui.letter) ?? all[0];
  const high = highest(view, letter);
  if (view.ui.curve && high !== null) return curve_csv(view, letter, high);
  const parts = view.catalog.parts.map(({ id }) => id);
  const head = [letter.path, 'peak_bytes', 'reserved_bytes', 'when', 'fits', ...parts];
  const rows = points(view, letter).flatMap(({ value, cost }) =>
    cost
      ? [
          [
            value,
            cost.peak,
            cost.reserved,
            cost.when,
            cost.fits ?? '',
            ...parts.map((id) => cost.parts[id] ?? 0),
          ],
        ]
      : [],
  );
  return `${[head, ...rows].map((row) => row.join(',')).join('\n')}\n`;
}

// --- Micro-batch against length ---

const kBatches = [1, 2, 4, 8, 16, 32];
const kLengths = [512, 1024, 2048, 4096, 8192, 16384, 32768];

/** The map as text, bytes exact. @param {View} view @returns {string} */
export function map_csv(view) {
  const all = letters(view);
  const [batch, length] = ['batch', 'length'].map((id) => all.find((one) => one.id === id));
  if (!batch || !length) return '';
  const rows = kBatches.flatMap((sequences) =>
    kLengths.flatMap((tokens) => {
      const cost = view.cost({ [batch.path]: sequences, [length.path]: tokens });
      return cost
        ? [[sequences, tokens, cost.peak, cost.reserved, cost.when, cost.fits ?? '']]
        : [];
    }),
  );
  const head = [batch.path, length.path, 'peak_bytes', 'reserved_bytes', 'when', 'fits'];
  return `${[head, ...rows].map((row) => row.join(',')).join('\n')}\n`;
}

/** @param {View} view @param {Letter[]} all */
function map(view, all) {
  const { n } = view;
  const batch = all.find(({ id }) => id === 'batch');
  const length = all.find(({ id }) => id === 'length');
  // With rewards the length follows from prompt and answer.
  if (!batch || !length || is_object(view.full.rl)) return null;
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-labelledby': 'map-title' },
    h(
      'table',
      { class: 'map' },
      h('caption', { id: 'map-title' }, 'Peak in GiB: micro-batch down, length across'),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          h('td', {}),
          ...kLengths.map((tokens) => h('th', { scope: 'col' }, n.count(tokens))),
        ),
      ),
      h(
        'tbody',
        {},
        ...kBatches.map((sequences) =>
          h(
            'tr',
            { 'data-key': `${sequences}` },
            h('th', { scope: 'row' }, n.count(sequences)),
            ...kLengths.map((tokens) => {
              const cost = view.cost({ [batch.path]: sequences, [length.path]: tokens });
              const fits = cost?.fits ?? 'open';
              return h(
                'td',
                { class: `cell ${fits}`, 'data-key': `${tokens}` },
                cost
                  ? h(
                      'data',
                      { value: cost.peak, title: n.exact(cost.peak) },
                      n.gib(cost.peak, 1),
                      h('span', { class: 'hidden' }, fits === 'open' ? '' : ` fits: ${fits}`),
                    )
                  : cost === null
                    ? '—'
                    : '…',
              );
            }),
          ),
        ),
      ),
    ),
  );
}
