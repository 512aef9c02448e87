// A line's working: the report's MathML made into nodes without markup parsing by the browser, and its letters explained.
import { h, math } from './dom.mjs';
import { control_behind } from './letters.mjs';

/** @typedef {import('./types.mjs').Letter} Letter */

const kTags = new Set(
  'math mrow mi mn mo msub msup msubsup mfrac msqrt mtable mtr mtd mtext mspace munder mover munderover mstyle mpadded mphantom'.split(
    ' ',
  ),
);
const kAttributes = new Set([
  'display',
  'mathvariant',
  'stretchy',
  'fence',
  'separator',
  'form',
  'width',
  'columnalign',
  'displaystyle',
]);
const kEntities = /** @type {{[name: string]: string}} */ ({
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
});

/** @param {string} text */
const unescape_text = (text) =>
  text.replace(/&(#x?[0-9a-fA-F]+|[a-z]+);/g, (whole, name) => {
    if (name.startsWith('#x')) return String.fromCodePoint(parseInt(name.slice(2), 16));
    if (name.startsWith('#')) return String.fromCodePoint(Number(name.slice(1)));
    return kEntities[name] ?? whole;
  });

/** Presentation MathML as nodes. What is not MathML is left out; text stays text.
 * @param {string} text @returns {Element} */
export function formula(text) {
  const root = math('mrow');
  const open = [root];
  for (const [, close, tag, attributes, self, words] of text.matchAll(
    /<(\/?)([a-z]+)([^<>]*?)(\/?)>|([^<]+)/g,
  )) {
    const top = open[open.length - 1];
    if (words !== undefined) {
      if (words.trim() !== '') top.append(unescape_text(words));
    } else if (close) {
      if (open.length > 1 && kTags.has(tag)) open.pop();
    } else if (kTags.has(tag)) {
      const kept = [...attributes.matchAll(/([a-z]+)="([^"]*)"/g)].filter(([, name]) =>
        kAttributes.has(name),
      );
      const node = math(
        tag,
        Object.fromEntries(kept.map(([, name, value]) => [name, unescape_text(value)])),
      );
      top.append(node);
      if (!self) open.push(node);
    }
  }
  const only = root.firstElementChild;
  return only && root.childNodes.length === 1 && only.nodeName.toLowerCase() === 'math'
    ? only
    : math('math', { display: 'block' }, root);
}

/** A line's working in three rows: letters, figures, bytes. A plain number needs one.
 * @param {{mathml: string, mathml_figures: string, bytes: number}} line @param {import('./number.mjs').Numbers} n */
export function workings({ mathml, mathml_figures, bytes }, n) {
  const rows = [formula(mathml)];
  const figures = n.localise(mathml_figures);
  if (mathml_figures !== mathml) rows.push(formula(figures));
  const result = math(
    'math',
    {},
    math('mn', {}, n.count(bytes)),
    math('mtext', {}, bytes === 1 ? '\u00a0byte' : '\u00a0bytes'),
  );
  const plain = !/<mi>|·|\+/.test(mathml_figures);
  return math(
    'math',
    { display: 'block' },
    math(
      'mtable',
      {},
      ...[...(plain ? [] : rows), result].map((row, i) =>
        math(
          'mtr',
          {},
          math('mtd', {}, i > 0 && math('mo', {}, '=')),
          math('mtd', {}, math('mrow', {}, ...row.childNodes)),
        ),
      ),
    ),
  );
}

/** The letters of a working with their meanings, as one line of text.
 * @param {string} symbols @param {Letter[]} letters */
export const meanings = (symbols, letters) =>
  letters_in(symbols, letters)
    .map(({ symbol, meaning }) => `${symbol}: ${meaning}`)
    .join('\n');

/** The letters that a working uses, in the legend's order.
 * @param {string} symbols @param {Letter[]} letters @returns {Letter[]} */
export function letters_in(symbols, letters) {
  const used = new Set(symbols.match(/[A-Za-z]+(?:_[A-Za-z]+)?/g) ?? []);
  return letters.filter(({ symbol }) => used.has(symbol));
}

/** What the letters of a working stand for: the working in figures has a figure wherever the other has a letter.
 * @param {string} symbols @param {string} figures @returns {{[symbol: string]: number}} */
export function values_in(symbols, figures) {
  const [names, values] = [symbols, figures].map((text) => text.match(/[\w.,]+/g) ?? []);
  if (names.length !== values.length) return {};
  const figure = (/** @type {string} */ text) => Number(text.replaceAll(',', ''));
  return Object.fromEntries(names.map((name, i) => [name, figure(values[i])]));
}

const kDrag = 'Drag it sideways, or press arrow keys, to change it.';

/** "L = 28 layers · d = 1,024 hidden width"; what can be changed is a slider.
 * @param {import('./types.mjs').Line} line
 * @param {Pick<import('./view.mjs').View, 'catalog' | 'n' | 'controls' | 'full'>} view */
export function legend({ symbols, figures }, view) {
  const { n } = view;
  const used = letters_in(symbols, view.catalog.letters);
  const values = values_in(symbols, figures);
  if (used.length === 0) return null;
  return h(
    'ul',
    { class: 'legend' },
    ...used.map(({ symbol, mathml, meaning }) => {
      const value = values[symbol];
      const said = [
        math('math', {}, formula(mathml).firstElementChild ?? symbol),
        value >= 0 && ` = ${n.count(value)}`,
      ];
      const control = control_behind(view, symbol, value);
      const stops = control?.stops ?? [];
      return h(
        'li',
        { 'data-key': symbol },
        control
          ? h(
              'b',
              {
                class: 'drag',
                role: 'slider',
                tabindex: 0,
                'data-drag': control.id,
                title: kDrag,
                'aria-label': `${symbol}: ${meaning}`,
                'aria-valuemin': 0,
                'aria-valuemax': stops.length - 1,
                'aria-valuenow': Math.max(0, stops.filter((stop) => stop <= value).length - 1),
                'aria-valuetext': n.count(value),
              },
              ...said,
            )
          : said,
        h('span', {}, ` ${meaning}`),
      );
    }),
  );
}
