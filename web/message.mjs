// A pasted out-of-memory message: what its numbers are, what was asked for, and what to change first.
import { h } from './dom.mjs';
import { size, size_range } from './number.mjs';
import { equal, merged } from './scenario.mjs';
import { table } from './table.mjs';
import { formula } from './working.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./types.mjs').Explanation} Explanation */

/** A table under its own name. @param {string} caption @param {string[]} heads @param {Element[]} rows */
const captioned = (caption, heads, rows) => table(caption, heads, rows, caption);

// More candidates than these nobody reads.
const kMost = 6;

/** @param {View} view @returns {Element} */
export function message(view) {
  const { text, answer } = view.ui.message;
  return h(
    'div',
    { class: 'message' },
    h(
      'p',
      {},
      h(
        'label',
        { for: 'message-text' },
        'Paste the message, with the lines around it. The scenario above says what was running.',
      ),
    ),
    h('textarea', {
      id: 'message-text',
      rows: 5,
      spellcheck: 'false',
      'data-message': true,
      'data-key': 'text',
      placeholder:
        'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate … GiB. GPU 0 has a total capacity of …',
    }),
    h(
      'div',
      { 'data-key': 'answer', role: 'status' },
      answer && text.trim() !== '' && explanation(view, answer),
    ),
  );
}

/** @param {View} view @param {Explanation} found */
function explanation(view, found) {
  const { diagnosis, request, producer } = found;
  return h(
    'div',
    {},
    h('p', { class: 'found' }, found.sentence),
    producer &&
      h(
        'p',
        { class: 'dim' },
        `${producer.name}${producer.versions ? `, ${producer.versions}` : ''}. Its units: ${producer.units}.`,
      ),
    ...found.problems.map(({ message: text }) => h('p', { class: 'problem' }, text)),
    found.numbers.length > 0 && numbers(view, found),
    h('p', {}, 'The cause: ', h('b', {}, diagnosis.what), '. ', diagnosis.why),
    diagnosis.arithmetic.length > 0 &&
      h('ul', { class: 'arithmetic' }, ...diagnosis.arithmetic.map((line) => h('li', {}, line))),
    ...diagnosis.notes.map(({ sentence }) => h('p', {}, sentence)),
    request && h('p', {}, request.why),
    found.candidates.length > 0 && candidates(view, found),
    found.changes.length > 0 && [
      h('h3', {}, 'What to change first'),
      h(
        'ol',
        { class: 'steps' },
        ...found.changes.map(({ id, sentence, patch }, i) =>
          h(
            'li',
            { 'data-key': `${id} ${i}` },
            sentence,
            ' ',
            patch &&
              !equal(merged(view.full, patch), view.full) &&
              h(
                'button',
                { type: 'button', class: 'link', 'data-cure': String(i) },
                'Change it above',
              ),
          ),
        ),
      ),
    ],
  );
}

/** @param {View} view @param {Explanation} found */
const numbers = ({ n }, { numbers: list }) =>
  captioned(
    'The numbers of the message',
    ['as printed', 'what it is', 'truly'],
    list.map(({ printed, what, recognised, bytes, unit }, i) =>
      h(
        'tr',
        { 'data-key': `${i}` },
        h('th', { scope: 'row' }, printed),
        h('td', { class: 'words' }, recognised ? what : 'not recognised'),
        h('td', {}, bytes ? size(n, bytes.value) : unit),
      ),
    ),
  );

/** @param {View} view @param {Explanation} found */
function candidates(view, { candidates: list, scenarios }) {
  const { n } = view;
  const several = scenarios.length > 1;
  return captioned(
    'Tensors of that size, the likeliest first',
    ['tensor', 'working', 'size', 'when'],
    list
      .slice(0, kMost)
      .map(({ what, where, symbols, mathml, bytes, moment, why, scenario }, i) =>
        h(
          'tr',
          { 'data-key': `${i}` },
          h(
            'th',
            { scope: 'row', class: 'words' },
            where ? `${where}: ${what}` : what,
            several && h('span', { class: 'dim' }, ` (${scenarios[scenario]?.model ?? ''})`),
          ),
          h('td', { class: 'words' }, mathml ? formula(mathml) : symbols),
          h('td', {}, size(n, bytes)),
          h('td', { class: 'words', title: why }, moment),
        ),
      ),
  );
}

// --- Measured figures beside the estimate ---

/** What can be typed, by the contract's names. */
const kMeasured = [
  ['max_memory_allocated', 'torch.cuda.max_memory_allocated()'],
  ['max_memory_reserved', 'torch.cuda.max_memory_reserved()'],
  ['nvidia_smi', 'nvidia-smi, used'],
  ['free', 'free, on unified memory'],
];

/** @param {View} view @returns {Element} */
export function measured(view) {
  const { n, ui } = view;
  const { answer } = ui.measured;
  return h(
    'div',
    { class: 'measured' },
    h(
      'p',
      {},
      'Type what was measured, as bytes or with a unit (“7.49 GiB”, “8012 MiB”); any of them will do.',
    ),
    h(
      'div',
      { class: 'typed-sizes' },
      ...kMeasured.map(([id, label]) =>
        h(
          'p',
          { 'data-key': id },
          h('label', { for: `measured-${id}` }, label),
          h('input', {
            type: 'text',
            class: 'figure wide',
            id: `measured-${id}`,
            autocomplete: 'off',
            'data-measured': id,
            value: ui.measured.given[id] ?? '',
          }),
        ),
      ),
    ),
    h(
      'div',
      { 'data-key': 'answer', role: 'status' },
      answer?.problems.map(({ message: text }) => h('p', { class: 'problem' }, text)),
      answer?.tiers &&
        captioned(
          'Estimated and measured',
          ['', 'estimated', 'measured', 'difference', 'what explains it'],
          answer.tiers.map(({ id, what, estimate, measured: own, difference, explains }) =>
            h(
              'tr',
              { 'data-key': id },
              h('th', { scope: 'row', class: 'words' }, what),
              h('td', {}, size_range(n, estimate)),
              h('td', {}, own ? size(n, own.value) : '—'),
              h('td', {}, difference ? n.signed_gib((difference.low + difference.high) / 2) : '—'),
              h('td', { class: 'words' }, explains.map(({ sentence }) => sentence).join(' ')),
            ),
          ),
        ),
      answer?.room && h('p', {}, 'Room left: ', size_range(n, answer.room.left_bytes), '.'),
      answer?.one_up &&
        h(
          'ul',
          { class: 'solved' },
          ...answer.one_up.map(({ id, value, fits, why, allocated_bytes }) =>
            h(
              'li',
              { 'data-key': id },
              `One size up, ${id === 'micro_batch' ? 'micro-batch' : 'length'} ${n.count(value)}: `,
              size(n, allocated_bytes),
              fits === 'unknown' ? '' : `; fits: ${fits}`,
              `. ${why}`,
            ),
          ),
        ),
    ),
  );
}
