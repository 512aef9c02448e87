// Every control, grouped as people think, each with what its other choices would need.
import { kGroups } from './controls.mjs';
import { h } from './dom.mjs';
import { setting } from './setting.mjs';

/** @param {import('./view.mjs').View} view @returns {Element} */
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
          .filter((control) => control.group === group && control.when?.(view.full) !== false)
          .map((control) => setting(view, control, 'panel')),
      ),
    ),
  );
}
