// What is handed on: the picture's marks, citations, lines as text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GiB, report, view } from './support.mjs';
import { kWide, laid_out, wrapped } from '../../web/card.mjs';
import { csv, json, latex, markdown } from '../../web/copy.mjs';
import { in_latex } from '../../web/latex.mjs';
import { line_key } from '../../web/line.mjs';
import { bibtex, citation } from '../../web/share.mjs';

const wide = (text, size) => text.length * size * 0.5;

test('words are wrapped where they would be too wide, and a long one stays whole', () => {
  const width = (text) => text.length;
  assert.deepEqual(wrapped('one two three', 7, width), ['one two', 'three']);
  assert.deepEqual(wrapped('incomprehensibility it is', 7, width), [
    'incomprehensibility',
    'it is',
  ]);
});

test('the picture holds the verdict, every part with its size, and nothing outside its edges', () => {
  const seen = view();
  const { marks, high } = laid_out(seen, 'Fine-tune it.', 'Memory Ledger', wide);
  const words = marks.flatMap((mark) => (mark.kind === 'text' ? [mark.text] : []));
  assert.ok(words.some((text) => text.startsWith('It fits')));
  for (const { id, bytes } of report.parts.filter(({ bytes }) => bytes > 0)) {
    assert.ok(words.includes(seen.catalog.parts.find((part) => part.id === id).name));
    assert.ok(words.includes(`${seen.n.gib(bytes)} GiB`));
  }
  for (const mark of marks) {
    assert.ok(mark.x >= 0 && mark.y >= 0 && mark.y < high, JSON.stringify(mark));
    if (mark.kind !== 'text') assert.ok(mark.x + mark.w <= kWide);
  }
});

test('the parts of the bar are in proportion to their bytes', () => {
  const { marks } = laid_out(view(), '', '', wide);
  const bar = marks.filter((mark) => mark.kind === 'rect' && mark.h === 60 && !mark.faint);
  const of = (id) => bar.find(({ colour }) => colour === id)?.w;
  const bytes = (id) => report.parts.find((part) => part.id === id).bytes;
  assert.ok(
    Math.abs(of('weights') / of('activations') - bytes('weights') / bytes('activations')) < 1e-9,
  );
});

test('a citation has the program’s versions, the bytes, the address and what is assumed', () => {
  const said = citation(view(), 'Fine-tune it.', 'https://a.example/#model=a/b&v=1', '2026-12-01');
  for (const piece of [
    'Memory Ledger 0, for torch 2.',
    'https://a.example/#model=a/b&v=1 (2026-12-01)',
    `${view().n.bytes(report.peak.allocated_bytes)} are allocated`,
    'Assumptions: One card.',
  ])
    assert.ok(said.includes(piece), piece);
});

test('BibTeX has balanced braces and no character that LaTeX takes for its own', () => {
  const entry = bibtex(
    view(),
    'Fine-tune a_b & c at 5 % — “100 #1” {x}',
    'https://a.example/#m=a_b',
    '2026-12-01',
  );
  assert.match(entry, /^@misc\{memory_ledger_small_1b,\n/);
  assert.match(
    entry,
    /title = \{\{Memory Ledger\}: Fine-tune a\\_b \\& c at 5 \\% — “100 \\#1” \\\{x\\\}\}/,
  );
  assert.match(entry, /year = \{2026\}/);
  const plain = entry.replace(/\\[{}]/g, '');
  assert.equal(plain.match(/\{/g).length, plain.match(/\}/g).length);
  assert.equal(in_latex('2·B → c_1'), '2$\\cdot$B $\\to$ c\\_1');
});

test('one line is copied alone, in every form', () => {
  const [{ id, lines }] = report.parts.filter(({ lines }) => lines.length > 0);
  const [line] = lines;
  const of = line_key(id, line);
  assert.equal(JSON.parse(json(view(), { of })).bytes, line.bytes);
  assert.equal(csv(view(), { of }).trim().split('\n').length, 2);
  assert.ok(markdown(view(), { of }).includes(line.symbols));
  assert.match(latex(view(), { of }), /\\\[ .* \\text\{bytes\} \\\]/);
});

test('the whole ledger for LaTeX ends with its sum', () => {
  assert.ok(GiB > 0);
  const figures = String(report.peak.allocated_bytes).replace(/\B(?=(\d{3})+$)/g, '{,}');
  assert.ok(latex(view()).includes(`\\textbf{Allocated} & & ${figures} \\\\`));
});
