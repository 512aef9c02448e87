// Writes the fuzzer's first inputs and its dictionary from what the program itself knows.
//   node seeds.mjs build/native/ledger build/fuzz/seeds   ->   build/fuzz/seeds/*.json, build/fuzz/seeds.dict
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';

const [program, folder] = process.argv.slice(2);
const catalog = JSON.parse(execFileSync(program, ['catalog'], { maxBuffer: 1 << 28 }).toString());

// Small models, so that the fuzzer spends its time on the reader and on the rules rather than on layers.
const small = {
  hidden_size: 64,
  intermediate_size: 128,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  vocab_size: 256,
};
const seeds = catalog.examples.flatMap(({ scenarios }) => scenarios.map((entry) => entry.scenario));
for (const { optim, optim_args } of catalog.optimizers) {
  const model = { model_type: 'llama', ...small };
  seeds.push({ model, training: { max_length: 32, optim, optim_args: optim_args ?? {} } });
}
for (const { id } of catalog.rl_methods) {
  const model = { model_type: 'llama', ...small };
  const training = { max_length: 32, per_device_train_batch_size: 8 };
  seeds.push({ model, trainer: 'trl', training, rl: { method: id } });
}
for (const allocator of [
  { ...catalog.defaults_within.allocator, max_split_size_mb: 64 },
  'expandable_segments:True,large_segment_size_mb:64',
  'garbage_collection_threshold:0.5,per_process_memory_fraction:0.001',
  'roundup_power2_divisions:[1:2,4:8,>:4],backend:native',
])
  for (const total_bytes of [1e8, 7e8, 1e9])
    seeds.push({
      model: { model_type: 'llama', ...small },
      allocator,
      device: { total_bytes, os: 'windows', headroom: 0.2 },
    });
for (const parallel of Object.values(catalog.parallel_defaults)) {
  const model = { model_type: 'llama', ...small };
  seeds.push({ model, training: { max_length: 32 }, parallel });
}
for (const model_type of catalog.model_types) {
  const model = { model_type, ...small };
  seeds.push({ model }, { ...catalog.defaults, model });
  for (const dtype of ['float32', 'bfloat16', 'float16'])
    for (const { id } of catalog.attn_implementations)
      for (const gradient_checkpointing of [false, true])
        seeds.push({
          model,
          dtype,
          attn_implementation: id,
          training: { max_length: 32, gradient_checkpointing, bf16: dtype === 'float32' },
        });
}

const words = new Set(['null', 'true', 'false', '-1', '0', '1e300', '1e-300', '9007199254740993']);
const collect = (value) => {
  if (typeof value === 'string' && value.length < 60) words.add(JSON.stringify(value));
  else if (value && typeof value === 'object')
    for (const [key, inner] of Object.entries(value)) {
      if (!Array.isArray(value)) words.add(JSON.stringify(key));
      collect(inner);
    }
};
seeds.forEach(collect);

const quoted = (word) => `"${word.replace(/[\\"]/g, '\\$&').replace(/[^\x20-\x7e]/g, '?')}"`;
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
seeds.forEach((seed, i) => writeFileSync(`${folder}/${i}.json`, JSON.stringify(seed)));
['', '{', '[]', '{"model":', '[[[[[[[[', '{"model":"x","model":1}'].forEach((text, i) =>
  writeFileSync(`${folder}/broken-${i}.json`, text),
);
writeFileSync(`${folder}.dict`, [...words].map(quoted).join('\n') + '\n');
console.log(`${seeds.length} seeds, ${words.size} words`);
