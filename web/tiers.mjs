// What each tool would show of this run, what lies beside the tensors, and where each range comes from.
import { h } from './dom.mjs';
import { size, size_range } from './number.mjs';
import { table } from './table.mjs';

/** @typedef {import('./view.mjs').View} View */

/** @param {View} view @returns {Element} */
export function tiers({ report, n }) {
  const { measured, reserved, context, verdict, load, evaluate, save, host } = report;
  const failure = verdict?.first_failure;
  /** @param {string} key @param {string} name @param {string} path where the bytes are
   * @param {import('./types.mjs').Range | number | null | undefined} bytes @param {string} [note] @param {string} [from] */
  const row = (key, name, path, bytes, note, from) =>
    bytes === null || bytes === undefined
      ? null
      : h(
          'tr',
          { 'data-key': key },
          h('th', { scope: 'row', class: 'words', 'data-path': name === key ? from : null }, name),
          h(
            'td',
            {},
            typeof bytes === 'number' ? size(n, bytes, path) : size_range(n, bytes, path),
          ),
          h('td', { class: 'words', 'data-path': note ? from : null }, note ?? ''),
        );
  return h(
    'div',
    { class: 'tiers' },
    failure?.message && [
      h('p', {}, 'What PyTorch would print:'),
      h(
        'pre',
        { class: 'printed', tabindex: 0, 'data-path': 'verdict.first_failure.message' },
        failure.message,
      ),
    ],
    verdict && h('p', { 'data-path': 'verdict.why' }, verdict.why),
    table(
      'What each tool would show',
      [],
      [
        row(
          'allocated',
          'torch.cuda.max_memory_allocated()',
          'measured.max_memory_allocated',
          measured?.max_memory_allocated,
        ),
        row(
          'reserved',
          'torch.cuda.max_memory_reserved()',
          'measured.max_memory_reserved',
          measured?.max_memory_reserved,
          reserved?.on_card.source,
          'reserved.on_card.source',
        ),
        row(
          'smi',
          'nvidia-smi',
          'measured.nvidia_smi',
          measured?.nvidia_smi,
          context.source,
          'context.source',
        ),
        row('free', 'free', 'measured.free', measured?.free),
        row(
          'varied',
          'reserved, where lengths vary',
          'reserved.varied_lengths',
          reserved?.varied_lengths,
          reserved?.varied_lengths.source,
          'reserved.varied_lengths.source',
        ),
        row(
          'stranded',
          'free, in segments that are in use',
          'reserved.stranded_bytes',
          reserved?.stranded_bytes,
        ),
        row(
          'largest',
          'the largest free block',
          'reserved.largest_free_bytes',
          reserved?.largest_free_bytes,
        ),
        ...(context.parts ?? []).map(({ what, low, high, source }, i) =>
          row(what, what, `context.parts.${i}`, { low, high }, source, `context.parts.${i}`),
        ),
        row('load', 'allocated at most while loading', 'load.peak_bytes', load?.peak_bytes),
        row(
          'evaluate',
          'allocated at most in the evaluation',
          'evaluate.peak_bytes',
          evaluate?.peak_bytes,
        ),
        row('save', 'allocated at most while saving', 'save.peak_bytes', save?.peak_bytes),
        row(
          'host weights',
          'in host memory: weights',
          'host.weights_bytes',
          host?.weights_bytes,
          host?.source,
          'host.source',
        ),
        row(
          'host gradients',
          'in host memory: gradients',
          'host.gradients_bytes',
          host?.gradients_bytes,
        ),
        row(
          'host state',
          'in host memory: optimizer',
          'host.optimizer_bytes',
          host?.optimizer_bytes,
        ),
      ],
    ),
  );
}
