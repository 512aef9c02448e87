// Two moments beside each other, and the search of the ledger. Sizes here are chosen to be subtracted by eye.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GiB, report, text, view } from './support.mjs';
import { ledger, search } from '../../web/book.mjs';
import { differences, moments, pins_of } from '../../web/moments.mjs';

const line = (what, where, bytes, why = 'weight') => ({ what, where, why, bytes, symbols: 'B' });
const before = [
  { id: 'weights', bytes: 4 * GiB, lines: [line('weight', 'embed', 4 * GiB)] },
  {
    id: 'activations',
    bytes: 3 * GiB,
    lines: [line('input', 'mlp', 2 * GiB, 'saved for matmul'), line('mask', 'attn', GiB)],
  },
];
const after = [
  { id: 'weights', bytes: 4 * GiB, lines: [line('weight', 'embed', 4 * GiB)] },
  {
    id: 'activations',
    bytes: 7 * GiB,
    lines: [line('input', 'mlp', 3 * GiB, 'saved for matmul'), line('logits', 'loss', 4 * GiB)],
  },
];

test('what is born, grown and gone between two moments, the largest first', () => {
  const [weights, activations] = differences(before, after);
  assert.deepEqual(weights.changes, []);
  assert.deepEqual(
    activations.changes.map(({ what, before, after }) => [what, before / GiB, after / GiB]),
    [
      ['logits', 0, 4],
      ['input', 2, 3],
      ['mask', 1, 0],
    ],
  );
});

test('the pins of another scenario are not shown', () => {
  const one = view();
  one.ui.moments = [{ scenario: {}, event: 10, parts: before }];
  assert.deepEqual(pins_of(one), []);
  assert.equal(moments(one), null);
});

test('one pin stands against the moment that is shown, two against each other', () => {
  const one = view();
  one.ui.moments = [{ scenario: one.scenario, event: 10, parts: before }];
  // The small report's peak: weights 4, activations 5 GiB.
  assert.match(text(moments(one)), /the moment shown.*Allocated7\.00.*9\.00.*\+2\.00$/);
  one.ui.moments.push({ scenario: one.scenario, event: 60, parts: after });
  const said = text(moments(one));
  assert.match(said, /A: step 1, forward pass, embed, .*B: step 2, backward pass, loss/);
  assert.match(said, /logits loss born.*input mlp grown.*mask attn gone.*\+4\.00$/);
});

test('the search finds lines by every word of what, where and why', () => {
  const found = search(after, 'SAVED mlp');
  assert.deepEqual(
    found.map(({ id, bytes }) => [id, bytes / GiB]),
    [['activations', 3]],
  );
  assert.deepEqual(search(after, 'saved loss'), []);
});

test('a search says at once why a line is alive, and the sum of what it found', () => {
  const one = view();
  one.ui.find = 'reason';
  const said = text(ledger(one));
  assert.match(said, /rows layers\.\*\.mlp.*alive as: a "reason", here.*One line/);
  one.ui.find = 'nothing of it';
  assert.match(text(ledger(one)), /No line has these words/);
  assert.equal(report.parts[0].lines.length, 1);
});
