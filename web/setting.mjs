// One setting with its input and what its other choices would need, for the panel and for what opens under a word.
import { patch_of } from './choose.mjs';
import { h } from './dom.mjs';
import { field_id, size_field, slider } from './fields.mjs';
import { problem_text } from './problems.mjs';
import { get } from './scenario.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./controls.mjs').Control} Control */

/** @param {View} view @param {Control} control @param {'panel' | 'also'} where */
export function setting(view, control, where) {
  const id = field_id(control, where) ?? '';
  const help = `help-${id}`;
  return h(
    'div',
    {
      class: `row is-${control.kind}`,
      'data-key': control.id,
      title: where === 'also' ? control.help : null,
    },
    control.kind === 'many'
      ? h('span', { id }, control.label)
      : h('label', { for: id }, control.label),
    input(view, control, where, id, help),
    h(
      'p',
      { class: 'help', id: help },
      where === 'panel' && control.help,
      h('span', { class: 'others' }, others(view, control)),
    ),
    problem_text(view, control),
  );
}

/** @param {View} view @param {Control} control @param {'panel' | 'also'} where @param {string} id @param {string} help */
function input(view, control, where, id, help) {
  if (control.kind === 'number') return slider(view, control, where);
  if (control.kind === 'size') return size_field(view, control, where);
  if (control.kind === 'many') return ticks(view, control, id);
  const chosen = control.key(view.full);
  if (control.kind === 'switch') {
    return h('input', {
      type: 'checkbox',
      role: 'switch',
      id,
      'data-switch': control.id,
      'data-key': 'switch',
      'aria-describedby': help,
      checked: chosen === 'true',
    });
  }
  const options = control.options ?? [];
  const groups = [...new Set(options.map((option) => option.group ?? ''))];
  const known = options.some((option) => option.key === chosen);
  /** @param {string} group */
  const of_group = (group) =>
    options
      .filter((option) => (option.group ?? '') === group)
      .map((option) =>
        h(
          'option',
          { value: option.key, selected: option.key === chosen },
          option.group !== undefined && option.note && !control.costed
            ? `${option.label} · ${option.note}`
            : option.label,
        ),
      );
  return h(
    'select',
    { id, 'data-select': control.id, 'data-key': 'select', 'aria-describedby': help },
    !known &&
      h(
        'option',
        { value: '', selected: true },
        chosen === 'pasted' ? 'a pasted config.json' : chosen === 'typed' ? 'typed below' : chosen,
      ),
    groups.map((group) =>
      group === ''
        ? of_group(group)
        : [h('optgroup', { label: group, 'data-key': group }, of_group(group))],
    ),
  );
}

/** Names to tick. @param {View} view @param {Control} control @param {string} id */
function ticks(view, control, id) {
  return h(
    'div',
    { class: 'ticks', role: 'group', 'aria-labelledby': id },
    ...(control.items?.(view.full) ?? []).map(({ name, on }) =>
      h(
        'label',
        { 'data-key': name },
        h('input', { type: 'checkbox', 'data-tick': control.id, 'data-name': name, checked: on }),
        name,
      ),
    ),
  );
}

/** What a change would need, once it is known.
 * @param {View} view @param {import('./scenario.mjs').Patch} patch */
export function cost(view, patch) {
  const known = view.cost(patch);
  if (known === undefined) return h('span', { class: 'cost' });
  if (known === null) return h('span', { class: 'cost dim' }, '—');
  return h(
    'data',
    { class: 'cost', value: known.peak, title: view.n.exact(known.peak) },
    `${view.n.gib(known.peak)} GiB`,
  );
}

// Of longer lists the costs stand beside the choices, once they are opened.
const kMost = 4;

/** What the other choices would need, where they are few; of a number, the stop below it.
 * @param {View} view @param {Control} control */
function others(view, control) {
  // What is served changes nothing in the training, whose peaks these are.
  if (control.group === 'serving') return null;
  const chosen = control.key(view.full);
  /** @param {string} label @param {import('./scenario.mjs').Patch} patch */
  const other = (label, patch) =>
    h('span', { class: 'other', 'data-key': `other ${label}` }, ` ${label}: `, cost(view, patch));
  if (control.stops) {
    const value = Number(chosen);
    const below = control.stops.filter((one) => one < value).pop();
    const stop = below ?? control.stops.find((one) => one > value);
    if (stop === undefined || get(view.full, control.paths[0]) === undefined) return null;
    return other(`at ${view.n.count(stop)}`, { [control.paths[0]]: stop });
  }
  const options = control.options ?? [];
  if (control.kind === 'long' || options.length > kMost) return null;
  return options
    .filter(({ key }) => key !== chosen)
    .map((option) => other(option.label, patch_of(option, view.full)));
}
