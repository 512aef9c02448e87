// The address holds the scenario: readable, only what differs from the defaults, and whatever is typed there is answered.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { read_address, write_address } from '../../web/address.mjs';
import { kChanges, kVersion, migrated } from '../../web/versions.mjs';
import { complete, equal, kFirst } from '../../web/scenario.mjs';

const defaults = {
  dtype: 'bfloat16',
  keep_outputs: false,
  training: {
    max_length: 1024,
    gradient_checkpointing: false,
    gradient_checkpointing_kwargs: { use_reentrant: false },
    bf16: false,
    optim: 'adamw_torch_fused',
    optim_args: {},
  },
  device: { compute_capability: '8.0', multiprocessors: 108 },
};
const round = (scenario) => read_address(write_address(scenario, defaults), defaults);

test('a first visit has no hash, and no hash is a first visit', () => {
  assert.equal(write_address(kFirst, defaults), '');
  assert.deepEqual(read_address('', defaults), { scenario: kFirst, problems: [], notes: [] });
  assert.deepEqual(read_address('#', defaults).scenario, kFirst);
});

test('only what differs from the defaults is written, in the names that people know', () => {
  const scenario = {
    model: 'Qwen/Qwen3-8B',
    dtype: 'bfloat16',
    training: { max_length: 2048, bf16: false },
  };
  assert.equal(write_address(scenario, defaults), '#model=Qwen/Qwen3-8B&max_length=2048&v=1');
});

test('every kind of value comes back as it went', () => {
  for (const scenario of [
    { model: 'a/b', training: { optim: 'adamw_torch', optim_args: { foreach: false } } },
    {
      model: 'a/b',
      training: {
        gradient_checkpointing: true,
        gradient_checkpointing_kwargs: { use_reentrant: true },
      },
    },
    { model: 'a/b', device: { compute_capability: '9.0', total_bytes: 25244172288 } },
    { model: 'a/b', card: '4090' },
    { model: 'a & b = c #%', keep_outputs: true },
    { model: { model_type: 'llama', hidden_size: 64, rope_scaling: null, ids: [1, 2] } },
    { model: 'a/b', training: { max_length: 'long' } },
    { model: 'a/b', training: { max_length: 0 } },
  ]) {
    const back = round(scenario);
    assert.deepEqual(back.problems, []);
    assert.ok(
      equal(complete(defaults, back.scenario), complete(defaults, scenario)),
      JSON.stringify(back),
    );
  }
});

test('a changed copy of the first visit that equals the defaults still says its model', () => {
  assert.equal(write_address({ model: 'a/b' }, defaults), '#model=a/b&v=1');
});

test('nonsense becomes a problem in words, not an exception', () => {
  for (const hash of [
    '#%E0%A4%A',
    '#foo',
    '#=3',
    '#model=%',
    '#__proto__=1',
    '#a..b=1',
    `#${'x'.repeat(500)}`,
  ]) {
    const { problems } = read_address(hash, defaults);
    assert.equal(problems.length, 1, hash);
    assert.match(problems[0].message, /key=value/);
  }
  assert.equal({}.polluted, undefined);
});

test('unknown keys are kept for the core to name', () => {
  assert.equal(read_address('#model=a/b&batchsize=3', defaults).scenario.batchsize, 3);
});

test('an address without a model keeps its other keys', () => {
  assert.deepEqual(read_address('#max_length=9', defaults).scenario, {
    training: { max_length: 9 },
    model: kFirst.model,
  });
});

// Addresses that were written before they had a version, or by version 1: they must open for ever and mean this.
const kWritten = [
  [
    '#model=Qwen/Qwen3-8B&max_length=2048',
    { model: 'Qwen/Qwen3-8B', training: { max_length: 2048 } },
  ],
  ['#model=a/b&max_length=2048&v=1', { model: 'a/b', training: { max_length: 2048 } }],
  [
    '#model=a/b&gradient_checkpointing_kwargs.use_reentrant=true&peft.r=8&quantization.load_in_4bit=true',
    {
      model: 'a/b',
      training: { gradient_checkpointing_kwargs: { use_reentrant: true } },
      peft: { r: 8 },
      quantization: { load_in_4bit: true },
    },
  ],
  [
    '#model=a/b&optim=sgd&optim_args={"momentum":0.9}&device.total_bytes=25244172288&card=rtx-4090&v=1',
    {
      model: 'a/b',
      training: { optim: 'sgd', optim_args: { momentum: 0.9 } },
      device: { total_bytes: 25244172288 },
      card: 'rtx-4090',
    },
  ],
];

test('an address that an older version wrote opens, and means what it meant', () => {
  for (const [hash, scenario] of kWritten)
    assert.deepEqual(read_address(hash, defaults), { scenario, problems: [], notes: [] }, hash);
});

test('keys that are renamed, gone or of another default are migrated, with a word on what is lost', () => {
  const changes = [
    { since: 2, key: 'length', renamed: 'max_length' },
    { since: 3, key: 'padding', gone: 'has no effect any more' },
    { since: 3, key: 'optim', was: 'adamw_torch' },
  ];
  const read = (text) =>
    migrated(
      text.split('&').map((piece) => piece.split('=')),
      changes,
      3,
    );
  assert.deepEqual(read('model=a/b&length=9&padding=left'), {
    pieces: [
      ['model', 'a/b'],
      ['max_length', '9'],
      ['optim', 'adamw_torch'],
    ],
    notes: [
      'This address was written by an older version; its “padding” could not be kept: it has no effect any more.',
    ],
  });
  // Version 2 knew the new name already, and what is said stays.
  assert.deepEqual(read('length=9&optim=sgd&v=2').pieces, [
    ['length', '9'],
    ['optim', 'sgd'],
  ]);
  assert.deepEqual(read('padding=left&v=3'), { pieces: [['padding', 'left']], notes: [] });
  assert.match(read('model=a/b&v=4').notes[0], /newer version/);
  assert.match(read('model=a/b&v=old').notes[0], /“old”/);
});

test('every row of the changes is of a version that is written', () => {
  for (const { since } of kChanges) assert.ok(since > 1 && since <= kVersion);
});
