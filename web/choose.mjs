// Answers about controls: which one a problem belongs to, what comes next in its list, what the sentence calls it.

/** @typedef {import('./controls.mjs').Control} Control */
/** @typedef {import('./types.mjs').Scenario} Scenario */
/** @typedef {import('./scenario.mjs').Patch} Patch */

/** The control that a problem's path belongs to: the one with the longest path that is a prefix of it.
 * @param {Control[]} list @param {string} path @returns {Control | null} */
export function control_of(list, path) {
  /** @type {Control | null} */
  let best = null;
  let longest = -1;
  for (const control of list) {
    for (const own of control.paths) {
      if (
        (path === own || path.startsWith(`${own}.`) || path.startsWith(`${own}[`)) &&
        own.length > longest
      ) {
        best = control;
        longest = own.length;
      }
    }
  }
  return best;
}

/** What choosing an option changes. @param {import('./controls.mjs').Option} option @param {Scenario} full @returns {Patch} */
export const patch_of = ({ patch }, full) => (typeof patch === 'function' ? patch(full) : patch);

/** The option or stop before or after the one that is chosen, as a patch; null at the end of the list.
 * @param {Control} control @param {Scenario} full @param {1 | -1} direction @returns {Patch | null} */
export function step(control, full, direction) {
  const key = control.key(full);
  if (control.stops) {
    const value = Number(key);
    const next =
      direction > 0
        ? control.stops.find((stop) => stop > value)
        : [...control.stops].reverse().find((stop) => stop < value);
    return next === undefined ? null : { [control.paths[0]]: next };
  }
  const options = control.options ?? [];
  const at = options.findIndex((option) => option.key === key);
  const next = options[at + direction];
  return next ? patch_of(next, full) : null;
}

/** The label of what is chosen, as the sentence says it.
 * @param {Control} control @param {Scenario} full @returns {string} */
export const label_of = (control, full) => {
  const key = control.key(full);
  return control.options?.find((option) => option.key === key)?.label ?? key;
};
