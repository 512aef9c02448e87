// The workshop's pure parts: codes, what is kept, questions against the examples, judging a guess. Figures of the report
// here are chosen to be added up by eye.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { GiB, catalog, n, report } from './support.mjs';
import { counted, is_complete, judge } from '../../web/check.mjs';
import {
  is_workshop,
  read_answer,
  read_code,
  read_done,
  read_place,
  read_size,
  write_answer,
  write_done,
  write_place,
} from '../../web/course.mjs';
import { exercise, scale_of } from '../../web/exercise.mjs';
import { first_of, slides_of } from '../../web/presenter.mjs';
import { kQuestions, questions_of } from '../../web/questions.mjs';

// Weights 4, gradients 3, activations 5 GiB, of which the logits are 2.
const line = (what, symbols, bytes) => ({ what, where: 'loss', symbols, bytes });
const run = {
  ...report,
  peak: { ...report.peak, allocated_bytes: 12 * GiB },
  parts: [
    { id: 'weights', bytes: 4 * GiB, lines: [line('weight', 'V · d', 4 * GiB)] },
    { id: 'gradients', bytes: 3 * GiB, lines: [] },
    {
      id: 'activations',
      bytes: 5 * GiB,
      lines: [line('input', 'B · T · d', GiB), line('logits', '4 · B · T · V', 2 * GiB)],
    },
    { id: 'master', bytes: 0, lines: [] },
  ],
  phases: ['forward', 'backward'].map((phase, i) => ({
    step: 2,
    phase,
    peak_bytes: (10 + 2 * i) * GiB,
  })),
};
const example = {
  id: 'logits',
  number: 1,
  title: 'One',
  lesson: 'Learn.',
  story: [],
  scenarios: [{ label: 'a', what: 'first', scenario: { card: 'card-24' } }],
};
const sources = { inputs: { e: 4 }, a: { ...run, what: 'first' } };

/** An exercise of one question. */
function asked(question, own = sources) {
  kQuestions.test = [question];
  const made = exercise({ ...example, id: 'test' }, 1, own, n, catalog);
  delete kQuestions.test;
  return made;
}
const whole = asked({ kind: 'size', ask: '?', of: 'a.peak.allocated_bytes', run: 'a' });
const said = (one, guess) => judge(one, guess, catalog, n).said.join(' ');

test('a guess near enough is right, within the headroom it is close', () => {
  const grade = (size) => judge(whole, { size }, catalog, n).grade;
  assert.equal(grade(12.3 * GiB), 'right');
  assert.equal(grade(14 * GiB), 'near');
  assert.equal(grade(8 * GiB), 'off');
  assert.equal(grade(0), 'off');
});

test('a guess that is a sum of parts is told what it left out, with its largest tensors', () => {
  assert.deepEqual(counted(run, 7 * GiB), ['weights', 'gradients']);
  assert.equal(counted(run, 1 * GiB), null);
  const text = said(whole, { size: 7 * GiB });
  assert.match(text, /That is what weights and gradients hold at the peak\./);
  assert.match(
    text,
    /Left out: activations, 5\.00 GiB. Its largest tensors are logits \(loss\): 4 · B · T · V = 2\.00 GiB\./,
  );
});

test('the same figure in the other unit is recognised', () => {
  assert.match(said(whole, { size: 12 * 1.0737418 * GiB }), /figure in GB, written as GiB/);
  assert.match(said(whole, { size: (12 / 1.0737418) * GiB }), /figure in GiB, written as GB/);
});

test('half of a tensor asks for the bytes of each value', () => {
  const one = asked({ kind: 'size', ask: '?', of: 'a.parts[id=weights].bytes' });
  assert.match(said(one, { size: 2 * GiB }), /That is the half: look again at the bytes/);
});

test('the sum of every part’s own maximum is recognised', () => {
  // The timeline of the small report: weights 4, activations up to 5; here the gradients reach 6 at another moment.
  const timeline = {
    ...run.timeline,
    parts: { ...run.timeline.parts, gradients: [0, 0, 0, 6 * GiB, 0] },
  };
  const late = { ...run, timeline, what: 'first' };
  const one = asked(whole.question, { ...sources, a: late });
  assert.match(said(one, { size: 15 * GiB }), /no moment has them all/);
});

test('parts: what is missing and what is charged without being there', () => {
  const one = asked({ kind: 'parts', ask: '?', run: 'a' });
  assert.equal(one.items.length, 4);
  assert.equal(is_complete(one, {}), false);
  const text = said(one, { weights: 4 * GiB, gradients: 3 * GiB, master: 4 * GiB });
  assert.match(text, /Together you have 11\.00 GiB; the step holds 12\.00 GiB/);
  assert.match(text, /Left out: activations/);
  assert.match(text, /Charged without being there: master/);
  const right = { weights: 4 * GiB, gradients: 3 * GiB, activations: 5 * GiB };
  assert.equal(judge(one, right, catalog, n).grade, 'right');
  assert.match(
    said(one, { ...right, activations: 3.6 * GiB }),
    /^Close.*Furthest off: activations/,
  );
});

test('a series is judged by every item, and by how it grows', () => {
  const one = asked({ kind: 'series', from: 'phases', run: 'a', ask: '?' });
  assert.deepEqual(
    one.items.map(({ key, truth }) => [key, truth / GiB]),
    [
      ['2-forward', 10],
      ['2-backward', 12],
    ],
  );
  assert.equal(is_complete(one, { '2-forward': 1 }), false);
  const flat = { '2-forward': 5 * GiB, '2-backward': 12 * GiB };
  assert.match(
    said(one, flat),
    /you have 2\.4 ×, the core has 1\.2 ×.*furthest off at: Step 2, forward pass/,
  );
});

