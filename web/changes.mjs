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
];
// More than these nobody reads.
const kMost = 12;
// Bytes below which a change does not show in two decimals, and does not help.
const kSeen = kGiB / 200;

/** @param {View} view @returns {Change[]} */
export function changes(view) {
  const { full, controls } = view;
  return kTried
    .flatMap(([id, key]) => {
      const control = controls.find((row) => row.id === id);
      if (!control || control.when?.(full) === false) return [];
      if (key === 'half') return halved(view, control);
      const option = control.options?.find((one) => one.key === key);
      if (!option || control.key(full) === key) return [];
      const patch = patch_of(option, full);
      return [{ key: `${id} ${key}`, label: label_of(id, option.label, patch, view), patch }];
    })
    .slice(0, kMost);
}

/** @param {string} id @param {string} label @param {Patch} patch @param {View} view */
function label_of(id, label, patch, { full, n }) {
  const text = label.charAt(0).toUpperCase() + label.slice(1).replace(/:.*$/, '');
  if (id === 'attention') return `${text} attention`;
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
  if (view.problems.length > 0) {
    return h('p', { class: 'dim' }, 'To be seen once the scenario can be counted.');
  }
  return h(
    'ol',
    { class: known ? 'ladder' : 'ladder waiting' },
    ...rows
      .filter(({ cost }) => cost !== null)
      .map(({ key, label, cost }) =>
        rung(view, key, label, ui.ladder[key] ?? null, now, cost?.fits ?? null),
      ),
  );
}

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

/** @param {View} view @param {string} key @param {string} label @param {{peak: number, why: string} | null} found
 * @param {number} now bytes @param {string | null} fits */
function rung(view, key, label, found, now, fits) {
  const { n, report } = view;
  const peak = found?.peak ?? null;
  const less = peak !== null && now - peak >= kSeen;
  const opens = fits === 'yes' && report.verdict !== null && report.verdict.fits !== 'yes';
  return h(
    'li',
    { 'data-key': key, class: peak === null ? 'waiting' : less ? 'less' : 'more' },
    h('button', { type: 'button', class: 'link', 'data-change': key }, label),
    opens && h('span', { class: 'fits' }, ' fits'),
    !less && found && h('span', { class: 'why' }, ` ${found.why}`),
    peak === null
      ? h('span', { class: 'peak' }, '…')
      : h(
          'data',
          { class: 'peak', value: peak, title: n.exact(peak) },
          `${n.gib(peak)} GiB `,
          h('span', { class: 'gb' }, `${n.gb(peak)} GB`),
        ),
    h('span', { class: 'difference' }, peak === null ? '' : n.signed_gib(peak - now)),
  );
}
