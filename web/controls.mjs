// Everything that can be changed: one row per control, grouped as people think. The sentence, the panel and the list of
// single changes are all made from these rows. To add a control, add a row.
import { engine_controls } from './engines.mjs';
import { loop_controls } from './loops.mjs';
import { machine_controls } from './machine.mjs';
import { method_controls } from './method.mjs';
import { optimizer_control } from './optimizers.mjs';
import { get, is_object } from './scenario.mjs';

/** @typedef {import('./types.mjs').Catalog} Catalog */
/** @typedef {import('./types.mjs').Scenario} Scenario */
/** @typedef {import('./scenario.mjs').Patch} Patch */
/** @typedef {import('./number.mjs').Numbers} Numbers */

/** One thing to choose. `key` is unique in its list; a patch may depend on what is chosen elsewhere.
 * @typedef {{key: string, label: string, note?: string, group?: string, find?: string,
 *   patch: Patch | ((full: Scenario) => Patch)}} Option */

/**
 * @typedef {object} Control
 * @property {string} id
 * @property {string} group
 * @property {string} label
 * @property {string} help one line on what it does to memory
 * @property {string[]} paths the scenario's keys that it sets; problems are shown beside the control of their path
 * @property {'choice' | 'long' | 'number' | 'switch' | 'size' | 'many'} kind a long choice is searched; a size is typed
 *   with a unit; many are ticked
 * @property {(full: Scenario) => string} key the key of the option that is chosen, or the number as text
 * @property {Option[]} [options]
 * @property {number[]} [stops] the values that the slider and the arrow keys take
 * @property {string} [all] of kind many: what is written where all are ticked
 * @property {(full: Scenario) => {name: string, on: boolean}[]} [items] of kind many: the names, and which are ticked
 * @property {boolean} [pastes] a config.json can be given instead
 * @property {boolean} [costed] a long list that says what each choice would need
 * @property {string[]} [also] ids of the controls that are shown with it
 * @property {boolean} [stays] open after a choice, since others follow from it
 * @property {(full: Scenario) => boolean} [when] it has something to say only then
 */

export const kGroups = [
  'model',
  'method',
  'data',
  'memory savers',
  'optimizer',
  'trainer',
  'machine',
];

const kDtypes = /** @type {{[id: string]: string}} */ ({
  float32: 'float32 weights',
  bfloat16: 'bfloat16 weights',
  float16: 'float16 weights',
});

const kBatchStops = [
  1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 96, 128, 192, 256,
];
const kLengthStops = [
  128, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
  49152, 65536, 98304, 131072,
];
const kAccumulationStops = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256];

