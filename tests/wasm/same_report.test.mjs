// The page and the program give the same report, byte for byte.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { measured_scenarios, native, program, public_messages, wasm } from './load.mjs';

const ledger = await wasm();
const full = await wasm('full');
const catalog = native(['catalog']);

// Shows where two reports part rather than the whole of both.
function assert_same_text(wasm_report, native_report, text) {
  if (wasm_report === native_report) return;
  let at = 0;
  while (wasm_report[at] === native_report[at]) at += 1;
  const around = (report) => report.slice(Math.max(0, at - 160), at + 80);
  assert.equal(around(wasm_report), around(native_report), `at character ${at} of ${text}`);
}

// Every text is one line, as --lines wants it.
function assert_same(texts) {
  const reports = native(['estimate', '--lines', '-'], texts.map((text) => `${text}\n`).join(''));
  const lines = reports.split('\n').slice(0, -1);
  assert.equal(lines.length, texts.length);
  texts.forEach((text, i) => assert_same_text(ledger.estimate(text), lines[i], text));
}

test('the catalog is the same in both builds', () => {
  assert.equal(`${ledger.catalog()}\n`, catalog);
});

test('every example of the catalog has the same report in both builds', () => {
  const { examples } = JSON.parse(catalog);
  assert.ok(examples.length > 0);
  const scenarios = examples.flatMap((example) => example.scenarios);
  assert_same(scenarios.map(({ scenario }) => JSON.stringify(scenario)));
});

test('fifty measured scenarios have the same report in both builds', () => {
  const all = measured_scenarios();
  assert.ok(all.length >= 50, `${all.length} scenarios`);
  const some = Array.from({ length: 50 }, (_, i) => all[Math.floor((i * all.length) / 50)]);
  assert_same(some.map((scenario) => JSON.stringify(scenario)));
});

test('public messages have the same explanation in both builds', () => {
  const scenario = { model: 'Qwen/Qwen3-0.6B', training: { max_length: 512 } };
  for (const { message } of public_messages()) {
    const explanation = native(['explain', '--json', '-'], message);
    assert_same_text(`${full.explain(message, '')}\n`, explanation, message);
  }
  const question = JSON.stringify({
    scenario,
    measured: { nvidia_smi: '8012MiB', total: '23.68 GiB' },
  });
  assert_same_text(`${full.compare(question)}\n`, native(['compare', '-'], question), question);
});

test('settings of other programs become the same in both builds', () => {
  const folder = new URL('../data/imports/', import.meta.url).pathname;
  const names = readdirSync(folder).filter((name) => /\.(json|sh|txt)$/.test(name));
  for (const name of names.filter((one) => one !== 'expected.json')) {
    const file = { name: folder + name, text: readFileSync(folder + name, 'utf8') };
    const { status, stdout } = spawnSync(program, ['import', '--json', file.name]);
    assert.ok(status === 0 || status === 2, name);
    const answer = full.import_files(JSON.stringify({ files: [file], with: {} }));
    assert_same_text(`${answer}\n`, stdout.toString(), name);
  }
});

test('nonsense has the same answer in both builds', () => {
  assert_same([
    '',
    '{',
    'null',
    '[]',
    '"model"',
    '{}',
    '{"model":"nobody/nothing"}',
    '{"model":"Qwen/Qwen3-0.6B","training":{"max_lenght":7}}',
    '{"model":"Qwen/Qwen3-0.6B","training":{"max_length":-1}}',
    '{"model":"Qwen/Qwen3-0.6B","training":{"max_length":1e300}}',
    '{"model":"Qwen/Qwen3-0.6B","training":{"max_length":NaN}}',
    '{"model":{"model_type":"llama"}}',
    '\u{1f600}',
    '[['.repeat(50_000),
  ]);
});
