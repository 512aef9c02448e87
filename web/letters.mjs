// Letters of a working that can be changed where they stand: dragged sideways, or by arrow keys.

/** @typedef {import('./view.mjs').View} View */

// The control behind a letter.
const kControls = /** @type {{[symbol: string]: string}} */ ({
  B: 'batch',
  T: 'length',
  r: 'rank',
  A: 'accumulation',
  W: 'ranks',
});

/** The control that a letter stands for; null where it has another value, as T has where samples are shorter than asked for.
 * @param {Pick<View, 'controls' | 'full'>} view @param {string} symbol @param {number} value in the working */
export function control_behind({ controls, full }, symbol, value) {
  const control = controls.find(({ id }) => id === kControls[symbol]);
  if (!control?.stops || control.when?.(full) === false) return null;
  return Number(control.key(full)) === value ? control : null;
}

/** The stop that is so many stops away; one between two stops moves to the next of them.
 * @param {number[]} stops ascending @param {number} value @param {number} by */
export function stop_away(stops, value, by) {
  const below = stops.filter((stop) => stop <= value).length - 1;
  // From between two stops the first step up is to the upper, the first step down to the lower.
  const between = below < 0 || stops[below] !== value;
  const at = by < 0 && between ? below + 1 + by : below + by;
  return stops[Math.max(0, Math.min(stops.length - 1, at))];
}
