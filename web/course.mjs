// Where one is in the workshop, as the address and as a code that can be read out: logits.2, or with an answer logits.2=9.5.
// And what has been done, as it is kept on this machine.
import { kGiB } from './number.mjs';

/** @typedef {import('./exercise.mjs').Exercise} Exercise */
/** @typedef {import('./exercise.mjs').Guess} Guess */
/** @typedef {import('./check.mjs').Grade} Grade */

/** @typedef {'list' | 'exercise' | 'presenter' | 'sheet'} Scene */

/**
 * @typedef {object} Place
 * @property {Scene} scene
 * @property {string | null} example its id; `own` is the scenario of the address
 * @property {number} number of the question, from one
 * @property {number} slide from zero
 * @property {string | null} answer of the code, as text
 * @property {string} scenario the rest of the address: what `own` is about, with its "#" */

/** The example that is made of the address's scenario. */
export const kOwn = 'own';

/** @param {string} hash */
export const is_workshop = (hash) => /^#?workshop(=|&|$)/.test(hash);

/** @param {string} hash @returns {Place} */
export function read_place(hash) {
  const pieces = hash.replace(/^#/, '').split('&').filter(Boolean);
  /** @type {Place} */
  const place = { scene: 'list', example: null, number: 1, slide: 0, answer: null, scenario: '' };
  const rest = [];
  for (const piece of pieces) {
    const cut = piece.indexOf('=');
    const [key, value] = cut < 0 ? [piece, ''] : [piece.slice(0, cut), piece.slice(cut + 1)];
    if (key === 'workshop') Object.assign(place, read_code(value));
    else if (key === 'view' && (value === 'presenter' || value === 'sheet')) place.scene = value;
    else if (key === 'slide') place.slide = Math.max(0, Math.floor(Number(value)) || 0);
    else rest.push(piece);
  }
  place.scenario = rest.length > 0 ? `#${rest.join('&')}` : '';
  return place;
}

/** @param {Partial<Place>} place */
export function write_place({ scene, example, number = 1, slide = 0, answer, scenario = '' }) {
  const code = example ? `=${write_code(example, number, answer ?? null)}` : '';
  const view = scene === 'presenter' || scene === 'sheet' ? `&view=${scene}` : '';
  const at = scene === 'presenter' && slide > 0 ? `&slide=${slide}` : '';
  return `#workshop${code}${view}${at}${scenario.replace(/^#/, '&')}`;
}

/** @param {string} example @param {number} number @param {string | null} answer */
export const write_code = (example, number, answer) =>
  `${example}.${number}${answer === null ? '' : `=${answer}`}`;

/** A code as it was typed, or a whole address. @param {string} text
 * @returns {Pick<Place, 'scene' | 'example' | 'number' | 'answer'>} */
export function read_code(text) {
  const nothing = /** @type {const} */ ({ scene: 'list', example: null, number: 1, answer: null });
  let plain = text.trim();
  try {
    plain = decodeURIComponent(plain);
  } catch {
    return nothing;
  }
  const found = plain.match(/^([a-z0-9-]+)(?:[.\s]+(\d{1,3}))?(?:\s*=\s*([\w.,+-]*))?$/i);
  if (!found) return nothing;
  const [, example, number, answer] = found;
  return {
    scene: 'exercise',
    example: example.toLowerCase(),
    number: Math.max(1, Number(number ?? 1)),
    answer: answer === undefined || answer === '' ? null : answer,
  };
}

/** A guess as the end of a code: GiB in the order of the items, or what was picked.
 * @param {Exercise} exercise @param {Guess} guess */
export function write_answer({ amounts, items }, guess) {
  if (!amounts) {
    return items
      .filter(({ key }) => guess[key] === 1)
      .map(({ key }) => key)
      .join('+');
  }
  return items
    .map(({ key }) => (guess[key] === undefined ? '' : String(+(guess[key] / kGiB).toPrecision(4))))
    .join(',');
}

/** @param {Exercise} exercise @param {string} text @returns {Guess} */
export function read_answer({ amounts, items }, text) {
  const pieces = text.split(amounts ? ',' : '+');
  /** @type {Guess} */
  const guess = {};
  items.forEach(({ key }, i) => {
    if (!amounts) guess[key] = Number(pieces.includes(key));
    else if (pieces[i]?.trim() && Number(pieces[i]) >= 0) guess[key] = Number(pieces[i]) * kGiB;
  });
  return guess;
}

// --- What has been done ---

/** Something that keeps text under a name; localStorage, where there is one.
 * @typedef {{read: (name: string) => string | null, write: (name: string, text: string | null) => void}} Keeper */

/** By code, the last grade and answer. @typedef {{[code: string]: {grade: Grade, answer: string}}} Done */

const kName = 'memory-ledger.workshop';

/** What is kept, or nothing where it cannot be read. @param {Keeper} keeper @returns {Done} */
export function read_done(keeper) {
  try {
    const { version, done } = JSON.parse(keeper.read(kName) ?? '{}');
    if (version !== 1 || typeof done !== 'object' || done === null) return {};
    return Object.fromEntries(
      Object.entries(done).filter(
        ([, one]) => /^(right|near|off)$/.test(one?.grade) && typeof one.answer === 'string',
      ),
    );
  } catch {
    return {};
  }
}

/** @param {Keeper} keeper @param {Done} done */
export function write_done(keeper, done) {
  const empty = Object.keys(done).length === 0;
  keeper.write(kName, empty ? null : JSON.stringify({ version: 1, done }));
}

/** Reads what was typed as a size: a figure in GiB unless it says another unit. NaN where it is no size.
 * @param {string} text @param {import('./number.mjs').Numbers} n */
export function read_size(text, n) {
  const found = text.trim().match(/^(.*?)\s*(GiB|GB|MiB|MB|KiB|kB|TiB|TB|bytes|B)?$/i);
  const units = /** @type {{[unit: string]: number}} */ ({
    tib: 2 ** 40,
    gib: kGiB,
    mib: 2 ** 20,
    kib: 1024,
    tb: 1e12,
    gb: 1e9,
    mb: 1e6,
    kb: 1e3,
    bytes: 1,
    b: 1,
  });
  const value = n.read(found?.[1] ?? '');
  return value >= 0 ? value * units[(found?.[2] ?? 'GiB').toLowerCase()] : NaN;
}
