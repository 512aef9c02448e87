// The manners of the program `ledger`: what it prints where, and its exit status.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { program } from '../wasm/load.mjs';

const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
after(() => rmSync(folder, { recursive: true }));

function run(args, input = '') {
  const { status, signal, stdout, stderr } = spawnSync(program, args, {
    input,
    maxBuffer: 1 << 30,
  });
  assert.equal(signal, null);
  return { status, out: stdout.toString(), err: stderr.toString() };
}

const model = { model: 'Qwen/Qwen3-0.6B' };
const scenario = JSON.stringify(model);
const on_a_card_of = (gb) => JSON.stringify({ ...model, device: { total_bytes: gb * 1e9 } });

test('an answered scenario prints one line of JSON and exits 0', () => {
  const file = join(folder, 'scenario.json');
  writeFileSync(file, scenario);
  const { status, out, err } = run(['estimate', file]);
  assert.equal(err, '');
  assert.equal(out.split('\n').length, 2);
  assert.ok(JSON.parse(out).peak.allocated_bytes > 0);
  assert.equal(status, 0);
});

test('a file and standard input are the same door', () => {
  const file = join(folder, 'same.json');
  writeFileSync(file, scenario);
  assert.equal(run(['estimate', file]).out, run(['estimate', '-'], scenario).out);
});

test('what does not fit the named card exits 1, what fits exits 0', () => {
  assert.equal(run(['estimate', '-'], on_a_card_of(1)).status, 1);
  assert.equal(run(['estimate', '-'], on_a_card_of(100)).status, 0);
});

test('problems exit 2 and are printed as a report', () => {
  for (const text of ['', 'not JSON', '{}', '{"model":"nobody/nothing"}']) {
    const { status, out } = run(['estimate', '-'], text);
    assert.equal(status, 2);
    assert.ok(JSON.parse(out).problems.length > 0);
  }
});

test('--lines gives one report a line and exits 0 even where lines have problems', () => {
  const { status, out } = run(
    ['estimate', '--lines', '-'],
    `${scenario}\nnonsense\n\n${on_a_card_of(1)}`,
  );
  const reports = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    reports.map((report) => report.problems.length > 0),
    [false, true, true, false],
  );
  assert.equal(status, 0);
});

test('--lines reads standard input where no file is named', () => {
  const { status, out } = run(['estimate', '--lines'], `${scenario}\n`);
  assert.equal(status, 0);
  assert.ok(JSON.parse(out).peak);
});

test('--table shows every size in both units, flush right', () => {
  const { status, out } = run(['estimate', '--table', '-'], scenario);
  assert.equal(status, 0);
  assert.match(out, /GiB +GB +bytes/);
  const [, gib, gb, bytes] = /^allocated +([\d.]+) +([\d.]+) +([\d,]+)$/m.exec(out);
  const { peak } = JSON.parse(run(['estimate', '-'], scenario).out);
  assert.equal(Number(bytes.replaceAll(',', '')), peak.allocated_bytes);
  assert.equal(gib, (peak.allocated_bytes / 2 ** 30).toFixed(2));
  assert.equal(gb, (peak.allocated_bytes / 1e9).toFixed(2));
  const ends = out
    .split('\n\n')[1]
    .split('\n')
    .map((line) => line.length);
  assert.equal(new Set(ends).size, 1);
});

test('--table names problems by their path', () => {
  const { status, out } = run(
    ['estimate', '--table', '-'],
    '{"model":"Qwen/Qwen3-0.6B","dtpye":"float32"}',
  );
  assert.equal(status, 2);
  assert.match(out, /^dtpye: .+/);
});

test('the catalog is JSON', () => {
  const { status, out } = run(['catalog']);
  assert.equal(status, 0);
  assert.ok(JSON.parse(out).models.length > 0);
});

test('--help and --version are answers', () => {
  assert.match(run(['--help']).out, /usage: ledger/);
  for (const command of ['estimate', 'explain', 'compare', 'import', 'events', 'catalog'])
    assert.match(run([command, '--help']).out, /usage: ledger/, command);
  assert.match(run(['--version']).out, /^ledger \d+\.\d+\.\d+\n$/);
});

test('a wrong call exits 2 with one sentence on standard error and nothing on standard output', () => {
  const wrong = [
    [],
    ['estmate'],
    ['estimate'],
    ['estimate', 'a', 'b'],
    ['estimate', '--tabel', '-'],
    ['estimate', '--lines', '--table', '-'],
    ['estimate', join(folder, 'missing.json')],
    ['estimate', '--lines', join(folder, 'missing.json')],
    ['estimate', folder],
    ['catalog', 'more'],
  ];
  for (const args of wrong) {
    const { status, out, err } = run(args);
    assert.equal(status, 2, args.join(' '));
    assert.equal(out, '', args.join(' '));
    assert.match(err, /^ledger: .+\.\n$/, args.join(' '));
  }
});

test('a line of 100 MB is refused in a sentence, and the next line is answered', () => {
  const long = Buffer.alloc(100e6, 'x');
  const { status, out } = run(
    ['estimate', '--lines', '-'],
    Buffer.concat([long, Buffer.from(`\n${scenario}\n`)]),
  );
  const [first, second] = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.match(first.problems[0].message, /at most \d+/);
  assert.ok(second.peak);
  assert.equal(status, 0);
});

const message =
  'CUDA out of memory. Tried to allocate 594.00 MiB. GPU 0 has a total capacity of 8.00 GiB';

test('a message is explained as a table for people, or as one line of JSON', () => {
  const table = run(['explain', '-'], message);
  assert.equal(table.status, 0);
  assert.match(table.out, /The numbers\n {2}594\.00 MiB/);
  const file = join(folder, 'scenario-of-message.json');
  writeFileSync(file, scenario);
  const { status, out } = run(['explain', '--scenario', file, '--json', '-'], message);
  assert.equal(status, 0);
  assert.equal(out.split('\n').length, 2);
  // 1 · 1,024 · 151,936 · 4 bytes = 593.5 MiB
  assert.equal(JSON.parse(out).candidates[0].kind, 'logits');
});

test('a measurement is compared; problems with it exit 2', () => {
  const measured = { max_memory_allocated: '7.18 GiB' };
  const { status, out } = run(['compare', '-'], JSON.stringify({ scenario: model, measured }));
  assert.equal(status, 0);
  assert.equal(JSON.parse(out).tiers[0].id, 'allocated');
  assert.equal(run(['compare', '-'], '{}').status, 2);
});
