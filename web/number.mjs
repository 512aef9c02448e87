// Numbers as people read them: GiB and GB with two decimals, counts with separators, all by the reader's locale.
import { h } from './dom.mjs';

export const kGiB = 2 ** 30;
export const kGB = 1e9;

/** @typedef {ReturnType<typeof numbers>} Numbers */

/** Formats by one locale. Sizes are given in bytes.
 * @param {string | undefined} locale a BCP 47 tag, or undefined for the browser's */
export function numbers(locale) {
  // Made when they are first needed: a formatter takes its time.
  const made = new Map();
  /** @param {number} least @param {number} most digits after the point @returns {Intl.NumberFormat} */
  const format = (least, most) => {
    const key = 10 * least + most;
    const known =
      made.get(key) ??
      new Intl.NumberFormat(locale, { minimumFractionDigits: least, maximumFractionDigits: most });
    made.set(key, known);
    return known;
  };
  const free = { format: (/** @type {number} */ value) => format(0, 6).format(value) };
  /** @param {number} value @param {number} digits */
  const decimal = (value, digits) => format(Math.min(digits, 4), Math.min(digits, 4)).format(value);

  /** A size in a unit, never a bare zero for something that is there.
   * @param {number} bytes @param {number} unit @param {number} digits */
  const in_unit = (bytes, unit, digits) => {
    const value = bytes / unit;
    const least = 10 ** -digits;
    return value > 0 && value < least / 2 ? `<${decimal(least, digits)}` : decimal(value, digits);
  };

  /** @param {number} bytes @param {number} unit */
  const signed = (bytes, unit) =>
    Math.abs(bytes / unit) < 0.005
      ? `±${decimal(0, 2)}`
      : (bytes > 0 ? '+' : '−') + decimal(Math.abs(bytes) / unit, 2);

  return {
    locale,
    decimal,
    /** @param {number} value */
    count: (value) => (Math.abs(value) < 1e15 ? free.format(value) : String(value)),
    /** @param {number} bytes @param {number} [digits] */
    gib: (bytes, digits = 2) => in_unit(bytes, kGiB, digits),
    /** @param {number} bytes @param {number} [digits] */
    gb: (bytes, digits = 2) => in_unit(bytes, kGB, digits),
    /** @param {number} bytes */
    bytes: (bytes) => `${free.format(Math.round(bytes))} ${bytes === 1 ? 'byte' : 'bytes'}`,
    /** @param {number} bytes */
    signed_gib: (bytes) => signed(bytes, kGiB),
    /** @param {number} bytes */
    signed_gb: (bytes) => signed(bytes, kGB),
    /** For titles, where a figure stands in one unit only. @param {number} bytes */
    exact: (bytes) =>
      `${in_unit(bytes, kGiB, 2)} GiB, ${in_unit(bytes, kGB, 2)} GB, ${free.format(Math.round(bytes))} bytes`,
    /** "11.73 GiB (12.59 GB)" @param {number} bytes */
    both: (bytes) => `${in_unit(bytes, kGiB, 2)} GiB (${in_unit(bytes, kGB, 2)} GB)`,
    /** Parameters as people name them: "0.60 billion". @param {number} value */
    parameters: (value) =>
      value >= 1e9
        ? `${decimal(value / 1e9, value < 1e10 ? 2 : 1)} billion`
        : `${decimal(value / 1e6, value < 1e8 ? 1 : 0)} million`,
    /** Figures in the core's text, "1,024", as the locale writes them. @param {string} text */
    localise: (text) =>
      text.replace(/\d{1,3}(?:,\d{3})+/g, (figure) =>
        free.format(Number(figure.replaceAll(',', ''))),
      ),
    /** Reads what was typed in this locale; NaN if it is no number. @param {string} text */
    read: (text) => read_number(text, decimal(1.5, 1).charAt(1)),
  };
}

/** @param {string} text @param {string} point the locale's decimal point */
function read_number(text, point) {
  const plain = text.trim().replace(/[\s_'’\u00a0\u202f]/g, '');
  // A separator that groups by threes is no decimal point: "2,048" in English, "2.048" in German.
  const other = point === ',' ? '.' : ',';
  const grouped = new RegExp(`^[-+]?\\d{1,3}(\\${other}\\d{3})+(\\${point}\\d+)?$`);
  const text_in_c = grouped.test(plain)
    ? plain.replaceAll(other, '').replace(point, '.')
    : plain.replace(point, '.');
  return text_in_c === '' ? NaN : Number(text_in_c);
}

// Every figure on the page says from where in the report it comes, in the attribute data-path: dotted keys, `[id=weights]` to
// pick from a list, ` + `, ` - ` and ` / ` between places, `; ` where an element has figures of several. Keys begin at the
// report, at `catalog`, or in a row with `data-of` (a change, as JSON) at the report of the changed scenario, with `change`
// and `now`. tests/browser/trace.spec.mjs holds every figure against its place, and finds those that have none.

/** Words with figures in them, from a place in the report.
 * @param {string} path @param {import('./dom.mjs').Child[]} children */
export const traced = (path, ...children) => h('span', { 'data-path': path }, ...children);

/** A size: GiB, then GB, dimmer; the exact bytes on hover and for machines.
 * @param {Numbers} n @param {number} bytes @param {string} [path] where it comes from */
export const size = (n, bytes, path) =>
  h(
    'data',
    { class: 'size', value: bytes, title: n.bytes(bytes), 'data-path': path },
    `${n.gib(bytes)}\u00a0GiB `,
    h('span', { class: 'gb' }, `(${n.gb(bytes)} GB)`),
  );

/** A range of sizes, or one size where both ends are equal.
 * @param {Numbers} n @param {{low: number, high: number}} range @param {string} [path] where it comes from */
export const size_range = (n, { low, high }, path) =>
  low === high
    ? size(n, low, path)
    : h(
        'data',
        {
          class: 'size',
          value: `${low}–${high}`,
          title: `${n.bytes(low)} to ${n.bytes(high)}`,
          'data-path': path,
        },
        `${n.gib(low)} to ${n.gib(high)}\u00a0GiB `,
        h('span', { class: 'gb' }, `(${n.gb(low)} to ${n.gb(high)} GB)`),
      );
