// Views as text: what they say about a report, and that nothing in a report can become markup.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GiB, catalog, n, report, text, view } from './support.mjs';
import { csv, markdown, timeline_csv } from '../../web/copy.mjs';
import { control_of, step } from '../../web/choose.mjs';
import { changes, ladder } from '../../web/changes.mjs';
import { matching } from '../../web/choices.mjs';
import { nearest_high } from '../../web/cursor.mjs';
import { ledger, ledger_now } from '../../web/book.mjs';
import { line_key } from '../../web/line.mjs';
import { picture } from '../../web/picture.mjs';
import { say } from '../../web/say.mjs';
import { segments } from '../../web/segments.mjs';
import { verdict, verdict_sentence } from '../../web/verdict.mjs';
import { formula } from '../../web/working.mjs';

const verdict_of = (fits, low, high) =>
  verdict_sentence(
    {
      ...report,
      verdict: { ...report.verdict, fits, spare_bytes: { low: low * GiB, high: high * GiB } },
    },
    n,
  );

test('the verdict has three values', () => {
  assert.equal(verdict_sentence(report, n), 'It fits, with 13.00 to 13.75 GiB to spare.');
  assert.equal(verdict_of('no', -3.5, -3), 'It does not fit: 3.00 to 3.50 GiB too much.');
  assert.equal(
    verdict_of('close', -0.5, 0.25),
    'It may fit: between 0.50 GiB too much and 0.25 GiB to spare.',
  );
  assert.match(verdict_of('close', -2, -1), /just fits: 1\.00 to 2\.00 GiB .* given back/);
  assert.equal(verdict_sentence({ ...report, verdict: null }, n), 'It needs 10.25 to 11.00 GiB.');
  assert.match(text(verdict(view())), /to spare\. \(13\.96 to 14\.76 GB\)/);
});

test('the bar’s pieces add up to the card', () => {
  const all = segments(view());
  const low = all.filter(({ id }) => id !== 'spare').reduce((sum, one) => sum + one.low, 0);
  assert.equal(low + all.find(({ id }) => id === 'spare').high, 24 * GiB);
});

test('the sentence says every word that matters, and keeps silent on the rest', () => {
  assert.equal(
    text(say(view())),
    'Fine-tune Small-1B with full fine-tuning, bfloat16 weights and no autocast on any card: micro-batch 1 of 1,024 tokens, no checkpointing, SDPA attention, AdamW (one fused kernel), in a plain PyTorch loop.',
  );
  const scenario = {
    model: { model_type: 'llama' },
    card: 'card-24',
    training: { gradient_accumulation_steps: 8, max_grad_norm: 1, optim: 'adamw_torch' },
    keep_outputs: true,
  };
  const said = text(say(view({ scenario })));
  assert.match(
    said,
    /a pasted llama .* on one RTX 24: micro-batch 1 of 1,024 tokens, 8 accumulated,/,
  );
  assert.match(
    said,
    /AdamW \(for-each kernels\) clipped at 1, in a plain PyTorch loop with outputs kept\.$/,
  );
});

test('a problem finds the control with the longest matching path', () => {
  const { controls } = view();
  const id = (path) => control_of(controls, path)?.id ?? null;
  assert.equal(id('training.max_length'), 'length');
  assert.equal(id('training.optim_args.foreach'), 'optimizer');
  assert.equal(id('device.total_bytes'), 'usable');
  assert.equal(id('device.compute_capability'), 'card');
  assert.equal(id('model.hidden_size'), 'model');
  assert.equal(id('colour'), null);
});

test('arrow keys go to the neighbour in the list, and stop at its ends', () => {
  const { controls, full } = view();
  const row = (id) => controls.find((control) => control.id === id);
  assert.deepEqual(step(row('length'), full, 1), { 'training.max_length': 1536 });
  assert.deepEqual(step(row('batch'), full, -1), null);
  assert.equal(step(row('method'), full, 1).quantization, undefined);
  assert.deepEqual(step(row('optimizer'), full, 1), {
    'training.optim': 'adamw_torch',
    'training.optim_args': { foreach: false },
  });
  assert.deepEqual(step(row('model'), full, -1), { model: 'b/Large-70B' });
  assert.deepEqual(step(row('model'), full, 1), null);
});

