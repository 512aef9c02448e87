// The machine: how many cards and what divides over them, the system, the allocator, and what is left free.
import { get, is_object } from './scenario.mjs';

/** @typedef {import('./types.mjs').Catalog} Catalog */
/** @typedef {import('./types.mjs').Scenario} Scenario */
/** @typedef {import('./controls.mjs').Control} Control */

const kRanks = 'parallel.world_size';
const kExpandable = 'allocator.expandable_segments';
const kStops = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/** What divides, or an empty text on one card. @param {Scenario} full */
export const strategy_of = ({ parallel }) =>
  is_object(parallel) ? String(parallel.strategy ?? '') : '';

/** @param {Catalog} catalog @returns {Control[]} */
export function machine_controls(catalog) {
  const strategies = (catalog.parallel_strategies ?? []).map(({ id, what }) => ({
    key: id,
    label: id.toUpperCase(),
    note: what,
    patch: (/** @type {Scenario} */ full) => ({
      parallel: { strategy: id, world_size: get(full, kRanks) ?? 8 },
    }),
  }));
  const systems = (catalog.systems ?? []).map(({ id, what }) => ({
    key: id,
    label: id,
    note: what,
    patch: { 'device.os': id },
  }));
  /** @param {string} id @param {string} label @param {string} path @param {string} help @param {[string, string]} names
   * @param {(full: Scenario) => boolean} when @returns {Control} */
  const toggle = (id, label, path, help, [off, on], when) => ({
    id,
    group: 'machine',
    label,
    paths: [path],
    kind: 'switch',
    when,
    help,
    options: [
      { key: 'false', label: off, patch: { [path]: undefined } },
      { key: 'true', label: on, patch: { [path]: true } },
    ],
    key: (full) => String(get(full, path) === true),
  });
  const sharded = (/** @type {Scenario} */ full) => ['fsdp2', 'hsdp'].includes(strategy_of(full));
  const replicated = (/** @type {Scenario} */ full) => strategy_of(full) === 'ddp';
  const layered = (/** @type {Scenario} */ full) =>
    strategy_of(full) === 'tp' || Number(get(full, 'parallel.tensor_parallel_size') ?? 1) > 1;
  return [
    {
      id: 'parallel',
      group: 'machine',
      label: 'Cards that train together',
      paths: ['parallel', 'parallel.strategy'],
      kind: 'choice',
      stays: true,
      also: ['ranks', 'divided', 'views', 'offload', 'tensor', 'sequence', 'loss'],
      help: 'Only what is sharded divides; every figure here is of one card.',
      options: [{ key: '', label: 'one card', patch: { parallel: undefined } }, ...strategies],
      key: strategy_of,
    },
    {
      id: 'ranks',
      group: 'machine',
      label: 'Ranks',
      paths: [kRanks],
      kind: 'number',
      stops: kStops,
      when: (full) => strategy_of(full) !== '',
      help: 'One process for each card.',
      key: (full) => String(get(full, kRanks) ?? ''),
    },
    toggle(
      'divided',
      'State divided over ranks',
      'parallel.zero_redundancy_optimizer',
      'torch’s ZeroRedundancyOptimizer: each rank keeps the state of its own parameters.',
      ['state on every rank', 'state divided over ranks'],
      replicated,
    ),
    toggle(
      'views',
      'Gradients as views of buckets',
      'parallel.gradient_as_bucket_view',
      'Saves the second copy of the gradients.',
      ['gradients beside their buckets', 'gradients as views of buckets'],
      replicated,
    ),
    toggle(
      'offload',
      'Shards in host memory',
      'parallel.offload_params',
      'Shards, their gradients and state wait on the host.',
      ['shards on the card', 'shards in host memory'],
      sharded,
    ),
    {
      id: 'tensor',
      group: 'machine',
      label: 'Ranks that divide each layer',
      paths: ['parallel.tensor_parallel_size'],
      kind: 'number',
      stops: [1, 2, 4, 8, 16],
      when: (full) => strategy_of(full) === 'fsdp2',
      help: 'Tensor parallel within so many ranks; their parts are sharded over the rest.',
      key: (full) => String(get(full, 'parallel.tensor_parallel_size') ?? 1),
    },
    toggle(
      'sequence',
      'Sequence parallel',
      'parallel.sequence_parallel',
      'Each rank norms and keeps its part of the tokens.',
      ['tokens on every rank', 'sequence parallel'],
      layered,
    ),
    toggle(
      'loss',
      'Loss parallel',
      'parallel.loss_parallel',
      'Logits stay divided by vocabulary; else the head gathers them.',
      ['gathered logits', 'loss parallel'],
      layered,
    ),
    toggle(
      'expandable',
      'Expandable segments',
      kExpandable,
      'PYTORCH_ALLOC_CONF=expandable_segments:True: hardly anything is lost to pieces.',
      ['segments of fixed size', 'expandable segments'],
      () => true,
    ),
    {
      id: 'os',
      group: 'machine',
      label: 'System',
      paths: ['device.os'],
      kind: 'choice',
      help: 'Windows shows all of a card and keeps a part of it.',
      options: systems,
      key: (full) => String(get(full, 'device.os')),
    },
    {
      id: 'headroom',
      group: 'machine',
      label: 'Share that stays free',
      paths: ['device.headroom'],
      kind: 'number',
      stops: [0, 0.05, 0.1, 0.15, 0.2],
      help: 'What a run that fits leaves: for longer examples, other libraries, the next version.',
      key: (full) => String(get(full, 'device.headroom') ?? ''),
    },
  ];
}
