// A small report and catalogue of their own, so that these tests need no build. Figures are chosen to be checked by eye.
import { paper } from '../../web/build/paper.mjs';
import { patch_of } from '../../web/choose.mjs';
import { controls } from '../../web/controls.mjs';
import { numbers } from '../../web/number.mjs';
import { apply, complete } from '../../web/scenario.mjs';
import { fresh_ui } from '../../web/view.mjs';

globalThis.document ??= paper;

export const GiB = 2 ** 30;

const part = (id) => ({
  id,
  name: id.charAt(0).toUpperCase() + id.slice(1),
  what: `what ${id} are`,
});

export const catalog = {
  version: '0',
  versions: { torch: '2' },
  models: [
    {
      id: 'a/Small-1B',
      family: 'Small',
      model_type: 'llama',
      parameters: 1e9,
      context: 4096,
      letters: {},
    },
    {
      id: 'b/Large-70B',
      family: 'Large',
      model_type: 'llama',
      parameters: 7e10,
      context: 4096,
      letters: {},
    },
  ],
  cards: [
    {
      id: 'card-24',
      name: 'GeForce RTX 24',
      vendor: 'NVIDIA',
      generation: 'Ada',
      nominal_gb: 24,
      usable_bytes: 24 * GiB,
      compute_capability: '8.9',
    },
    {
      id: 'card-old',
      name: 'Tesla Old',
      vendor: 'NVIDIA',
      generation: 'Turing',
      nominal_gb: 16,
      usable_bytes: 15 * GiB,
      compute_capability: '7.5',
    },
    {
      id: 'card-x',
      name: 'Card X',
      vendor: 'AMD',
      generation: 'X',
      nominal_gb: 16,
      usable_bytes: null,
    },
  ],
  optimizers: [
    ['adamw_torch_fused', {}, 'AdamW, one fused kernel', '2 e'],
    ['adafactor', {}, 'Adafactor: rows and columns', null],
    ['adamw_torch', { foreach: false }, 'AdamW, one parameter at a time', '2 e'],
    ['paged_adamw_32bit', {}, 'AdamW, state in 32 bit, paged', '8'],
    ['ademamix', {}, 'AdEMAMix, state in 32 bit', '12'],
    ['adamw_torch', {}, 'AdamW, for-each kernels', '2 e'],
    ['lion_32bit', {}, 'Lion, state in 32 bit', '4'],
    ['adamw_8bit', {}, 'AdamW, state in 8 bit', '2.0312'],
    ['schedule_free_adamw', {}, 'Schedule-free AdamW', '2 e'],
  ].map(([optim, optim_args, what, bytes_per_parameter]) => ({
    optim,
    optim_args,
    what,
    bytes_per_parameter,
  })),
  dtypes: ['float32', 'bfloat16', 'float16'],
  attn_implementations: [
    { id: 'sdpa', what: 'fused' },
    { id: 'eager', what: 'plain' },
  ],
  trainers: ['torch'],
  letters: [
    { symbol: 'B', mathml: '<mi>B</mi>', latex: 'B', meaning: 'micro-batch' },
    {
      symbol: 'H_kv',
      mathml: '<msub><mi>H</mi><mi>kv</mi></msub>',
      latex: 'H_{kv}',
      meaning: 'key/value heads',
    },
  ],
  parts: ['weights', 'gradients', 'activations'].map(part),
  defaults: {
    dtype: 'bfloat16',
    attn_implementation: 'sdpa',
    trainer: 'torch',
    training: {
      per_device_train_batch_size: 1,
      max_length: 1024,
      gradient_accumulation_steps: 1,
      gradient_checkpointing: false,
      gradient_checkpointing_kwargs: { use_reentrant: false },
      bf16: false,
      fp16: false,
      optim: 'adamw_torch_fused',
      optim_args: {},
      max_grad_norm: 0,
    },
    attention_mask: false,
    keep_outputs: false,
    card: null,
    device: { total_bytes: null, other_bytes: 0 },
  },
  training_defaults: {},
  defaults_within: {
    peft: {
      peft_type: 'LORA',
      r: 8,
      target_modules: null,
      lora_dropout: 0,
      autocast_adapter_dtype: true,
      use_dora: false,
      modules_to_save: [],
    },
    quantization: {
      load_in_4bit: false,
      load_in_8bit: false,
      bnb_4bit_quant_type: 'fp4',
      bnb_4bit_use_double_quant: false,
      bnb_4bit_compute_dtype: 'float32',
      prepare_model_for_kbit_training: true,
    },
  },
  linears: [
    {
      model_type: 'llama',
      linears: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'],
      lora_targets: ['q_proj', 'v_proj'],
      embedding: 'embed_tokens',
    },
  ],
  limits: [],
  examples: [],
};

