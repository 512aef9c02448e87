// What tests/browser/trace.spec.mjs holds the page's figures with, held itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figures, is_one_of, values } from '../browser/trace.mjs';

const report = {
  peak: { allocated_bytes: 3 * 2 ** 30, step: 2 },
  context: { low: 10, high: 20, source: 'measured 384 MiB' },
  parts: [{ id: 'weights', bytes: 5, lines: [{ count: 2, mathml: '<mn>1,024</mn>' }] }],
};
const written = (text, path, point) =>
  figures(text, point).map((figure) => is_one_of(figure, values(path, report)));

test('a path leads to numbers, ranges, texts, and what is reckoned of them', () => {
  assert.deepEqual(values('peak.step', report), [2]);
  assert.deepEqual(values('context - peak.step', report), [8, 18]);
  assert.deepEqual(
    values('parts[id=weights].bytes / parts[id=weights].lines.0.count', report),
    [2.5],
  );
  assert.deepEqual(values('parts.0.lines.length; peak.step', report), [1, 2]);
  assert.deepEqual(values('verdict.why', report), []);
});

test('a figure is held to its last place, in every unit of the page', () => {
  assert.deepEqual(written('3.00 GiB (3.22 GB)', 'peak.allocated_bytes'), [true, true]);
  assert.deepEqual(written('3,00 GiB (3,22 GB)', 'peak.allocated_bytes', ','), [true, true]);
  assert.deepEqual(written('3.01 GiB', 'peak.allocated_bytes'), [false]);
  assert.deepEqual(written('3', 'peak.step'), [false]);
  assert.deepEqual(written('1,024', 'parts[id=weights].lines.0.mathml'), [true]);
  assert.deepEqual(written('<0.01', 'context'), [true]);
});

test('digits of names are no figures', () => {
  assert.deepEqual(figures('Qwen3-8B, LLM.int8, fp16'), []);
  assert.deepEqual(
    figures('an RTX 4090, 1,024 tokens').map(({ plain }) => plain),
    ['4090', '1024'],
  );
});
