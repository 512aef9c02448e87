// Rules of thumb beside a run: what each makes of it, which bytes it counts, and what of this run it leaves out. A rule is a
// row of data with its source; every figure is computed.
import { h } from './dom.mjs';
import { size } from './number.mjs';
import { is_object } from './scenario.mjs';
import { table } from './table.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./types.mjs').Report} Report */
/** Letters of the published formula and those of the report: s is T, b is B, h is d, a is H.
 * @typedef {{[symbol: string]: number}} Letters */

/**
 * @typedef {object} Rule
 * @property {string} id
 * @property {{[part: string]: number}} [bytes] bytes a parameter, by the part of the ledger that they stand for
 * @property {number} [times] everything times so much
 * @property {(letters: Letters) => number} [activations] bytes of activations
 * @property {(n: View['n']) => string} [formula] where it is not bytes a parameter
 * @property {string} counts
 * @property {string} lacks what no figure of the run can show
 * @property {boolean} [trains_all] it speaks of runs that train every parameter
 * @property {string} source
 */

const kKorthikanti =
  'Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models, arXiv:2205.05198, section 4';

/** @type {Rule[]} */
export const kRules = [
  {
    id: 'weights',
    bytes: { weights: 2 },
    counts: 'the weights in sixteen bits',
    lacks: 'everything that training adds',
    source: 'huggingface/accelerate, commands/estimate.py',
  },
  {
    id: 'serving',
    bytes: { weights: 2 },
    times: 1.2,
    counts: 'the weights in sixteen bits and a fifth for all the rest',
    lacks: 'how many tokens there are: the fifth is the same for one and for a million',
    source: 'EleutherAI, Transformer Math 101; Vokturz/can-it-run-llm',
  },
  {
    id: 'half',
    bytes: { weights: 2, gradients: 2, optimizer: 4 },
    counts: 'weights, gradients and both states of Adam, all in sixteen bits',
    lacks: 'tokens, the loss and the moment',
    trains_all: true,
    source: 'huggingface/accelerate, fp16; hiyouga/LLaMA-Factory, pure bf16; RahulSChand/gpu_poor',
  },
  {
    id: 'wide state',
    bytes: { weights: 2, gradients: 2, optimizer: 8 },
    counts: 'weights and gradients in sixteen bits, states of Adam in thirty-two',
    lacks: 'tokens, the loss and the moment',
    trains_all: true,
    source: 'NetraRuntime, preset adamw_bf16; llm-vram-planner; ftune',
  },
  {
    id: 'master',
    bytes: { weights: 2, gradients: 2, optimizer: 8, master: 4 },
    counts:
      'the same with a copy of the weights in thirty-two bits; or everything in thirty-two bits',
    lacks: 'tokens, the loss and the moment',
    trains_all: true,
    source:
      'Rajbhandari et al., ZeRO, arXiv:1910.02054, section 3.1; NetraRuntime, fp16; fitcheck; xtuner',
  },
  {
    id: 'wide gradients',
    bytes: { weights: 2, gradients: 4, optimizer: 8, master: 4 },
    counts: 'the same with gradients in thirty-two bits, as Megatron-LM keeps them',
    lacks: 'tokens, the loss and the moment',
    trains_all: true,
    source:
      'EleutherAI/cookbook, calc_transformer_mem.py; furiousteabag/vram-calculator; LLaMA-Factory, AMP',
  },
  {
    id: 'no mixed precision',
    bytes: { weights: 4, gradients: 4, optimizer: 8, master: 4 },
    counts:
      'weights and gradients in thirty-two bits, and a copy of the weights that such a run does not need',
    lacks: 'tokens, the loss and the moment',
    trains_all: true,
    source: 'EleutherAI/cookbook, calc_transformer_mem.py --disable-mixed-precision',
  },
  {
    id: 'activations',
    activations: ({ T, B, d, L }) => 34 * T * B * d * L,
    formula: (n) => `${n.count(34)} s b h L`,
    counts: 'activations of GPT’s layers with dropout, without scores of attention',
    lacks: 'gated and grouped shapes, the logits, and what the kernels in use keep',
    source: kKorthikanti,
  },
  {
    id: 'scores',
    activations: ({ T, B, d, L, H }) => T * B * d * L * (34 + (5 * H * T) / d),
    formula: (n) => `s b h L (${n.count(34)} + ${n.count(5)} a s / h)`,
    counts: 'the same with the matrices of scores',
    lacks: 'gated and grouped shapes and the logits; fused kernels keep no scores',
    source: kKorthikanti,
  },
  {
    id: 'checkpoints',
    activations: ({ T, B, d, L }) => 2 * T * B * d * L,
    formula: (n) => `${n.count(2)} s b h L`,
    counts: 'what checkpointing keeps: the input of every layer',
    lacks: 'the layer that is computed again, and the logits',
    source: kKorthikanti,
  },
];

