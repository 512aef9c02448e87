// The cursor of the picture: pointer, touch and keys. It holds indices of the timeline's points.
import { pin_moment } from './commands.mjs';
import { drawn, peak_point, point_at } from './scale.mjs';

/** @typedef {import('./app.mjs').App} App */

/** @param {App} app @param {Document | ShadowRoot} root */
export function cursor_acts(app, root) {
  const on = /** @type {Document['addEventListener']} */ (root.addEventListener.bind(root));
  const { ui } = app;
  const timeline = () => app.view().report.timeline;

  /** @param {PointerEvent} event @returns {number | null} */
  const index_of = (event) => {
    const handle = event.target instanceof Element ? event.target.closest('[data-cursor]') : null;
    if (!handle) return null;
    const box = handle.getBoundingClientRect();
    const share = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
    return nearest_high(timeline(), share, box.width);
  };

  on('pointermove', (event) => {
    const index = index_of(event);
    const before = ui.hover;
    if (event.pointerType === 'mouse' && event.buttons === 0) ui.hover = index;
    else if (index !== null && event.buttons !== 0) {
      if (ui.held === index) return;
      Object.assign(ui, { held: index, hover: null });
      return app.render(['picture', 'ledger']);
    }
    if (ui.hover !== before) app.render(['picture', 'ledger']);
  });
  on('pointerdown', (event) => {
    const index = index_of(event);
    if (index === null) return;
    const handle = event.target instanceof Element ? event.target.closest('[data-cursor]') : null;
    if (handle instanceof HTMLElement) handle.setPointerCapture(event.pointerId);
    Object.assign(ui, { held: index, hover: null });
    app.render(['picture', 'ledger']);
  });
  on('pointerout', (event) => {
    if (ui.hover === null || event.relatedTarget instanceof Element) return;
    ui.hover = null;
    app.render(['picture', 'ledger']);
  });

  on('keydown', (event) => {
    if (!(event.target instanceof Element) || !event.target.matches('[data-cursor]')) return;
    const { event: events, marks } = timeline();
    const last = events.length - 1;
    const at = ui.held ?? peak_point(timeline(), app.view().report.peak.event);
    const borders = marks.map((mark) => events.findIndex((event) => event >= mark.event));
    if (event.key === 'p' && !event.ctrlKey && !event.metaKey) return void pin_moment(app);
    const to = /** @type {{[key: string]: number | null}} */ ({
      ArrowLeft: at - 1,
      ArrowDown: at - 1,
      ArrowRight: at + 1,
      ArrowUp: at + 1,
      Home: borders[0] ?? 0,
      End: last,
      PageDown: borders.find((index) => index > at) ?? last,
      PageUp: [...borders].reverse().find((index) => index < at) ?? 0,
      Escape: null,
    });
    if (!(event.key in to)) return;
    event.preventDefault();
    const index = to[event.key];
    Object.assign(ui, {
      hover: null,
      held: index === null ? null : Math.max(0, Math.min(last, index)),
    });
    app.render(['picture', 'ledger']);
  });
}

/** The point for a place under the pointer: of all that share its pixel, the highest, since that is the one that is seen.
 * @param {import('./types.mjs').Timeline} timeline @param {number} share of the width @param {number} width pixels */
export function nearest_high(timeline, share, width) {
  const { event: events, allocated } = timeline;
  const { first, total } = drawn(timeline);
  const from = point_at(events, first + (share - 0.75 / width) * total);
  const to = point_at(events, first + (share + 0.75 / width) * total);
  let best = from;
  for (let i = from; i <= to; i++) if (allocated[i] > allocated[best]) best = i;
  return best;
}
