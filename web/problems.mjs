// Problems with the input, beside the control that caused them.
import { control_of } from './choose.mjs';
import { h } from './dom.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./controls.mjs').Control} Control */

/** @param {View} view @param {Control} control */
export const problems_of = (view, control) =>
  view.problems.filter(({ path }) => control_of(view.controls, path)?.id === control.id);

/** The control under which this one is shown, or itself. @param {Control[]} list @param {Control} control */
const opener = (list, control) => list.find(({ also }) => also?.includes(control.id)) ?? control;

/** The sentences of one control's problems, for the place beside it.
 * @param {View} view @param {Control} control @param {string} [id] */
export function problem_text(view, control, id) {
  const own = problems_of(view, control);
  if (own.length === 0) return null;
  return h('p', { class: 'problem', id }, own.map(({ message }) => message).join(' '));
}

/** All problems at once, under the sentence; each names its control and opens it.
 * @param {View} view @returns {Element} */
export function problem_list(view) {
  if (view.problems.length === 0) return h('div', { id: 'problems', role: 'alert' });
  /** @type {Map<string, {control: Control | null, messages: string[]}>} */
  const grouped = new Map();
  for (const { path, message } of view.problems) {
    const control = control_of(view.controls, path);
    const key = control?.id ?? `path ${path}`;
    const entry = grouped.get(key) ?? { control, messages: [] };
    entry.messages.push(message);
    grouped.set(key, entry);
  }
  return h(
    'div',
    { id: 'problems', role: 'alert' },
    h(
      'ul',
      {},
      ...[...grouped].map(([key, { control, messages }]) =>
        h(
          'li',
          { class: 'problem', id: control ? `problem-${control.id}` : null, 'data-key': key },
          control &&
            h(
              'button',
              {
                type: 'button',
                class: 'link',
                'data-word': opener(view.controls, control).id,
                'data-key': 'open',
              },
              control.label,
            ),
          control && ': ',
          messages.join(' '),
        ),
      ),
    ),
    h('p', {}, 'Shown below is the last scenario that could be counted.'),
  );
}
