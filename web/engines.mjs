// What is served afterwards, and by which engine: rows of controls like those of controls.mjs, shown in serving.mjs.
import { get, is_object } from './scenario.mjs';

/** @typedef {import('./types.mjs').Catalog} Catalog */
/** @typedef {import('./types.mjs').Scenario} Scenario */
/** @typedef {import('./controls.mjs').Control} Control */

const kTokens = [
  64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288,
];
const kSequences = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/** The engine, or an empty text where nothing is served. @param {Scenario} full */
export const engine_of = ({ serving }) =>
  is_object(serving) ? String(serving.engine ?? 'transformers') : '';

/** @param {Catalog} catalog @returns {Control[]} none where the core does not know engines */
export function engine_controls(catalog) {
  const engines = catalog.engines ?? [];
  if (engines.length === 0) return [];
  /** @param {string} id @param {string} label @param {string} key @param {number[]} stops @param {string} help
   * @param {string} otherwise @param {string[]} of the engines that have it @returns {Control} */
  const number = (id, label, key, stops, help, otherwise, of) => ({
    id,
    group: 'serving',
    label,
    paths: [`serving.${key}`],
    kind: 'number',
    stops,
    help,
    when: (full) => of.includes(engine_of(full)),
    key: (full) => String(get(full, `serving.${key}`) ?? otherwise),
  });
  const all = engines.map(({ id }) => id);
  const is_engine = (/** @type {Scenario} */ full) => ['vllm', 'sglang'].includes(engine_of(full));
  return [
    {
      id: 'engine',
      group: 'serving',
      label: 'Served by',
      paths: ['serving', 'serving.engine'],
      kind: 'choice',
      help: 'Adapters merged, weights in sixteen bits. The estimate of the training stays as it is.',
      options: [
        { key: '', label: 'nothing', patch: { serving: undefined } },
        ...engines.map(({ id, what }) => ({
          key: id,
          label: id,
          note: what,
          // Other engines have other keys.
          patch: (/** @type {Scenario} */ full) => ({
            serving: {
              engine: id,
              prompt_length: get(full, 'serving.prompt_length') ?? undefined,
              max_new_tokens: get(full, 'serving.max_new_tokens') ?? undefined,
            },
          }),
        })),
      ],
      key: engine_of,
    },
    number(
      'prompt',
      'Tokens of a prompt',
      'prompt_length',
      kTokens,
      'Each of them stays in the cache until its sequence ends.',
      '1024',
      all,
    ),
    number(
      'answer',
      'Tokens of an answer',
      'max_new_tokens',
      kTokens,
      'The last one is never cached.',
      '256',
      all,
    ),
    number(
      'sequences',
      'Sequences at once',
      'batch_size',
      kSequences,
      'Each has a cache of its own.',
      '1',
      ['transformers'],
    ),
    number(
      'utilization',
      'Share of the card',
      'gpu_memory_utilization',
      [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.92, 0.95],
      'Of its whole memory, not of what is free.',
      '0.92',
      ['vllm'],
    ),
    number(
      'static',
      'Share of the card',
      'mem_fraction_static',
      [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9],
      'For weights and cache; the server computes it from the card’s size unless it is chosen.',
      '',
      ['sglang'],
    ),
    {
      id: 'colocated',
      group: 'serving',
      label: 'Beside the trainer',
      paths: ['serving.colocated'],
      kind: 'switch',
      help: 'Both live on one card, as in reinforcement learning.',
      when: is_engine,
      options: [
        { key: 'false', label: 'engine on its own', patch: { 'serving.colocated': undefined } },
        { key: 'true', label: 'engine beside the trainer', patch: { 'serving.colocated': true } },
      ],
      key: (full) => String(get(full, 'serving.colocated') === true),
    },
    {
      id: 'sleep',
      group: 'serving',
      label: 'While the trainer runs, the engine',
      paths: ['serving.sleep_level'],
      kind: 'choice',
      help: 'What it gives up before each step of training.',
      when: (full) => is_engine(full) && get(full, 'serving.colocated') === true,
      options: ['keeps all', 'sends its weights to the host', 'gives weights and cache up'].map(
        (label, i) => ({
          key: String(i),
          label,
          patch: { 'serving.sleep_level': i },
        }),
      ),
      key: (full) => String(get(full, 'serving.sleep_level') ?? 0),
    },
  ];
}