/** @param {Catalog} catalog @param {Numbers} n @returns {Control[]} */
export function controls(catalog, n) {
  /** @param {string} path @param {Option[]} options @returns {(full: Scenario) => string} */
  const chosen = (path, options) => (full) =>
    options.find(({ key }) => key === get(full, path))?.key ?? '';
  /** @param {string} path */
  const number = (path) => (/** @type {Scenario} */ full) => String(get(full, path) ?? '');
  const models = once(() => model_options(catalog, n));
  const every_card = once(() => card_options(catalog, n));
  const dtypes = catalog.dtypes.map((id) => ({
    key: id,
    label: kDtypes[id] ?? id,
    patch: { dtype: id },
  }));
  const attentions = catalog.attn_implementations.map(({ id, what }) => ({
    key: id,
    label: id,
    note: what,
    patch: { attn_implementation: id },
  }));

  return [
    {
      id: 'model',
      group: 'model',
      label: 'Model',
      paths: ['model', 'config'],
      kind: 'long',
      get options() {
        return models();
      },
      pastes: true,
      help: 'Its shapes decide everything else.',
      key: (full) => String(is_object(full.model) ? 'pasted' : full.model),
    },
    ...method_controls(catalog),
    {
      id: 'dtype',
      group: 'method',
      label: 'Weights',
      paths: ['dtype'],
      kind: 'choice',
      options: dtypes,
      help: 'Gradients and optimizer state follow the type of the weights.',
      key: chosen('dtype', dtypes),
    },
    {
      id: 'autocast',
      group: 'method',
      label: 'Autocast',
      paths: ['training.bf16', 'training.fp16'],
      kind: 'choice',
      help: 'Casts weights and inputs at the operators; the weights themselves stay as they are.',
      options: [
        {
          key: 'no',
          label: 'no autocast',
          patch: { 'training.bf16': false, 'training.fp16': false },
        },
        {
          key: 'bf16',
          label: 'bfloat16 autocast',
          patch: { 'training.bf16': true, 'training.fp16': false },
        },
        {
          key: 'fp16',
          label: 'float16 autocast',
          patch: { 'training.bf16': false, 'training.fp16': true },
        },
      ],
      key: (full) =>
        get(full, 'training.bf16') === true
          ? 'bf16'
          : get(full, 'training.fp16') === true
            ? 'fp16'
            : 'no',
    },
    {
      id: 'batch',
      group: 'data',
      label: 'Micro-batch',
      paths: ['training.per_device_train_batch_size'],
      kind: 'number',
      stops: kBatchStops,
      help: 'Sequences in one forward pass.',
      key: number('training.per_device_train_batch_size'),
    },
    {
      id: 'length',
      group: 'data',
      label: 'Length in tokens',
      paths: ['training.max_length'],
      kind: 'number',
      stops: kLengthStops,
      help: 'Activations grow with it; weights and optimizer state do not.',
      key: number('training.max_length'),
    },
    {
      id: 'accumulation',
      group: 'data',
      label: 'Accumulated micro-batches',
      paths: ['training.gradient_accumulation_steps'],
      kind: 'number',
      stops: kAccumulationStops,
      help: 'Raises the effective batch; activations are those of one micro-batch.',
      key: number('training.gradient_accumulation_steps'),
    },
    {
      id: 'mask',
      group: 'data',
      label: 'A padding mask is passed',
      paths: ['attention_mask'],
      kind: 'switch',
      help: 'As for examples of several lengths; attention then runs in other kernels.',
      options: [
        { key: 'false', label: 'no padding mask', patch: { attention_mask: false } },
        { key: 'true', label: 'a padding mask', patch: { attention_mask: true } },
      ],
      key: (full) => String(full.attention_mask),
    },
    checkpointing(),
    {
      id: 'attention',
      group: 'memory savers',
      label: 'Attention',
      paths: ['attn_implementation'],
      kind: 'choice',
      options: attentions,
      help: 'Fused kernels keep no matrix of scores.',
      key: chosen('attn_implementation', attentions),
    },
    optimizer_control(catalog),
    {
      id: 'clip',
      group: 'optimizer',
      label: 'Clip the gradients’ norm at',
      paths: ['training.max_grad_norm'],
      kind: 'number',
      stops: [0, 0.1, 0.3, 0.5, 1, 2, 5],
      help: 'Zero does not clip.',
      key: number('training.max_grad_norm'),
    },
    ...loop_controls(catalog),
    {
      id: 'outputs',
      group: 'trainer',
      label: 'Outputs outlive the backward pass',
      paths: ['keep_outputs'],
      kind: 'switch',
      help: 'A variable that still holds the logits keeps them alive.',
      options: [
        { key: 'false', label: 'outputs let go in time', patch: { keep_outputs: false } },
        { key: 'true', label: 'outputs outlive the backward pass', patch: { keep_outputs: true } },
      ],
      key: (full) => String(full.keep_outputs),
    },
    {
      id: 'card',
      group: 'machine',
      label: 'Card',
      paths: ['card', 'device'],
      kind: 'long',
      get options() {
        return every_card();
      },
      also: ['usable'],
      help: 'What PyTorch can use of it, which is less than its name says.',
      key: (full) =>
        typeof get(full, 'device.total_bytes') === 'number' ? 'typed' : String(full.card ?? 'none'),
    },
    {
      id: 'usable',
      group: 'machine',
      label: 'Usable memory',
      paths: ['device.total_bytes'],
      kind: 'size',
      help: 'Instead of a card: what torch.cuda.mem_get_info() prints as total.',
      key: number('device.total_bytes'),
    },
    {
      id: 'others',
      group: 'machine',
      label: 'Taken by other processes',
      paths: ['device.other_bytes'],
      kind: 'size',
      help: 'A desktop, a notebook that is still open, another job.',
      key: number('device.other_bytes'),
    },
    ...machine_controls(catalog),
    ...engine_controls(catalog),
  ];
}

