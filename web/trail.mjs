// The trail: what was changed since the page was opened, one thing at a time, each step with what it did to the peak.
import { label_of } from './choose.mjs';
import { h } from './dom.mjs';
import { complete, defaults_of, get } from './scenario.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./view.mjs').State} State */
/** @typedef {import('./types.mjs').Scenario} Scenario */
/** @typedef {import('./controls.mjs').Control} Control */
/** A setting that differs: its control's id and label, and both choices. @typedef {{id: string, label: string, from: string, to: string}} Difference */
/** One step of the trail, from one state to a later one; `at` is the index of the state that it led to.
 * @typedef {{differences: Difference[], before: State, after: State, at: number}} Step */

/** @typedef {Pick<View, 'controls' | 'catalog' | 'n'>} Known */

/** What tells scenarios apart, as people name it: a row for each setting, with what every scenario has of it.
 * @param {Known} view @param {Scenario[]} scenarios as chosen
 * @returns {{id: string, label: string, said: string[]}[]} */
export function differing({ controls, catalog, n }, scenarios) {
  const full = scenarios.map((one) =>
    complete(defaults_of(catalog, one), one, catalog.defaults_within),
  );
  const found = controls.flatMap((control) => {
    const shown = full.map((one) => control.when?.(one) !== false);
    const said = full.map((one, i) => (shown[i] ? in_words(control, one, n) : 'none'));
    const marks = full.map((one, i) =>
      control.kind === 'size'
        ? said[i]
        : JSON.stringify([control.key(one), control.id === 'model' ? config_of(one) : null]),
    );
    if (marks.every((mark) => mark === marks[0]) || !shown.includes(true)) return [];
    const { id, label } = control;
    return [{ row: { id, label, said }, follows: shown.includes(false) }];
  });
  // What is there in some of them only, such as a rank, follows from another choice.
  const chosen = found.filter(({ follows }) => !follows);
  return (chosen.length > 0 ? chosen : found).map(({ row }) => row);
}

/** What is chosen of a setting. @param {Control} control @param {Scenario} full @param {View['n']} n */
function in_words(control, full, n) {
  const value = get(full, control.paths[0] ?? '');
  if (control.kind === 'size')
    return typeof value === 'number' && value > 0 ? `${n.gib(value)} GiB` : 'none';
  if (control.kind === 'number' && typeof value === 'number') return n.count(value);
  const label = control.id === 'model' ? control.key(full) : label_of(control, full);
  return (
    String(label ?? '')
      .split('/')
      .pop()
      ?.replace(/:.*$/, '') || 'none'
  );
}

/** The same of two. @param {Known} view @param {Scenario} a @param {Scenario} b @returns {Difference[]} */
export const differences = (view, a, b) =>
  differing(view, [a, b]).map(({ id, label, said: [from, to] }) => ({ id, label, from, to }));

/** What of a model is not its name. @param {Scenario} full */
const config_of = ({ model, config }) => [typeof model === 'string' ? '' : model, config];

// Differences that have been found, by the later state: the trail is shown anew with every change.
/** @type {WeakMap<State, {before: State, own: Difference[]}>} */
const kFound = new WeakMap();

/** @param {Known} view @param {State} before @param {State} after */
function between(view, before, after) {
  const known = kFound.get(after);
  if (known?.before === before) return known.own;
  const own = differences(view, before.scenario, after.scenario);
  kFound.set(after, { before, own });
  return own;
}

/** The states as steps. Several changes of one setting in a row are one step, as a slider makes many; what was changed and
 * changed back is none.
 * @param {Known} view @param {State[]} states @returns {Step[]} */
export function steps(view, states) {
  /** @type {Step[]} */
  const made = [];
  for (let at = 1; at < states.length; at++) {
    const [before, after] = [states[at - 1], states[at]];
    const own = between(view, before, after);
    if (own.length === 0) continue;
    const last = made.at(-1);
    const goes_on =
      last &&
      last.differences.length === 1 &&
      own.length === 1 &&
      last.differences[0].id === own[0].id;
    if (!goes_on) made.push({ differences: own, before: last?.after ?? before, after, at });
    else if (own[0].to === last.differences[0].from) made.pop();
    else
      Object.assign(last, { differences: [{ ...last.differences[0], to: own[0].to }], after, at });
  }
  return made;
}

/** The states that are left once a step, and all after it, are taken back. @param {State[]} states @param {Step} step */
export const before = (states, step) => states.slice(0, states.indexOf(step.before) + 1);

// More settings than these differ only where another scenario was opened.
const kNamed = 3;

/** A step in words. @param {Step} step @param {View['n']} n */
export function sentence({ differences: own }, n) {
  if (own.length === 1) {
    const [{ label, from, to }] = own;
    return `${label}: ${from} → ${to}`;
  }
  const names = own.slice(0, kNamed).map(({ label, to }) => `${label}: ${to}`);
  const more = own.length - names.length;
  return `${names.join('; ')}${more > 0 ? `; and ${n.count(more)} more` : ''}`;
}

/** @param {View} view @returns {Element | null} */
export function trail(view) {
  const { n, ui } = view;
  const list = steps(view, ui.trail);
  if (list.length === 0) return null;
  return h(
    'div',
    { class: 'trail' },
    h(
      'div',
      { class: 'head' },
      h('h3', { id: 'trail-title' }, 'What was changed'),
      h('button', { type: 'button', class: 'link', 'data-act': 'undo' }, 'Undo the last'),
    ),
    h(
      'ol',
      { class: 'ladder', 'aria-labelledby': 'trail-title' },
      ...list.map((step, i) => {
        const { before: from, after: to } = step;
        const by = from.peak === null || to.peak === null ? null : to.peak - from.peak;
        const said = sentence(step, n);
        return h(
          'li',
          { 'data-key': `${i}`, class: by !== null && by < 0 ? 'less' : 'more' },
          h('span', {}, said),
          to.fits && from.fits !== to.fits && h('span', { class: 'fits' }, kFits[to.fits]),
          to.peak === null
            ? h('span', { class: 'peak' }, to.counted ? 'not counted' : '…')
            : h(
                'data',
                { class: 'peak', value: to.peak, title: n.exact(to.peak) },
                `${n.gib(to.peak)} GiB`,
              ),
          h('span', { class: 'difference' }, by === null ? '' : n.signed_gib(by)),
          h(
            'button',
            {
              type: 'button',
              class: 'link back',
              'data-back': `${i}`,
              'aria-label': `Go back to before: ${said}`,
            },
            i === list.length - 1 ? 'take it back' : 'back to before this',
          ),
        );
      }),
    ),
  );
}

const kFits = /** @type {{[fits: string]: string}} */ ({
  yes: 'now it fits',
  close: 'now it may fit',
  no: 'no longer fits',
});
