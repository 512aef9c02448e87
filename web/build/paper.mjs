// A document for the build: just enough of one for views to be written down as HTML.

const kVoid = new Set([
  'area',
  'base',
  'br',
  'col',
  'hr',
  'img',
  'input',
  'link',
  'meta',
  'source',
]);

/** @param {string} text */
const escape_text = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** @param {string} text */
const escape_attribute = (text) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

class PaperElement {
  /** @param {string} tag @param {boolean} html */
  constructor(tag, html) {
    this.nodeName = tag;
    this.html = html;
    /** @type {Map<string, string>} */
    this.attributes = new Map();
    /** @type {(PaperElement | string)[]} */
    this.childNodes = [];
  }

  /** @param {string} name @param {string} value */
  setAttribute(name, value) {
    this.attributes.set(name, value);
  }

  /** @param {(PaperElement | string)[]} children */
  append(...children) {
    this.childNodes.push(...children);
  }

  /** @returns {PaperElement | null} */
  get firstElementChild() {
    for (const child of this.childNodes) if (child instanceof PaperElement) return child;
    return null;
  }

  /** @returns {string} */
  toString() {
    const attributes = [...this.attributes].map(([name, value]) =>
      value === '' ? ` ${name}` : ` ${name}="${escape_attribute(value)}"`,
    );
    const head = `<${this.nodeName}${attributes.join('')}>`;
    if (this.html && kVoid.has(this.nodeName)) return head;
    const inner = this.childNodes.map((child) =>
      typeof child === 'string' ? escape_text(child) : child.toString(),
    );
    return `${head}${inner.join('')}</${this.nodeName}>`;
  }
}

/** Stands in for `document` where views make their nodes. */
export const paper = {
  /** @param {string} tag */
  createElement: (tag) => new PaperElement(tag, true),
  /** @param {string} _namespace @param {string} tag */
  createElementNS: (_namespace, tag) => new PaperElement(tag, false),
};
