// Placeholders of worked examples, by the grammar of core/data/examples/README.md.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { fill } from '../../web/story.mjs';
import { GiB, n, report } from './support.mjs';

const sources = {
  inputs: { P: 7e9, e: 2 },
  full: { ...report, what: 'all of it' },
  bad: { problems: [{}], what: 'none of it' },
};
const filled = (text, row) =>
  fill(text, sources, n, row)
    .map(({ text }) => text)
    .join('');

test('a sentence is filled from inputs, products and reports', () => {
  assert.equal(
    filled('{inputs.P*inputs.e|gb} are {inputs.P*inputs.e|gib}.'),
    '14.00 GB are 13.04 GiB.',
  );
  assert.equal(filled('{full.peak.allocated_bytes|gib_gb}'), '9.00 GiB (9.66 GB)');
  assert.equal(filled('{full.what}, {*.what|text}', 'full'), 'all of it, all of it');
});

test('an array is searched by its keys, compared as text', () => {
  assert.equal(filled('{full.parts[id=weights].bytes|gib:0}'), '4 GiB');
  assert.equal(filled('{full.timeline.marks[step=2,phase=backward].event|int}'), '60');
});

test('ratios', () => {
  assert.equal(filled('{full.peak.allocated_bytes/full.peak.reserved_bytes|percent}'), '90 %');
  assert.equal(filled('{full.peak.reserved_bytes/full.parts[id=weights].bytes|times}'), '2.5 ×');
});

test('what leads nowhere is a dash', () => {
  for (const piece of [
    '{full.nothing|gib}',
    '{bad.peak.allocated_bytes|gib}',
    '{full.parts[id=x].bytes|gb}',
    '{full.peak.moment|gib}',
    '{inputs.P/full.parts[id=gradients].bytes|times}',
    '{full.constructor}',
  ]) {
    assert.equal(filled(piece), '—', piece);
  }
});

test('plain words stay as they are', () =>
  assert.equal(filled('GiB and GB: 100 %'), 'GiB and GB: 100 %'));

test('the examples of the repository use no format that is not known', () => {
  const folder = new URL('../../core/data/examples/', import.meta.url);
  for (const name of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
    const text = readFileSync(new URL(name, folder), 'utf8');
    for (const [, format] of text.matchAll(/\{[^{}"]+\|([a-z_]+)(?::\d)?\}/g)) {
      assert.ok(
        ['text', 'int', 'gib', 'gb', 'gib_gb', 'percent', 'times'].includes(format),
        `${name}: ${format}`,
      );
    }
  }
});

test('a size in a sentence is the report’s own', () => {
  const [piece] = fill('{full.peak.reserved_bytes|gib}', sources, n);
  assert.equal(piece.value, 10 * GiB);
  assert.equal(piece.source, 'full.peak.reserved_bytes|gib');
});
