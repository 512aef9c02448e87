// The scenario in the address: #model=Qwen/Qwen3-8B&max_length=2048&card=rtx-4090. Keys are the contract's, with
// `training.` left away; only what differs from the library's defaults is written, and the version of the address at the end.
// No hash is the first visit.
import { apply, equal, get, is_object, kFirst, pare } from './scenario.mjs';
import { kVersion, kVersionKey, migrated } from './versions.mjs';

/** @typedef {import('./types.mjs').Scenario} Scenario */
/** @typedef {import('./types.mjs').Problem} Problem */

/** @param {Scenario} scenario @param {Scenario} defaults @param {{always?: boolean}} [how] always: the first visit's too, which
 * may be another in another version @returns {string} with its "#", or "" */
export function write_address(scenario, defaults, { always = false } = {}) {
  const kept = pare(defaults, scenario);
  if (!always && equal(kept, pare(defaults, kFirst))) return '';
  return `#${[...entries(kept, '', defaults), `${kVersionKey}=${kVersion}`].join('&')}`;
}

/** @param {Scenario} object @param {string} path @param {Scenario} defaults @returns {string[]} */
function entries(object, path, defaults) {
  return Object.entries(object).flatMap(([key, value]) => {
    const at = path ? `${path}.${key}` : key;
    if (is_object(value) && at !== 'model' && Object.keys(value).length > 0) {
      return entries(value, at, defaults);
    }
    return `${escape(short(at, defaults))}=${escape(text_of(value, get(defaults, at)))}`;
  });
}

/** @param {string} path @param {Scenario} defaults */
const short = (path, defaults) => {
  const name = path.replace(/^training\./, '');
  return name !== path && !(name.split('.')[0] in defaults) ? name : path;
};

/** @param {string} name @param {Scenario} defaults */
const long = (name, defaults) => {
  const first = name.split('.')[0];
  return is_object(defaults.training) && first in defaults.training && !(first in defaults)
    ? `training.${name}`
    : name;
};

/** @param {unknown} value @param {unknown} usual the default, whose type tells text from numbers */
const text_of = (value, usual) =>
  typeof value === 'string' &&
  (typeof usual === 'string' || typeof value_of(value, usual) === 'string')
    ? value
    : JSON.stringify(value);

/** @param {string} text @param {unknown} usual @returns {unknown} */
function value_of(text, usual) {
  if (typeof usual === 'string' && !text.startsWith('"')) return text;
  if (!/^(true|false|null|-?\d+(\.\d+)?([eE][-+]?\d+)?|[{["].*)$/s.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Percent-encodes what a hash cannot hold and leaves the rest readable. @param {string} text */
const escape = (text) =>
  encodeURIComponent(text).replace(/%(2F|3A|2C|40|7B|7D|5B|5D|22)/g, decodeURIComponent);

/** Reads an address. Never throws: what cannot be read becomes a problem, what an older version meant otherwise a note.
 * @param {string} hash @param {Scenario} defaults
 * @returns {{scenario: Scenario, problems: Problem[], notes: string[]}} */
export function read_address(hash, defaults) {
  const text = hash.replace(/^#/, '');
  if (/^&*$/.test(text)) return { scenario: kFirst, problems: [], notes: [] };
  /** @type {Problem[]} */
  const problems = [];
  /** @type {import('./versions.mjs').Piece[]} */
  const read = [];
  for (const piece of text.split('&').filter(Boolean)) {
    const cut = piece.indexOf('=');
    const name = cut > 0 ? unescape_text(piece.slice(0, cut)) : null;
    const value = unescape_text(piece.slice(cut + 1));
    if (name === null || value === null || /(^|\.)(__proto__|$)|\.\./.test(name)) {
      const given = piece.length > 60 ? `${piece.slice(0, 60)}…` : piece;
      const message = `The address holds “${given}”, which is not of the form key=value.`;
      problems.push({ path: '', message, given });
    } else read.push([name, value]);
  }
  const { pieces, notes } = migrated(read);
  /** @type {Scenario} */
  let scenario = {};
  for (const [name, value] of pieces) {
    const path = long(name, defaults);
    scenario = apply(scenario, { [path]: value_of(value, get(defaults, path)) });
  }
  if (!('model' in scenario)) scenario = { ...scenario, model: kFirst.model };
  return { scenario, problems, notes };
}

/** @param {string} text @returns {string | null} */
function unescape_text(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
