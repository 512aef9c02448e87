// Figures that are typed or slid: a number with its slider, a size with its unit.
import { h } from './dom.mjs';
import { kGB, kGiB } from './number.mjs';
import { get } from './scenario.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./controls.mjs').Control} Control */

/** The id of a control's input where a label names it: in the panel, and beside another control.
 * @param {Control} control @param {string} where */
export const field_id = ({ id }, where) =>
  where === 'pop' ? null : `${where === 'panel' ? 'field' : where}-${id}`;

/** @param {View} view @param {Control} control */
export function slider(view, control, where = 'pop') {
  const stops = control.stops ?? [];
  const path = control.paths[0];
  const value = get(view.full, path);
  // The slider stands on the last stop that is not above the value.
  const at =
    typeof value === 'number' ? Math.max(0, stops.filter((stop) => stop <= value).length - 1) : 0;
  return h(
    'div',
    { class: 'slider' },
    h('input', {
      type: 'range',
      min: 0,
      max: stops.length - 1,
      value: at,
      'data-slide': control.id,
      'data-key': `slide-${where}`,
      'aria-label': control.label,
      'aria-valuetext':
        typeof value === 'number' ? view.n.count(value) : String(value ?? 'not chosen'),
    }),
    field(view, control, where),
  );
}

/** @param {View} view @param {Control} control @param {string} where */
function field(view, control, where) {
  const value = get(view.full, control.paths[0]);
  return h('input', {
    type: 'text',
    id: field_id(control, where),
    class: 'figure',
    inputmode: 'decimal',
    autocomplete: 'off',
    'data-number': control.id,
    'data-key': `number-${where}`,
    'aria-label': where === 'pop' ? `${control.label}, typed` : null,
    value: typeof value === 'number' ? view.n.count(value) : String(value ?? ''),
  });
}

/** A size that is typed, in GiB or GB.
 * @param {View} view @param {Control} control @param {string} where */
export function size_field(view, control, where) {
  const unit = view.ui.units[control.id] ?? 'GiB';
  const bytes = get(view.full, control.paths[0]);
  const in_unit = typeof bytes === 'number' ? bytes / (unit === 'GiB' ? kGiB : kGB) : null;
  const text =
    in_unit === null
      ? String(bytes ?? '')
      : in_unit === 0
        ? ''
        : view.n.count(Number(in_unit.toPrecision(6)));
  return h(
    'span',
    { class: 'typed' },
    h('input', {
      type: 'text',
      id: field_id(control, where),
      class: 'figure',
      inputmode: 'decimal',
      autocomplete: 'off',
      'data-size': control.id,
      'data-key': `size-${control.id}-${where}`,
      'aria-label': where === 'pop' ? control.label : null,
      value: text,
    }),
    h(
      'select',
      {
        'data-unit': control.id,
        'aria-label': `Unit of: ${control.label}`,
        'data-key': `unit-${control.id}-${where}`,
      },
      h('option', { value: 'GiB', selected: unit === 'GiB' }, 'GiB'),
      h('option', { value: 'GB', selected: unit === 'GB' }, 'GB'),
    ),
  );
}
