// The curve over two hundred values, held against memories whose answer is known by arithmetic.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GiB, view } from './support.mjs';
import {
  curve_csv,
  kPoints,
  moves,
  sampled,
  values_between,
  whole_curve,
} from '../../web/curve.mjs';

const cost = (activations, temporary, when) => ({
  peak: GiB + activations + temporary,
  parts: { weights: GiB, activations, temporary },
  fits: 'yes',
  reserved: 2 * GiB,
  when,
});
const line = (value) => cost(1000 * value, 0, '2 backward');
/** The larger of two moments: the step needs 300 MB whatever the value, the backward pass a million bytes each. */
const two = (value) => (value < 300 ? cost(0, 3e8, '2 step') : cost(1e6 * value, 0, '2 backward'));

test('values are even, whole, and of long ranges multiples of eight', () => {
  assert.deepEqual(values_between(1, 5), [1, 2, 3, 4, 5]);
  const lengths = values_between(128, 16384);
  assert.equal(lengths.length, kPoints);
  assert.ok(lengths.every((value) => value % 8 === 0));
  assert.deepEqual([lengths[0], lengths.at(-1)], [128, 16384]);
  assert.equal(values_between(1, 200).length, 200);
});

test('of a straight line only the first points and the middles between them are counted', () => {
  const values = values_between(1, 1000);
  const { points, counted, miss, done } = sampled(values, line);
  assert.deepEqual([done, counted, miss], [true, 17, 0]);
  assert.deepEqual(
    points.map(({ value }) => value),
    values,
  );
  for (const { value, peak } of points) assert.equal(peak, GiB + 1000 * value);
});

test('where the moment changes, both neighbours are counted, so that the bend is where it is', () => {
  const values = values_between(1, 1000);
  const { points, counted } = sampled(values, two);
  assert.ok(counted < 40, `${counted}`);
  const at = values.findIndex((value) => value >= 300);
  assert.deepEqual(moves(points), [
    { value: values[at], before: values[at - 1], from: '2 step', to: '2 backward' },
  ]);
  for (const { value, peak } of points) assert.equal(peak, two(value).peak);
});

test('a bent curve is counted until no middle misses its chord by more than a pixel', () => {
  const bent = (value) => cost(value * value * 1000, 0, '2 forward');
  const values = values_between(1, 4000);
  const { points, miss, counted } = sampled(values, bent);
  const top = points.at(-1).peak;
  assert.ok(counted < kPoints && miss <= top / 1000);
  // A convex curve lies at most twice as far from a chord as its middle does.
  for (const { value, peak } of points)
    assert.ok(Math.abs(peak - bent(value).peak) <= 2 * miss + 1);
});

test('it is not done while an answer is out, and values without an answer are left out', () => {
  const values = values_between(1, 200);
  assert.equal(sampled(values, (value) => (value === 200 ? undefined : line(value))).done, false);
  const some = sampled(values, (value) => (value > 100 ? null : line(value)));
  assert.equal(some.done, true);
  assert.equal(some.points.at(-1).value, 100);
});

test('the chart says what was counted, and copies every value with a mark for those', () => {
  const letter = { id: 'batch', name: 'micro-batch', path: 'b', stops: [1] };
  const seen = { ...view(), cost: (patch) => two(patch.b) };
  assert.match(
    String(whole_curve(seen, letter, 1000)),
    /values were counted.*From 302 on \(at 297 not yet\)/s,
  );
  const rows = curve_csv(seen, letter, 1000).trim().split('\n');
  assert.equal(rows.length, 1 + values_between(1, 1000).length);
  assert.match(rows[1], /^1,\d+,true,/);
  assert.ok(rows.some((row) => /,false,,/.test(row)));
});
