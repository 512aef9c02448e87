// Judges a guess against what the core answers, and says what it left out or charged twice. Nothing here makes nodes.
import { kGB, kGiB } from './number.mjs';

/** @typedef {import('./exercise.mjs').Exercise} Exercise */
/** @typedef {import('./exercise.mjs').Guess} Guess */
/** @typedef {import('./types.mjs').Report} Report */
/** @typedef {import('./types.mjs').Catalog} Catalog */
/** @typedef {import('./number.mjs').Numbers} Numbers */

/** @typedef {'right' | 'near' | 'off'} Grade */
/** @typedef {{grade: Grade, said: string[]}} Judged */

// Shares of the truth. Within the second a plan would still hold: it is the headroom that one leaves anyway.
export const kRight = 0.05;
export const kNear = 0.2;
// How near a sum of parts must come to a guess to be what was counted.
const kCounted = 0.03;
// Parts below this share of the whole are not worth a word.
const kSmall = 0.03;

/** @param {number} error share of the truth @returns {Grade} */
const grade_of = (error) => (error <= kRight ? 'right' : error <= kNear ? 'near' : 'off');

/** @param {Exercise} exercise @param {Guess} guess @param {Catalog} catalog @param {Numbers} n @returns {Judged} */
export function judge(exercise, guess, catalog, n) {
  switch (exercise.question.kind) {
    case 'size':
      return judge_size(exercise, guess.size ?? 0, catalog, n);
    case 'parts':
      return judge_parts(exercise, guess, catalog, n);
    case 'series':
      return judge_series(exercise, guess, n);
    default:
      return judge_picks(exercise, guess);
  }
}

/** Whether every item has a guess, or something is picked. @param {Exercise} exercise @param {Guess} guess */
export function is_complete({ question, items }, guess) {
  if (question.kind === 'ticks') return true;
  if (question.kind === 'parts' || question.kind === 'choice')
    return items.some(({ key }) => guess[key] > 0);
  return items.every(({ key }) => guess[key] !== undefined);
}

/** @param {Exercise} exercise @param {number} guess bytes @param {Catalog} catalog @param {Numbers} n @returns {Judged} */
function judge_size({ items, question, report }, guess, catalog, n) {
  const truth = items[0]?.truth ?? 0;
  const grade = grade_of(Math.abs(guess / truth - 1));
  const said = [verdict_of(grade, guess, truth, n)];
  if (grade === 'right') return { grade, said };
  const slip = unit_slip(guess, truth, n);
  if (slip) said.push(slip);
  else if (question.run !== undefined && report) said.push(...account(report, guess, catalog, n));
  else said.push(...factor_slip(guess, truth));
  return { grade, said };
}

/** @param {Grade} grade @param {number} guess @param {number} truth @param {Numbers} n */
function verdict_of(grade, guess, truth, n) {
  if (grade === 'right') return 'Right.';
  const by = `${n.signed_gib(guess - truth)} GiB`;
  if (grade === 'near') return `Close: ${by}. A plan with the usual headroom would still hold.`;
  return guess <= 0
    ? 'Nothing was guessed.'
    : `Not yet: ${by}, ${n.decimal(guess / truth, 2)} × the computed size.`;
}

/** A figure in one unit, written with the other. @param {number} guess @param {number} truth @param {Numbers} n */
function unit_slip(guess, truth, n) {
  const same = (/** @type {number} */ bytes) => Math.abs(bytes / truth - 1) < 0.01;
  const sizes = `${n.gib(truth)} GiB are ${n.gb(truth)} GB`;
  if (same((guess / kGiB) * kGB)) return `That is the figure in GB, written as GiB: ${sizes}.`;
  if (same((guess / kGB) * kGiB)) return `That is the figure in GiB, written as GB: ${sizes}.`;
  return null;
}

const kFactors = /** @type {[number, string][]} */ ([
  [0.25, 'a quarter'],
  [0.5, 'the half'],
  [2, 'the double'],
  [4, 'four times it'],
]);

