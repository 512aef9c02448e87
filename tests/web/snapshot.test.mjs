// Recorded histories: read as data, equal to what PyTorch counted, and never run.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Unreadable, read_pickle } from '../../web/pickle.mjs';
import { differences, read_history } from '../../web/snapshot.mjs';

const recorded = gunzipSync(
  readFileSync(new URL('../data/snapshots/two_steps.pickle.gz', import.meta.url)),
);

test('the peak of a recorded history is torch.cuda.max_memory_allocated', async () => {
  const history = await read_history(recorded);
  assert.equal(history.peak, 31796736); // printed by the program, see the folder's README
  assert.equal(history.allocated[history.peak_point], history.peak);
  assert.equal(
    history.groups.reduce((sum, { bytes, count }) => sum + bytes * count, 0),
    history.peak,
  );
  assert.equal(history.missed, 0);
  assert.ok(history.groups.some(({ line }) => line.startsWith('torch/optim/adam.py')));
});

test('a pickle that would run something is refused by the name of its opcode', async () => {
  // pickle.dumps(os.system), protocol 4, and a call of it.
  const asks = Buffer.from('8004950f000000000000008c026f73948c0673797374656d9493942e', 'hex');
  await assert.rejects(read_pickle(asks), /STACK_GLOBAL/);
  await assert.rejects(read_pickle(Buffer.from('cos\nsystem\n(S"x"\ntR.')), /GLOBAL/);
});

test('what is no pickle, or ends too early, is said to be so', async () => {
  await assert.rejects(read_pickle(Buffer.from('{"a": 1}')), /not a pickle/);
  await assert.rejects(read_pickle(Buffer.alloc(0)), /ends too early/);
  await assert.rejects(read_pickle(recorded.subarray(0, 5000)), Unreadable);
  await assert.rejects(read_history(Buffer.from('80047d942e', 'hex')), /device_traces/);
});

test('numbers, texts and containers are what Python wrote', async () => {
  // pickle.dumps({'a': (1, -2, 2**40, True, None), 'b': [1.5, 'é', 70000]}, 4)
  const hex =
    '80049535000000000000007d94288c01619428' +
    '4b014afeffffff8a0600000000000188' +
    '4e7494' +
    '8c0162945d9428473ff80000000000008c02c3a9944a7011010065752e';
  const value = await read_pickle(Buffer.from(hex, 'hex'));
  assert.deepEqual(value.get('a'), [1, -2, 2 ** 40, true, null]);
  assert.deepEqual(value.get('b'), [1.5, 'é', 70000]);
});

test('sizes that the run holds and the estimate does not are named by source line', () => {
  const group = (line, bytes, count) => ({ line, bytes, count });
  const history = { groups: [group('mine.py:7 keep', 4096, 3), group('a.py:1 f', 1024, 2)] };
  const line = (what, bytes, count) => ({ what, where: '', bytes, count });
  const report = {
    parts: [{ id: 'weights', bytes: 0, lines: [line('w', 2000, 2), line('s', 512, 1)] }],
  };
  assert.deepEqual(differences(history, report), [
    { bytes: 4096, recorded: 3, estimated: 0, lines: ['mine.py:7 keep'], names: [] },
    { bytes: 512, recorded: 0, estimated: 1, lines: [], names: ['s'] },
  ]);
});

test('damaged histories are refused and never hang', async () => {
  const small = recorded.subarray(0, 3000);
  let seed = 7;
  const random = (below) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
  let refused = 0;
  for (let round = 0; round < 3000; round++) {
    const bytes = Uint8Array.from(small);
    for (let i = 0; i <= random(8); i++) bytes[random(bytes.length)] = random(256);
    await read_history(bytes).catch((error) => {
      assert.ok(error instanceof Unreadable || error instanceof RangeError, String(error));
      refused += 1;
    });
  }
  assert.equal(refused, 3000);
});
