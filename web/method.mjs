// Full fine-tuning, LoRA and QLoRA: which of them, and everything that adapters and four bits have to be told.
import { equal, get, is_object } from './scenario.mjs';

/** @typedef {import('./types.mjs').Catalog} Catalog */
/** @typedef {import('./types.mjs').Scenario} Scenario */
/** @typedef {import('./scenario.mjs').Patch} Patch */
/** @typedef {import('./controls.mjs').Control} Control */

/** What most recipes start from, where peft's own defaults are older. */
const kAdapters = { peft_type: 'LORA', r: 16, target_modules: 'all-linear' };
const kRankStops = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/** @param {Scenario} full */
export const has_adapters = (full) => is_object(full.peft);
/** @param {Scenario} full */
export const is_packed = (full) => is_object(full.quantization);
/** @param {Scenario} full */
export const has_eight_bits = (full) => get(full, 'quantization.load_in_8bit') === true;
/** @param {Scenario} full */
export const has_four_bits = (full) => is_packed(full) && !has_eight_bits(full);

/** What 4-bit weights are multiplied in: bfloat16 where the device can. @param {Catalog} catalog @param {Scenario} full */
function compute_dtype(catalog, full) {
  const card = catalog.cards.find(({ id }) => id === full.card);
  const capability = card ? card.compute_capability : get(full, 'device.compute_capability');
  return Number(capability ?? 8) < 8 ? 'float16' : 'bfloat16';
}

/** The model's type, or undefined where it is not known. @param {Catalog} catalog @param {Scenario} full */
export function model_type_of(catalog, { model }) {
  return is_object(model)
    ? (is_object(model.text_config) ? model.text_config : model).model_type
    : catalog.models.find(({ id }) => id === model)?.model_type;
}

/** The linears of the model and those that peft adapts where nothing is said. @param {Catalog} catalog @param {Scenario} full */
function linears_of(catalog, full) {
  const type = model_type_of(catalog, full);
  return (
    catalog.linears.find(({ model_type }) => model_type === type) ?? {
      linears: [],
      lora_targets: [],
      embedding: 'embed_tokens',
    }
  );
}

/** Those that make queries, keys, values and the output of attention. @param {string[]} names */
const attention_only = (names) =>
  names.filter((name) => /^(q|k|v|o|kv|qkv|out)_|^query|^dense$|attn/.test(name));

