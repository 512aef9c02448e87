// Letters that can be dragged: which they are, and where a drag leads.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { view } from './support.mjs';
import { control_behind, stop_away } from '../../web/letters.mjs';

test('a letter can be dragged where it has the value of its control', () => {
  const seen = view({
    scenario: { model: 'a/Small-1B', training: { per_device_train_batch_size: 4 } },
  });
  assert.equal(control_behind(seen, 'B', 4).id, 'batch');
  assert.equal(control_behind(seen, 'B', 8), null, 'a batch that was split');
  assert.equal(control_behind(seen, 'H', 4), null);
  assert.equal(control_behind(seen, 'r', 16), null, 'there are no adapters');
});

test('it moves from stop to stop, and ends at the last', () => {
  const stops = [1, 2, 4, 8];
  assert.deepEqual(
    [1, 2, 9, -1, -9, Infinity, -Infinity].map((by) => stop_away(stops, 2, by)),
    [4, 8, 8, 1, 1, 8, 1],
  );
});

test('from between two stops it moves to the next of them', () => {
  const stops = [1, 2, 4, 8];
  assert.deepEqual(
    [1, 2, -1, -2].map((by) => stop_away(stops, 3, by)),
    [4, 8, 2, 1],
  );
});
