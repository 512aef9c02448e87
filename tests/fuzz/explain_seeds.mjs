// Writes the first inputs and the dictionary of the fuzzer of messages: the public ones, some with a scenario.
//   node explain_seeds.mjs build/fuzz/explain_seeds   ->   build/fuzz/explain_seeds/*.txt, build/fuzz/explain_seeds.dict
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

const [folder] = process.argv.slice(2);
const rows = ['rows', 'samples'].flatMap((name) => {
  const file = new URL(`../data/oom/${name}.jsonl.gz`, import.meta.url);
  return gunzipSync(readFileSync(file)).toString().trim().split('\n').map(JSON.parse);
});
const small = { model_type: 'llama', hidden_size: 64, num_hidden_layers: 2, vocab_size: 256 };
const scenario = JSON.stringify({ model: small, training: { max_length: 32 } });
const measured = JSON.stringify({
  scenario: { model: small, training: { max_length: 32 } },
  measured: {
    max_memory_allocated: '1.5 MiB',
    max_memory_reserved: 4194304,
    nvidia_smi: '612MiB',
    total: 8e9,
  },
});

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
rows.forEach(({ message }, i) => {
  writeFileSync(`${folder}/${i}.txt`, message);
  if (i % 8 === 0) writeFileSync(`${folder}/${i}-scenario.txt`, `${message}\0${scenario}`);
});
writeFileSync(`${folder}/measured.txt`, measured);

const words = new Set(rows.flatMap(({ message }) => message.match(/[A-Za-z_:.=|()]{3,40}/g) ?? []));
const quoted = (word) => `"${word.replace(/[\\"]/g, '\\$&')}"`;
writeFileSync(`${folder}.dict`, [...words].map(quoted).join('\n') + '\n');
console.log(`${rows.length} messages, ${words.size} words`);
