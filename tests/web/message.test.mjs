// An explanation and a comparison as the core gives them, shown; the shapes are those of docs/contract.md.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GiB, text, view } from './support.mjs';
import { measured, message } from '../../web/message.mjs';
import { merged } from '../../web/scenario.mjs';

const answer = {
  known: true,
  severity: 'error',
  sentence: 'The program asked for more than the card had left.',
  producer: { id: 'cuda', name: 'PyTorch', versions: '2.2 to 2.8', units: 'GiB', source: 's' },
  numbers: [
    {
      id: 'tried',
      what: 'what was asked of the device',
      printed: '1.16 GiB',
      recognised: true,
      value: 1.16,
      unit: 'GiB',
      bytes: { value: 1.16 * GiB, low: 0, high: 0 },
      message: 0,
    },
    {
      id: 'x',
      what: '',
      printed: '7',
      recognised: false,
      value: 7,
      unit: '',
      bytes: null,
      message: null,
    },
  ],
  request: { low: 1, high: 2, identifies: true, why: 'It identifies a tensor.' },
  diagnosis: {
    id: 'program',
    what: 'the program itself',
    why: 'Nothing else is there.',
    arithmetic: ['1 + 1 = 2'],
    notes: [{ id: 'n', sentence: 'A note.' }],
  },
  candidates: [
    {
      kind: 'logits',
      found: 'replay',
      what: 'logits <b>',
      where: 'lm_head',
      symbols: '2 · B · T · V',
      figures: '2',
      mathml: '',
      bytes: GiB,
      count: 1,
      moment: 'forward',
      step: 1,
      fails_there: true,
      why: 'why',
      scenario: 0,
    },
  ],
  scenarios: [{ model: 'Small', recognised: false, replayed: true, scenario: {} }],
  changes: [{ id: 'length', sentence: 'Halve the length.', of_tensor: true, patch: { a: 1 } }],
  problems: [],
};

test('an explanation says its numbers, its cause, the tensor, and what to change first', () => {
  const now = view();
  const shown = message({ ...now, ui: { ...now.ui, message: { text: 'x', answer } } });
  const said = text(shown);
  for (const piece of [
    '1.16 GiB',
    'not recognised',
    'The cause: the program itself. Nothing',
    '1 + 1 = 2',
    'A note.',
  ])
    assert.ok(said.includes(piece), piece);
  assert.match(said, /lm_head: logits/);
  assert.match(String(shown), /data-cure="0"/);
  assert.doesNotMatch(String(shown), /<b>logits|logits <b>/);
});

test('a comparison shows every tier, the room left and one size up', () => {
  const now = view();
  const comparison = {
    tiers: [
      {
        id: 'allocated',
        what: 'allocated',
        estimate: { low: GiB, high: GiB },
        measured: { value: 2 * GiB, low: 2 * GiB, high: 2 * GiB },
        difference: { low: GiB, high: GiB },
        agrees: false,
        explains: [{ id: 'more_alive', sentence: 'More is alive.', bytes: { low: 0, high: 0 } }],
      },
    ],
    room: { left_bytes: { low: GiB, high: 3 * GiB } },
    one_up: [{ id: 'sequence', value: 2048, fits: 'close', why: 'Just.', allocated_bytes: GiB }],
    problems: [],
  };
  const said = text(
    measured({ ...now, ui: { ...now.ui, measured: { given: {}, answer: comparison } } }),
  );
  for (const piece of ['+1.00', 'More is alive.', '1.00 to 3.00', 'length 2,048', 'fits: close'])
    assert.ok(said.includes(piece), piece);
});

test('a change of the core is merged by RFC 7396', () => {
  const scenario = { model: 'm', training: { a: 1, b: 2 }, card: 'c' };
  assert.deepEqual(merged(scenario, { training: { a: null, c: 3 }, card: null, peft: { r: 1 } }), {
    model: 'm',
    training: { b: 2, c: 3 },
    peft: { r: 1 },
  });
  assert.deepEqual(scenario.training, { a: 1, b: 2 });
});
