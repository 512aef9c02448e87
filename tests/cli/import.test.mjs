// Settings of other programs as `ledger import` reads them, held against tests/data/imports/expected.json.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = join(root, 'build/native/ledger');
const folder = join(root, 'tests/data/imports');
const skip = existsSync(program) ? false : `${program} is not built`;
const read = (name) => readFileSync(join(folder, name), 'utf8');
const run = (parts, input = '') => {
  const { status, stdout, stderr } = spawnSync(program, parts, { input, encoding: 'utf8' });
  return { status, out: stdout, err: stderr };
};
const expected = JSON.parse(read('expected.json'));

test('every file of settings becomes what its program would run', { skip }, () => {
  for (const one of expected) {
    const files = one.files.map((name) => join(folder, name));
    const model = one.model ? ['--model', one.model] : [];
    const { status, out, err } = run(['import', '--json', ...model, ...files]);
    const name = one.files.join(' + ');
    if (err.includes('this build has no YAML reader')) continue;
    assert.equal(err, '', name);
    const answer = JSON.parse(out);
    const scenario = { ...one.scenario };
    if (scenario.model === 'config.json') scenario.model = JSON.parse(read('config.json'));
    assert.deepEqual(answer.scenario, scenario, name);
    assert.deepEqual(
      answer.formats.map(({ id }) => id),
      one.formats,
      name,
    );
    const of = (status) => answer.keys.filter((key) => key.status === status);
    const paths = of('unsupported').map(({ path }) => path);
    if (one.unsupported) assert.deepEqual(paths.sort(), [...one.unsupported].sort(), name);
    for (const path of one.unsupported_some ?? [])
      assert.ok(paths.includes(path), `${name}: ${path}`);
    if (!one.unsupported && !one.unsupported_some) assert.deepEqual(paths, [], name);
    assert.deepEqual(
      Object.fromEntries(of('unknown').map(({ path, nearest }) => [path, nearest])),
      one.unknown ?? {},
      name,
    );
    assert.deepEqual(
      answer.problems.map(({ path }) => path),
      one.problems ?? [],
      name,
    );
    assert.deepEqual(answer.near, one.near ?? [], name);
    for (const note of one.notes ?? []) {
      assert.ok(
        answer.notes.some((sentence) => sentence.includes(note)),
        `${name}: ${note}`,
      );
    }
    // Nothing is silent: every key says what it came to, and why where nothing came of it.
    for (const key of answer.keys) {
      assert.ok(
        key.status === 'became' ? key.became.length + key.why.length > 0 : key.why,
        key.path,
      );
    }
    assert.equal(status, one.problems ? 2 : 0, name);
    if (one.problems) continue;
    // What is handed over is what the estimate takes.
    const report = run(['estimate', '-'], JSON.stringify(answer.scenario));
    assert.deepEqual(JSON.parse(report.out).problems, [], name);
  }
});

test('a scenario alone goes on into an estimate, with the card that is named', { skip }, () => {
  const { status, out } = run([
    'import',
    '--scenario',
    '--card',
    'rtx-4090',
    join(folder, 'command-accelerate.sh'),
  ]);
  assert.equal(status, 0);
  const report = JSON.parse(run(['estimate', '-'], out).out);
  assert.equal(report.verdict.card, 'GeForce RTX 4090');
});

test('the table for people names what was taken, what not, and why', { skip }, () => {
  const { out } = run(['import', join(folder, 'verl-grpo.sh')]);
  for (const words of ['Taken', 'Not supported', 'Ignored', 'Implied', 'device.other_bytes'])
    assert.ok(out.includes(words), words);
});

test('YAML bombs, endless nesting and nonsense are refused in a sentence', { skip }, () => {
  const bomb = ['a: &a [x, x, x, x, x, x, x, x, x, x]'];
  for (let i = 1; i < 9; ++i) {
    const letter = (n) => String.fromCharCode(97 + n);
    bomb.push(
      `${letter(i)}: &${letter(i)} [${Array(10)
        .fill(`*${letter(i - 1)}`)
        .join(', ')}]`,
    );
  }
  for (const text of [
    bomb.join('\n'),
    `base_model: ${'['.repeat(5000)}`,
    'base_model: [unclosed',
    'just words',
    '- a\n- list',
    '',
    '{"base_model":',
    '\u0000\u0001',
  ]) {
    const { status, out, err } = run(['import', '-'], text);
    assert.equal(status, 2, text.slice(0, 40));
    assert.ok((out + err).length > 20, text.slice(0, 40));
  }
});

test('the documentation lists what the tables hold', { skip }, () => {
  const { status, stderr } = spawnSync(
    'node',
    [join(root, 'tools/importing.mjs'), program, '--check'],
    {
      encoding: 'utf8',
    },
  );
  assert.equal(status, 0, stderr);
});

test('unknown options and missing files are named', { skip }, () => {
  assert.match(run(['import']).err, /needs a file/);
  assert.match(run(['import', '--nonsense']).err, /not --nonsense/);
  assert.match(run(['import', '/nonexistent']).err, /could not be opened/);
  assert.match(
    run(['import', '--format', 'nonsense', '-'], '{"a": 1}').out,
    /no format that is known/,
  );
});

test('of several YAML documents the first is read, and that is said', { skip }, () => {
  const read_from = (text) => run(['import', '-'], text);
  const two = read_from('base_model: Qwen/Qwen3-0.6B\nadapter: lora\n---\nmicro_batch_size: 4\n');
  if (two.err.includes('this build has no YAML reader')) return;
  assert.match(two.out, /Of several documents in standard input, the first is read/);
  const one = read_from('---\nbase_model: Qwen/Qwen3-0.6B\nadapter: lora\n...\n');
  assert.doesNotMatch(one.out, /several documents/);
});