/** @param {number} guess @param {number} truth */
function factor_slip(guess, truth) {
  const found = kFactors.find(([factor]) => Math.abs(guess / (truth * factor) - 1) < 0.02);
  return found ? [`That is ${found[1]}: look again at the bytes of each value.`] : [];
}

/** Which parts a guess at the whole may have counted: the sum that is nearest, of those that are near enough.
 * @param {Report} report @param {number} guess bytes @returns {string[] | null} ids */
export function counted(report, guess) {
  const whole = report.peak.allocated_bytes;
  const parts = report.parts.filter(({ bytes }) => bytes > kSmall * whole);
  /** @type {string[] | null} */
  let best = null;
  let least = Infinity;
  for (let set = 1; set < 2 ** parts.length - 1; set++) {
    const chosen = parts.filter((_, i) => (set >> i) & 1);
    const error = Math.abs(chosen.reduce((sum, { bytes }) => sum + bytes, 0) - guess) / guess;
    // Nobody begins an account without the weights.
    const odd = chosen[0].id === 'weights' ? 0 : kCounted / 2;
    if (error > kCounted || error + odd >= least) continue;
    least = error + odd;
    best = chosen.map(({ id }) => id);
  }
  return best;
}

/** What a guess at the whole counted and what it left out. @param {Report} report @param {number} guess
 * @param {Catalog} catalog @param {Numbers} n */
function account(report, guess, catalog, n) {
  const name = names(catalog);
  const ids = counted(report, guess);
  if (ids) {
    return [
      `That is what ${list(ids.map(name))} hold at the peak.`,
      ...left_out(report, ids, catalog, n),
    ];
  }
  const maxima = report.parts.reduce(
    (sum, { id }) => sum + Math.max(0, ...(report.timeline.parts[id] ?? [])),
    0,
  );
  if (guess > report.peak.allocated_bytes && Math.abs(guess / maxima - 1) < kRight) {
    return [
      `It is near the sum of every part’s own maximum, ${n.gib(maxima)} GiB. But no moment has them all: activations are used up while gradients grow.`,
    ];
  }
  const largest = [...report.parts].sort((a, b) => b.bytes - a.bytes)[0];
  return guess < report.peak.allocated_bytes
    ? [
        `The largest part is ${name(largest.id)}, ${n.gib(largest.bytes)} GiB${of_them(largest, n)}.`,
      ]
    : [];
}

/** @param {Report} report @param {string[]} ids that were counted @param {Catalog} catalog @param {Numbers} n */
function left_out(report, ids, catalog, n) {
  const name = names(catalog);
  const whole = report.peak.allocated_bytes;
  return report.parts
    .filter(({ id, bytes }) => !ids.includes(id) && bytes > kSmall * whole)
    .sort((a, b) => b.bytes - a.bytes)
    .map((part) => `Left out: ${name(part.id)}, ${n.gib(part.bytes)} GiB${of_them(part, n)}.`);
}

/** The largest line of a part with its working: "log-probabilities (loss): 4 · B · T · V = 1.16 GiB"; empty where there is
 * none. @param {import('./types.mjs').Part} part @param {Numbers} n */
export function largest_of(part, n) {
  const [line] = [...part.lines].sort((a, b) => b.bytes - a.bytes);
  if (!line) return '';
  const where = line.where === '' || line.where === line.what ? '' : ` (${line.where})`;
  return `${line.what}${where}: ${line.symbols} = ${n.gib(line.bytes)} GiB`;
}

/** @param {import('./types.mjs').Part} part @param {Numbers} n */
const of_them = (part, n) =>
  part.lines.length > 1 ? `. Its largest tensors are ${largest_of(part, n)}` : '';

