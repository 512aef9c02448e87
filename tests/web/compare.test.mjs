// Scenarios side by side and rules of thumb, on figures that are checked by eye.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GiB, n, report, text, view } from './support.mjs';
import { compare, moved_lines, pin_of } from '../../web/compare.mjs';
import { applied, formula_of, kRules } from '../../web/rules.mjs';

const rule = (id) => kRules.find((one) => one.id === id);
const run = {
  ...report,
  parameters: { total: 1e9, trainable: 1e9 },
  model: { ...report.model, letters: { T: 1024, B: 2, d: 2048, L: 10, H: 16 } },
};

test('bytes a parameter add up to the rule’s name', () => {
  const said = kRules
    .filter(({ bytes }) => bytes)
    .map((one) => [formula_of(one, n), applied(one, run).total / 1e9]);
  assert.deepEqual(said, [
    ['2 P', 2],
    ['2 P × 1.2', 2.4],
    ['8 P', 8],
    ['12 P', 12],
    ['16 P', 16],
    ['18 P', 18],
    ['20 P', 20],
  ]);
});

test('activations by the published formulas', () => {
  // 1,024 · 2 · 2,048 · 10 elements; scores add 5 · 16 · 1,024 / 2,048 = 40 to the 34.
  const elements = 1024 * 2 * 2048 * 10;
  assert.equal(applied(rule('activations'), run).total, 34 * elements);
  assert.equal(applied(rule('scores'), run).total, 74 * elements);
  assert.equal(applied(rule('checkpoints'), run).total, 2 * elements);
});

test('a rule whose letters the model lacks says nothing', () => {
  const without = { ...run, model: { ...run.model, letters: {} } };
  assert.equal(applied(rule('activations'), without), null);
});

test('every rule has a source, and says what it counts and leaves out', () => {
  for (const { id, source, counts, lacks } of kRules) assert.ok(source && counts && lacks, id);
});

const line = (what, bytes, symbols) => ({ what, where: '', count: 1, bytes, symbols });
const with_lines = (lines) => ({
  ...run,
  parts: [{ id: 'activations', bytes: lines.reduce((sum, { bytes }) => sum + bytes, 0), lines }],
});

test('a difference is explained by the lines that changed, the largest first', () => {
  const a = with_lines([
    line('scores', 4 * GiB, 'B · H · T · T'),
    line('gate', GiB, 'f'),
    line('up', GiB, 'f'),
  ]);
  const b = with_lines([line('gate', 3 * GiB, 'f'), line('up', GiB, 'f')]);
  assert.deepEqual(
    moved_lines(a, b, 'activations').map(({ what, was, is }) => [what, was / GiB, is / GiB]),
    [
      ['scores', 4, 0],
      ['gate', 1, 3],
    ],
  );
});

test('pinned scenarios stand beside the present one, with what tells them apart', () => {
  const pinned = pin_of({
    ...view(),
    scenario: { model: 'a/Small-1B', training: { per_device_train_batch_size: 8 } },
    report: run,
  });
  const seen = { ...view(), ui: { ...view().ui, pins: [pinned] } };
  const said = text(compare(seen));
  assert.match(said, /Micro-batch81/);
  assert.match(said, /Why Now differs from A by/);
});
