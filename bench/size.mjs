// Compressed sizes of what the page loads, against the budgets (kB are 1,000 bytes); exits 1 where a ceiling is exceeded.
//   node bench/size.mjs [build/site]
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';

const folder = process.argv[2] ?? 'build/site';
const kBudgets = { wasm: 120_000, page: 200_000 };
// What is not yet within its budget may not grow beyond this either; docs/performance.md says what it is made of.
const kCeilings = { wasm: 257_000, page: 345_000 };
// Not loaded by the page: the same page again as one file, what other people's pages load instead, the documentation, what an
// installed page has, and what comes once it is asked for: the module that explains messages, and pieces of the page's script
// (web/build/link.mjs).
const apart = /^(memory-ledger|embed|frame|parent|full|docs|icons|service-worker|manifest)/;
const is_piece = (name, bytes) => name.endsWith('.mjs') && bytes.includes('export const fill');
const packed = /\.(woff2|png|ico)$/; // served as they are

if (!existsSync(folder)) {
  console.error(`${folder} does not exist; run ./dev build first.`);
  process.exit(2);
}
const files = readdirSync(folder, { recursive: true })
  .map(String)
  .filter((name) => statSync(join(folder, name)).isFile())
  .sort()
  .map((name) => {
    const bytes = readFileSync(join(folder, name));
    const gzip = packed.test(name) ? bytes.length : gzipSync(bytes, { level: 9 }).length;
    return {
      name: relative('.', name),
      raw: bytes.length,
      gzip,
      apart: apart.test(name) || is_piece(name, bytes),
    };
  });

const line = (name, raw, gzip, note = '') =>
  console.log(
    `${name.padEnd(36)} ${raw.toLocaleString('en').padStart(10)} ${gzip.toLocaleString('en').padStart(10)} ${note}`,
  );
const total = (which) =>
  files
    .filter(which)
    .reduce((sum, f) => ({ raw: sum.raw + f.raw, gzip: sum.gzip + f.gzip }), { raw: 0, gzip: 0 });

console.log(`${'bytes'.padEnd(36)} ${'raw'.padStart(10)} ${'gzip -9'.padStart(10)}`);
for (const f of files) line(f.name, f.raw, f.gzip, f.apart ? '(apart)' : '');
let over = false;
for (const [name, which] of [
  ['wasm', (f) => f.name === 'ledger.wasm'],
  ['page', (f) => !f.apart],
]) {
  const { raw, gzip } = total(which);
  const kept = gzip <= kBudgets[name];
  over ||= gzip > kCeilings[name];
  line(
    `all: ${name}`,
    raw,
    gzip,
    `${kept ? 'within' : 'OVER'} ${kBudgets[name].toLocaleString('en')}`,
  );
}
process.exit(over ? 1 : 0);
