// The WebAssembly build in node, and what the tests ask of both builds.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('../../', import.meta.url));
export const program = `${root}build/native/ledger`;

// { estimate(text), catalog() } and, of the full module, { explain(text, scenario), compare(text), import_files(request) }, from text to text. The
// build is for pages, so the bytes are handed to it.
export async function wasm(name = 'ledger') {
  const { default: start } = await import(`${root}build/wasm/${name}.mjs`);
  return start({ wasmBinary: readFileSync(`${root}build/wasm/${name}.wasm`) });
}

export const native = (args, input = '') =>
  execFileSync(program, args, {
    input,
    maxBuffer: 1 << 30,
    stdio: ['pipe', 'pipe', 'inherit'],
  }).toString();

// The scenarios of tests/data/rows/*.jsonl.gz, every file in order.
export function measured_scenarios() {
  const folder = `${root}tests/data/rows/`;
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl.gz'))
    .sort()
    .flatMap((name) =>
      gunzipSync(readFileSync(folder + name))
        .toString()
        .split('\n'),
    )
    .filter(Boolean)
    .map((line) => JSON.parse(line).scenario)
    .filter(Boolean);
}

// The messages of tests/data/oom.
export const public_messages = () =>
  ['rows', 'samples'].flatMap((name) =>
    gunzipSync(readFileSync(`${root}tests/data/oom/${name}.jsonl.gz`))
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  );
