// Views whose module is loaded once they are first shown, so that a visit loads only what it uses.
import { h } from './dom.mjs';

/** @typedef {import('./view.mjs').View} View */

const kLost =
  'This part of the page could not be loaded; the network refused it. Open it again to try again.';

/** @typedef {(view: View, outside: import('./page.mjs').Outside) => Node | null} Fill */

/** A place of page.mjs that is filled by a module of its own.
 * @param {string} id the place's @param {() => Promise<Fill>} load
 * @returns {(view: View, outside: import('./page.mjs').Outside) => (Node | null)[]} */
export function later(id, load) {
  /** @type {Fill | null} */
  let fill = null;
  let state = 'closed';
  return (view, outside) => {
    if (fill) return [fill(view, outside)];
    if (state === 'lost') {
      state = 'closed';
      return [h('p', { class: 'problem' }, kLost)];
    }
    if (state === 'closed') {
      state = 'asked';
      load()
        .then(
          (loaded) => (fill = loaded),
          () => (state = 'lost'),
        )
        .then(() => outside.again([id]));
    }
    return [h('p', { class: 'dim' }, '…')];
  };
}

/** A view that is empty, and not loaded, until there is something to show.
 * @template T @param {(view: View) => boolean} when @param {(view: View, outside: T) => (Node | null)[]} fill
 * @returns {(view: View, outside: T) => (Node | null)[]} */
export const once = (when, fill) => (view, outside) => (when(view) ? fill(view, outside) : []);
