// Prints the times of both builds beside the budgets; it judges nothing but shows where a budget is missed.
//   node bench/bench.mjs build/native/bench/estimate_bench build/wasm
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { cost_of } from '../web/costs.mjs';
import { sampled, values_between } from '../web/curve.mjs';

const [native_bench, wasm_folder] = process.argv.slice(2).map((path) => resolve(path));
const scenarios_path = fileURLToPath(new URL('scenarios.json', import.meta.url));
const entries = JSON.parse(readFileSync(scenarios_path, 'utf8'));

const { default: start } = await import(pathToFileURL(`${wasm_folder}/ledger.mjs`));
const ledger = await start({ wasmBinary: readFileSync(`${wasm_folder}/ledger.wasm`) });

// Milliseconds of the fastest of many calls, as in estimate_bench.cpp.
function wasm_ms(scenario) {
  const text = JSON.stringify(scenario);
  let least = Infinity;
  const end = performance.now() + 2000;
  for (let i = 0; i < 5 || (i < 500 && performance.now() < end); i++) {
    const began = performance.now();
    ledger.estimate(text);
    least = Math.min(least, performance.now() - began);
  }
  return least;
}

const native = execFileSync(native_bench, [scenarios_path], { maxBuffer: 1 << 26 })
  .toString()
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line));

function judged(budget, line, wasm, above) {
  const checks = {
    program_times_set: [line.program_ms / line.set_ms, (most) => `program <= ${most} x set`],
    wasm_times_native: [wasm / line.door_ms, (most) => `wasm <= ${most} x native`],
    wasm_ms: [wasm, (most) => `wasm <= ${most} ms`],
    times_line_above: [line.door_ms / above?.door_ms, (most) => `native <= ${most} x line above`],
  };
  return Object.entries(budget).map(([name, most]) => {
    const [value, sentence] = checks[name];
    return `${value <= most ? 'kept' : 'MISSED'}: ${sentence(most)}`;
  });
}

const heads = [
  'events',
  'native ms',
  'wasm ms',
  'ratio',
  'program ms',
  'set ms',
  'ratio',
  'tape ms',
  'replay ms',
];
const width = Math.max(...entries.map((entry) => entry.name.length));
const row = (name, cells, note) =>
  console.log(`${name.padEnd(width)} ${cells.map((cell) => cell.padStart(10)).join(' ')}  ${note}`);
console.log(
  'native and wasm: estimate(), text to text. program: tape and allocator alone, then each of them\n' +
    '(the replay is to cost less than the tape). set: the same allocations through an allocator of\n' +
    'std::set. Fastest of many calls.\n',
);
row('', heads, '');
entries.forEach((entry, i) => {
  const line = native[i];
  if (line.problems) return row(entry.name, [], '(not answered yet)');
  const wasm = wasm_ms(entry.scenario);
  const figures = [line.door_ms, wasm, wasm / line.door_ms];
  figures.push(line.program_ms, line.set_ms, line.program_ms / line.set_ms);
  figures.push(line.tape_ms, line.replay_ms);
  const cells = [String(line.events), ...figures.map((figure) => figure.toFixed(2))];
  row(entry.name, cells, judged(entry.budget, line, wasm, native[i - 1]).join('; '));
});

// The page's sweep: two hundred lengths of an 8B model with QLoRA, in one worker.
const swept = (max_length) => ({
  model: 'meta-llama/Llama-3.1-8B',
  training: { max_length, gradient_checkpointing: true, bf16: true },
  peft: { r: 16 },
  quantization: { load_in_4bit: true },
});
const lengths = values_between(128, 16384);
const began = performance.now();
const { counted } = sampled(lengths, (length) =>
  cost_of(ledger.estimate(JSON.stringify(swept(length)))),
);
const took = performance.now() - began;
console.log(
  `\nsweep of ${lengths.length} lengths, 8B with QLoRA, in wasm: ${took.toFixed(0)} ms (${counted} counted, straight pieces between them)  ${took <= 2000 ? 'kept' : 'MISSED'}: <= 2000 ms`,
);
