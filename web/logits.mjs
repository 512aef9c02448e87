// The logits: every tensor at the peak that has a value for each token and each word of the vocabulary.
import { h } from './dom.mjs';
import { size, traced } from './number.mjs';
import { formula } from './working.mjs';

/** @typedef {import('./view.mjs').View} View */

/** Whether a working multiplies by a letter. @param {string} symbols @param {string} letter */
const has = (symbols, letter) => symbols.split(/[^A-Za-z_]+/).includes(letter);

/** @param {View} view @returns {Element} */
export function logits({ report, n }) {
  const lines = report.parts
    .flatMap((part) =>
      part.lines.map((line, i) => ({ ...line, path: `parts[id=${part.id}].lines.${i}` })),
    )
    .filter(({ symbols, count }) => count > 0 && has(symbols, 'V') && has(symbols, 'T'));
  const total = lines.reduce((sum, { bytes }) => sum + bytes, 0);
  if (lines.length === 0) {
    return h('p', { class: 'logits' }, 'At the peak no tensor has the size of the logits.');
  }
  return h(
    'div',
    { class: 'logits' },
    h(
      'p',
      {},
      'At the peak, tensors with a value for each token and each word of the vocabulary: ',
      size(n, total, lines.map(({ path }) => `${path}.bytes`).join(' + ')),
      ' of ',
      traced('peak.allocated_bytes', n.both(report.peak.allocated_bytes)),
      '.',
    ),
    h(
      'table',
      { class: 'phases' },
      h(
        'tbody',
        {},
        ...lines.map(({ what, count, mathml, bytes, path }, i) =>
          h(
            'tr',
            { 'data-key': `${i}` },
            h('th', { scope: 'row', 'data-path': `${path}.what` }, what),
            h('td', { 'data-path': `${path}.count` }, count > 1 ? `${n.count(count)} ×` : ''),
            h('td', { 'data-path': `${path}.mathml` }, formula(mathml)),
            h('td', {}, size(n, bytes, `${path}.bytes`)),
          ),
        ),
      ),
    ),
  );
}