test('a search wants every word, anywhere', () => {
  const card = view().controls.find(({ id }) => id === 'card');
  assert.deepEqual(
    matching(card, 'rtx ada').map(({ key }) => key),
    ['card-24'],
  );
  assert.equal(matching(card, 'rtx amd').length, 0);
});

test('cards whose usable memory nobody has seen are not offered', () => {
  const card = view().controls.find(({ id }) => id === 'card');
  assert.ok(!card.options.some(({ key }) => key === 'card-x'));
});

test('single changes never offer what is chosen already', () => {
  const keys = (scenario) => changes(view({ scenario })).map(({ key }) => key);
  assert.deepEqual(keys({ model: 'a/Small-1B' }), [
    'length half',
    'checkpointing on',
    'method lora',
    'method qlora',
    'optimizer adamw_8bit',
    'optimizer adafactor',
  ]);
  const peft = { r: 16, target_modules: 'all-linear' };
  const adapted = keys({ model: 'a/Small-1B', peft, quantization: { load_in_4bit: true } });
  assert.deepEqual(adapted.slice(2, 8), [
    'method lora',
    'targets attention',
    'rank half',
    'wide false',
    'double true',
    'prepare false',
  ]);
});

test('a change that does not help says why', () => {
  const at = (peak, weights) => ({
    peak: peak * GiB,
    parts: { weights: weights * GiB, activations: 5 * GiB },
    fits: 'yes',
  });
  const said = (cost) => text(ladder(view({ cost: () => cost })));
  assert.match(said(at(12, 7)), /LoRA, rank 16 Weights \+3\.00 GiB12\.00 GiB/);
  assert.match(said(at(9, 4)), /changes nothing at the peak, in the backward pass/);
  assert.doesNotMatch(said(at(8, 3)), /nothing|Weights/);
});

test('the ledger at the cursor has the timeline’s totals until its lines are known', () => {
  const at = view();
  at.ui.held = 1;
  const now = ledger_now(at);
  assert.deepEqual([now.known, now.allocated, now.parts[2].bytes], [false, 6 * GiB, 2 * GiB]);
  assert.equal(ledger_now(view()).at_peak, true);
});

test('an opened line shows letters, figures, bytes and why it is alive', () => {
  const at = view();
  at.ui.parts = ['weights'];
  at.ui.lines = [line_key('weights', report.parts[0].lines[0])];
  const shown = text(ledger(at));
  assert.match(shown, /2·B=2·1,024=2,048\u00a0bytes/);
  assert.match(shown, /H.*kv.* = 1,024 key\/value heads/);
  assert.match(shown, /Alive asa "reason", here/);
  assert.match(shown, /2,048 bytes, 1,024 bytes each/);
});

test('the pointer over one pixel means the highest of its moments', () => {
  const timeline = { ...report.timeline, event: [10, 58, 60, 61, 110] };
  assert.equal(timeline.allocated[nearest_high(timeline, 0.49, 60)], 9 * GiB);
});

test('the picture says its figures in words', () => {
  assert.match(
    text(picture(view())),
    /The highest is 9\.00 GiB, in the backward pass of step 2; reserved 10\.00 GiB\. The card offers 24\.00 GiB\./,
  );
});

test('nothing in a report becomes markup', () => {
  const evil = '<img src=x onerror=alert(1)>';
  const at = view({ catalog: { ...catalog, parts: [{ id: 'weights', name: evil, what: evil }] } });
  assert.ok(!String(ledger(at)).includes('<img'));
  assert.ok(
    !String(formula(`<math><mi>${evil}</mi><script>1</script></math>`)).match(/<(img|script)/),
  );
  assert.equal(text(formula('<math><mo>&lt;</mo><mi>B</mi></math>')), '&lt;B');
});

test('copies hold exact bytes', () => {
  assert.match(markdown(view()), /\| Weights \| 4\.00 \| 4\.29 \| 4,294,967,296 \|/);
  assert.match(
    csv(view()),
    /weights,rows,layers\.\*\.mlp,2,2 · B · H_kv,"2 · 1 · 1,024",2048,"a ""reason"", here",a\/file\.py/,
  );
  assert.equal(
    timeline_csv(view()).split('\n')[3],
    '60,loss,9663676416,10737418240,4294967296,0,5368709120',
  );
});
