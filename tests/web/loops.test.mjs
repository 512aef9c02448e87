// Loops and what only some of them can be told: what choosing them writes into the scenario.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalog as small, chooser, n } from './support.mjs';
import { controls } from '../../web/controls.mjs';
import { complete } from '../../web/scenario.mjs';

const catalog = {
  ...small,
  trainers: ['torch', 'transformers', 'trl'],
  rl_methods: [
    { id: 'dpo', what: 'pairs' },
    { id: 'grpo', what: 'generated' },
  ],
  loss_types: [
    { id: 'nll', what: '' },
    { id: 'dft', what: '' },
  ],
  packing_strategies: [{ id: 'bfd', what: '' }],
};
const rows = controls(catalog, n);
const row = (id) => rows.find((one) => one.id === id);
const choose = chooser(rows);
const shown = (scenario) =>
  rows
    .filter((one) => one.group === 'trainer' && one.when?.(scenario) !== false)
    .map((one) => one.id);
const base = complete(catalog.defaults, { model: 'a/Small-1B' });

test('a trainer by preference or reward is trl’s, with its own figures and without packing', () => {
  const packed = choose(choose(base, 'trainer', 'trl'), 'packing', 'bfd');
  assert.equal(packed.training.packing, true);
  const grpo = choose(packed, 'trainer', 'grpo');
  assert.equal(grpo.trainer, 'trl');
  assert.deepEqual(grpo.rl, { method: 'grpo' });
  assert.equal(grpo.training.packing, false);
  assert.equal(row('trainer').key(grpo), 'grpo');
  assert.deepEqual(shown(grpo), [
    'trainer',
    'moments',
    'prompt',
    'completion',
    'generations',
    'beta',
    'iterations',
    'generated',
    'outputs',
  ]);
  assert.deepEqual(choose(grpo, 'trainer', 'dpo').rl, { method: 'dpo' });
  assert.equal('rl' in choose(grpo, 'trainer', 'torch'), false);
});

test('packing and losses are SFTTrainer’s', () => {
  assert.deepEqual(shown({ ...base, trainer: 'transformers' }), ['trainer', 'moments', 'outputs']);
  const sft = { ...base, trainer: 'trl' };
  assert.deepEqual(shown(sft), ['trainer', 'packing', 'loss', 'moments', 'outputs']);
  const free = choose(sft, 'packing', 'free');
  assert.equal(row('packing').key(free), 'free');
  assert.equal(row('packing').key(choose(free, 'packing', 'bfd')), 'bfd');
  assert.equal(row('packing').key(choose(free, 'packing', 'padded')), 'padded');
});

test('moments are ticked beside the training itself', () => {
  const items = (moments) => row('moments').items({ ...base, moments });
  assert.deepEqual(
    items(['train', 'save'])
      .filter(({ on }) => on)
      .map(({ name }) => name),
    ['train', 'save'],
  );
  assert.deepEqual(
    items(undefined).filter(({ on }) => on),
    [{ name: 'train', on: true }],
  );
});