/** What a rule makes of a run, in bytes: by part, and in all; null where the run lacks a letter.
 * @param {Rule} rule @param {Report} report @returns {{parts: {[id: string]: number}, total: number} | null} */
export function applied({ bytes, times, activations }, { parameters, model }) {
  const parts = Object.fromEntries(
    Object.entries(bytes ?? {}).map(([id, each]) => [id, each * parameters.total]),
  );
  if (activations) parts.activations = activations(model.letters);
  const total = Object.values(parts).reduce((sum, one) => sum + one, 0) * (times ?? 1);
  return Number.isFinite(total) ? { parts, total } : null;
}

/** "16 P", "2 P × 1.2" @param {Rule} rule @param {View['n']} n */
export function formula_of({ bytes, times, formula }, n) {
  if (formula) return formula(n);
  const each = Object.values(bytes ?? {}).reduce((sum, one) => sum + one, 0);
  return `${n.count(each)} P${times ? ` × ${n.count(times)}` : ''}`;
}

// A part smaller than this share of the peak is not named.
const kNamed = 0.005;

/** @param {View} view @param {string} id */
const name_of = ({ catalog }, id) =>
  catalog.parts.find((part) => part.id === id)?.name.toLowerCase() ?? id;

/** "weights 15.04 (here 7.42)": what the rule's parts are in the run. @param {View} view @param {{[id: string]: number}} parts */
const beside = (view, parts) =>
  Object.entries(parts).map(([id, bytes]) => {
    const own = view.report.parts.find((part) => part.id === id)?.bytes ?? 0;
    return `${name_of(view, id)} ${view.n.gib(bytes)} (here ${view.n.gib(own)})`;
  });

/** What of the run the rule does not speak of. @param {View} view @param {{[id: string]: number}} parts */
const left_out = (view, parts) =>
  view.report.parts
    .filter(({ id, bytes }) => !(id in parts) && bytes > kNamed * view.report.peak.allocated_bytes)
    .map(({ id, bytes }) => `${name_of(view, id)} (here ${view.n.gib(bytes)} GiB)`);

/** @param {View} view @returns {Element} */
export function rules(view) {
  const { report, n, full } = view;
  const adapters = is_object(full.peft) || Array.isArray(full.peft);
  return h(
    'div',
    { class: 'rules' },
    h('h3', {}, 'Rules of thumb'),
    h(
      'p',
      { class: 'dim' },
      `P = ${n.count(report.parameters.total)} parameters; s, b, h, a and L are length, micro-batch, width, heads and layers. `,
      'Rules for activations are held against the activations at the peak, the others against the whole peak.',
    ),
    table(
      'Rules of thumb beside this run',
      ['rule', 'says', 'against the replay', 'what it counts, and what it leaves out'],
      kRules.flatMap((rule) => {
        const made = applied(rule, report);
        return made ? [row(view, rule, made, adapters)] : [];
      }),
    ),
  );
}

/** @param {View} view @param {Rule} rule @param {NonNullable<ReturnType<typeof applied>>} made @param {boolean} adapters */
function row(view, rule, { parts, total }, adapters) {
  const { n, report } = view;
  const own = rule.activations
    ? (report.parts.find(({ id }) => id === 'activations')?.bytes ?? 0)
    : report.peak.allocated_bytes;
  const out = rule.activations ? [] : left_out(view, parts);
  return h(
    'tr',
    { 'data-key': rule.id },
    h('th', { scope: 'row' }, formula_of(rule, n)),
    h('td', {}, size(n, total)),
    h('td', {}, h('data', { value: total - own }, `${n.signed_gib(total - own)} GiB`)),
    h(
      'td',
      { class: 'words' },
      `Counts ${rule.counts}: ${beside(view, parts).join(', ')} GiB. `,
      `Leaves out ${[rule.lacks, ...out].join('; ')}. `,
      rule.trains_all && adapters && 'It is meant for runs that train every parameter. ',
      h('span', { class: 'dim' }, `Source: ${rule.source}.`),
    ),
  );
}