/** What is made when it is first asked for: long lists are rarely opened. @template T @param {() => T} make */
function once(make) {
  /** @type {T | undefined} */
  let made;
  return () => (made ??= make());
}

/** @param {Catalog} catalog @param {Numbers} n @returns {Option[]} */
const model_options = (catalog, n) =>
  [...catalog.models]
    .sort((a, b) => a.family.localeCompare(b.family, 'en') || a.parameters - b.parameters)
    .map((model) => ({
      key: model.id,
      label: model.id.split('/').pop() ?? model.id,
      note: n.parameters(model.parameters),
      group: model.family,
      patch: { model: model.id },
      find: `${model.id} ${model.family} ${model.model_type}`,
    }));

/** @returns {Control} */
function checkpointing() {
  const on = 'training.gradient_checkpointing';
  const reentrant = 'training.gradient_checkpointing_kwargs.use_reentrant';
  return {
    id: 'checkpointing',
    group: 'memory savers',
    label: 'Gradient checkpointing',
    kind: 'choice',
    paths: [on, 'training.gradient_checkpointing_kwargs', reentrant],
    help: 'Forgets activations and computes them again in the backward pass.',
    options: [
      { key: 'off', label: 'no checkpointing', patch: { [on]: false, [reentrant]: undefined } },
      { key: 'on', label: 'checkpointing', patch: { [on]: true, [reentrant]: undefined } },
      {
        key: 'reentrant',
        label: 're-entrant checkpointing',
        patch: { [on]: true, [reentrant]: true },
      },
    ],
    key: (full) =>
      get(full, on) !== true ? 'off' : get(full, reentrant) === true ? 'reentrant' : 'on',
  };
}

// Cards are listed by what most people have; within one generation the catalogue's order stays.
const kVendors = ['NVIDIA', 'AMD', 'Apple', 'Intel'];
const kGenerations = ['Blackwell', 'Ada', 'Hopper', 'Ampere', 'Turing', 'Volta'];

/** @param {string[]} list @param {string} item */
const place_in = (list, item) => (list.includes(item) ? list.indexOf(item) : list.length);

/** @param {import('./types.mjs').Card} card */
const rank = ({ vendor, generation }) =>
  100 * place_in(kVendors, vendor) + place_in(kGenerations, generation);

/** @param {Catalog} catalog @param {Numbers} n @returns {Option[]} */
function card_options(catalog, n) {
  const none = {
    key: 'none',
    label: 'no card',
    note: 'only what is needed',
    group: '',
    patch: { card: undefined, device: undefined },
  };
  const rest = [...catalog.cards]
    .filter((card) => card.usable_bytes !== null)
    .sort((a, b) => rank(a) - rank(b))
    .map((card) => ({
      key: card.id,
      label: card.name,
      note: n.both(card.usable_bytes ?? 0),
      group: `${card.vendor} ${card.generation}`,
      patch: { card: card.id, 'device.total_bytes': undefined },
      find: `${card.name} ${card.id} ${card.vendor} ${card.generation} ${card.nominal_gb} GB`,
    }));
  return [none, ...rest];
}