const line = {
  what: 'rows',
  where: 'layers.*.mlp',
  count: 2,
  symbols: '2 · B · H_kv',
  figures: '2 · 1 · 1,024',
  mathml: '<math><mn>2</mn><mo>·</mo><mi>B</mi></math>',
  mathml_figures: '<math><mn>2</mn><mo>·</mo><mn>1,024</mn></math>',
  latex: '',
  bytes: 2048,
  why: 'a "reason", here',
  source: 'a/file.py',
  born_event: 12,
  dies_event: null,
};

export const report = {
  scenario: {},
  model: { id: 'a/Small-1B', model_type: 'llama', source: '', letters: { B: 1, H_kv: 1024 } },
  parameters: { total: 1e9, trainable: 1e9 },
  peak: {
    step: 2,
    phase: 'backward',
    event: 60,
    allocated_bytes: 9 * GiB,
    rounded_bytes: 9 * GiB,
    reserved_bytes: 10 * GiB,
    process_bytes: { low: 10.25 * GiB, high: 11 * GiB },
    moment: 'the loss',
  },
  phases: [],
  parts: [
    { id: 'weights', bytes: 4 * GiB, lines: [line] },
    { id: 'gradients', bytes: 0, lines: [] },
    { id: 'activations', bytes: 5 * GiB, lines: [] },
  ],
  timeline: {
    event: [10, 20, 60, 61, 110],
    allocated: [4, 6, 9, 6, 4].map((x) => x * GiB),
    reserved: [4, 6, 10, 10, 10].map((x) => x * GiB),
    parts: {
      weights: [4, 4, 4, 4, 4].map((x) => x * GiB),
      gradients: [0, 0, 0, 0, 0],
      activations: [0, 2, 5, 2, 0].map((x) => x * GiB),
    },
    place: [0, 0, 1, 1, 0],
    places: ['embed', 'loss'],
    events_total: 110,
    marks: [
      { event: 10, step: 1, phase: 'forward' },
      { event: 60, step: 2, phase: 'backward' },
    ],
  },
  moment: null,
  verdict: {
    fits: 'yes',
    card: 'GeForce RTX 24',
    usable_bytes: 24 * GiB,
    usable_source: '',
    needed_bytes: { low: 10.25 * GiB, high: 11 * GiB },
    spare_bytes: { low: 13 * GiB, high: 13.75 * GiB },
    first_failure: null,
    why: '',
  },
  context: { low: 0.25 * GiB, high: GiB, source: '' },
  assumptions: ['One card.'],
  problems: [],
};

export const n = numbers('en');

export const view = (changes = {}) => ({
  catalog,
  n,
  controls: controls(catalog, n),
  scenario: { model: 'a/Small-1B' },
  full: complete(
    catalog.defaults,
    changes.scenario ?? { model: 'a/Small-1B' },
    catalog.defaults_within,
  ),
  report,
  moment: null,
  problems: [],
  cost: () => undefined,
  ui: fresh_ui(),
  ...changes,
});

/** What a node says. */
export const text = (node) => String(node).replace(/<[^>]*>/g, '');

/** Chooses an option of one of these controls in a scenario. */
export const chooser = (rows) => (scenario, id, key) =>
  apply(
    scenario,
    patch_of(
      rows.find((one) => one.id === id).options.find((one) => one.key === key),
      scenario,
    ),
  );
