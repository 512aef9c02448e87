// The loop that trains, and what only some loops can be told: packing and losses of SFTTrainer, trainers by preference
// and reward, Liger's kernels.
import { model_type_of } from './method.mjs';
import { get, is_object } from './scenario.mjs';

/** @typedef {import('./types.mjs').Catalog} Catalog */
/** @typedef {import('./types.mjs').Scenario} Scenario */
/** @typedef {import('./scenario.mjs').Patch} Patch */
/** @typedef {import('./controls.mjs').Control} Control */

const kLoops = /** @type {{[id: string]: string}} */ ({
  torch: 'a plain PyTorch loop',
  transformers: 'transformers’ Trainer',
  trl: 'TRL’s SFTTrainer',
  dpo: 'TRL’s DPOTrainer',
  kto: 'TRL’s KTOTrainer',
  reward: 'TRL’s RewardTrainer',
  grpo: 'TRL’s GRPOTrainer',
});

/** The method of preferences or rewards, or an empty text. @param {Scenario} full */
const method_of = (full) => (is_object(full.rl) ? String(full.rl.method) : '');
const kMoments = ['load', 'train', 'evaluate', 'save'];
/** @param {Scenario} full @returns {string[]} */
const moments_of = ({ moments }) => (Array.isArray(moments) ? moments.map(String) : ['train']);
/** @param {Scenario} full */
const is_sft = (full) => full.trainer === 'trl' && method_of(full) === '';

const kTokens = [16, 32, 64, 128, 256, 512, 768, 1024, 1536, 2048, 4096, 8192, 16384, 32768];
const packed = 'training.packing';
const strategy = 'training.packing_strategy';
const free = 'training.padding_free';

/** What is gone once another loop is chosen: only trl has it, and its trainers by reward do not pack. */
const kNotPacked = { [packed]: false, [strategy]: undefined, [free]: false };

// num_generations of GRPOConfig, and its per_device_train_batch_size.
const kAnswers = 8;

/** Answers to a prompt are generated together: where they do not fill whole groups, trl's own micro-batch does.
 * @param {Scenario} full @returns {Patch} */
function whole_groups(full) {
  const sequences =
    Number(get(full, 'training.per_device_train_batch_size')) *
    Number(get(full, 'training.gradient_accumulation_steps'));
  return sequences % kAnswers === 0 ? {} : { 'training.per_device_train_batch_size': kAnswers };
}

