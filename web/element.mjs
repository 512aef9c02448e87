// <memory-ledger>: the page's views as an element for other people's pages.
//   <memory-ledger view="verdict ledger" model="Qwen/Qwen3-8B" card="rtx-4090" max_length="2048"></memory-ledger>
// `scenario` takes a whole scenario as JSON; any other attribute is one of its keys, as in the page's address. It tells of every answer by the event `memory-ledger`, with {report, problems, scenario}.
import { read_address } from './address.mjs';
import { run } from './app.mjs';
import { CannotStart } from './core.mjs';
import { h } from './dom.mjs';
import { merged } from './scenario.mjs';
// @ts-ignore: made by the build
import { style } from './element.style.mjs';

/** @typedef {import('./types.mjs').Scenario} Scenario */

// What `view` may name, and the places of page.mjs that it shows.
const kViews = /** @type {{[name: string]: string[]}} */ ({
  scenario: ['scenario', 'trouble'],
  verdict: ['answer'],
  tiers: ['tiers'],
  timeline: ['picture'],
  ladder: ['ladder'],
  ledger: ['ledger'],
  logits: ['logits'],
  sweep: ['sweep'],
  assumptions: ['assumptions'],
});
const kUsual = 'scenario verdict';

// Attributes that are no keys of a scenario.
const kOwn = 'view theme scenario class id style lang dir slot part title hidden'.split(' ');
/** @param {string} name */
const is_key = (name) => !kOwn.includes(name) && !/^(data-|aria-|on)/.test(name);

/** @typedef {import('./door.mjs').Door} Door */

/** Starts the one core of all elements of a page. @type {() => Promise<Door>} */
let load = () => Promise.reject(new CannotStart('The element was not defined.'));
/** @type {Promise<Door> | null} */
let core = null;
const shared = () => (core ??= load());

/** One sheet for all. @type {CSSStyleSheet | null} */
let sheet = null;
function styled() {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
  }
  return sheet;
}

/** The scenario of an element's attributes. @param {Element} element @param {import('./types.mjs').Catalog} catalog */
export function scenario_of(element, { defaults }) {
  const entries = [...element.attributes]
    .filter(({ name }) => is_key(name))
    .map(({ name, value }) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  const whole = element.getAttribute('scenario');
  const read = read_address(`#${entries.join('&')}`, defaults);
  if (whole === null) return read;
  try {
    const own = entries.length > 0 ? { ...read.scenario } : {};
    // The address has a model of its own where none is said.
    if (!element.hasAttribute('model')) delete own.model;
    return { scenario: merged(JSON.parse(whole), own), problems: read.problems };
  } catch (error) {
    const message = `The attribute scenario is not JSON: ${error instanceof Error ? error.message : error}.`;
    return { ...read, problems: [...read.problems, { path: '', message }] };
  }
}

class MemoryLedger extends HTMLElement {
  constructor() {
    super();
    this.attachShadow({ mode: 'open' });
    this.begun = false;
    /** What a reader chose, until the attributes change. @type {Scenario | null} */
    this.chosen = null;
  }

  connectedCallback() {
    if (this.begun) return;
    // Far down a page it waits until it comes near.
    const watch = new IntersectionObserver(
      (seen) => {
        if (this.begun || !seen.some(({ isIntersecting }) => isIntersecting)) return;
        watch.disconnect();
        this.begun = true;
        void this.begin();
      },
      { rootMargin: '400px' },
    );
    watch.observe(this);
  }

  async begin() {
    const root = /** @type {ShadowRoot} */ (this.shadowRoot);
    root.adoptedStyleSheets = [styled()];
    follow_theme(this);
    const names = (this.getAttribute('view') ?? kUsual).split(/[\s|,]+/).filter(Boolean);
    const strange = names.filter((name) => !(name in kViews));
    const body = h(
      'div',
      { class: 'embedded', part: 'body' },
      ...names
        .filter((name) => name in kViews)
        .map((name) =>
          h(
            'section',
            { part: name, 'aria-label': name },
            ...kViews[name].map((id) => h('div', { id })),
          ),
        ),
      ...strange.map((name) =>
        h(
          'p',
          { class: 'problem' },
          `memory-ledger has no view “${name}”; it has ${Object.keys(kViews).join(', ')}.`,
        ),
      ),
    );
    root.replaceChildren(body);
    try {
      const app = await run(await shared(), language(this), this.home(root, body));
      new MutationObserver((changes) => {
        if (!changes.some(({ attributeName: name }) => name === 'scenario' || is_key(name ?? '')))
          return;
        this.chosen = null;
        app.follow();
      }).observe(this, { attributes: true });
    } catch (error) {
      const why = error instanceof CannotStart ? error.message : `It could not start: ${error}.`;
      root.replaceChildren(h('p', { class: 'problem', role: 'alert' }, why));
    }
  }

  /** @param {ShadowRoot} root @param {Element} body @returns {import('./app.mjs').Home} */
  home(root, body) {
    return {
      root,
      body,
      read: (catalog) =>
        this.chosen ? { scenario: this.chosen, problems: [] } : scenario_of(this, catalog),
      keep: (scenario) => (this.chosen = scenario),
      told: (report, problems) =>
        this.dispatchEvent(
          new CustomEvent('memory-ledger', {
            bubbles: true,
            composed: true,
            detail: { report, problems, scenario: report?.scenario ?? null },
          }),
        ),
    };
  }
}

/** Whose numbers are written. @param {Element} element */
const language = (element) => element.closest('[lang]')?.getAttribute('lang') || navigator.language;

/** Light or dark after the page around it: where its text is light, its paper is dark. The attribute theme decides otherwise.
 * @param {HTMLElement} element */
function follow_theme(element) {
  const look = () => {
    const parts =
      getComputedStyle(element.parentElement ?? document.body).color.match(/[\d.]+/g) ?? [];
    const [red, green, blue] = parts.map(Number);
    const light = 0.3 * red + 0.59 * green + 0.11 * blue > 140;
    element.dataset.theme = element.getAttribute('theme') ?? (light ? 'dark' : 'light');
  };
  look();
  const watch = new MutationObserver(look);
  for (const place of [document.documentElement, document.body])
    watch.observe(place, { attributes: true });
  watch.observe(element, { attributes: true, attributeFilter: ['theme'] });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', look);
}

/** Defines the element; a page may load this twice. @param {() => Promise<Door>} load_door */
export function define(load_door) {
  if (customElements.get('memory-ledger')) return;
  load = load_door;
  customElements.define('memory-ledger', MemoryLedger);
}