/** @param {Exercise} exercise @param {Guess} guess @param {Catalog} catalog @param {Numbers} n @returns {Judged} */
function judge_parts({ items, report }, guess, catalog, n) {
  const name = names(catalog);
  const whole = items.reduce((sum, { truth }) => sum + truth, 0);
  const guessed = items.reduce((sum, { key }) => sum + (guess[key] ?? 0), 0);
  const moved = items.reduce((sum, { key, truth }) => sum + Math.abs((guess[key] ?? 0) - truth), 0);
  const grade = grade_of(moved / whole);
  const said = [
    grade === 'right'
      ? 'Right, part by part.'
      : `${grade === 'near' ? 'Close. ' : ''}Together you have ${n.gib(guessed)} GiB; the step holds ${n.gib(whole)} GiB.`,
  ];
  const sizes = said.length;
  for (const { key, truth } of items) {
    const own = guess[key] ?? 0;
    const part = report?.parts.find(({ id }) => id === key);
    if (truth > kSmall * whole && own < truth / 10 && part)
      said.push(`Left out: ${name(key)}, ${n.gib(truth)} GiB${of_them(part, n)}.`);
    else if (own > kSmall * whole && truth < own / 10)
      said.push(
        `Charged without being there: ${name(key)} (${catalog.parts.find(({ id }) => id === key)?.what ?? key}).`,
      );
  }
  if (grade !== 'right' && said.length === sizes && report)
    said.push(furthest(report, guess, catalog, n));
  return { grade, said };
}

/** The part with the largest difference. @param {Report} report @param {Guess} guess @param {Catalog} catalog
 * @param {Numbers} n */
function furthest({ parts }, guess, catalog, n) {
  const off = (/** @type {import('./types.mjs').Part} */ { id, bytes }) =>
    Math.abs((guess[id] ?? 0) - bytes);
  const part = parts.reduce((most, one) => (off(one) > off(most) ? one : most));
  return `Furthest off: ${names(catalog)(part.id)}, by ${n.signed_gib((guess[part.id] ?? 0) - part.bytes)} GiB${of_them(part, n)}.`;
}

/** @param {Exercise} exercise @param {Guess} guess @param {Numbers} n @returns {Judged} */
function judge_series({ items }, guess, n) {
  const errors = items.map(({ key, truth }) => Math.abs((guess[key] ?? 0) / truth - 1));
  const grade = grade_of(errors.reduce((sum, error) => sum + error, 0) / Math.max(1, items.length));
  const grown = (/** @type {(item: import('./exercise.mjs').Item) => number} */ of) => {
    const all = items.map(of);
    return Math.max(...all) / Math.max(1, Math.min(...all));
  };
  const [own, true_growth] = [grown(({ key }) => guess[key] ?? 0), grown(({ truth }) => truth)];
  const said = [
    grade === 'right'
      ? 'Right, all along.'
      : grade === 'near'
        ? 'Close, all along: a plan with the usual headroom would still hold.'
        : 'Not yet.',
  ];
  if (grade !== 'right' && Number.isFinite(own))
    said.push(
      `From the lowest to the highest you have ${n.decimal(own, 1)} ×, the core has ${n.decimal(true_growth, 1)} ×.`,
    );
  const worst = errors.indexOf(Math.max(...errors));
  if (grade !== 'right' && items[worst])
    said.push(`You are furthest off at: ${items[worst].name}.`);
  return { grade, said };
}

/** @param {Exercise} exercise @param {Guess} guess @returns {Judged} */
function judge_picks({ items, question }, guess) {
  const wrong = items.filter(({ key, truth }) => (guess[key] ?? 0) !== truth);
  const right = items.filter(({ truth }) => truth === 1).map(({ name }) => name);
  if (wrong.length === 0) return { grade: 'right', said: ['Right.'] };
  const answer = right.length > 0 ? list(right, ' and ') : 'none of them';
  return {
    grade: question.kind === 'ticks' && wrong.length === 1 ? 'near' : 'off',
    said: [`${question.kind === 'ticks' ? 'Not all of it' : 'Not yet'}. It is: ${answer}.`],
  };
}

/** @param {Catalog} catalog */
const names = (catalog) => (/** @type {string} */ id) =>
  (catalog.parts.find((part) => part.id === id)?.name ?? id).toLowerCase();

/** @param {string[]} words @param {string} [last] */
const list = (words, last = ' and ') =>
  words.length < 2
    ? words.join('')
    : `${words.slice(0, -1).join(', ')}${last}${words[words.length - 1]}`;
