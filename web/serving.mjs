// Serve it afterwards: what the trained model takes while it generates, by the engine that is chosen, and what is left where
// the engine runs beside the trainer.
import { engine_of } from './engines.mjs';
import { h } from './dom.mjs';
import { size, size_range, traced } from './number.mjs';
import { setting } from './setting.mjs';
import { table } from './table.mjs';
import { meanings, workings } from './working.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./types.mjs').Range} Range */
/** @typedef {import('./types.mjs').Sourced} Sourced */
/** @typedef {import('./types.mjs').ServingReport} Serving */

const kFits = /** @type {{[fits: string]: string}} */ ({
  yes: 'fits',
  close: 'may fit',
  no: 'does not fit',
});

/** @param {View} view @returns {Element} */
export function serving(view) {
  const { controls, full, report, problems } = view;
  const own = controls.filter(({ group, when }) => group === 'serving' && when?.(full) !== false);
  const engine = engine_of(full);
  const served = report.serving;
  return h(
    'div',
    { class: 'serving' },
    h(
      'fieldset',
      { 'data-key': 'serving' },
      h('legend', {}, 'serving'),
      own.map((control) => setting(view, control, 'panel')),
    ),
    h(
      'div',
      { 'data-key': 'served' },
      engine === ''
        ? h('p', { class: 'dim' }, 'Choose an engine to see what serving the model would take.')
        : problems.length > 0 || served?.engine !== engine
          ? h('p', { class: 'dim' }, 'The figures come once what is wrong has been put right.')
          : answer(view, served).filter(Boolean),
    ),
  );
}

/** @param {View} view @param {Serving} served */
function answer(view, served) {
  const { n, catalog } = view;
  const { cache, room, colocated } = served;
  const count = (/** @type {string} */ path, /** @type {Range} */ { low, high }) =>
    traced(
      `serving.${path}`,
      h('b', {}, low === high ? n.count(low) : `${n.count(low)} to ${n.count(high)}`),
    );
  return [
    room &&
      h(
        'p',
        { class: 'found' },
        room.fits !== undefined && `Serving ${kFits[room.fits]}. `,
        'The longest context that fits has ',
        count('room.longest_context', room.longest_context),
        ' tokens; of sequences as long as chosen, ',
        count('room.most_sequences', room.most_sequences),
        ' fit at once.',
      ),
    served.why !== undefined && h('p', { class: 'found', 'data-path': 'serving.why' }, served.why),
    served.sequences &&
      served.cache_tokens &&
      h(
        'p',
        {},
        'The cache holds ',
        count('cache_tokens', served.cache_tokens),
        ' tokens: ',
        count('sequences', served.sequences),
        ' sequences as long as chosen.',
      ),
    h('p', {}, 'What one more token adds to the cache of its sequence:'),
    h(
      'div',
      {
        class: 'scroll',
        tabindex: 0,
        role: 'region',
        'aria-label': 'What a token of the cache takes',
        title: meanings(cache.symbols ?? '', catalog.letters),
        'data-path': 'serving.cache',
      },
      cache.mathml
        ? workings(
            {
              mathml: cache.mathml,
              mathml_figures: cache.mathml_figures ?? cache.mathml,
              bytes: cache.bytes_per_token,
            },
            n,
          )
        : n.bytes(cache.bytes_per_token),
    ),
    figures(view, served),
    ...(colocated ? beside(view, colocated) : []),
  ];
}

/** @param {View} view @param {Serving} served */
function figures({ n }, served) {
  const transformers = served.peak_bytes !== undefined;
  /** @param {string} name @param {string} key @param {Range | number | null | undefined} bytes @param {string} [source]
   * @param {string} [from] */
  const row = (name, key, bytes, source, from = `${key}.source`) =>
    bytes === undefined || bytes === null
      ? null
      : h(
          'tr',
          { 'data-key': key },
          h('th', { scope: 'row', class: 'words' }, name),
          h(
            'td',
            {},
            typeof bytes === 'number'
              ? size(n, bytes, `serving.${key}`)
              : size_range(n, bytes, `serving.${key}`),
          ),
          !transformers && h('td', { class: 'words', 'data-path': `serving.${from}` }, source),
        );
  const sourced = (
    /** @type {string} */ name,
    /** @type {string} */ key,
    /** @type {Sourced | undefined} */ range,
  ) => row(name, key, range, range?.source);
  return table(
    'What serving takes',
    [],
    [
      sourced(served.budget?.what ?? 'share of the card', 'budget', served.budget),
      row('weights', 'weights_bytes', served.weights_bytes),
      row('cache of the sequences', 'cache_bytes', served.cache_bytes),
      row('peak while the prompt is taken in', 'prefill_peak_bytes', served.prefill_peak_bytes),
      row('peak while tokens are made', 'decode_peak_bytes', served.decode_peak_bytes),
      row('reserved at most', 'reserved_bytes', served.reserved_bytes),
      row('with the context, on the card', 'room.needed_bytes', served.room?.needed_bytes),
      row('usable', 'room.usable_bytes', served.room?.usable_bytes),
      sourced(served.activations?.what ?? '', 'activations', served.activations),
      sourced(served.graphs?.what ?? '', 'graphs', served.graphs),
      sourced(served.outside?.what ?? '', 'outside', served.outside),
    ],
  );
}

/** The engine and the trainer on one device. @param {View} view @param {NonNullable<Serving['colocated']>} colocated */
function beside({ n }, { limit_bytes, limit_source, fits, state_16P_bytes, phases }) {
  const at = 'serving.colocated';
  return [
    h(
      'p',
      { class: 'found' },
      `Beside the trainer it ${kFits[fits]}. The limit is `,
      size(n, limit_bytes, `${at}.limit_bytes`),
      ': ',
      traced(`${at}.limit_source`, limit_source),
      '. Sixteen bytes for each parameter, the trainer’s least in 32 bit, are ',
      size(n, state_16P_bytes, `${at}.state_16P_bytes`),
      '.',
    ),
    table(
      'The engine beside the trainer',
      ['while', 'trainer', 'engine', 'together', ''],
      phases.map((phase) => {
        const path = `${at}.phases[phase=${phase.phase}]`;
        return h(
          'tr',
          { 'data-key': phase.phase },
          h('th', { scope: 'row' }, phase.phase),
          h('td', {}, size_range(n, phase.trainer_bytes, `${path}.trainer_bytes`)),
          h('td', {}, size_range(n, phase.engine_bytes, `${path}.engine_bytes`)),
          h('td', {}, size_range(n, phase.bytes, `${path}.bytes`)),
          h('td', { 'data-path': `${path}.fits` }, kFits[phase.fits]),
        );
      }),
    ),
  ];
}
