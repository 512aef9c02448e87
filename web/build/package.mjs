// Makes the npm package:  node web/build/package.mjs build/wasm build/site build/package
// The functions under Node.js and in browsers, their types, the element, the page as one file. The types are those by which
// the page itself is checked, and the keys of a scenario are the catalogue's.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { scenario_type } from './scenario_type.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const [wasm = 'build/wasm', site = 'build/site', out = 'build/package'] = process.argv
  .slice(2)
  .map((path) => resolve(path));
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const put = (name, text) => writeFileSync(join(out, name), text);
const copy = (from, name) => cpSync(join(from, name), join(out, name));

for (const name of ['functions', 'node', 'browser', 'single'])
  copy(join(root, 'web/package'), `${name}.mjs`);
copy(join(root, 'web/package'), 'README.md');
copy(root, 'LICENSE');
for (const name of ['ledger.mjs', 'ledger.wasm', 'full.mjs', 'full.wasm']) copy(wasm, name);
const packed = gzipSync(readFileSync(join(wasm, 'full.wasm')), { level: 9 }).toString('base64');
put('embedded.mjs', `export const wasm = '${packed}';\n`);

// --- Types ---

const types = readFileSync(join(root, 'web/package/index.d.ts'), 'utf8');
put('index.d.mts', types);
put('element.d.ts', '// Importing it defines <memory-ledger>.\nexport {};\n');
const tsc = join(root, 'node_modules/typescript/bin/tsc');
const options = '--declaration --emitDeclarationOnly --allowJs --target ES2022 --module ES2022';
execFileSync(process.execPath, [
  tsc,
  ...options.split(' '),
  '--outDir',
  out,
  join(root, 'web/types.mjs'),
]);
const { catalog } = await import(join(out, 'node.mjs'));
const known = await catalog();
put('scenario.d.mts', scenario_type(known));

// --- The element, the frame, the page ---

const kElement = ['memory-ledger.js', 'memory-ledger.single.js', 'memory-ledger.html'];
const kFrame = ['embed.html', 'embed.css', 'frame.js', 'parent.js'];
for (const name of [...kElement, ...kFrame]) copy(site, name);

const of = (name) => ({ types: './index.d.mts', default: `./${name}` });
const manifest = {
  name: 'memory-ledger',
  version: known.version,
  description:
    'How much GPU memory a training run needs, to the byte: at which moment, made of what, and whether it fits a card.',
  license: 'MIT',
  type: 'module',
  keywords: ['gpu', 'memory', 'training', 'pytorch', 'cuda', 'lora', 'qlora', 'out of memory'],
  engines: { node: '>=18' },
  exports: {
    '.': { types: './index.d.mts', node: './node.mjs', default: './browser.mjs' },
    './single': of('single.mjs'),
    './element': { types: './element.d.ts', default: './memory-ledger.js' },
    './element/single': { types: './element.d.ts', default: './memory-ledger.single.js' },
    './*': './*',
  },
  types: './index.d.mts',
  // Importing one of these defines the element.
  sideEffects: ['./memory-ledger.js', './memory-ledger.single.js'],
};
put('package.json', `${JSON.stringify(manifest, null, 2)}\n`);
