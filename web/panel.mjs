// Every control, grouped as people think, each with what its other choices would need.
import { cost } from './choices.mjs';
import { kGroups } from './controls.mjs';
import { h } from './dom.mjs';
import { size_field, slider } from './fields.mjs';
import { problem_text } from './problems.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./controls.mjs').Control} Control */

/** @param {View} view @returns {Element} */
export function panel(view) {
  return h(
    'div',
    { class: 'panel' },
    ...kGroups.map((group) =>
      h(
        'fieldset',
        { 'data-key': group },
        h('legend', {}, group),
        view.controls
          .filter((control) => control.group === group)
          .map((control) => row(view, control)),
      ),
    ),
  );
}

/** @param {View} view @param {Control} control */
function row(view, control) {
  return h(
    'div',
    { class: `row is-${control.kind}`, 'data-key': control.id },
    h('label', { for: `field-${control.id}` }, control.label),
    input(view, control),
    h('p', { class: 'help', id: `help-${control.id}` }, control.help, toggle_cost(view, control)),
    problem_text(view, control),
  );
}

/** @param {View} view @param {Control} control */
function input(view, control) {
  if (control.kind === 'number') return slider(view, control, 'panel');
  if (control.kind === 'size') return size_field(view, control, 'panel');
  const chosen = control.key(view.full);
  if (control.kind === 'switch') {
    return h('input', {
      type: 'checkbox',
      role: 'switch',
      id: `field-${control.id}`,
      'data-switch': control.id,
      'data-key': 'switch',
      'aria-describedby': `help-${control.id}`,
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
          option.group !== undefined && option.note
            ? `${option.label} · ${option.note}`
            : option.label,
        ),
      );
  return h(
    'select',
    {
      id: `field-${control.id}`,
      'data-select': control.id,
      'data-key': 'select',
      'aria-describedby': `help-${control.id}`,
    },
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

/** For a control with two sides, what the other one would need.
 * @param {View} view @param {Control} control */
function toggle_cost(view, control) {
  const options = control.options ?? [];
  if (control.kind === 'long' || options.length < 2) return null;
  const chosen = control.key(view.full);
  const other = options.find((option) => option.key !== chosen);
  if (!other) return null;
  return h('span', { class: 'other' }, ` ${other.label}: `, cost(view, other.patch));
}
