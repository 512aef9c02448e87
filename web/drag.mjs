// What happens to a letter that is dragged or given arrow keys: it moves along its control's stops, and the page follows.
import { stop_away } from './letters.mjs';

/** @typedef {import('./app.mjs').App} App */
/** @typedef {import('./controls.mjs').Control} Control */

// Pixels from one stop to the next: a hand's width for the whole range.
const kPixels = 22;

/** @param {App} app @param {string} id */
const control_of = (app, id) => app.view().controls.find((row) => row.id === id);

/** @param {App} app @param {Control} control @param {number} value */
const set = (app, control, value) => {
  if (Number(control.key(app.view().full)) !== value) app.change({ [control.paths[0]]: value });
};

/** Follows the pointer until it is let go. @param {App} app @param {string} id @param {PointerEvent} start */
export function drag(app, id, start) {
  const control = control_of(app, id);
  if (!control?.stops) return;
  const { stops } = control;
  const from = Number(control.key(app.view().full));
  const ended = new AbortController();
  const { signal } = ended;
  document.documentElement.classList.add('dragging');
  window.addEventListener(
    'pointermove',
    (event) => {
      if (event.pointerId !== start.pointerId) return;
      const by = Math.round((event.clientX - start.clientX) / kPixels);
      set(app, control, by === 0 ? from : stop_away(stops, from, by));
    },
    { signal },
  );
  for (const end of ['pointerup', 'pointercancel'])
    window.addEventListener(
      end,
      () => {
        document.documentElement.classList.remove('dragging');
        ended.abort();
      },
      { signal },
    );
}

/** How many stops a key moves by. @type {{[key: string]: number}} */
const kKeys = {
  ArrowRight: 1,
  ArrowUp: 1,
  ArrowLeft: -1,
  ArrowDown: -1,
  PageUp: 4,
  PageDown: -4,
  End: Infinity,
  Home: -Infinity,
};

/** @param {App} app @param {string} id @param {string} key */
export function press(app, id, key) {
  const control = control_of(app, id);
  if (!control?.stops) return;
  set(app, control, stop_away(control.stops, Number(control.key(app.view().full)), kKeys[key]));
}
