// The questions of the workshop, by worked example. Their figures are placeholders, filled from the example's own scenarios
// (core/data/examples/README.md); an example without questions here is asked the usual ones.

/** One question. `of` is what is to be guessed, an expression of the placeholders' grammar; `*.` stands for a run.
 * size: one amount. parts: the seven parts at the peak of `run`. series: one amount for each of `runs`, or for each phase of
 * `run`. choice: one of the runs, phases, parts or verdicts. ticks: the runs of which `of` is `is`.
 * @typedef {object} Question
 * @property {'size' | 'parts' | 'series' | 'choice' | 'ticks'} kind
 * @property {string} ask
 * @property {string} [of]
 * @property {string} [run] label of the scenario it is about; the first unless said
 * @property {string[]} [runs] labels; all of them unless said
 * @property {string} [name] how a run is called; its `what` unless said
 * @property {'runs' | 'phases' | 'parts' | 'fits'} [from] what a choice, or a series, goes over
 * @property {'most' | 'least'} [pick]
 * @property {string} [is]
 * @property {string} [why] what to understand once the answer is seen */

const kPeak = '*.peak.allocated_bytes';
const kFits = '*.verdict.fits';
const kT = '{*.model.letters.T|int} tokens';

/** @type {{[example: string]: Question[]}} */
export const kQuestions = {
  logits: [
    {
      kind: 'size',
      ask: 'For each of {qwen.model.letters.T|int} tokens the model scores all {qwen.model.letters.V|int} entries of its vocabulary, and the loss wants the scores in {inputs.bytes|int} bytes each. How large is one such tensor?',
      of: 'qwen.model.letters.B*qwen.model.letters.T*qwen.model.letters.V*inputs.bytes',
      why: 'B·T·V values, times the bytes of each. Nothing of the layers is in it: neither their number nor their width.',
    },
    {
      kind: 'parts',
      ask: 'Now the whole step. What does each part hold at its worst moment?',
      run: 'qwen',
      why: 'At the loss, the logits live in two precisions, their log-probabilities beside them, and the backward pass adds their gradients: {qwen.peak.allocated_bytes/qwen.model.letters.B/qwen.model.letters.T/qwen.model.letters.V/inputs.bytes|times} one tensor of logits for the whole peak.',
    },
    {
      kind: 'series',
      ask: 'Keep the model and swap its vocabulary. Draw the peak of each.',
      of: kPeak,
      runs: ['llama2', 'gpt2', 'llama3', 'qwen', 'gemma', 'gemma3'],
      name: '{*.what|text}, V = {*.model.letters.V|int}',
      why: 'The line is straight in V: the tensors of the loss have B·T·V values, and the embedding, with its gradient and its state, has V·d.',
    },
  ],
  'two-bytes': [
    {
      kind: 'size',
      ask: '{full.model.id|text} in BF16: how large are its stored weights?',
      of: 'full.parts[id=weights].bytes',
      why: 'Parameters times {inputs.e|int} bytes. Mind the unit: the same bytes are {full.parts[id=weights].bytes|gib} and {full.parts[id=weights].bytes|gb}.',
    },
    {
      kind: 'size',
      ask: 'All of it is trained with AdamW, everything in BF16, {full.model.letters.T|int} tokens at a time. How high is the peak of the step?',
      of: 'full.peak.allocated_bytes',
      run: 'full',
      why: 'The gradients are as large as the weights, and so is each of Adam’s two moments. What comes on top is decided by the moment of the peak: {full.peak.moment|text}. The activations are used up by then.',
    },
    { kind: 'choice', ask: 'Which of these recipes peaks highest?', of: kPeak, pick: 'most' },
  ],
  'full-on-24-gb': [
    {
      kind: 'parts',
      ask: 'What does each part hold at the peak? Weights and state are in FP32, the layers compute in BF16.',
      run: 'run',
      why: 'A master copy would be a double charge: the weights are FP32 already. The gradients are not all there yet at this moment: {run.peak.moment|text}.',
    },
    {
      kind: 'choice',
      from: 'phases',
      run: 'run',
      ask: 'In which phase of the second step is the peak?',
    },
    {
      kind: 'choice',
      from: 'fits',
      run: 'run',
      ask: 'PyTorch can use {run.verdict.usable_bytes|gib_gb} of the card. Does the run fit?',
      why: '{run.verdict.why|text}',
    },
  ],
  'sequence-length': [
    {
      kind: 'series',
      ask: 'Draw the peak of the second forward pass at each length.',
      of: '*.phases[step=2,phase=forward].peak_bytes',
      name: kT,
      why: 'A straight line that does not start at zero: weights and optimizer state are under it at every length; on top are activations, B·T·d·L, and logits, B·T·V.',
    },
    {
      kind: 'series',
      ask: 'Now the peak of the optimizer’s step at each length.',
      of: '*.phases[step=2,phase=step].peak_bytes',
      name: kT,
      why: 'It holds weights, gradients and state: {inputs.bytes|int} bytes per parameter. Not one of them knows T.',
    },
    {
      kind: 'choice',
      from: 'phases',
      run: 't256',
      ask: 'At the shortest length the tensors of the loss are small. In which phase of the second step is the peak now?',
      why: 'The moment: {t256.peak.moment|text}.',
    },
  ],
  'three-billion': [
    {
      kind: 'size',
      ask: '{inputs.P|int} parameters: {inputs.weight|int} bytes of weight, {inputs.gradient|int} of gradient and {inputs.adam|int} of Adam’s moments each. How much is that before a single token has been read?',
      of: 'inputs.P*inputs.recipe',
      why: 'Parameters times {inputs.recipe|int} bytes. No B and no T is in it.',
    },
    {
      kind: 'series',
      ask: 'One change after the other. Draw the peak of each run.',
      of: kPeak,
      runs: ['long', 'short', 'checkpointed', 'two_bytes', 'eight_bit', 'lora'],
      why: 'What touches activations stops at the state. What touches the state goes below it.',
    },
    {
      kind: 'ticks',
      ask: 'Which of the runs fit one {long.verdict.card|text}, without a doubt?',
      of: kFits,
      is: 'yes',
    },
  ],
  'lora-and-qlora': [
    {
      kind: 'parts',
      ask: 'LoRA of rank {small_lora.scenario.peft.r|int} on the small model, its base in BF16. What does each part hold at the peak?',
      run: 'small_lora',
      why: 'Gradients and state exist for the adapters only: {small_lora.parameters.trainable|int} of {small_lora.parameters.total|int} parameters. The base still lies there as weights.',
    },
    {
      kind: 'size',
      ask: 'The usual preparation for QLoRA casts the embedding to 32 bit. How large is the small model’s then?',
      of: 'small_qlora.parts[id=weights].lines[where=embed_tokens].bytes',
      why: 'V·d values of four bytes: {small_qlora.parts[id=weights].lines[where=embed_tokens].bytes/small_qlora.parts[id=weights].bytes|percent} of all weights of this model.',
    },
    {
      kind: 'series',
      ask: 'LoRA and QLoRA, small and large. Draw the four peaks.',
      of: kPeak,
      runs: ['small_lora', 'small_qlora', 'large_lora', 'large_qlora'],
      why: 'QLoRA needs {small_qlora.peak.allocated_bytes/small_lora.peak.allocated_bytes|percent} of LoRA on the small model, {large_qlora.peak.allocated_bytes/large_lora.peak.allocated_bytes|percent} on the large one: four bits reach the linears of the layers, not the embedding and not the logits.',
    },
  ],
  'where-is-the-peak': [
    {
      kind: 'choice',
      from: 'phases',
      run: 'foreach_checkpointed',
      ask: 'For-each AdamW with checkpointing: in which phase of the second step is the peak?',
    },
    {
      kind: 'size',
      ask: 'The for-each AdamW takes the square root of every second moment at once. How large are these copies together?',
      of: 'foreach_checkpointed.parts[id=temporary].bytes',
      why: 'As large as one moment of every parameter, for as long as the step lasts.',
    },
    {
      kind: 'choice',
      from: 'phases',
      run: 'fused_checkpointed',
      ask: 'The fused AdamW makes no such copies. In which phase is the peak now?',
    },
  ],
  'first-and-second-step': [
    {
      kind: 'size',
      ask: 'AdamW makes its state when it first steps: two moments in FP32 for each of {adamw.parameters.trainable|int} parameters. How much is that?',
      of: 'adamw.parts[id=optimizer].bytes',
      why: 'Before the first step nothing of it is there.',
    },
    {
      kind: 'series',
      from: 'phases',
      run: 'adamw',
      ask: 'Draw the peak of every phase of two steps.',
      why: 'The second forward pass starts where the first step ended, with the state. That is why the first step is no fit test.',
    },
    {
      kind: 'ticks',
      ask: 'Which of the runs get through two steps on the {adamw.verdict.card|text}, without a doubt?',
      of: kFits,
      is: 'yes',
    },
  ],
  'eager-and-fused-attention': [
    {
      kind: 'series',
      ask: 'Eager attention: draw the activations at the peak as the sequence grows.',
      of: '*.parts[id=activations].bytes',
      runs: ['eager_512', 'eager_1024', 'eager_2048', 'eager_4096'],
      name: kT,
      why: 'The scores are B·H·T² for every layer. Where they outgrow the rest, twice the tokens are four times the memory.',
    },
    {
      kind: 'series',
      ask: 'The fused kernel: draw the same.',
      of: '*.parts[id=activations].bytes',
      runs: ['sdpa_512', 'sdpa_1024', 'sdpa_2048', 'sdpa_4096'],
      name: kT,
      why: 'It keeps one figure per query in place of the scores: what is left grows with T.',
    },
    {
      kind: 'size',
      ask: 'At {eager_4096.model.letters.T|int} tokens, how large are the attention weights in 16 bit that all layers keep together?',
      of: 'eager_4096.parts[id=activations].lines[what=attention weights].bytes',
      why: 'L·B·H·T² values of two bytes.',
    },
  ],
  'rules-of-thumb': [
    {
      kind: 'size',
      ask: 'Everything in BF16, AdamW, {half.model.letters.T|int} tokens, no checkpointing. What does your rule of thumb say the peak is?',
      of: 'half.peak.allocated_bytes',
      run: 'half',
      why: 'A rule of {inputs.eight|int} bytes per parameter says {half.parameters.total*inputs.eight|gib_gb}: weights, gradients, two moments. It has no activations and no logits, and no moment.',
    },
    { kind: 'parts', run: 'checkpointed', ask: 'The same with checkpointing. Share out the peak.' },
    {
      kind: 'series',
      ask: 'Draw the peak of each recipe.',
      of: kPeak,
    },
  ],
  'colocated-rl': [
    {
      kind: 'size',
      ask: 'Trainer and engine share one machine. How much is the trainer’s state of the larger model alone, at {inputs.adam|int} bytes for each of {large.model.letters.P|int} parameters?',
      of: 'large.serving.colocated.state_16P_bytes',
      why: 'Weights, gradients and two moments in FP32. The machine offers {large.verdict.usable_bytes|gib_gb} for everything together.',
    },
    {
      kind: 'series',
      ask: 'Draw what training beside the engine takes at least, for each run.',
      of: '*.serving.colocated.phases[phase=training].bytes.low',
      why: 'The fraction is the engine’s part alone: the trainer’s state, {large.serving.colocated.state_16P_bytes|gib_gb} of the larger model, stays whatever the engine gives up.',
    },
    {
      kind: 'ticks',
      ask: 'Which of the runs fit, without a doubt?',
      of: '*.serving.colocated.fits',
      is: 'yes',
    },
  ],
  'eight-cards': [
    {
      kind: 'series',
      ask: 'Draw the peak on each card.',
      of: kPeak,
      why: 'Replicas divide nothing, and buckets come on top. What is sharded divides; a card’s own micro-batch does not.',
    },
    {
      kind: 'size',
      ask: 'fully_shard over all the cards: how much of AdamW’s state does each of them keep?',
      of: 'sharded.parts[id=optimizer].bytes',
      why: '{alone.parts[id=optimizer].bytes|gib} on one card, divided by W.',
    },
    {
      kind: 'parts',
      run: 'sharded',
      ask: 'And what does each part hold at the peak of one of these cards?',
      why: 'Weights, gradients and state are shares; activations and what is gathered for use are whole.',
    },
  ],
  'serving-afterwards': [
    {
      kind: 'size',
      ask: 'Llama-2-7B serves one sequence of {mha.serving.cache.tokens|int} tokens, with a key and a value for every head. How large is its cache?',
      of: 'mha.serving.cache.bytes',
      why: '{mha.serving.cache.symbols|text} = {mha.serving.cache.bytes_per_token|int} bytes for every token.',
    },
    {
      kind: 'series',
      ask: 'Draw the cache of that sequence for each of the models.',
      of: '*.serving.cache.bytes',
      why: 'Heads that share keys and values divide it; one latent for all heads makes it smaller still. The size of the model is not in it.',
    },
    {
      kind: 'choice',
      from: 'runs',
      pick: 'most',
      of: '*.serving.weights_bytes',
      ask: 'And which of them has the largest weights?',
    },
  ],
  'out-of-memory-message': [
    {
      kind: 'size',
      ask: 'The run stops for want of memory. Before you read its message: how large is one tensor of B·T·V scores in {inputs.bytes|int} bytes each?',
      of: 'run.verdict.first_failure.tried_bytes',
      why: 'The message says: “{run.verdict.first_failure.message|text}” What it tried to allocate is {run.verdict.first_failure.symbols|text}, the {run.verdict.first_failure.tensor|text}.',
    },
    {
      kind: 'choice',
      from: 'runs',
      pick: 'least',
      of: kPeak,
      ask: 'Which of these changes lowers the peak most?',
      why: 'The tensors of the loss are what is worst here, so the change that never makes them wins over one that takes away state.',
    },
    { kind: 'ticks', of: kFits, is: 'yes', ask: 'And which of them make it fit, without a doubt?' },
  ],
};

/** The questions of an example. @param {import('./types.mjs').Example} example @returns {Question[]} */
export function questions_of(example) {
  const own = kQuestions[example.id];
  if (own) return own;
  const [{ label, scenario }, ...others] = example.scenarios;
  const on_card = scenario.card !== undefined && scenario.card !== null;
  return /** @type {Question[]} */ ([
    { kind: 'parts', run: label, ask: 'What does each part hold at the peak?' },
    {
      kind: 'choice',
      from: 'phases',
      run: label,
      ask: 'In which phase of the second step is the peak?',
    },
    ...(others.length > 0
      ? [{ kind: 'series', of: kPeak, ask: 'Draw the peak of each run.' }]
      : []),
    ...(on_card
      ? [{ kind: 'choice', from: 'fits', run: label, ask: 'Does it fit the card?' }]
      : []),
  ]);
}
