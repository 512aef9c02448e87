import assert from 'node:assert/strict';
import test from 'node:test';

import { change, defaults_of } from '../../web/scenario.mjs';

test('another trainer brings its defaults, and a change of trainer changes nothing else', () => {
  const training = { per_device_train_batch_size: 1, gradient_checkpointing: false };
  const catalog = {
    defaults: { trainer: 'torch', training },
    defaults_within: {},
    training_defaults: {
      torch: training,
      trl: { per_device_train_batch_size: 8, gradient_checkpointing: true },
    },
  };
  assert.deepEqual(
    defaults_of(catalog, { trainer: 'trl' }).training.per_device_train_batch_size,
    8,
  );
  const moved = change(catalog, { model: 'a/b' }, { trainer: 'trl' });
  assert.deepEqual(moved, { model: 'a/b', trainer: 'trl', training });
  const usual = change(catalog, moved, { 'training.gradient_checkpointing': true });
  assert.deepEqual(usual.training, { per_device_train_batch_size: 1 });
  assert.deepEqual(change(catalog, moved, { trainer: 'torch' }), { model: 'a/b' });
});
