// Makes nodes. Views are functions from data to nodes; they set attributes only and listen to nothing.

/** @typedef {string | number | boolean | null | undefined} Value */
/** @typedef {Node | string | number | false | null | undefined} Leaf */
/** @typedef {Leaf | Leaf[] | Leaf[][]} Child */

/**
 * @param {string | null} namespace
 * @param {string} tag
 * @param {{[name: string]: Value}} attributes false, null and undefined leave an attribute out; true makes it empty
 * @param {Child[]} children
 * @returns {Element}
 */
function make(namespace, tag, attributes, children) {
  const element = namespace
    ? document.createElementNS(namespace, tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    element.setAttribute(name, value === true ? '' : String(value));
  }
  append(element, children);
  return element;
}

/** @param {Element} element @param {(Child | Child[])[]} children */
function append(element, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(element, child);
    else if (child !== false && child !== null && child !== undefined) {
      element.append(typeof child === 'number' ? String(child) : child);
    }
  }
}

/** An HTML element.
 * @param {string} tag @param {{[name: string]: Value}} [attributes] @param {Child[]} children */
export const h = (tag, attributes = {}, ...children) => make(null, tag, attributes, children);

/** An SVG element.
 * @param {string} tag @param {{[name: string]: Value}} [attributes] @param {Child[]} children */
export const svg = (tag, attributes = {}, ...children) =>
  make('http://www.w3.org/2000/svg', tag, attributes, children);

/** A MathML element.
 * @param {string} tag @param {{[name: string]: Value}} [attributes] @param {Child[]} children */
export const math = (tag, attributes = {}, ...children) =>
  make('http://www.w3.org/1998/Math/MathML', tag, attributes, children);
