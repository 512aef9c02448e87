// Two changes at once, where no single one makes a run fit: the combinations that do, the lowest peak first.
import { changes } from './changes.mjs';
import { h } from './dom.mjs';
import { change, complete, defaults_of } from './scenario.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./changes.mjs').Change} Change */

// Changes that are combined: the most helpful ones. The others would make pairs that nobody needs.
const kCombined = 10;
const kShown = 5;
// What makes another run of it, or another machine: those stand among the single changes.
const kApart = ['model', 'card'];

/** The setting that a change belongs to. @param {Change} change */
const setting_of = ({ key }) => key.split(' ')[0];

/** The second change as it is once the first was made: what a patch says may depend on the rest.
 * @param {View} view @param {Change} first @param {string} key of the second @returns {import('./scenario.mjs').Patch | null} */
export function both(view, first, key) {
  const { catalog } = view;
  const scenario = change(catalog, view.scenario, first.patch);
  const full = complete(defaults_of(catalog, scenario), scenario, catalog.defaults_within);
  const second = changes({ ...view, scenario, full }).find((one) => one.key === key);
  return second ? { ...first.patch, ...second.patch } : null;
}

/** @typedef {{first: Change, second: Change, patch: import('./scenario.mjs').Patch}} Pair */

/** The pairs that are worth a look, or null while the single changes are not all known.
 * @param {View} view @returns {Pair[] | null} */
export function pairs(view) {
  const single = changes(view).filter((one) => !kApart.includes(setting_of(one)));
  const costs = new Map(single.map((one) => [one.key, view.cost(one.patch)]));
  if ([...costs.values()].includes(undefined)) return null;
  if ([...costs.values()].some((cost) => cost?.fits === 'yes')) return [];
  const peak = (/** @type {Change} */ one) => costs.get(one.key)?.peak ?? Infinity;
  const best = single
    .filter((one) => peak(one) <= view.report.peak.allocated_bytes)
    .sort((a, b) => peak(a) - peak(b))
    .slice(0, kCombined);
  return best.flatMap((first, i) =>
    best.slice(i + 1).flatMap((second) => {
      if (setting_of(first) === setting_of(second)) return [];
      const patch = both(view, first, second.key);
      return patch ? [{ first, second, patch }] : [];
    }),
  );
}

/** Shown where the card is too small and no single change is enough. @param {View} view @returns {Element | null} */
export function two_steps(view) {
  const { n, report } = view;
  if (!report.verdict || report.verdict.fits === 'yes' || view.problems.length > 0) return null;
  const list = pairs(view);
  if (list === null || list.length === 0) return null;
  const found = list.flatMap((pair) => {
    const cost = view.cost(pair.patch);
    return cost === undefined ? [] : [{ ...pair, cost }];
  });
  const done = found.length === list.length;
  const counted = found.flatMap(({ cost, ...pair }) => (cost ? [{ ...pair, cost }] : []));
  const fit = counted.filter(({ cost }) => cost.fits === 'yes');
  const shown = (fit.length > 0 ? fit : counted)
    .sort((a, b) => a.cost.peak - b.cost.peak)
    .slice(0, fit.length > 0 ? kShown : 1);
  return h(
    'div',
    { class: 'pairs' },
    h('h3', {}, 'Two changes together'),
    h(
      'p',
      { class: 'dim', role: 'status' },
      !done
        ? `${n.count(found.length)} of ${n.count(list.length)} pairs counted…`
        : fit.length > 0
          ? `No single change is enough. Of ${n.count(list.length)} pairs ${n.count(fit.length)} fit:`
          : `No single change is enough, and no pair of them either. The lowest of ${n.count(list.length)}:`,
    ),
    done &&
      h(
        'ol',
        { class: 'ladder' },
        ...shown.map(({ first, second, cost }) =>
          h(
            'li',
            { 'data-key': `${first.key}+${second.key}`, class: 'less' },
            h(
              'button',
              { type: 'button', class: 'link', 'data-pair': `${first.key}+${second.key}` },
              `${first.label}, and ${second.label.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())}`,
            ),
            cost.fits === 'yes' && h('span', { class: 'fits' }, 'fits'),
            h(
              'data',
              { class: 'peak', value: cost.peak, title: n.exact(cost.peak) },
              `${n.gib(cost.peak)} GiB `,
              h('span', { class: 'gb' }, `${n.gb(cost.peak)} GB`),
            ),
            h(
              'span',
              { class: 'difference' },
              n.signed_gib(cost.peak - report.peak.allocated_bytes),
            ),
          ),
        ),
      ),
  );
}

/** The patch behind a row that was clicked. @param {View} view @param {string} keys */
export function pair_patch(view, keys) {
  const [first, second] = keys.split('+');
  const one = changes(view).find(({ key }) => key === first);
  return one ? both(view, one, second) : null;
}
