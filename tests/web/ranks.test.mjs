// Replicated or divided: what became of each part, from two reports.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GiB, report, text, view } from './support.mjs';
import { beside, dimensions, divisions, without_ranks } from '../../web/ranks.mjs';

const line = (what, bytes) => ({ ...report.parts[0].lines[0], what, where: '', bytes });
const parts = (weights, gradients, activations) => ({
  ...report,
  parts: [
    { id: 'weights', bytes: weights, lines: [line('weight', weights)] },
    { id: 'gradients', bytes: gradients, lines: [] },
    { id: 'activations', bytes: activations, lines: [line('input', activations)] },
  ],
});
const alone = parts(8 * GiB, 0, 4 * GiB);
const kinds = (rank, sizes = [8]) => divisions(alone, rank, sizes).map(({ kind }) => kind);

test('a part is replicated, divided by the ranks, divided in part, or new', () => {
  assert.deepEqual(kinds(parts(GiB, 0, 4 * GiB)), ['divided', 'none', 'replicated']);
  assert.deepEqual(kinds(parts(8 * GiB, 2 * GiB, 3 * GiB)), ['replicated', 'new', 'partly']);
  assert.equal(divisions(alone, parts(2 * GiB, 0, 0), [8, 4])[0].by, 4);
});

test('tensors that a device alone does not have are named, and do not hide what divides', () => {
  const rank = parts(GiB, 0, 4 * GiB);
  rank.parts[0].bytes += GiB / 2;
  rank.parts[0].lines.push(line('gathered weight', GiB / 2));
  const [weights] = divisions(alone, rank, [8]);
  assert.equal(weights.kind, 'divided');
  assert.deepEqual(weights.fresh, [{ what: 'gathered weight', bytes: GiB / 2 }]);
});

test('what lies on the host is said to lie there, with its bytes', () => {
  const rank = {
    ...parts(0, 0, 4 * GiB),
    host: { weights_bytes: GiB, gradients_bytes: 0, optimizer_bytes: 0, source: '' },
  };
  assert.equal(divisions(alone, rank, [8])[0].kind, 'host');
  const said = text(
    beside({ ...view(), report: rank }, alone, { strategy: 'fsdp2', world_size: 8 }),
  );
  assert.match(said, /in host memory: weights/);
});

test('the sizes by which something may divide follow from the dimensions of the ranks', () => {
  assert.deepEqual(
    dimensions({ strategy: 'fsdp2', world_size: 8, tensor_parallel_size: 2 }),
    [8, 4, 2],
  );
  assert.deepEqual(
    dimensions({ strategy: 'hsdp', world_size: 16, dp_replicate_size: 2 }),
    [16, 8, 1],
  );
  assert.deepEqual(dimensions({ strategy: 'tp', world_size: 4 }), [4, 1]);
  assert.deepEqual(without_ranks({ model: 'a', parallel: {} }), { model: 'a' });
});
