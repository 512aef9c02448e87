// A chart of the page as a file of its own: SVG with its colours written into it, or PNG.

// What the page's style decides and a file must carry.
const kStyles = [
  'fill',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'stroke-linejoin',
  'opacity',
  'font-size',
  'font-weight',
  'font-family',
  'text-anchor',
  'paint-order',
  'vector-effect',
];
const kName = 'http://www.w3.org/2000/svg';

/** @param {Element} from @param {Element} to */
function carry(from, to) {
  const style = getComputedStyle(from);
  for (const name of kStyles) {
    const value = style.getPropertyValue(name);
    if (value && value !== 'none' && value !== 'normal' && value !== 'auto')
      to.setAttribute(name, value);
    else if (name === 'fill' || name === 'stroke') to.setAttribute(name, value || 'none');
  }
  for (const name of ['class', 'data-key', 'data-caption', 'id', 'aria-labelledby', 'style'])
    to.removeAttribute(name);
  [...from.children].forEach((child, i) => carry(child, to.children[i]));
}

/** A chart as it stands, on the page's paper. @param {SVGSVGElement} chart
 * @returns {{text: string, width: number, height: number}} sizes in pixels */
export function standalone(chart) {
  const { width, height } = chart.getBoundingClientRect();
  const copy = /** @type {SVGSVGElement} */ (chart.cloneNode(true));
  carry(chart, copy);
  // Names stand a little outside of the picture.
  const edge = 24;
  copy.setAttribute('x', String(edge));
  copy.setAttribute('y', String(edge));
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  copy.setAttribute('overflow', 'visible');
  const outer = document.createElementNS(kName, 'svg');
  const said = chart.dataset.caption;
  const [wide, high] = [Math.ceil(width + 2 * edge), Math.ceil(height + (said ? 3 : 2) * edge)];
  outer.setAttribute('width', String(wide));
  outer.setAttribute('height', String(high));
  const paper = document.createElementNS(kName, 'rect');
  paper.setAttribute('width', '100%');
  paper.setAttribute('height', '100%');
  paper.setAttribute('fill', getComputedStyle(document.body).backgroundColor);
  outer.append(paper, copy);
  if (said !== undefined) {
    const caption = document.createElementNS(kName, 'text');
    const { color, fontFamily } = getComputedStyle(document.body);
    const own = {
      x: edge,
      y: high - edge / 2,
      fill: color,
      'font-family': fontFamily,
      'font-size': 13,
    };
    for (const [name, value] of Object.entries(own)) caption.setAttribute(name, String(value));
    caption.textContent = said;
    outer.append(caption);
  }
  return { text: new XMLSerializer().serializeToString(outer), width: wide, height: high };
}

/** @param {SVGSVGElement} chart @returns {Promise<Blob>} twice as fine as on the page */
export async function as_png(chart) {
  const { text, width, height } = standalone(chart);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [2 * width, 2 * height];
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) =>
    canvas.toBlob(
      (blob) => (blob ? done(blob) : fail(new Error('this browser draws none'))),
      'image/png',
    ),
  );
}

/** The chart that a button speaks of: the first in its figure's surroundings. @param {HTMLElement} button */
export function chart_of(button) {
  const root = /** @type {Document | ShadowRoot} */ (button.getRootNode());
  const found = root.querySelector(button.dataset.chart ?? 'svg');
  return found instanceof SVGSVGElement ? found : null;
}
