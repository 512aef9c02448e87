// The largest that fits, held against a model of memory whose answer is known by arithmetic.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GiB, catalog, report, view } from './support.mjs';
import { largest, largest_model, smallest_card } from '../../web/solve.mjs';
import { points, sweep, sweep_csv } from '../../web/sweep.mjs';

const kPath = 'training.per_device_train_batch_size';
const kUsable = 24;

/** A run of 3 GiB and 2 more for each sequence; it may fit where less than 1 GiB is left. */
function run(patch) {
  const peak = 3 + 2 * (patch[kPath] ?? 1);
  const left = kUsable - peak;
  const fits = left < 0 ? 'no' : left < 1 ? 'close' : 'yes';
  const parts = { weights: 3 * GiB, activations: (peak - 3) * GiB };
  return { peak: peak * GiB, parts, fits, reserved: peak * GiB, when: '2 backward' };
}

test('the largest micro-batch is the last that fits, and it says so only once every answer is known', () => {
  // 3 + 2 · 10 = 23 leaves a whole GiB, 11 needs 25.
  const known = { ...view(), cost: run };
  assert.deepEqual(largest(known, kPath, 4096), { known: true, surely: 10, perhaps: 10 });
  const asked = [];
  const waits = (patch) => {
    asked.push(patch[kPath]);
    return patch[kPath] === 12 ? undefined : run(patch);
  };
  assert.equal(largest({ ...view(), cost: waits }, kPath, 4096).known, false);
  assert.ok(asked.length < 8);
});

test('where even one sequence is too much, none fits', () => {
  const cost = () => ({ ...run({}), fits: 'no' });
  assert.deepEqual(largest({ ...view(), cost }, kPath, 64), {
    known: true,
    surely: null,
    perhaps: null,
  });
  assert.equal(smallest_card({ ...view(), cost }), null);
});

test('a limit that fits is the answer', () => {
  const cost = () => ({ ...run({}), fits: 'yes' });
  assert.equal(largest({ ...view(), cost }, kPath, 100).surely, 100);
  assert.equal(largest_model({ ...view(), cost }).model.id, 'a/Small-1B');
});

test('models whose weights alone are larger than the card are not asked for', () => {
  const asked = [];
  const cost = (patch) => {
    asked.push(patch.model);
    return undefined;
  };
  const seen = { ...view(), report: { ...report, verdict: { ...report.verdict } }, cost };
  assert.equal(largest_model(seen), undefined);
  assert.deepEqual(asked, ['a/Small-1B']);
});

test('the sweep holds the chosen value among its stops, and copies exact bytes', () => {
  const now = view({
    scenario: { model: 'a/Small-1B', training: { per_device_train_batch_size: 9 } },
  });
  const swept = { ...now, ui: { ...now.ui, letter: 'batch' }, cost: run };
  const letter = { id: 'batch', name: 'micro-batch', path: kPath, stops: [1, 2, 16] };
  assert.deepEqual(
    points(swept, letter).map(({ value, now }) => [value, now]),
    [
      [1, false],
      [2, false],
      [9, true],
      [16, false],
    ],
  );
  assert.match(sweep_csv(swept), new RegExp(`^9,${21 * GiB},${21 * GiB},2 backward,yes,`, 'm'));
  assert.match(String(sweep(swept)), /aria-current="true"/);
});
