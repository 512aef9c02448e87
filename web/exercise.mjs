// An exercise: a question of a worked example together with what the core answers to it. Nothing here makes nodes.
import { kGiB } from './number.mjs';
import { questions_of } from './questions.mjs';
import { evaluate, fill } from './story.mjs';
import { phase_name } from './verdict.mjs';

/** @typedef {import('./types.mjs').Example} Example */
/** @typedef {import('./types.mjs').Report} Report */
/** @typedef {import('./types.mjs').Catalog} Catalog */
/** @typedef {import('./story.mjs').Sources} Sources */
/** @typedef {import('./story.mjs').Piece} Piece */
/** @typedef {import('./number.mjs').Numbers} Numbers */
/** @typedef {import('./questions.mjs').Question} Question */

/** What is guessed: an amount in bytes for each item, or 1 for each item that is picked.
 * @typedef {{[key: string]: number}} Guess */

/** One thing to guess. `truth` is in bytes, or 1 where it is to be picked; `value` is what the pick is made by.
 * @typedef {{key: string, name: string, truth: number, value: unknown}} Item */

/**
 * @typedef {object} Exercise
 * @property {Example} example
 * @property {number} number from one
 * @property {number} count of questions of the example
 * @property {Question} question
 * @property {boolean} known the core has answered
 * @property {boolean} amounts sizes are guessed; otherwise items are picked
 * @property {string | null} subject label of the scenario whose sentence and letters are given
 * @property {Report | null} report of the subject
 * @property {Report[]} reports of the items that are runs
 * @property {Piece[]} ask
 * @property {Piece[]} why
 * @property {Item[]} items
 * @property {number} top of the scale that is drawn on, bytes */

const kFits = [
  ['yes', 'Yes, whatever the context takes'],
  ['close', 'It may: it depends on the context and on what is given back'],
  ['no', 'No'],
];

/** @param {Example} example @param {number} number @param {Sources} sources reports by label @param {Numbers} n
 * @param {Catalog} catalog @returns {Exercise | null} null where there is no such question */
export function exercise(example, number, sources, n, catalog) {
  const questions = questions_of(example);
  const question = questions[number - 1];
  if (!question) return null;
  const subject = subject_of(question, example);
  const found = subject === null ? null : sources[subject];
  const known = example.scenarios.every(({ label }) => sources[label] !== undefined);
  const items = known ? items_of(question, example, sources, n, catalog) : [];
  return {
    example,
    number,
    count: questions.length,
    question,
    known,
    amounts: question.kind !== 'choice' && question.kind !== 'ticks',
    subject,
    report: is_report(found) ? found : null,
    reports: items.map(({ key }) => sources[key]).filter(is_report),
    ask: fill(question.ask, sources, n),
    why: question.why === undefined ? [] : fill(question.why, sources, n),
    items,
    top: scale_of(
      question.kind === 'parts'
        ? items.reduce((sum, { truth }) => sum + truth, 0)
        : Math.max(0, ...items.map(({ truth }) => truth)),
      `${example.id}${number}`,
    ),
  };
}

/** @param {unknown} value @returns {value is Report} */
export const is_report = (value) =>
  typeof value === 'object' && value !== null && 'peak' in value && 'parts' in value;

/** The scenario that a question is about; null where it is about the example's own figures.
 * @param {Question} question @param {Example} example @returns {string | null} */
export function subject_of({ run, of, runs }, { scenarios }) {
  if (run !== undefined) return run;
  if (runs !== undefined) return runs[0];
  const named = of?.split(/[*/]/).map((path) => path.split('.')[0]) ?? [];
  const label = scenarios.find((row) => named.includes(row.label))?.label;
  if (label !== undefined) return label;
  return named.length > 0 && named.every((name) => name === 'inputs') ? null : scenarios[0].label;
}

/** @param {Question} question @param {Example} example @param {Sources} sources @param {Numbers} n
 * @param {Catalog} catalog @returns {Item[]} */
function items_of(question, example, sources, n, catalog) {
  const { kind, from = kind === 'parts' ? 'parts' : 'runs', of = '', pick = 'most' } = question;
  const subject = subject_of(question, example) ?? '';
  const report = sources[subject];
  const amount = (/** @type {unknown} */ value) => (typeof value === 'number' ? value : 0);
  if (kind === 'size') {
    const value = evaluate(of, sources);
    return [{ key: 'size', name: '', truth: amount(value), value }];
  }
  /** @type {Item[]} */
  let items = [];
  if (from === 'runs') {
    items = example.scenarios
      .filter(({ label }) => question.runs?.includes(label) ?? true)
      .sort((a, b) => order(question, a.label) - order(question, b.label))
      .map(({ label, what }) => {
        const value = evaluate(of.replaceAll('*.', `${label}.`), sources);
        const name = question.name === undefined ? what : words(question.name, sources, n, label);
        return { key: label, name, truth: amount(value), value };
      });
  } else if (is_report(report)) {
    if (from === 'parts') {
      items = report.parts.map(({ id, bytes }) => {
        const about = catalog.parts.find((part) => part.id === id);
        return { key: id, name: about?.name ?? id, truth: bytes, value: bytes };
      });
    } else if (from === 'fits') {
      const fits = report.verdict?.fits;
      return kFits.map(([key, name]) => {
        return { key, name, truth: Number(key === fits), value: undefined };
      });
    } else {
      items = report.phases
        .filter(({ step }) => kind === 'series' || step === 2)
        .map(({ step, phase, peak_bytes }) => ({
          key: kind === 'series' ? `${step}-${phase}` : phase,
          name:
            kind === 'series' ? `Step ${n.count(step)}, ${phase_name(phase)}` : phase_name(phase),
          truth: peak_bytes,
          value: peak_bytes,
        }));
    }
  }
  if (kind === 'parts' || kind === 'series') return items;
  if (kind === 'ticks')
    return items.map((item) => ({ ...item, truth: Number(item.value === question.is) }));
  const best = (pick === 'most' ? Math.max : Math.min)(...items.map(({ truth }) => truth));
  return items.map((item) => ({ ...item, truth: Number(item.truth === best) }));
}

/** @param {Question} question @param {string} label */
const order = ({ runs }, label) => runs?.indexOf(label) ?? 0;

/** @param {string} sentence @param {Sources} sources @param {Numbers} n @param {string} row */
const words = (sentence, sources, n, row) =>
  fill(sentence, sources, n, row)
    .map(({ text }) => text)
    .join('');

/** The top of the scale: a round figure in GiB well above the truth, and not always equally far above, so that the scale
 * does not give the answer away.
 * @param {number} most bytes @param {string} name of the exercise */
export function scale_of(most, name) {
  if (most <= 0) return kGiB;
  const further = [...name].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 3;
  const two = 2 ** Math.floor(Math.log2((1.2 * most) / kGiB));
  const tops = [2, 3, 4, 6, 8].map((factor) => factor * two * (kGiB / 2));
  const least = tops.findIndex((top) => top >= 1.2 * most);
  return tops[Math.min(least + further, tops.length - 1)];
}
