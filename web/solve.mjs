// The largest that fits: of a number by halving the distance, of models and cards by trying them in order. Every question
// is a cost that may not be known yet; the views ask again once it is.
import { get, is_object } from './scenario.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./scenario.mjs').Patch} Patch */

/** What was found. `surely` fits with every context that was seen; `perhaps` is the largest that may fit.
 * @typedef {{known: boolean, surely: number | null, perhaps: number | null}} Largest */

/** The largest whole number from 1 to `most` that fits. Memory grows with micro-batch, length and rank; where the
 * allocator's cache makes a smaller one need more, the answer still fits, and the next one does not.
 * @param {View} view @param {string} path @param {number} most @returns {Largest} */
export function largest(view, path, most) {
  /** @param {(fits: string | null | undefined) => boolean} good @returns {number | null | undefined} */
  const search = (good) => {
    let [low, high] = [0, most + 1]; // low is good, high is not
    let next = 1;
    while (high - low > 1) {
      const cost = view.cost({ [path]: next });
      if (cost === undefined) return undefined;
      if (good(cost?.fits)) low = next;
      else high = next;
      next = high > most ? Math.min(most, next * 2) : Math.floor((low + high) / 2);
      if (low === most) break;
    }
    return low === 0 ? null : low;
  };
  const surely = search((fits) => fits === 'yes');
  if (surely === undefined) return { known: false, surely: null, perhaps: null };
  const perhaps = search((fits) => fits === 'yes' || fits === 'close');
  if (perhaps === undefined) return { known: false, surely, perhaps: null };
  return { known: true, surely, perhaps };
}

/** The first of some options that fits, in their order; undefined while it is not known, null where none does.
 * @template {{patch: Patch}} T @param {View} view @param {T[]} options @returns {T | null | undefined} */
function first_that_fits(view, options) {
  for (const option of options) {
    const cost = view.cost(option.patch);
    if (cost === undefined) return undefined;
    if (cost?.fits === 'yes') return option;
  }
  return null;
}

/** Bytes that no run of a model can do without: its weights. @param {View} view @param {number} parameters */
function least_bytes({ full }, parameters) {
  if (is_object(full.quantization)) return parameters / 2;
  return parameters * (full.dtype === 'float32' ? 4 : 2);
}

/** The largest preset that fits with everything else as it is. @param {View} view */
export function largest_model(view) {
  const usable = view.report.verdict?.usable_bytes ?? 0;
  const options = view.catalog.models
    .filter(({ parameters }) => least_bytes(view, parameters) < usable)
    .sort((a, b) => b.parameters - a.parameters)
    .map((model) => ({ model, patch: { model: model.id } }));
  return first_that_fits(view, options);
}

/** The smallest card that is enough, of those whose usable memory is known. @param {View} view */
export function smallest_card(view) {
  const least = view.report.peak.allocated_bytes;
  const options = view.catalog.cards
    .filter(({ usable_bytes, vendor }) => vendor === 'NVIDIA' && (usable_bytes ?? 0) > least)
    .sort((a, b) => (a.usable_bytes ?? 0) - (b.usable_bytes ?? 0))
    .map((card) => ({
      card,
      patch: { card: card.id, 'device.total_bytes': undefined },
    }));
  return first_that_fits(view, options);
}

/** The limit of a number, by the catalogue. @param {View} view @param {string} path */
export const limit_of = ({ catalog }, path) =>
  catalog.limits.find((limit) => limit.path === path)?.max ?? 1e6;

/** The number that is chosen now. @param {View} view @param {string} path */
export const value_of = ({ full }, path) => Number(get(full, path));