test('choices: the largest is computed, several can be right', () => {
  const one = asked({ kind: 'choice', from: 'phases', run: 'a', ask: '?' });
  assert.equal(judge(one, { backward: 1 }, catalog, n).grade, 'right');
  assert.match(said(one, { forward: 1 }), /It is: backward pass/);
  const fits = asked({ kind: 'choice', from: 'fits', run: 'a', ask: '?' });
  assert.equal(judge(fits, { yes: 1 }, catalog, n).grade, 'right');
  const ticks = asked({ kind: 'ticks', of: '*.verdict.fits', is: 'yes', ask: '?' });
  assert.equal(judge(ticks, { a: 1 }, catalog, n).grade, 'right');
  assert.equal(judge(ticks, {}, catalog, n).grade, 'near');
});

test('a code names the exercise and may hold the answer', () => {
  assert.deepEqual(read_code(' Logits.2 = 1.5,,3 '.replaceAll(' = ', '=')), {
    scene: 'exercise',
    example: 'logits',
    number: 2,
    answer: '1.5,,3',
  });
  assert.equal(read_code('two-bytes 3').number, 3);
  assert.equal(read_code('what is this?').example, null);
  assert.equal(read_code('%').example, null);
  const one = asked({ kind: 'parts', ask: '?', run: 'a' });
  const guess = { weights: 4 * GiB, activations: 1.25 * GiB };
  assert.equal(write_answer(one, guess), '4,,1.25,');
  assert.deepEqual(read_answer(one, '4,,1.25,'), guess);
  assert.deepEqual(read_answer(one, 'x,-1,'), {});
  const choice = asked({ kind: 'choice', from: 'phases', run: 'a', ask: '?' });
  assert.equal(write_answer(choice, { backward: 1, forward: 0 }), 'backward');
  assert.deepEqual(read_answer(choice, 'backward'), { forward: 0, backward: 1 });
});

test('the address holds the place, and a scenario of one’s own', () => {
  for (const hash of [
    '#workshop',
    '#workshop=logits.2',
    '#workshop=logits.2=9.5',
    '#workshop=logits.2&view=presenter&slide=3',
    '#workshop=own.1&model=Qwen/Qwen3-8B&max_length=2048',
  ])
    assert.equal(write_place(read_place(hash)), hash);
  assert.equal(read_place('#workshop=own.1&model=a&card=b').scenario, '#model=a&card=b');
  assert.deepEqual(['#workshop', '#workshop=x', '#workshops', '#model=x', ''].map(is_workshop), [
    true,
    true,
    false,
    false,
    false,
  ]);
  assert.equal(write_place({ scene: 'sheet' }), '#workshop&view=sheet');
});

test('what was done is kept, and nonsense or nothing is tolerated', () => {
  const kept = {};
  const keeper = {
    read: (name) => kept[name] ?? null,
    write: (name, text) => (text === null ? delete kept[name] : (kept[name] = text)),
  };
  const done = { 'logits.1': { grade: 'near', answer: '1.3' } };
  write_done(keeper, done);
  assert.deepEqual(read_done(keeper), done);
  write_done(keeper, {});
  assert.deepEqual(Object.keys(kept), []);
  for (const text of [
    '',
    'null',
    '[]',
    '{"version":2}',
    '{"version":1,"done":{"a":{"grade":"x"}}}',
  ])
    assert.deepEqual(read_done({ read: () => text, write: () => {} }), {});
});

test('sizes are typed with or without a unit', () => {
  assert.equal(read_size('1.5', n), 1.5 * GiB);
  assert.equal(read_size('14 GB', n), 14e9);
  assert.equal(read_size('512mib', n), GiB / 2);
  assert.ok(Number.isNaN(read_size('much', n)));
  assert.ok(Number.isNaN(read_size('-1', n)));
});

test('a scale leaves room and does not always leave as much', () => {
  const tops = [...'abcdef'].map((name) => scale_of(10 * GiB, name) / GiB);
  for (const top of tops) assert.ok(top >= 12 && top <= 32, String(top));
  assert.ok(new Set(tops).size > 1);
});

test('slides: title, then each question with its answer, then the lesson', () => {
  const kinds = slides_of([whole], 'Learn.').map(({ kind }) => kind);
  assert.deepEqual(kinds, ['title', 'given', 'ask', 'answer', 'parts', 'lesson']);
  const two = slides_of([whole, { ...whole, number: 2 }], '');
  assert.equal(two[first_of(two, 2)].number, 2);
  assert.equal(first_of(two, 1), 0);
});

const folder = new URL('../../core/data/examples/', import.meta.url);
const examples = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')));

test('every example has questions, which name its runs and hold no figure of their own', () => {
  for (const { id } of examples) assert.ok(kQuestions[id], `${id} has no questions of its own`);
  for (const one of examples) {
    const labels = one.scenarios.map(({ label }) => label);
    const questions = questions_of(one);
    assert.ok(questions.length >= 2, one.id);
    for (const question of questions) {
      for (const label of [question.run ?? labels[0], ...(question.runs ?? [])])
        assert.ok(labels.includes(label), `${one.id}: ${label}`);
      for (const text of [question.ask, question.why ?? '', question.name ?? '']) {
        for (const [, path] of text.matchAll(/\{([^{}]*)\}/g))
          for (const value of path.split('|')[0].split(/(?<!\*)[*/](?!\.)/))
            assert.ok(
              ['inputs', '*', ...labels].includes(value.split('.')[0]),
              `${one.id}: ${value}`,
            );
        const prose = text.replace(/\{[^{}]*\}/g, '').replace(/(4|8|16|32) bit/g, '');
        assert.doesNotMatch(prose, /(^|\s)\d/, one.id);
      }
    }
  }
});
