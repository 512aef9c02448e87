// Change one thing: every single change that might help, each with its new peak, best first.
import { patch_of } from './choose.mjs';
import { h } from './dom.mjs';
import { kGiB } from './number.mjs';
import { get } from './scenario.mjs';
import { phase_name } from './verdict.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./view.mjs').Cost} Cost */
/** @typedef {import('./scenario.mjs').Patch} Patch */
/** @typedef {{key: string, label: string, patch: Patch}} Change */

// What is tried, as control and option, in the order in which a person with too little memory looks at it. Of a number
// the half is tried.
const kTried = [
  ['dtype', 'bfloat16'],
  ['autocast', 'no'],
  ['batch', 'half'],
  ['length', 'half'],
  ['checkpointing', 'on'],
  ['outputs', 'false'],
  ['liger', 'true'],
  ['attention', 'sdpa'],
  ['mask', 'false'],
  ['method', 'lora'],
  ['method', 'qlora'],
  ['targets', 'attention'],
  ['rank', 'half'],
  ['dropout', 'false'],
  ['wide', 'false'],
  ['double', 'true'],
  ['prepare', 'false'],
  ['optimizer', 'adamw_torch_fused'],
  ['optimizer', 'adamw_8bit'],
  ['optimizer', 'adafactor'],
  ['optimizer', 'sgd'],
  ['parallel', 'fsdp2'],
  ['divided', 'true'],
  ['views', 'true'],
  ['offload', 'true'],
  ['model', 'smaller'],
  ['card', 'bigger'],
];
// Of changes that do not help, no more than make so many with those that do.
const kMost = 12;
// Bytes below which a change does not show in two decimals, and does not help.
const kSeen = kGiB / 200;

/** @param {View} view @returns {Change[]} */
export function changes(view) {
  const { full, controls } = view;
  return kTried.flatMap(([id, key]) => {
    const control = controls.find((row) => row.id === id);
    if (!control || control.when?.(full) === false) return [];
    if (key === 'half') return halved(view, control);
    if (key === 'smaller') return smaller_sibling(view);
    if (key === 'bigger') return bigger_card(view);
    const option = control.options?.find((one) => one.key === key);
    if (!option || control.key(full) === key) return [];
    const patch = patch_of(option, full);
    return [{ key: `${id} ${key}`, label: label_of(id, option.label, patch, view), patch }];
  });
}

/** The next smaller preset of the same family, or of a release with the same vocabulary. @param {View} view @returns {Change[]} */
function smaller_sibling({ full, catalog }) {
  const own = catalog.models.find(({ id }) => id === full.model);
  if (!own) return [];
  const [next] = catalog.models
    .filter((one) => related(one, own) && one.parameters < 0.9 * own.parameters)
    .sort((a, b) => b.parameters - a.parameters);
  if (!next) return [];
  const label = `A smaller sibling: ${next.id.split('/').pop()}`;
  return [{ key: 'model smaller', label, patch: { model: next.id, config: undefined } }];
}

/** "Llama 3.1" and "Llama 3.2" are. @param {import('./types.mjs').Preset} a @param {import('./types.mjs').Preset} b */
const related = (a, b) =>
  a.family === b.family ||
  (a.model_type === b.model_type &&
    a.letters.V === b.letters.V &&
    a.family.split(' ')[0] === b.family.split(' ')[0]);

/** Where it does not fit: the smallest card of the same maker whose usable memory is enough. @param {View} view @returns {Change[]} */
function bigger_card({ full, report, catalog }) {
  const { verdict } = report;
  if (!verdict || verdict.fits === 'yes') return [];
  const free = 1 - Number(get(full, 'device.headroom') ?? 0);
  const own = catalog.cards.find(({ id, name }) => [id, name].includes(String(full.card)));
  const [next] = catalog.cards
    .filter(
      ({ vendor, usable_bytes }) =>
        vendor === (own?.vendor ?? 'NVIDIA') &&
        (usable_bytes ?? 0) * free > verdict.needed_bytes.high,
    )
    .sort((a, b) => (a.usable_bytes ?? 0) - (b.usable_bytes ?? 0));
  if (!next) return [];
  const patch = { card: next.id, 'device.total_bytes': undefined };
  return [{ key: 'card bigger', label: `A bigger card: ${next.name}`, patch }];
}

/** @param {string} id @param {string} label @param {Patch} patch @param {View} view */
function label_of(id, label, patch, { full, n }) {
  const text = label.charAt(0).toUpperCase() + label.slice(1).replace(/:.*$/, '');
  if (id === 'attention') return `${text} attention`;
  if (id === 'parallel') {
    const { world_size } = /** @type {{world_size: number}} */ (patch.parallel);
    return `Sharded over ${n.count(world_size)} cards (${text})`;
  }
  if (id === 'targets') return `Adapters on ${label}`;
  if (id !== 'method') return text;
  const { r } = /** @type {{r: unknown}} */ (patch.peft ?? full.peft);
  return `${text}, rank ${n.count(Number(r))}`;
}

