// Placeholders of worked examples, filled from reports: {full.peak.allocated_bytes|gib_gb}. The grammar is written down in
// core/data/examples/README.md.
import { is_object } from './scenario.mjs';

/** What placeholders can name: `inputs`, and one report per label, with the scenario's own `what`.
 * @typedef {{[label: string]: unknown}} Sources */

/** A piece of a sentence: plain words, or a figure with what it was made from.
 * @typedef {{text: string, value: unknown, source: string | null}} Piece */

const kNowhere = '—';

/** @param {string} sentence @param {Sources} sources @param {import('./number.mjs').Numbers} n
 * @param {string} [row] the label that * stands for @returns {Piece[]} */
export function fill(sentence, sources, n, row) {
  return sentence
    .split(/(\{[^{}]*\})/)
    .filter(Boolean)
    .map((piece) => {
      if (!piece.startsWith('{')) return { text: piece, value: null, source: null };
      const source = piece.slice(1, -1).replaceAll('*.', `${row ?? '*'}.`);
      const [expression, format = 'text'] = source.split('|');
      const value = evaluate(expression, sources);
      return { text: value === undefined ? kNowhere : write(value, format, n), value, source };
    });
}

/** The value of products and quotients of paths, from left to right; undefined where a path leads nowhere.
 * @param {string} expression @param {Sources} sources */
export function evaluate(expression, sources) {
  const tokens = expression.split(/([*/])/);
  let value = follow(tokens[0], sources);
  for (let i = 1; i < tokens.length; i += 2) {
    const next = follow(tokens[i + 1], sources);
    if (typeof value !== 'number' || typeof next !== 'number') return undefined;
    value = tokens[i] === '*' ? value * next : value / next;
  }
  return typeof value === 'number' && !Number.isFinite(value) ? undefined : value;
}

/** @param {string} path @param {Sources} sources @returns {unknown} */
function follow(path, sources) {
  /** @type {unknown} */
  let at = sources;
  for (const [, name, conditions] of path.matchAll(/([^.[\]]+)(?:\[([^\]]*)\])?/g)) {
    if (!is_object(at) || !Object.hasOwn(at, name)) return undefined;
    at = at[name];
    if (conditions === undefined) continue;
    if (!Array.isArray(at)) return undefined;
    const wanted = conditions.split(',').map((condition) => condition.split('='));
    at = at.find(
      (item) => is_object(item) && wanted.every(([key, text]) => String(item[key]) === text),
    );
  }
  return at === null ? undefined : at;
}

/** @param {unknown} value @param {string} format @param {import('./number.mjs').Numbers} n */
function write(value, format, n) {
  const [name, places] = format.split(':');
  if (typeof value !== 'number') return name === 'text' ? String(value) : kNowhere;
  const digits = places === undefined ? undefined : Number(places);
  switch (name) {
    case 'gib':
      return `${n.gib(value, digits)} GiB`;
    case 'gb':
      return `${n.gb(value, digits)} GB`;
    case 'gib_gb':
      return `${n.gib(value, digits)} GiB (${n.gb(value, digits)} GB)`;
    case 'percent':
      return `${n.decimal(100 * value, digits ?? 0)} %`;
    case 'times':
      return `${n.decimal(value, digits ?? 1)} ×`;
    case 'int':
      return n.count(Math.round(value));
    default:
      return n.count(value);
  }
}
