// The shapes of what goes into and comes out of the core, as the page reads them.

/** @typedef {{[key: string]: unknown}} Scenario */

/** @typedef {{path: string, message: string, given?: string, nearest?: string}} Problem */

/** @typedef {{low: number, high: number}} Range */
/** @typedef {{low: number, high: number, source: string}} Sourced */
/** @typedef {Sourced & {what?: string}} Named */

/**
 * One group of equal tensors. All sizes are bytes.
 * @typedef {object} Line
 * @property {string} what
 * @property {string} where
 * @property {number} count
 * @property {string} symbols
 * @property {string} figures
 * @property {string} mathml the working in letters
 * @property {string} mathml_figures the same with figures
 * @property {string} latex
 * @property {number} bytes
 * @property {string} why
 * @property {string} source
 * @property {number} born_event
 * @property {number | null} dies_event
 */

/** @typedef {{id: string, bytes: number, lines: Line[]}} Part */

/** @typedef {{step: number, phase: string, start_bytes: number, peak_bytes: number, end_bytes: number,
 *   peak_event: number, first_event: number, last_event: number, reserved_bytes: number,
 *   clip_peak_bytes?: number}} Phase */

/** @typedef {{event: number, step: number, phase: string}} Mark */

/** @typedef {{event: number[], allocated: number[], reserved: number[], parts: {[id: string]: number[]},
 *   place: number[], places: string[], events_total: number, marks: Mark[]}} Timeline */

/** @typedef {{event: number, step: number, phase: string, moment: string, allocated_bytes: number,
 *   reserved_bytes: number, parts: Part[]}} Moment */

/** @typedef {{fits: 'yes' | 'close' | 'no', card: string | null, usable_bytes: number, usable_source: string,
 *   needed_bytes: Range, spare_bytes: Range, why: string, reason?: string, headroom_bytes?: number,
 *   first_failure: {step: number, phase: string, event: number, what: string, message?: string} | null}} Verdict */

/**
 * @typedef {object} Report
 * @property {Scenario} scenario
 * @property {{id: string | null, model_type: string, source: string, letters: {[symbol: string]: number}}} model
 * @property {{total: number, trainable: number}} parameters
 * @property {{step: number, phase: string, event: number, allocated_bytes: number, rounded_bytes: number,
 *   reserved_bytes: number, process_bytes: Range, moment: string}} peak
 * @property {{on_card: Sourced, varied_lengths: Sourced, stranded_bytes: number, largest_free_bytes: number}} [reserved]
 * @property {Phase[]} phases
 * @property {Part[]} parts
 * @property {Timeline} timeline
 * @property {Moment | null} moment
 * @property {{max_memory_allocated: number, max_memory_reserved: Range, nvidia_smi: Range | null, free: Range | null}} [measured]
 * @property {Verdict | null} verdict
 * @property {Sourced & {parts?: (Sourced & {what: string})[]}} context
 * @property {{peak_bytes: number} | null} [load]
 * @property {{peak_bytes: number} | null} [evaluate]
 * @property {{peak_bytes: number} | null} [save]
 * @property {{weights_bytes: number, gradients_bytes: number, optimizer_bytes: number, source: string} | null} [host]
 * @property {ServingReport | null} [serving]
 * @property {string[]} assumptions
 * @property {Problem[]} problems
 */

/** What serving takes; which keys there are follows from the engine. Rooms and sequences are counted.
 * @typedef {{engine: string, cache: {bytes_per_token: number, symbols?: string, figures?: string, mathml?: string,
 *   mathml_figures?: string, tokens: number}, weights_bytes: number, cache_bytes: number | Range,
 *   prefill_peak_bytes?: number, decode_peak_bytes?: number, peak_bytes?: number, reserved_bytes?: number,
 *   room?: {longest_context: Range, most_sequences: Range, fits?: string, usable_bytes?: number, needed_bytes?: Range} | null,
 *   why?: string, sequences?: Range, cache_tokens?: Range, budget?: Named, activations?: Named, graphs?: Named, outside?: Named,
 *   colocated?: {limit_bytes: number, limit_source: string, fits: string, state_16P_bytes: number, phases: {phase: string,
 *   trainer_bytes: Range, engine_bytes: Range, bytes: Range, fits: string}[]} | null}} ServingReport */

/** @typedef {{id: string, family: string, model_type: string, parameters: number, context: number,
 *   letters: {[symbol: string]: number}}} Preset */

/** @typedef {{id: string, name: string, vendor: string, generation: string, nominal_gb: number,
 *   usable_bytes: number | null, unified: boolean, compute_capability: string | null}} Card */

/** Bytes are written with e, the size of an element; null where the shapes of the parameters decide.
 * @typedef {{optim: string, optim_args: {[key: string]: unknown}, what: string,
 *   bytes_per_parameter: string | null}} OptimizerRow */

