// Change one thing: every single change that might help, each with its new peak, best first.
import { h } from './dom.mjs';
import { kGiB } from './number.mjs';
import { get } from './scenario.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./scenario.mjs').Patch} Patch */
/** @typedef {{key: string, label: string, patch: Patch}} Change */

// Controls whose other choices are tried, in the order in which a person with too little memory looks at them.
const kTried = [
  'dtype',
  'autocast',
  'batch',
  'length',
  'checkpointing',
  'attention',
  'optimizer',
  'outputs',
];
const kSkipped = new Set(['dtype float16', 'autocast fp16', 'checkpointing reentrant']);

/** @param {View} view @returns {Change[]} */
export function changes(view) {
  return view.controls
    .filter(({ id }) => kTried.includes(id))
    .flatMap((control) => {
      const chosen = control.key(view.full);
      if (control.kind === 'number') return halved(view, control);
      return (control.options ?? [])
        .filter(({ key }) => key !== chosen && !kSkipped.has(`${control.id} ${key}`))
        .map(({ key, label, patch }) => ({
          key: `${control.id} ${key}`,
          label: upper(control.id === 'attention' ? `${label} attention` : label),
          patch,
        }));
    });
}

/** @param {View} view @param {import('./controls.mjs').Control} control @returns {Change[]} */
function halved(view, control) {
  const value = get(view.full, control.paths[0]);
  if (typeof value !== 'number' || value < 2) return [];
  const half = Math.floor(value / 2);
  return [
    {
      key: `${control.id} half`,
      label:
        control.id === 'length'
          ? `Half the length: ${view.n.count(half)} tokens`
          : `Half the micro-batch: ${view.n.count(half)}`,
      patch: { [control.paths[0]]: half },
    },
  ];
}

/** @param {string} text */
const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** @param {View} view @returns {Element} */
export function ladder(view) {
  const { ui, report } = view;
  const now = report.peak.allocated_bytes;
  const rows = changes(view).map((change) => ({ ...change, cost: view.cost(change.patch) }));
  for (const { key, cost } of rows) if (cost) ui.ladder[key] = cost.peak;
  // While new figures are found out the last ones stand, dimmed, so that nothing jumps.
  const known = rows.every(({ cost }) => cost !== undefined);
  rows.sort((a, b) => (ui.ladder[a.key] ?? Infinity) - (ui.ladder[b.key] ?? Infinity));
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

/** @param {View} view @param {string} key @param {string} label @param {number | null} peak bytes
 * @param {number} now bytes @param {string | null} fits */
function rung(view, key, label, peak, now, fits) {
  const { n, report } = view;
  // A change that does not show in two decimals does not help.
  const less = peak !== null && now - peak >= kGiB / 200;
  const opens = fits === 'yes' && report.verdict !== null && report.verdict.fits !== 'yes';
  return h(
    'li',
    { 'data-key': key, class: peak === null ? 'waiting' : less ? 'less' : 'more' },
    h('button', { type: 'button', class: 'link', 'data-change': key }, label),
    opens && h('span', { class: 'fits' }, ' fits'),
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
