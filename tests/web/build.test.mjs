// The build's own tools: the document that views are written with, and the linker of the single file.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import {
  in_order,
  link,
  link_classic,
  link_pieces,
  without_comments,
} from '../../web/build/link.mjs';
import { paper } from '../../web/build/paper.mjs';

test('text and attributes are escaped', () => {
  const node = paper.createElement('p');
  node.setAttribute('title', 'a "b" & c');
  node.append('1 < 2 & 3', paper.createElement('br'));
  assert.equal(String(node), '<p title="a &quot;b&quot; &amp; c">1 &lt; 2 &amp; 3<br></p>');
});

const files = {
  'a.mjs':
    "// A.\nimport { two as deux, add } from './b.mjs';\nimport * as all from './b.mjs';\n\nglobalThis.linked = add(deux, all.two);\n",
  'b.mjs':
    '// B.\nexport const two = 2;\n\n/** Adds. */\nexport function add(a, b) {\n  return a + b;\n}\n',
};

test('linked modules run as one script', () => {
  new Function(link('a.mjs', (name) => files[name]))();
  assert.equal(globalThis.linked, 4);
});

// `main` asks for `far` once it is wanted; both need `near`.
const apart = {
  'main.mjs':
    "import { near } from './near.mjs';\nglobalThis.asked = async () => await import('./far.mjs');\nglobalThis.nearby = near;\n",
  'near.mjs': 'export const near = {};\n',
  'far.mjs':
    "import { near } from './near.mjs';\nimport { own } from './own.mjs';\nexport const far = [near, own];\n",
  'own.mjs': 'export const own = 1;\n',
};

test('a module that is asked for later is inside a single script', async () => {
  new Function(link('main.mjs', (name) => apart[name]))();
  const { far } = await globalThis.asked();
  assert.equal(far[0], globalThis.nearby);
});

test('in pieces it is a file of its own that shares the modules of the first', async () => {
  const pieces = link_pieces('main.mjs', (name) => apart[name]);
  assert.deepEqual(Object.keys(pieces), ['main.mjs', 'far.mjs']);
  assert.doesNotMatch(pieces['main.mjs'], /own\.mjs/);
  assert.doesNotMatch(pieces['far.mjs'], /modules\['near\.mjs'\] =/);
  const data = (text) => `data:text/javascript;base64,${Buffer.from(text).toString('base64')}`;
  await import(data(pieces['main.mjs'].replace('./far.mjs', data(pieces['far.mjs']))));
  const { far } = await globalThis.asked();
  assert.equal(far[0], globalThis.nearby);
  assert.equal(far[1], 1);
  assert.equal((await globalThis.asked()).far, far);
});

test('a classic script has no module of its own to ask for its address', () => {
  const text = () => 'globalThis.at = import.meta.url;\n';
  assert.match(link('a.mjs', text), /import\.meta\.url/);
  assert.match(link_classic('a.mjs', text), /at = document\.baseURI/);
});

test('modules in a circle and unknown forms are refused by name', () => {
  assert.throws(() => in_order(['x.mjs'], () => "import { x } from './x.mjs';\n"), /circle/);
  assert.throws(
    () => link('x.mjs', () => "export * from './y.mjs';\n"),
    /x\.mjs: the linker does not know/,
  );
});

test('comments go, code stays', () => {
  assert.equal(
    without_comments(files['b.mjs']),
    'export const two = 2;\n\nexport function add(a, b) {\n  return a + b;\n}\n',
  );
});

test('every module of the page says in its first line what it holds, and none writes markup', () => {
  const folder = new URL('../../web/', import.meta.url);
  for (const name of readdirSync(folder).filter((name) => name.endsWith('.mjs'))) {
    const text = readFileSync(new URL(name, folder), 'utf8');
    assert.match(text, /^\/\/ .+/, name);
    assert.doesNotMatch(
      text,
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(/,
      name,
    );
  }
});
