// What is served afterwards: its controls, and what the view says of an answer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalog as small, chooser, n, report, text, view } from './support.mjs';
import { controls } from '../../web/controls.mjs';
import { engine_of } from '../../web/engines.mjs';
import { serving } from '../../web/serving.mjs';

const catalog = {
  ...small,
  engines: [
    { id: 'transformers', what: '' },
    { id: 'vllm', what: '' },
  ],
};
const rows = controls(catalog, n);
const choose = chooser(rows);

test('an engine keeps the lengths that were chosen, and nothing is served without one', () => {
  const first = choose({ model: 'a/Small-1B' }, 'engine', 'transformers');
  assert.equal(engine_of(first), 'transformers');
  const long = { ...first, serving: { ...first.serving, prompt_length: 8192, batch_size: 4 } };
  const other = choose(long, 'engine', 'vllm');
  assert.equal(other.serving.prompt_length, 8192);
  assert.equal(other.serving.batch_size, undefined);
  assert.equal(engine_of(choose(other, 'engine', '')), '');
});

test('a core that knows no engines has no controls for them', () => {
  assert.equal(
    controls(small, n).some(({ group }) => group === 'serving'),
    false,
  );
});

test('the answer says what a token costs and how many sequences fit', () => {
  const served = {
    engine: 'transformers',
    cache: { bytes_per_token: 131072, symbols: 'L · 2', figures: '32 · 2', tokens: 1279 },
    weights_bytes: 2 ** 34,
    cache_bytes: 2 ** 27,
    prefill_peak_bytes: 2 ** 34 + 2 ** 28,
    decode_peak_bytes: 2 ** 34 + 2 ** 27,
    room: { longest_context: { low: 1000, high: 2000 }, most_sequences: { low: 3, high: 3 } },
  };
  const scenario = { model: 'a/Small-1B', serving: { engine: 'transformers' } };
  const shown = text(
    serving({
      ...view({ scenario }),
      catalog,
      controls: rows,
      report: { ...report, serving: served },
    }),
  );
  assert.match(shown, /131,072 bytes/);
  assert.match(shown, /1,000 to 2,000 tokens/);
  assert.match(shown, /3 fit at once/);
});