/** @param {Catalog} catalog @returns {Control[]} */
export function loop_controls(catalog) {
  /** @param {string} id @param {string} name @param {string} label @param {string} help @param {string[]} methods
   * @param {number[]} stops @returns {Control} */
  const figure = (id, name, label, help, methods, stops) => ({
    id,
    group: 'trainer',
    label,
    paths: [`rl.${name}`],
    kind: 'number',
    stops,
    when: (full) => methods.includes(method_of(full)),
    help,
    // What is not given follows from the rest; the report says what it became.
    key: (full) => String(get(full, `rl.${name}`) ?? ''),
  });
  const has_kernels = catalog.liger_model_types ?? [];
  const plain = catalog.trainers.map((id) => ({
    key: id,
    label: kLoops[id] ?? id,
    patch:
      id === 'trl'
        ? { trainer: id, rl: undefined }
        : { trainer: id, rl: undefined, 'training.loss_type': undefined, ...kNotPacked },
  }));
  const rewarded = (catalog.rl_methods ?? []).map(({ id, what }) => ({
    key: id,
    label: kLoops[id] ?? id,
    note: what,
    patch: (/** @type {Scenario} */ full) => ({
      ...(id === 'grpo' ? whole_groups(full) : {}),
      trainer: 'trl',
      rl: method_of(full) === id ? full.rl : { method: id },
      'training.loss_type': undefined,
      ...kNotPacked,
    }),
  }));
  const losses = (catalog.loss_types ?? []).map(({ id, what }) => ({
    key: id,
    label: id,
    note: what,
    patch: { 'training.loss_type': id },
  }));
  const ways = (catalog.packing_strategies ?? []).map(({ id, what }) => ({
    key: id,
    label: `packed: ${id}`,
    note: what,
    patch: { [packed]: true, [strategy]: id, [free]: false },
  }));
  return [
    {
      id: 'liger',
      group: 'memory savers',
      label: 'Liger’s kernels',
      paths: ['training.use_liger_kernel', 'training.liger_kernel_config'],
      kind: 'switch',
      when: (full) =>
        get(full, 'training.use_liger_kernel') === true ||
        (method_of(full) === '' && has_kernels.includes(String(model_type_of(catalog, full)))),
      help: 'Fused norms, rotary embedding, gated layers and loss; the loss then keeps no logits.',
      options: [
        {
          key: 'false',
          label: 'no Liger kernels',
          patch: {
            'training.use_liger_kernel': false,
            'training.liger_kernel_config': undefined,
          },
        },
        { key: 'true', label: 'Liger’s kernels', patch: { 'training.use_liger_kernel': true } },
      ],
      key: (full) => String(get(full, 'training.use_liger_kernel') === true),
    },
    {
      id: 'trainer',
      group: 'trainer',
      label: 'Loop',
      paths: ['trainer', 'rl', 'rl.method'],
      kind: 'choice',
      stays: true,
      also: [
        'moments',
        'packing',
        'loss',
        'prompt',
        'completion',
        'generations',
        'reference',
        'beta',
        'iterations',
        'generated',
      ],
      options: [...plain, ...rewarded],
      help: 'Who calls forward, backward and step, and what is trained for.',
      key: (full) => method_of(full) || String(full.trainer),
    },
    {
      id: 'packing',
      group: 'trainer',
      label: 'Samples become rows',
      paths: [packed, strategy, free, 'training.sample_lengths'],
      kind: 'choice',
      when: is_sft,
      help: 'Padded to the longest, packed into full rows, or laid end to end without padding.',
      options: [
        { key: 'padded', label: 'padded', note: 'a row for each', patch: kNotPacked },
        ...ways,
        {
          key: 'free',
          label: 'without padding',
          note: 'all samples of a micro-batch in one row',
          patch: { [packed]: false, [strategy]: undefined, [free]: true },
        },
      ],
      key: (full) =>
        get(full, packed) === true
          ? String(get(full, strategy))
          : get(full, free) === true
            ? 'free'
            : 'padded',
    },
    {
      id: 'loss',
      group: 'trainer',
      label: 'Loss',
      paths: ['training.loss_type'],
      kind: 'choice',
      when: is_sft,
      help: 'What is computed from the logits.',
      options: losses,
      key: (full) => String(get(full, 'training.loss_type')),
    },
    {
      id: 'moments',
      group: 'trainer',
      label: 'Moments',
      paths: ['moments'],
      kind: 'many',
      help: 'What can fail beside the steps: loading, an evaluation after the second step, saving a checkpoint.',
      items: (full) => kMoments.map((name) => ({ name, on: moments_of(full).includes(name) })),
      key: (full) => moments_of(full).join(' '),
    },
    figure(
      'prompt',
      'prompt_length',
      'Tokens of a prompt',
      'With those of the answer they make the sequence.',
      ['dpo', 'kto', 'grpo'],
      kTokens,
    ),
    figure(
      'completion',
      'max_completion_length',
      'Tokens of an answer',
      'Only answers have log-probabilities; generated ones grow a cache of keys and values.',
      ['dpo', 'kto', 'grpo'],
      kTokens,
    ),
    figure(
      'generations',
      'num_generations',
      'Answers to a prompt',
      'They are compared with each other, and generated together.',
      ['grpo'],
      [2, 4, 6, 8, 12, 16, 24, 32, 64],
    ),
    {
      id: 'reference',
      group: 'trainer',
      label: 'The reference is asked beforehand',
      paths: ['rl.precompute_ref_log_probs'],
      kind: 'switch',
      when: (full) => ['dpo', 'kto'].includes(method_of(full)),
      help: 'precompute_ref_log_probs: then no second model lies in memory while training.',
      options: [
        {
          key: 'false',
          label: 'a reference in memory',
          patch: { 'rl.precompute_ref_log_probs': undefined },
        },
        {
          key: 'true',
          label: 'the reference asked beforehand',
          patch: { 'rl.precompute_ref_log_probs': true },
        },
      ],
      key: (full) => String(get(full, 'rl.precompute_ref_log_probs') === true),
    },
    figure(
      'beta',
      'beta',
      'Weight of the distance to the reference',
      'Above zero a reference model is kept.',
      ['grpo'],
      [0, 0.001, 0.01, 0.04, 0.1],
    ),
    figure(
      'iterations',
      'num_iterations',
      'Passes over the answers',
      'From the second on, the old log-probabilities are kept.',
      ['grpo'],
      [1, 2, 3, 4, 8],
    ),
    figure(
      'generated',
      'steps_per_generation',
      'Micro-batches generated at once',
      'Their caches of keys and values live at the same time.',
      ['grpo'],
      [1, 2, 4, 8, 16, 32],
    ),
  ];
}
