// Full, LoRA or QLoRA, and the optimizers: what choosing them writes into the scenario.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalog, n, view } from './support.mjs';
import { patch_of } from '../../web/choose.mjs';
import { controls } from '../../web/controls.mjs';
import { say } from '../../web/say.mjs';
import { apply, complete, pare } from '../../web/scenario.mjs';
import { read_address, write_address } from '../../web/address.mjs';
import { legend, values_in } from '../../web/working.mjs';

const { defaults, defaults_within: within } = catalog;
const rows = controls(catalog, n);
const row = (id) => rows.find((one) => one.id === id);
const full_of = (scenario) => complete(defaults, scenario, within);
const choose = (scenario, id, key) => {
  const option = row(id).options.find((one) => one.key === key);
  return pare(defaults, apply(scenario, patch_of(option, full_of(scenario))), within);
};
const base = { model: 'a/Small-1B' };

test('LoRA and QLoRA begin with rank 16 on all linears, and full fine-tuning takes both away', () => {
  const lora = choose(base, 'method', 'lora');
  assert.deepEqual(lora, { ...base, peft: { r: 16, target_modules: 'all-linear' } });
  const qlora = choose(lora, 'method', 'qlora');
  assert.deepEqual(qlora.quantization, {
    load_in_4bit: true,
    bnb_4bit_quant_type: 'nf4',
    bnb_4bit_use_double_quant: true,
    bnb_4bit_compute_dtype: 'bfloat16',
  });
  assert.deepEqual(choose(qlora, 'method', 'full'), base);
});

test('8-bit LoRA has a switch for its preparation, and none for four bits', () => {
  const eight = choose(base, 'method', 'lora8');
  assert.deepEqual(eight.quantization, { load_in_8bit: true });
  assert.equal(row('method').key(full_of(eight)), 'lora8');
  const there = (id) => row(id).when(full_of(eight));
  assert.deepEqual(['double', 'compute', 'prepare', 'dora'].map(there), [false, false, true, true]);
  assert.equal(row('method').key(full_of({ ...base, peft: [{}, {}] })), 'several adapters');
});

test('modules that are trained whole are the embedding and the head', () => {
  const items = (peft) => row('saved').items(full_of({ ...base, peft }));
  assert.deepEqual(items({ modules_to_save: ['lm_head'] }), [
    { name: 'embed_tokens', on: false },
    { name: 'lm_head', on: true },
  ]);
  assert.deepEqual(choose({ ...base, peft: { r: 16 } }, 'dora', 'true').peft, {
    r: 16,
    use_dora: true,
  });
});

test('what was said of the adapters stays when four bits come and go', () => {
  const peft = { r: 4, lora_dropout: 0.1 };
  const there = choose({ ...base, peft }, 'method', 'qlora');
  assert.deepEqual(choose(there, 'method', 'lora').peft, peft);
});

test('devices below compute capability 8.0 compute in float16', () => {
  const dtype = (scenario) =>
    choose(scenario, 'method', 'qlora').quantization.bnb_4bit_compute_dtype;
  assert.equal(dtype({ ...base, card: 'card-old' }), 'float16');
  assert.equal(dtype({ ...base, device: { compute_capability: '7.5' } }), 'float16');
  assert.equal(dtype({ ...base, card: 'card-24' }), 'bfloat16');
});

test('adapters with peft’s own defaults are an empty object, not none', () => {
  const scenario = { ...base, peft: { r: 8, target_modules: null } };
  assert.deepEqual(pare(defaults, scenario, within), { ...base, peft: {} });
  assert.equal(row('method').key(full_of({ ...base, peft: {} })), 'lora');
  assert.equal(row('targets').key(full_of({ ...base, peft: {} })), 'usual');
  const back = read_address(write_address({ ...base, peft: {} }, defaults), defaults);
  assert.deepEqual(back, { scenario: { ...base, peft: {} }, problems: [], notes: [] });
});

test('the address holds every setting of adapters and four bits', () => {
  const scenario = {
    ...choose(base, 'method', 'qlora'),
    peft: { r: 64, target_modules: ['q_proj', 'v_proj'], lora_dropout: 0.05 },
    attention_mask: true,
  };
  const hash = write_address(scenario, defaults);
  assert.match(hash, /&peft\.r=64&peft\.target_modules=\["q_proj","v_proj"\]&/);
  assert.deepEqual(read_address(hash, defaults).scenario, scenario);
});

test('the linears that are ticked are those that have adapters', () => {
  const ticked = (peft) =>
    row('modules')
      .items(full_of({ ...base, peft }))
      .filter(({ on }) => on)
      .map(({ name }) => name);
  assert.equal(ticked({ target_modules: 'all-linear' }).length, 7);
  assert.deepEqual(ticked({}), ['q_proj', 'v_proj']);
  const attention = choose({ ...base, peft: {} }, 'targets', 'attention').peft;
  assert.deepEqual(ticked(attention), ['q_proj', 'k_proj', 'v_proj', 'o_proj']);
  assert.equal(row('targets').key(full_of({ ...base, peft: attention })), 'attention');
});

test('the sentence says the method and its rank', () => {
  const said = (scenario) => String(say(view({ scenario }))).replace(/<[^>]*>/g, '');
  assert.match(said(choose(base, 'method', 'qlora')), /with QLoRA, rank 16, bfloat16 weights and/);
  assert.match(
    said({ ...base, peft: {}, attention_mask: true }),
    /LoRA, rank 8, .* tokens with a padding mask,/,
  );
});

test('optimizers are grouped, the plain ones first', () => {
  const groups = {};
  for (const { key, group } of row('optimizer').options) (groups[group] ??= []).push(key);
  assert.deepEqual(groups, {
    AdamW: ['adamw_torch_fused', 'adamw_torch {"foreach":false}', 'adamw_torch'],
    '8-bit and paged': ['paged_adamw_32bit', 'adamw_8bit'],
    'memory-lean': ['adafactor', 'lion_32bit'],
    others: ['ademamix', 'schedule_free_adamw'],
  });
});

test('an opened working takes the values of its letters from the figures', () => {
  assert.deepEqual(values_in('L · 2 · k · f_e / 2', '28 · 2 · 8 · 1,024 / 2'), {
    L: 28,
    2: 2,
    k: 8,
    f_e: 1024,
  });
  assert.deepEqual(values_in('B + 1', '1'), {});
  const line = { symbols: '2 · B · H_kv', figures: '2 · 3 · 1,024' };
  assert.match(String(legend(line, { catalog, n, controls: [], full: {} })), / = 3.* = 1,024/);
});
