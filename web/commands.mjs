// The page's buttons that are no choices: show, open all, copy, jump.

/** @typedef {import('./app.mjs').App} App */

/** @param {Event} event @param {string} name @returns {[HTMLElement, string] | null} the element with data-name, and its value */
export function found(event, name) {
  const target = event.target instanceof Element ? event.target.closest(`[data-${name}]`) : null;
  return target instanceof HTMLElement ? [target, target.dataset[name] ?? ''] : null;
}

/** Follows links and jumps within the page; the hash belongs to the scenario. @param {Event} event
 * @param {Document | ShadowRoot} root */
export function go(event, root) {
  const jump = found(event, 'skip');
  if (jump) {
    event.preventDefault();
    const place = root.getElementById(jump[1]);
    if (place instanceof HTMLDetailsElement) place.open = true;
    place?.scrollIntoView();
    const inside = place instanceof HTMLDetailsElement ? place.querySelector('summary') : place;
    if (inside instanceof HTMLElement) inside.focus({ preventScroll: true });
  } else if (event.target instanceof Element && event.target.closest('a[href^="#"]')) {
    scrollTo({ top: 0 });
  }
}

const texts = async () => await import('./copy.mjs');
/** What can be copied, as text made from a view and the button's data. The modules that write it are loaded when it is asked for.
 * @type {{[act: string]: () => Promise<(view: import('./view.mjs').View, data: DOMStringMap) => string>}} */
const kCopies = {
  markdown: async () => (await texts()).markdown,
  latex: async () => (await texts()).latex,
  csv: async () => (await texts()).csv,
  json: async () => (await texts()).json,
  timeline: async () => (await texts()).timeline_csv,
  sweep: async () => (await import('./sweep.mjs')).sweep_csv,
  map: async () => (await import('./sweep.mjs')).map_csv,
  address: async () => (await import('./share.mjs')).address_of,
  cite: async () => (await import('./share.mjs')).cite_text,
  bibtex: async () => (await import('./share.mjs')).cite_bibtex,
};

/** @param {App} app @param {string} act @param {HTMLElement} button
 * @param {Document | ShadowRoot} root */
export function do_act(app, act, button, root) {
  const { ui } = app;
  if (act === 'peak') Object.assign(ui, { held: null, hover: null });
  else if (act === 'exact') ui.exact = !ui.exact;
  else if (act === 'all') {
    ui.parts = ui.parts.length > 0 ? [] : app.view().report.parts.map(({ id }) => id);
  } else if (act === 'curve') ui.curve = !ui.curve;
  else if (act.startsWith('chart-')) void chart(act, button, root);
  else if (act.startsWith('picture-')) void picture(app, act, button, root);
  else if (act === 'pin') void pin(app);
  else if (act === 'pin-moment') void pin_moment(app);
  else if (act === 'unpin-moments') ui.moments = [];
  else if (act === 'undo') void go_back(app, -1);
  else if (act in kCopies)
    void kCopies[act]().then((text) => copy(button, text(app.view(), button.dataset), root));
}

/** @param {App} app */
export const pin_moment = async (app) => (await import('./moments.mjs')).pin_moment(app);

/** @param {App} app */
async function pin(app) {
  const { pin_of, kMostPins } = await import('./compare.mjs');
  if (app.ui.pins.length < kMostPins) app.ui.pins = [...app.ui.pins, pin_of(app.view())];
  app.render(['compare']);
}

/** Takes back a step of the trail and all after it. @param {App} app @param {number} index of the step; -1 is the last */
export async function go_back(app, index) {
  const { steps, before } = await import('./trail.mjs');
  const step = steps(app.view(), app.ui.trail).at(index);
  if (step) app.back(before(app.ui.trail, step));
}

/** @param {App} app @param {string} act @param {HTMLElement} button @param {Document | ShadowRoot} root */
async function picture(app, act, button, root) {
  const { copy_picture, save_picture } = await import('./share.mjs');
  if (act === 'picture-save') await save_picture(app.view());
  else await told(button, copy_picture(app.view()), root);
}

/** @param {string} act @param {HTMLElement} button @param {Document | ShadowRoot} root */
async function chart(act, button, root) {
  const { as_png, chart_of, standalone } = await import('./chart.mjs');
  const found = chart_of(button);
  if (!found) return;
  if (act === 'chart-svg') return copy(button, standalone(found).text, root);
  return told(
    button,
    navigator.clipboard.write([new ClipboardItem({ 'image/png': as_png(found) })]),
    root,
  );
}

/** Copies, and says so where it was asked for. @param {HTMLElement} button @param {string} text
 * @param {Document | ShadowRoot} root */
const copy = (button, text, root) => told(button, navigator.clipboard.writeText(text), root);

/** @param {HTMLElement} button @param {Promise<void>} copied @param {Document | ShadowRoot} root */
async function told(button, copied, root) {
  const name = button.dataset.name ?? button.textContent ?? '';
  button.dataset.name = name;
  const said = await copied.then(
    () => 'Copied',
    () => 'This browser does not let the page copy',
  );
  button.textContent = said;
  const status = root.getElementById('copied');
  if (status) status.textContent = said;
  setTimeout(() => {
    button.textContent = name;
    if (status) status.textContent = '';
  }, 1600);
}
