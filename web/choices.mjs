// The choices of one control: a list (searched where it is long), a slider with a field, or a size with its unit.
import { patch_of } from './choose.mjs';
import { h } from './dom.mjs';
import { size_field, slider } from './fields.mjs';
import { problem_text } from './problems.mjs';
import { cost, setting } from './setting.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./controls.mjs').Control} Control */
/** @typedef {import('./controls.mjs').Option} Option */

/** What opens under the sentence.
 * @param {View} view @returns {Element | null} */
export function popover(view) {
  const control = view.controls.find(({ id }) => id === view.ui.open);
  if (!control) return null;
  return h(
    'div',
    {
      id: 'pop',
      class: `pop is-${control.kind}${control.costed ? ' costed' : ''}`,
      role: 'dialog',
      'aria-label': control.label,
      'data-key': control.id,
    },
    h('p', { class: 'help' }, control.help),
    choices(view, control),
    also(view, control),
    control.pastes === true && paste_field(view),
    problem_text(view, control),
  );
}

/** @param {View} view @param {Control} control */
function choices(view, control) {
  if (control.kind === 'number') return [slider(view, control), neighbours(view, control)];
  if (control.kind === 'size') return size_field(view, control, 'pop');
  return list(view, control);
}

/** The options that match what was typed: every word of it somewhere in the option.
 * @param {Control} control @param {string} query @returns {Option[]} */
export function matching(control, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return (control.options ?? []).filter((option) => {
    const text = `${option.label} ${option.find ?? ''} ${option.note ?? ''}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** @param {View} view @param {Control} control */
function list(view, control) {
  const chosen = control.key(view.full);
  const options = matching(control, view.ui.query);
  const active = view.ui.active ?? (options.some(({ key }) => key === chosen) ? chosen : null);
  const active_id = active !== null ? option_id(control, active) : null;
  const searched = control.kind === 'long';
  const groups = [...new Set(options.map((option) => option.group ?? ''))];
  const box = h(
    'div',
    {
      id: 'options',
      class: 'options',
      role: 'listbox',
      'aria-label': control.label,
      tabindex: searched ? -1 : 0,
      'data-list': control.id,
      'aria-activedescendant': searched ? null : active_id,
    },
    groups.map((group) => {
      const rows = options
        .filter((option) => (option.group ?? '') === group)
        .map((option) => row(view, control, option, option.key === chosen, option.key === active));
      if (group === '') return rows;
      return [
        h(
          'div',
          { role: 'group', 'aria-label': group, 'data-key': `group ${group}` },
          h('div', { class: 'group', 'aria-hidden': 'true' }, group),
          rows,
        ),
      ];
    }),
  );
  if (!searched) return box;
  return [
    h('input', {
      type: 'text',
      class: 'search',
      role: 'combobox',
      autocomplete: 'off',
      spellcheck: 'false',
      'data-search': control.id,
      'data-key': 'search',
      placeholder: control.costed ? 'name or bytes' : 'name, family or size',
      'aria-label': `Search: ${control.label}`,
      'aria-expanded': 'true',
      'aria-controls': 'options',
      'aria-autocomplete': 'list',
      'aria-activedescendant': active_id,
      value: view.ui.query,
    }),
    options.length > 0 ? box : h('p', { class: 'dim' }, 'Nothing bears that name.'),
  ];
}

/** @param {Control} control @param {string} key */
export const option_id = (control, key) =>
  `option-${control.id}-${(control.options ?? []).findIndex((option) => option.key === key)}`;

/** @param {View} view @param {Control} control @param {Option} option @param {boolean} chosen
 * @param {boolean} active */
function row(view, control, option, chosen, active) {
  return h(
    'div',
    {
      id: option_id(control, option.key),
      class: active ? 'option active' : 'option',
      role: 'option',
      'aria-selected': String(chosen),
      'data-option': option.key,
      'data-key': option.key,
    },
    h('span', { class: 'label' }, option.label),
    option.note !== undefined && h('span', { class: 'note' }, option.note),
    (control.kind === 'choice' || control.costed) && cost(view, patch_of(option, view.full)),
  );
}

/** The stops on both sides of a number, each with what it would need.
 * @param {View} view @param {Control} control */
function neighbours(view, control) {
  const value = Number(control.key(view.full));
  const stops = control.stops ?? [];
  const below = stops.filter((stop) => stop < value).slice(-2);
  const above = stops.filter((stop) => stop > value).slice(0, 2);
  const shown = [...below, ...(Number.isFinite(value) ? [value] : []), ...above];
  return h(
    'div',
    { class: 'neighbours' },
    ...shown.map((stop) =>
      h(
        'button',
        {
          type: 'button',
          'data-key': `stop ${stop}`,
          'data-set': control.id,
          'data-value': stop,
          'aria-current': stop === value ? 'true' : null,
        },
        h('span', {}, view.n.count(stop)),
        cost(view, { [control.paths[0]]: stop }),
      ),
    ),
  );
}

/** The controls that are shown with this one. @param {View} view @param {Control} control */
function also(view, { also }) {
  const shown = view.controls.filter(
    ({ id, when }) => also?.includes(id) && when?.(view.full) !== false,
  );
  if (shown.length === 0) return null;
  if (shown[0].kind === 'size') return usable_field(view, shown[0]);
  return h(
    'div',
    { class: 'also rows', 'data-key': 'also' },
    ...shown.map((control) => setting(view, control, 'also')),
  );
}

/** @param {View} view @param {Control} control */
function usable_field(view, control) {
  return h(
    'div',
    { class: 'also', 'data-key': 'usable' },
    h('span', {}, 'or type what is usable'),
    size_field(view, control, 'pop'),
    problem_text(view, control),
  );
}

/** @param {View} view */
function paste_field(view) {
  return h(
    'div',
    { class: 'also paste', 'data-key': 'paste' },
    h('label', { for: 'paste' }, 'or paste a config.json'),
    h('textarea', {
      id: 'paste',
      rows: 3,
      spellcheck: 'false',
      'data-paste': true,
      placeholder: '{"model_type": "llama", …}',
    }),
    view.ui.paste_problem !== null &&
      h('p', { class: 'problem', role: 'alert' }, view.ui.paste_problem),
  );
}
