// A picture for a chat: verdict, the card's bar and the ledger's parts, drawn on a canvas. What is drawn where is decided
// apart from the drawing, so that it can be tested.
import { is_object } from './scenario.mjs';
import { segments } from './segments.mjs';
import { verdict_sentence } from './verdict.mjs';

/** @typedef {import('./view.mjs').View} View */
/** One thing to draw, in pixels; colours are names of the style's variables.
 * @typedef {{kind: 'rect', x: number, y: number, w: number, h: number, colour: string, faint?: boolean}
 *   | {kind: 'frame', x: number, y: number, w: number, h: number, colour: string}
 *   | {kind: 'text', x: number, y: number, text: string, size: number, weight: number, colour: string,
 *     end?: boolean}} Mark */

export const kWide = 1200;
const kEdge = 56;
const kInside = kWide - 2 * kEdge;
const kBar = 60;
const kRow = 40;

/** Words in lines that are no wider than `most`.
 * @param {string} text @param {number} most @param {(text: string) => number} width @returns {string[]} */
export function wrapped(text, most, width) {
  /** @type {string[]} */
  const lines = [];
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const last = lines.at(-1);
    if (last !== undefined && width(`${last} ${word}`) <= most)
      lines[lines.length - 1] += ` ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** What the picture shows. @param {View} view @param {string} sentence the scenario's @param {string} foot
 * @param {(text: string, size: number, weight: number) => number} measure pixels
 * @returns {{marks: Mark[], high: number}} */
export function laid_out(view, sentence, foot, measure) {
  const { report, n, catalog } = view;
  const { verdict, peak } = report;
  /** @type {Mark[]} */
  const marks = [];
  let y = kEdge;
  /** @param {string} text @param {number} size @param {number} weight @param {string} colour @param {number} [after] */
  const paragraph = (text, size, weight, colour, after = 0) => {
    for (const line of wrapped(text, kInside, (words) => measure(words, size, weight))) {
      y += size;
      marks.push({ kind: 'text', x: kEdge, y, text: line, size, weight, colour });
      y += 0.42 * size;
    }
    y += after;
  };
  paragraph(sentence, 28, 400, 'ink', 14);
  paragraph(verdict_sentence(report, n), 42, 700, verdict?.fits === 'no' ? 'limit' : 'ink', 6);
  paragraph(peak_said(view), 22, 400, 'dim', 22);

  const needed = verdict?.needed_bytes ?? peak.process_bytes;
  const usable = verdict?.usable_bytes ?? needed.high;
  const per = kInside / Math.max(usable, needed.high);
  let x = kEdge;
  for (const { id, low, high } of segments(view)) {
    if (id === 'spare') continue;
    const at = { kind: /** @type {const} */ ('rect'), y, h: kBar, colour: id };
    marks.push({ ...at, x, w: low * per });
    if (high > low) marks.push({ ...at, x: x + low * per, w: (high - low) * per, faint: true });
    x += high * per;
    // Neighbours are parted by paper where there is room.
    if (high * per > 6) marks.push({ ...at, x: x - 1.5, w: 1.5, colour: 'paper' });
  }
  marks.push({ kind: 'frame', x: kEdge, y, w: usable * per, h: kBar, colour: 'dim' });
  if (verdict && needed.high > usable)
    marks.push({
      kind: 'rect',
      x: kEdge + usable * per - 2,
      y: y - 6,
      w: 4,
      h: kBar + 12,
      colour: 'limit',
    });
  y += kBar + 12;
  if (verdict)
    paragraph(
      `${verdict.card ?? 'As typed'}: ${n.gib(usable)} GiB (${n.gb(usable)} GB) usable`,
      20,
      400,
      'dim',
      12,
    );

  const right = kWide - kEdge;
  /** @param {string} name @param {string} gib @param {string} gb @param {string | null} swatch @param {number} weight */
  const row = (name, gib, gb, swatch, weight) => {
    marks.push({ kind: 'rect', x: kEdge, y, w: kInside, h: 1, colour: 'rule' });
    const base = y + 0.68 * kRow;
    const at = { kind: /** @type {const} */ ('text'), y: base, size: 22, weight };
    if (swatch) marks.push({ kind: 'rect', x: kEdge, y: base - 16, w: 18, h: 18, colour: swatch });
    marks.push({ ...at, x: kEdge + 32, text: name, colour: 'ink' });
    marks.push({ ...at, x: right - 200, text: gib, colour: 'ink', end: true });
    marks.push({ ...at, x: right, text: gb, colour: 'dim', weight: 400, end: true });
    y += kRow;
  };
  for (const { id, bytes } of report.parts) {
    if (bytes === 0) continue;
    const name = catalog.parts.find((part) => part.id === id)?.name ?? id;
    row(name, `${n.gib(bytes)} GiB`, `${n.gb(bytes)} GB`, id, 400);
  }
  row(
    'Allocated',
    `${n.gib(peak.allocated_bytes)} GiB`,
    `${n.gb(peak.allocated_bytes)} GB`,
    null,
    700,
  );
  row(
    'Reserved',
    `${n.gib(peak.reserved_bytes)} GiB`,
    `${n.gb(peak.reserved_bytes)} GB`,
    null,
    400,
  );
  y += 18;
  paragraph(foot, 18, 400, 'dim');
  return { marks, high: Math.ceil(y + kEdge - 10) };
}

/** @param {View} view */
const peak_said = ({ report, n }) => {
  const in_gb = verdict_sentence(report, n, 'GB').match(/[-<±\d].*GB/)?.[0];
  return `${in_gb ? `In GB: ${in_gb}. ` : ''}Its peak: step ${n.count(report.peak.step)}, ${report.peak.moment}.`;
};

/** Draws on a canvas, twice as fine as its pixels, in the page's present colours.
 * @param {HTMLCanvasElement} canvas @param {View} view @param {string} sentence @param {string} foot */
export function draw(canvas, view, sentence, foot) {
  const context = canvas.getContext('2d');
  if (!context) return;
  const style = getComputedStyle(document.documentElement);
  const family = getComputedStyle(document.body).fontFamily;
  const font = (/** @type {number} */ size, /** @type {number} */ weight) =>
    `${weight} ${size}px ${family}`;
  const { marks, high } = laid_out(view, sentence, foot, (text, size, weight) => {
    context.font = font(size, weight);
    return context.measureText(text).width;
  });
  canvas.width = 2 * kWide;
  canvas.height = 2 * high;
  context.scale(2, 2);
  const colour = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
  context.fillStyle = colour('paper');
  context.fillRect(0, 0, kWide, high);
  for (const mark of marks) {
    context.fillStyle = colour(mark.colour);
    if (mark.kind === 'rect') {
      context.globalAlpha = mark.faint ? 0.42 : 1;
      context.fillRect(mark.x, mark.y, mark.w, mark.h);
      context.globalAlpha = 1;
    } else if (mark.kind === 'frame') {
      context.strokeStyle = colour(mark.colour);
      context.strokeRect(mark.x, mark.y, mark.w, mark.h);
    } else {
      context.font = font(mark.size, mark.weight);
      context.textAlign = mark.end ? 'right' : 'left';
      context.fillText(mark.text, mark.x, mark.y);
    }
  }
}

/** A name for the file. @param {View} view */
export const file_name = ({ report: { model }, full }) =>
  `memory-ledger-${(model.id ?? (is_object(full.model) ? model.model_type : 'run')).split('/').pop()}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-') + '.png';
