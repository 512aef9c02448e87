// Writes the first inputs and the dictionary of the fuzzer of settings: the files of tests/data/imports, YAML as the program
// would hand it over, and every key of every format.
//   node import_seeds.mjs build/native/ledger build/fuzz/import_seeds   ->   build/fuzz/import_seeds/*, build/fuzz/import_seeds.dict
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';

const [program, folder] = process.argv.slice(2);
const formats = JSON.parse(
  execFileSync(program, ['import', '--formats'], { maxBuffer: 1 << 26 }).toString(),
);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

const data = new URL('../data/imports/', import.meta.url);
for (const name of readdirSync(data).filter((one) => /\.(json|sh|txt)$/.test(one)))
  writeFileSync(`${folder}/${name}`, readFileSync(new URL(name, data)));
for (const { id, keys } of formats) {
  const tree = Object.fromEntries(
    keys.map(({ key }, i) => [key.replace('*', 'x'), [true, 2, 'lora', null][i % 4]]),
  );
  writeFileSync(`${folder}/${id}.tree`, JSON.stringify(tree));
}
const words = new Set(formats.flatMap(({ keys }) => keys.map(({ key }) => key.replace('*', ''))));
writeFileSync(
  `${folder}.dict`,
  [...words]
    .filter(Boolean)
    .map((word) => `"${word}"`)
    .join('\n') + '\n',
);
console.log(`${formats.length} formats, ${words.size} keys`);
