// The npm package as somebody gets it: packed, installed into an empty folder, used from Node.js, TypeScript and a bundler.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'memory-ledger-'));
const run = promisify(execFile);
const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--offline'];
const npm = (...args) => run('npm', [...args, ...quiet], { cwd: folder });

/** What somebody's script writes. @param {string} script */
async function node(script) {
  writeFileSync(join(folder, 'script.mjs'), script);
  const { stdout } = await run(process.execPath, ['script.mjs'], { cwd: folder });
  return JSON.parse(stdout);
}
const native = (scenario) =>
  JSON.parse(
    execFileSync(`${root}build/native/ledger`, ['estimate', '-'], {
      input: JSON.stringify(scenario),
      maxBuffer: 1 << 28,
    }).toString(),
  );

before(async () => {
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}');
  await npm('pack', join(root, 'build/package'));
  const { version } = JSON.parse(readFileSync(join(root, 'build/package/package.json'), 'utf8'));
  await npm('install', `./memory-ledger-${version}.tgz`);
});
after(() => rmSync(folder, { recursive: true, force: true }));

const kScenario = { model: 'Qwen/Qwen3-0.6B', training: { max_length: 512 }, card: 'RTX 4090' };

test('under Node.js it gives the program’s report', async () => {
  const report = await node(
    `import { estimate } from 'memory-ledger';
     console.log(JSON.stringify(await estimate(${JSON.stringify(kScenario)})));`,
  );
  assert.deepEqual(report, native(kScenario));
});

test('problems are answered, not thrown', async () => {
  const answers = await node(
    `import { estimate } from 'memory-ledger';
     console.log(JSON.stringify(await Promise.all([estimate('{'), estimate(undefined), estimate({ model: 'gpt2', optim: 1 })])));`,
  );
  for (const { problems, peak } of answers) {
    assert.ok(problems.length > 0);
    assert.equal(peak, undefined);
  }
});

test('the catalogue, an explanation and a comparison come from it as well', async () => {
  const message = 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.16 GiB.';
  const [cards, known, tiers] = await node(
    `import { catalog, compare, explain } from 'memory-ledger';
     const { cards } = await catalog();
     const { known } = await explain(${JSON.stringify(message)}, { model: 'Qwen/Qwen3-0.6B' });
     const { tiers } = await compare({ scenario: { model: 'Qwen/Qwen3-0.6B' }, measured: { nvidia_smi: '8012MiB' } });
     console.log(JSON.stringify([cards.length, known, tiers.map(({ id }) => id)]));`,
  );
  assert.ok(cards > 10);
  assert.equal(known, true);
  assert.deepEqual(tiers, ['allocated', 'reserved', 'nvidia_smi']);
});

test('its types take what is right and refuse what is wrong, in both kinds of resolution', async () => {
  cpSync(join(root, 'tests/package/sample.ts'), join(folder, 'sample.ts'));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  for (const [module, resolution] of [
    ['NodeNext', 'NodeNext'],
    ['ESNext', 'Bundler'],
  ])
    await run(
      process.execPath,
      `${tsc} --noEmit --strict --target ES2022 --lib ES2022 --module ${module} --moduleResolution ${resolution} sample.ts`.split(
        ' ',
      ),
      { cwd: folder },
    ).catch(({ stdout }) => assert.fail(`${resolution}: ${stdout}`));
});

test('bundled into one script it needs no other file', async (t) => {
  const script = `import { estimate } from 'memory-ledger/single';
    export const answer = estimate(${JSON.stringify(kScenario)});`;
  writeFileSync(join(folder, 'entry.mjs'), script);
  try {
    await run('esbuild', '--bundle --format=esm --outfile=bundle.mjs entry.mjs'.split(' '), {
      cwd: folder,
    });
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return t.skip('esbuild was not found');
  }
  const { answer } = await import(pathToFileURL(join(folder, 'bundle.mjs')).href);
  assert.deepEqual(await answer, native(kScenario));
});

test('everything that it names is in it, and nothing of this machine', () => {
  const place = join(folder, 'node_modules/memory-ledger');
  const { exports, dependencies } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
  const named = Object.entries(exports)
    .filter(([name]) => !name.includes('*'))
    .flatMap(([, files]) => Object.values(files));
  for (const name of named) assert.ok(existsSync(join(place, name)), name);
  assert.equal(dependencies, undefined);
  for (const name of ['node.mjs', 'browser.mjs', 'index.d.mts', 'types.d.mts', 'embedded.mjs'])
    assert.ok(!readFileSync(join(place, name), 'utf8').includes(root), name);
});
