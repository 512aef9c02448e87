// Settings that are pasted or dropped: what the core is asked, what is shown of its answer, how YAML is read.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { text, view as view_of } from './support.mjs';
import { link_classic } from '../../web/build/link.mjs';
import { yaml_module } from '../../web/build/yaml.mjs';
import { named_apart, request_of } from '../../web/given.mjs';
import { formats_of, paste } from '../../web/paste.mjs';
import { fresh_ui } from '../../web/view.mjs';

const answer = {
  scenario: { model: 'a/Small-1B' },
  whole: true,
  yaml: [],
  formats: [
    { file: 'run.yml', id: 'axolotl', name: 'Axolotl YAML', versions: '1', sureness: 'certain' },
  ],
  known: [{ id: 'axolotl', name: 'Axolotl YAML' }],
  keys: [
    {
      file: 'run.yml',
      path: 'micro_batch_size',
      given: '2',
      status: 'became',
      became: [{ path: 'training.per_device_train_batch_size', value: '2' }],
      why: '',
    },
    {
      file: 'run.yml',
      path: 'sequnce_len',
      given: '9',
      status: 'unknown',
      became: [],
      why: 'is no key',
      nearest: 'sequence_len',
    },
  ],
  implied: [{ path: 'trainer', value: 'transformers', why: 'it trains so' }],
  near: [],
  notes: [],
  problems: [],
};

test('the machine stays, and files of one name are told apart', () => {
  const given = {
    ...fresh_ui().given,
    text: 'a: 1',
    files: [{ name: 'pasted text', text: 'b: 2' }],
  };
  const scenario = { model: 'a/Small-1B', card: 'rtx-4090', training: { max_length: 8 } };
  assert.deepEqual(request_of(given, scenario), {
    files: [
      { name: 'pasted text', text: 'b: 2' },
      { name: 'pasted text (2)', text: 'a: 1' },
    ],
    keep: { card: 'rtx-4090' },
    with: {},
  });
  assert.deepEqual(
    named_apart([
      { name: 'a', text: '' },
      { name: 'a', text: '' },
      { name: 'b', text: '' },
    ]).map(({ name }) => name),
    ['a', 'a (2)', 'b'],
  );
});

test('the box says what was taken, what is unknown and what is meant by it', () => {
  const view = view_of();
  view.ui.given = { ...view.ui.given, text: 'x', answer, taken: true };
  const shown = text(paste(view));
  for (const words of [
    'Axolotl YAML',
    'training.per_device_train_batch_size = 2',
    'sequence_len',
    'Undo',
    'trainer = transformers',
  ])
    assert.ok(shown.includes(words), words);
});

test('formats are named once each', () => {
  const formats = ['A', 'B', 'A', 'C'].map((name) => ({ name }));
  assert.equal(formats_of({ ...answer, formats }), 'A, B and C');
});

const js_yaml = new URL('../../node_modules/js-yaml/dist/js-yaml.mjs', import.meta.url);
const skip = existsSync(js_yaml) ? false : 'js-yaml is not installed';

test('YAML is read with its limits', { skip }, () => {
  const entry = "import { read_yaml } from './yaml.mjs';\nglobalThis.read_yaml = read_yaml;\n";
  const read = (name) =>
    name === 'entry.mjs'
      ? entry
      : name === 'js-yaml.mjs'
        ? yaml_module()
        : readFileSync(new URL(`../../web/${name}`, import.meta.url), 'utf8');
  new Function(link_classic('entry.mjs', read))();
  const { read_yaml } = globalThis;
  assert.deepEqual(read_yaml('a: 1\nb: [x, 2e-4]\nc:\n').tree, { a: 1, b: ['x', 2e-4], c: null });
  assert.equal(read_yaml('a: 1\n---\nb: 2\n').more, true);
  assert.equal(read_yaml('---\na: 1\n').more, false);
  assert.deepEqual(read_yaml('base: &b {x: 1, y: 2}\na:\n  <<: *b\n  y: 3\n').tree.a, {
    x: 1,
    y: 3,
  });
  assert.deepEqual(read_yaml('---\na: 1\n---\nb: 2\n').tree, { a: 1 });
  const bomb = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let i = 1; i < 9; ++i)
    bomb.push(
      `a${i}: &a${i} [${Array(10)
        .fill(`*a${i - 1}`)
        .join(', ')}]`,
    );
  for (const text of [bomb.join('\n'), `a: ${'['.repeat(20000)}`, 'a: [', 'a: b: c'])
    assert.ok('error' in read_yaml(text), text.slice(0, 40));
});
