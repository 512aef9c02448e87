// Serve it afterwards: what the trained model takes while it generates, by the engine that is chosen.
import { engine_of } from './engines.mjs';
import { h } from './dom.mjs';
import { size, size_range } from './number.mjs';
import { setting } from './setting.mjs';
import { table } from './table.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./types.mjs').Range} Range */
/** @typedef {NonNullable<import('./types.mjs').Report['serving']>} Serving */

/** @param {View} view @returns {Element} */
export function serving(view) {
  const { controls, full, report } = view;
  const own = controls.filter(({ group, when }) => group === 'serving' && when?.(full) !== false);
  const served = engine_of(full) === '' ? null : report.serving;
  return h(
    'div',
    { class: 'panel' },
    h(
      'fieldset',
      { 'data-key': 'serving' },
      h('legend', {}, 'serving'),
      own.map((control) => setting(view, control, 'panel')),
    ),
    served && h('div', { 'data-key': 'served' }, answer(view, served)),
  );
}

/** @param {View} view @param {Serving} served */
function answer({ n }, served) {
  const { cache } = served;
  /** @param {string} name @param {Range | number | undefined} bytes @param {string} [note] */
  const row = (name, bytes, note) =>
    bytes === undefined
      ? null
      : h(
          'tr',
          { 'data-key': name },
          h('th', { scope: 'row', class: 'words' }, name),
          h('td', {}, typeof bytes === 'number' ? size(n, bytes) : size_range(n, bytes)),
          h('td', { class: 'words' }, note ?? ''),
        );
  /** @param {Range} range */
  const count = ({ low, high }) =>
    low === high ? n.count(low) : `${n.count(low)} to ${n.count(high)}`;
  const { room } = served;
  return [
    h(
      'p',
      {},
      'A token of the cache is ',
      h('strong', {}, n.bytes(cache.bytes_per_token)),
      cache.symbols ? `: ${cache.symbols} = ${cache.figures}.` : '.',
    ),
    served.why !== undefined && h('p', {}, served.why),
    room &&
      h(
        'p',
        {},
        `The longest context that fits has ${count(room.longest_context)} tokens; ` +
          `of sequences as long as chosen ${count(room.most_sequences)} fit at once.`,
      ),
    served.sequences &&
      h(
        'p',
        {},
        `The cache holds ${count(served.cache_tokens ?? served.sequences)} tokens: ` +
          `${count(served.sequences)} sequences as long as chosen.`,
      ),
    table(
      'What serving takes',
      [],
      [
        row('weights', served.weights_bytes),
        row('cache of the sequences', served.cache_bytes),
        row('peak while the prompt is taken in', served.prefill_peak_bytes),
        row('peak while tokens are made', served.decode_peak_bytes),
        row('share of the card', served.budget, served.budget?.source),
        row('activations', served.activations, served.activations?.source),
        row('CUDA graphs', served.graphs, served.graphs?.source),
        row('beside PyTorch', served.outside, served.outside?.source),
      ],
    ),
  ];
}
