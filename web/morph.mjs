// Makes a part of the page equal to freshly made nodes while it keeps the nodes that are already right, so that focus,
// selection and scroll positions stay. Children with a data-key are matched by it, the others by place.

/** Makes the children of `place` equal to `next`.
 * @param {Element} place @param {(Node | false | null)[]} next */
export function show(place, ...next) {
  const wanted = place.cloneNode(false);
  for (const node of next) if (node) wanted.appendChild(node);
  morph_children(place, wanted);
}

/** @param {Node} node */
const key_of = (node) => (node instanceof Element ? node.getAttribute('data-key') : null);

/** @param {Node} a @param {Node} b */
const same_kind = (a, b) =>
  a.nodeType === b.nodeType && a.nodeName === b.nodeName && key_of(a) === key_of(b);

/** @param {Node} from @param {Node} to */
function morph_children(from, to) {
  /** @type {Map<string, Node>} */
  const keyed = new Map();
  for (const child of from.childNodes) {
    const key = key_of(child);
    if (key !== null) keyed.set(key, child);
  }
  let at = from.firstChild;
  for (const next of [...to.childNodes]) {
    const key = key_of(next);
    // A keyed node that is about to go must not block those behind it.
    while (at && key === null && key_of(at) !== null && !holds(to, key_of(at))) {
      const gone = at;
      at = at.nextSibling;
      from.removeChild(gone);
    }
    const match = key !== null ? keyed.get(key) : at;
    if (match && same_kind(match, next)) {
      if (match === at) at = at.nextSibling;
      else from.insertBefore(match, at);
      morph(match, next);
    } else {
      from.insertBefore(next, at);
    }
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    from.removeChild(gone);
  }
}

/** @param {Node} parent @param {string | null} key */
const holds = (parent, key) => [...parent.childNodes].some((child) => key_of(child) === key);

/** @param {Node} from @param {Node} to */
function morph(from, to) {
  if (!(from instanceof Element) || !(to instanceof Element)) {
    if (from.nodeValue !== to.nodeValue) from.nodeValue = to.nodeValue;
    return;
  }
  for (const { name, value } of to.attributes) {
    if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
  for (const { name } of [...from.attributes]) {
    // Positions are set by script, and what a reader has opened stays open.
    if (name === 'style' || (name === 'open' && from.nodeName === 'DETAILS')) continue;
    if (!to.hasAttribute(name)) from.removeAttribute(name);
  }
  if (from.nodeName !== 'TEXTAREA') morph_children(from, to);
  restore(from);
}

/** What has the focus, in the page or in the shadow that holds the element. @param {Element} element */
function active_in(element) {
  const root = element.getRootNode();
  return root instanceof Document || root instanceof ShadowRoot ? root.activeElement : null;
}

// A control that a person has touched no longer follows its attributes; what is being typed is left alone.
/** @param {Element} element */
function restore(element) {
  if (element instanceof HTMLInputElement) {
    if (element.type === 'checkbox' || element.type === 'radio') {
      element.checked = element.hasAttribute('checked');
    } else if (element !== active_in(element) || element.type === 'range') {
      const value = element.getAttribute('value') ?? '';
      if (element.value !== value) element.value = value;
    }
  } else if (element instanceof HTMLTextAreaElement) {
    // Only what is filled by the page itself, as where text was pasted elsewhere.
    const value = element.getAttribute('value');
    if (value !== null && element.value !== value && element !== active_in(element))
      element.value = value;
  } else if (element instanceof HTMLSelectElement) {
    for (const option of element.options) {
      if (option.hasAttribute('selected') !== option.selected && option.hasAttribute('selected')) {
        option.selected = true;
      }
    }
  }
}
