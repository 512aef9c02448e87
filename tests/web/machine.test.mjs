// The machine's controls, and what each tool would show.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GiB, catalog as small, chooser, n, report, text, view } from './support.mjs';
import { controls } from '../../web/controls.mjs';
import { say } from '../../web/say.mjs';
import { tiers } from '../../web/tiers.mjs';

const catalog = {
  ...small,
  parallel_strategies: [
    { id: 'ddp', what: '' },
    { id: 'fsdp2', what: '' },
  ],
};
const rows = controls(catalog, n);
const row = (id) => rows.find((one) => one.id === id);
const choose = chooser(rows);

test('cards that train together have ranks, and what divides depends on how', () => {
  const fsdp = choose({ model: 'a/Small-1B' }, 'parallel', 'fsdp2');
  assert.deepEqual(fsdp.parallel, { strategy: 'fsdp2', world_size: 8 });
  const four = { ...fsdp, parallel: { ...fsdp.parallel, world_size: 4 } };
  assert.equal(choose(four, 'parallel', 'ddp').parallel.world_size, 4);
  const there = (id) => row(id).when(four);
  assert.deepEqual(['ranks', 'offload', 'divided', 'views'].map(there), [true, true, false, false]);
  assert.equal('parallel' in choose(four, 'parallel', ''), false);
  const now = view({ scenario: four });
  assert.match(text(say({ ...now, controls: rows })), /on 4 ranks, FSDP2, each with any card/);
});

test('what each tool would show has its range and its source, and the message word for word', () => {
  const range = { low: GiB, high: 2 * GiB, source: 'three runs on a T4' };
  const message = 'CUDA out of memory. Tried to allocate 2.00 GiB.';
  const now = view();
  const shown = tiers({
    ...now,
    report: {
      ...report,
      measured: {
        max_memory_allocated: GiB,
        max_memory_reserved: range,
        nvidia_smi: null,
        free: null,
      },
      reserved: { on_card: range, varied_lengths: range, stranded_bytes: 5, largest_free_bytes: 7 },
      verdict: { ...report.verdict, why: 'It is so.', first_failure: { step: 1, message } },
    },
  });
  const said = text(shown);
  for (const piece of [message, 'It is so.', '1.00 to 2.00', 'three runs on a T4'])
    assert.ok(said.includes(piece), piece);
  assert.doesNotMatch(said, /nvidia-smi/);
});