const kHalves = /** @type {{[id: string]: string}} */ ({
  batch: 'micro-batch',
  length: 'length',
  rank: 'rank',
});

/** @param {View} view @param {import('./controls.mjs').Control} control @returns {Change[]} */
function halved(view, control) {
  const value = get(view.full, control.paths[0]);
  if (typeof value !== 'number' || value < 2) return [];
  const half = Math.floor(value / 2);
  return [
    {
      key: `${control.id} half`,
      label: `Half the ${kHalves[control.id]}: ${view.n.count(half)}${control.id === 'length' ? ' tokens' : ''}`,
      patch: { [control.paths[0]]: half },
    },
  ];
}

/** @param {View} view @returns {Element} */
export function ladder(view) {
  const { ui, report } = view;
  const now = report.peak.allocated_bytes;
  const rows = changes(view).map((change) => ({ ...change, cost: view.cost(change.patch) }));
  for (const { key, cost } of rows)
    if (cost) ui.ladder[key] = { peak: cost.peak, why: why(view, cost) };
  // While new figures are found out the last ones stand, dimmed, so that nothing jumps.
  const known = rows.every(({ cost }) => cost !== undefined);
  // Best first; those that do not help follow in the order in which they are tried.
  const place = (/** @type {string} */ key) =>
    Math.min(ui.ladder[key]?.peak ?? now, Math.max(0, now - kSeen));
  rows.sort((a, b) => place(a.key) - place(b.key));
  const helps = rows.filter(
    ({ key, cost }) => place(key) < now - kSeen || opens(view, cost),
  ).length;
  if (view.problems.length > 0) {
    return h('p', { class: 'dim' }, 'To be seen once the scenario can be counted.');
  }
  return h(
    'ol',
    { class: known ? 'ladder' : 'ladder waiting' },
    ...rows
      .filter(({ cost }) => cost !== null)
      .slice(0, Math.max(kMost, helps))
      .map((row) => rung(view, row, ui.ladder[row.key] ?? null, now, opens(view, row.cost))),
  );
}

/** Whether a change makes a run fit that does not. @param {View} view @param {Cost | undefined} cost */
const opens = ({ report }, cost) =>
  cost?.fits === 'yes' && report.verdict !== null && report.verdict.fits !== 'yes';

/** Why a change does not help; empty where it does. @param {View} view @param {NonNullable<Cost>} cost */
function why({ report, catalog, n }, { peak, parts }) {
  const more = peak - report.peak.allocated_bytes;
  if (more <= -kSeen) return '';
  if (more < kSeen) return `changes nothing at the peak, in the ${phase_name(report.peak.phase)}`;
  const grown = report.parts
    .map(({ id, bytes }) => ({ id, by: (parts[id] ?? 0) - bytes }))
    .reduce((most, part) => (part.by > most.by ? part : most));
  const name = catalog.parts.find(({ id }) => id === grown.id)?.name ?? grown.id;
  return `${name} ${n.signed_gib(grown.by)} GiB`;
}

/** @param {View} view @param {Change} change @param {{peak: number, why: string} | null} found
 * @param {number} now bytes @param {boolean} opened it fits with this change only */
function rung(view, { key, label, patch }, found, now, opened) {
  const { n } = view;
  const peak = found?.peak ?? null;
  const less = peak !== null && now - peak >= kSeen;
  return h(
    'li',
    {
      'data-key': key,
      'data-of': JSON.stringify(patch, (_, value) => value ?? null),
      class: peak === null ? 'waiting' : less || opened ? 'less' : 'more',
    },
    h(
      'button',
      { type: 'button', class: 'link', 'data-change': key, 'data-path': 'change; scenario.peft' },
      label,
    ),
    opened && h('span', { class: 'fits' }, ' fits'),
    !less &&
      !opened &&
      found &&
      h('span', { class: 'why', 'data-path': 'parts - now.parts' }, ` ${found.why}`),
    peak === null
      ? h('span', { class: 'peak' }, '…')
      : h(
          'data',
          { class: 'peak', value: peak, title: n.exact(peak), 'data-path': 'peak.allocated_bytes' },
          `${n.gib(peak)} GiB `,
          h('span', { class: 'gb' }, `${n.gb(peak)} GB`),
        ),
    h(
      'span',
      { class: 'difference', 'data-path': 'peak.allocated_bytes - now.peak.allocated_bytes' },
      peak === null ? '' : n.signed_gib(peak - now),
    ),
  );
}
