// Sizes in GiB and GB, counts, and what people type, in more than one language.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { numbers } from '../../web/number.mjs';

const en = numbers('en');
const de = numbers('de');

test('seven billion parameters of two bytes are 14 GB and 13.04 GiB', () => {
  assert.equal(en.both(7e9 * 2), '13.04 GiB (14.00 GB)');
  assert.equal(de.both(7e9 * 2), '13,04 GiB (14,00 GB)');
});

test('what is there is never shown as nothing', () => {
  assert.equal(en.gib(1), '<0.01');
  assert.equal(en.gib(0), '0.00');
  assert.equal(en.gib(2 ** 30 / 100), '0.01');
});

test('differences carry their sign, and none is neither', () => {
  assert.equal(en.signed_gib(-(2 ** 30) * 3.41), '−3.41');
  assert.equal(en.signed_gib(2 ** 30), '+1.00');
  assert.equal(en.signed_gib(1000), '±0.00');
});

test('bytes are exact', () => {
  assert.equal(en.bytes(12597105664), '12,597,105,664 bytes');
  assert.equal(en.bytes(1), '1 byte');
});

test('typed figures are read as the locale writes them', () => {
  assert.equal(en.read('2,048'), 2048);
  assert.equal(en.read('23.5'), 23.5);
  assert.equal(de.read('2.048'), 2048);
  assert.equal(de.read('23,5'), 23.5);
  assert.equal(de.read('23.5'), 23.5);
  assert.equal(en.read(' 1e3 '), 1000);
  assert.equal(en.read('-3'), -3);
  for (const nonsense of ['', '  ', 'long', '1,2,3', '--1'])
    assert.ok(Number.isNaN(en.read(nonsense)), nonsense);
});

test('figures in the core’s formulas follow the locale', () => {
  assert.equal(
    de.localise('<mn>28</mn><mo>·</mo><mn>151,936</mn>'),
    '<mn>28</mn><mo>·</mo><mn>151.936</mn>',
  );
  assert.equal(en.localise('1,234,567'), '1,234,567');
});