/** @typedef {{symbol: string, mathml: string, latex: string, meaning: string}} Letter */

/** @typedef {{id: string, number: number, title: string, lesson: string, inputs?: {[name: string]: number},
 *   scenarios: {label: string, what: string, scenario: Scenario}[], story: string[],
 *   table?: {head: string, cell: string}[]}} Example */

/**
 * @typedef {object} Catalog
 * @property {string} version
 * @property {{[library: string]: string}} versions
 * @property {Preset[]} models
 * @property {string[]} model_types
 * @property {Card[]} cards
 * @property {OptimizerRow[]} optimizers
 * @property {string[]} dtypes
 * @property {{id: string, what: string}[]} attn_implementations
 * @property {string[]} trainers
 * @property {{id: string, what: string}[]} [systems]
 * @property {{id: string, what: string}[]} [parallel_strategies]
 * @property {{id: string, what: string}[]} [engines]
 * @property {{id: string, what: string}[]} [rl_methods]
 * @property {{id: string, what: string}[]} [loss_types]
 * @property {{id: string, what: string}[]} [packing_strategies]
 * @property {string[]} [liger_model_types] those that Liger has kernels for
 * @property {Letter[]} letters
 * @property {{id: string, name: string, what: string}[]} parts
 * @property {Scenario} defaults
 * @property {{[trainer: string]: Scenario}} training_defaults of `training`, by trainer
 * @property {Scenario} defaults_within of `peft` and `quantization`, where they are given
 * @property {{model_type: string, linears: string[], lora_targets: string[], embedding: string}[]} linears
 * @property {{path: string, min?: number, max?: number}[]} limits
 * @property {Example[]} examples
 */

/** A size as it was printed: the bytes that it may have been. @typedef {{value: number, low: number, high: number}} Printed */

/**
 * What an out-of-memory message says; docs/contract.md.
 * @typedef {object} Explanation
 * @property {boolean} known
 * @property {'error' | 'warning' | 'log' | 'unknown'} severity
 * @property {string} sentence
 * @property {{id: string, name: string, versions: string | null, units: string, source: string} | null} producer
 * @property {{id: string, what: string, printed: string, recognised: boolean, value: number, unit: string,
 *   bytes: Printed | null, message: number | null}[]} numbers
 * @property {{low: number, high: number, identifies: boolean, why: string} | null} request
 * @property {{id: string, what: string, why: string, arithmetic: string[], notes: {id: string, sentence: string}[]}} diagnosis
 * @property {{kind: string, found: string, what: string, where: string, symbols: string, figures: string, mathml: string,
 *   bytes: number, count: number, moment: string, step: number, fails_there: boolean, why: string, scenario: number}[]} candidates
 * @property {{model: string, recognised: boolean, replayed: boolean, scenario: Scenario}[]} scenarios
 * @property {{id: string, sentence: string, of_tensor: boolean, patch: Scenario | null}[]} changes
 * @property {Problem[]} problems
 */

/**
 * Measured memory beside the estimate; docs/contract.md.
 * @typedef {object} Comparison
 * @property {{id: string, what: string, estimate: Range, measured: Printed | null, difference: Range | null,
 *   agrees: boolean | null, explains: {id: string, sentence: string, bytes: Range}[]}[]} tiers
 * @property {{total_bytes: Range, used_bytes: Range, left_bytes: Range, measured: boolean} | null} room
 * @property {{id: string, value: number, patch: Scenario, allocated_bytes: number, reserved_bytes: number, adds_bytes: number,
 *   fits: string, why: string}[]} one_up
 * @property {Problem[]} problems
 */

/**
 * Settings of other programs and what they became; docs/contract.md.
 * @typedef {object} Imported
 * @property {Scenario | null} scenario
 * @property {boolean} whole the estimate takes it
 * @property {string[]} yaml files that a YAML reader has to read first
 * @property {{file: string, id: string, name: string, versions: string, sureness: 'certain' | 'likely' | 'said'}[]} formats
 * @property {{id: string, name: string}[]} known formats
 * @property {{file: string, path: string, given: string, status: 'became' | 'ignored' | 'unsupported' | 'unknown',
 *   became: {path: string, value: string}[], why: string, nearest?: string}[]} keys
 * @property {{path: string, value: string, why: string}[]} implied
 * @property {string[]} near presets that a model's name may mean
 * @property {string[]} notes sentences
 * @property {Problem[]} problems
 */

/** What the page asks of the core: text in, text out.
 * @typedef {{estimate: (text: string) => string, catalog: () => string,
 *   explain: (text: string, scenario: string) => string, compare: (text: string) => string,
 *   import_files: (request: string) => string}} Core */

export {};
