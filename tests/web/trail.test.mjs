// The trail and pairs of changes, over a memory whose answer is known by arithmetic.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GiB, report, view } from './support.mjs';
import { changes } from '../../web/changes.mjs';
import { both, pairs, two_steps } from '../../web/pairs.mjs';
import { before, differences, sentence, steps, trail } from '../../web/trail.mjs';

const kBatch = 'per_device_train_batch_size';
const state = (training, peak) => ({
  scenario: { model: 'a/Small-1B', training },
  counted: true,
  peak: peak * GiB,
  fits: peak > 24 ? 'no' : 'yes',
});

test('a slider that passes many stops is one step, and its last value counts', () => {
  const states = [
    state({ [kBatch]: 8 }, 30),
    state({ [kBatch]: 7 }, 28),
    state({ [kBatch]: 4 }, 20),
    state({ [kBatch]: 4, gradient_checkpointing: true }, 15),
  ];
  const found = steps(view(), states);
  assert.deepEqual(
    found.map((step) => sentence(step, view().n)),
    ['Micro-batch: 8 → 4', 'Gradient checkpointing: no checkpointing → checkpointing'],
  );
  assert.equal(found[0].after.peak - found[0].before.peak, -10 * GiB);
  const seen = { ...view(), ui: { ...view().ui, trail: states } };
  assert.match(String(trail(seen)), /−10\.00.*−5\.00/s);
  assert.match(String(trail(seen)), /now it fits/);
});

test('what was changed and changed back is no step', () => {
  const states = [
    state({ [kBatch]: 8 }, 30),
    state({ [kBatch]: 4 }, 20),
    state({ [kBatch]: 8 }, 30),
  ];
  assert.deepEqual(steps(view(), states), []);
  assert.equal(trail({ ...view(), ui: { ...view().ui, trail: states } }), null);
});

test('taking back a step leaves what was before it', () => {
  const states = [
    state({ [kBatch]: 8 }, 30),
    state({ [kBatch]: 4 }, 20),
    state({ max_length: 512 }, 10),
  ];
  const found = steps(view(), states);
  assert.deepEqual(before(states, found.at(-1)), states.slice(0, 2));
  assert.deepEqual(before(states, found[0]), states.slice(0, 1));
});

test('what follows from another choice is not named beside it', () => {
  const lora = { model: 'a/Small-1B', peft: { r: 8 } };
  const found = differences(view(), { model: 'a/Small-1B' }, lora);
  assert.deepEqual(
    found.map(({ id }) => id),
    ['method'],
  );
});

/** 40 GiB, less 12 for half the micro-batch, 9 for half the length, 4 for checkpointing; each apart from the others. */
function cost(patch) {
  const given = Object.keys(patch);
  const saved = { [kBatch]: 12, max_length: 9, gradient_checkpointing: 4 };
  const peak = given.reduce((left, path) => left - (saved[path.split('.')[1]] ?? 0), 40) * GiB;
  return {
    peak,
    parts: {},
    fits: peak <= 20 * GiB ? 'yes' : 'no',
    reserved: peak,
    when: '2 backward',
  };
}

test('where no single change fits, the pairs that do are offered, the lowest first', () => {
  const now = view({ scenario: { model: 'a/Small-1B', training: { [kBatch]: 4 } } });
  const needy = {
    ...now,
    cost,
    report: {
      ...report,
      peak: { ...report.peak, allocated_bytes: 40 * GiB },
      verdict: { ...report.verdict, fits: 'no', needed_bytes: { low: 41 * GiB, high: 41 * GiB } },
    },
  };
  assert.ok(pairs(needy).length > 3);
  // 40 − 12 − 9 = 19 is the only pair at 20 or below: 12 and 4 leave 24.
  const shown = String(two_steps(needy));
  assert.match(shown, /fit:/);
  assert.equal(shown.match(/data-pair=/g).length, 1);
  assert.match(shown, /data-pair="batch half\+length half"/);
  const first = changes(needy).find(({ key }) => key === 'batch half');
  assert.deepEqual(both(needy, first, 'length half'), {
    'training.per_device_train_batch_size': 2,
    'training.max_length': 512,
  });
});

test('where a single change is enough, pairs are not looked for', () => {
  const needy = {
    ...view({ scenario: { model: 'a/Small-1B', training: { [kBatch]: 4 } } }),
    cost: () => ({ ...cost({}), fits: 'yes' }),
    report: { ...report, verdict: { ...report.verdict, fits: 'no' } },
  };
  assert.deepEqual(pairs(needy), []);
});