/** @param {Catalog} catalog @returns {Control[]} */
export function method_controls(catalog) {
  /** A switch that is there only with adapters, or only with packed weights.
   * @param {string} id @param {string} path @param {string} label @param {string} help
   * @param {[string, unknown]} off its words and value @param {[string, unknown]} on
   * @param {(full: Scenario) => boolean} [when] @returns {Control} */
  const toggle = (id, path, label, help, off, on, when) => ({
    id,
    group: 'method',
    label,
    paths: [path],
    kind: 'switch',
    help,
    when: when ?? (path.startsWith('peft') ? has_adapters : has_four_bits),
    options: [
      { key: 'false', label: off[0], patch: { [path]: off[1] } },
      { key: 'true', label: on[0], patch: { [path]: on[1] } },
    ],
    key: (full) => String(Boolean(get(full, path))),
  });
  const adapters = (/** @type {Scenario} */ full) =>
    has_adapters(full) ? {} : { peft: kAdapters };
  const target = 'peft.target_modules';
  const saved = 'peft.modules_to_save';
  /** @param {Scenario} full */
  const saved_names = (full) => [linears_of(catalog, full).embedding, 'lm_head'];
  /** @param {Scenario} full @returns {string[]} */
  const saved_of = (full) => {
    const given = get(full, saved);
    return Array.isArray(given) ? given.map(String) : [];
  };
  const compute = 'quantization.bnb_4bit_compute_dtype';
  const dtypes = catalog.dtypes.map((id) => ({ key: id, label: id, patch: { [compute]: id } }));
  /** @param {Scenario} full */
  const chosen = (full) => {
    const { linears, lora_targets } = linears_of(catalog, full);
    const given = get(full, target);
    return given === 'all-linear' ? linears : Array.isArray(given) ? given : lora_targets;
  };

  return [
    {
      id: 'method',
      group: 'method',
      label: 'Method',
      paths: ['peft', 'quantization'],
      kind: 'choice',
      stays: true,
      also: [
        'rank',
        'targets',
        'modules',
        'dropout',
        'dora',
        'saved',
        'wide',
        'double',
        'compute',
        'prepare',
      ],
      help: 'Gradients and optimizer state exist only for what is trained; the rest still takes its place.',
      options: [
        {
          key: 'full',
          label: 'full fine-tuning',
          note: 'every parameter is trained',
          patch: { peft: undefined, quantization: undefined },
        },
        {
          key: 'lora',
          label: 'LoRA',
          note: 'small adapters beside frozen weights',
          patch: (full) => ({ ...adapters(full), quantization: undefined }),
        },
        {
          key: 'qlora',
          label: 'QLoRA',
          note: 'adapters beside weights in four bits',
          patch: (full) => ({
            ...adapters(full),
            quantization: {
              load_in_4bit: true,
              bnb_4bit_quant_type: 'nf4',
              bnb_4bit_use_double_quant: true,
              bnb_4bit_compute_dtype: compute_dtype(catalog, full),
            },
          }),
        },
        {
          key: 'lora8',
          label: '8-bit LoRA',
          note: 'adapters beside weights in eight bits, LLM.int8',
          patch: (full) => ({ ...adapters(full), quantization: { load_in_8bit: true } }),
        },
      ],
      key: (full) =>
        Array.isArray(full.peft)
          ? 'several adapters'
          : has_eight_bits(full)
            ? 'lora8'
            : is_packed(full)
              ? 'qlora'
              : has_adapters(full)
                ? 'lora'
                : 'full',
    },
    {
      id: 'rank',
      group: 'method',
      label: 'Rank of the adapters',
      paths: ['peft.r'],
      kind: 'number',
      stops: kRankStops,
      when: has_adapters,
      help: 'Adapters, their gradients and their state grow with it.',
      key: (full) => String(get(full, 'peft.r') ?? ''),
    },
    {
      id: 'targets',
      group: 'method',
      label: 'Adapters on',
      paths: [],
      kind: 'choice',
      when: has_adapters,
      help: 'Each linear with an adapter keeps its input for the backward pass.',
      options: [
        { key: 'all', label: 'all linears', patch: { [target]: 'all-linear' } },
        {
          key: 'attention',
          label: 'attention only',
          patch: (full) => ({ [target]: attention_only(linears_of(catalog, full).linears) }),
        },
        { key: 'usual', label: 'peft’s default', patch: { [target]: null } },
      ],
      key: (full) => {
        const given = get(full, target);
        if (given === 'all-linear') return 'all';
        if (given === null || given === undefined) return 'usual';
        const attention = attention_only(linears_of(catalog, full).linears);
        return equal(given, attention) ? 'attention' : 'a list';
      },
    },
    {
      id: 'modules',
      group: 'method',
      label: 'These linears',
      paths: [target],
      kind: 'many',
      when: has_adapters,
      help: 'peft compares the ends of their names.',
      all: 'all-linear',
      items: (full) => {
        const { linears } = linears_of(catalog, full);
        return linears.map((name) => ({ name, on: chosen(full).includes(name) }));
      },
      key: (full) => chosen(full).join(' '),
    },
    toggle(
      'dropout',
      'peft.lora_dropout',
      'Dropout before the adapters',
      'Each adapter then keeps a mask, and its input after dropout.',
      ['no dropout', 0],
      ['dropout', 0.05],
    ),
    toggle(
      'dora',
      'peft.use_dora',
      'DoRA',
      'Scales each row of the updated weight to a learned magnitude; every use writes the whole weight out.',
      ['LoRA', false],
      ['DoRA', true],
    ),
    {
      id: 'saved',
      group: 'method',
      label: 'Trained whole',
      paths: [saved],
      kind: 'many',
      when: has_adapters,
      help: 'modules_to_save: copied, and the copies trained, as for tokens that were added.',
      items: (full) =>
        saved_names(full).map((name) => ({ name, on: saved_of(full).includes(name) })),
      key: (full) => saved_of(full).join(' '),
    },
    toggle(
      'wide',
      'peft.autocast_adapter_dtype',
      'Adapters in 32 bit',
      'peft casts adapters of 16-bit models to float32 unless it is told not to.',
      ['adapters in the weights’ type', false],
      ['adapters in 32 bit', true],
    ),
    toggle(
      'double',
      'quantization.bnb_4bit_use_double_quant',
      'Double quantisation',
      'Quantises the scales of the 4-bit weights too.',
      ['no double quantisation', false],
      ['double quantisation', true],
    ),
    {
      id: 'compute',
      group: 'method',
      label: 'Computed in',
      paths: [compute],
      kind: 'choice',
      when: has_four_bits,
      help: 'The type that 4-bit weights are unpacked to, one matrix at a time.',
      options: dtypes,
      key: (full) => String(get(full, compute)),
    },
    toggle(
      'prepare',
      'quantization.prepare_model_for_kbit_training',
      'Prepared for k-bit training',
      'prepare_model_for_kbit_training casts what is not packed to float32.',
      ['not prepared for k-bit training', false],
      ['prepared for k-bit training', true],
      is_packed,
    ),
  ];
}
