// The box for settings of other programs, and what every key of them became.
import { h } from './dom.mjs';
import { table } from './table.mjs';
import { verdict_sentence } from './verdict.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./types.mjs').Imported} Imported */
/** @typedef {Imported['keys'][number]} Key */

// What asks for attention stands open.
const kGroups = [
  { status: 'unsupported', title: 'Not supported', open: true },
  { status: 'unknown', title: 'Unknown', open: true },
  { status: 'became', title: 'Taken', open: false },
  { status: 'ignored', title: 'Ignored: no size depends on them', open: false },
];

/** @param {View} view @returns {Element} */
export function paste(view) {
  const { given } = view.ui;
  return h(
    'div',
    { class: 'message given' },
    h(
      'p',
      {},
      h(
        'label',
        { for: 'given-text' },
        'Paste a configuration or a command line, or drop files anywhere on this page. It is read here and goes nowhere.',
      ),
    ),
    h('textarea', {
      id: 'given-text',
      rows: 6,
      spellcheck: 'false',
      'data-given': true,
      'data-key': 'text',
      value: given.text,
      placeholder:
        'base_model: …, or python train.py --model_name_or_path …, or {"per_device_train_batch_size": …}',
    }),
    h(
      'p',
      { 'data-key': 'files' },
      h('label', { for: 'given-files' }, 'Files: '),
      h('input', {
        type: 'file',
        id: 'given-files',
        multiple: true,
        accept: '.json,.yaml,.yml,.sh,.txt,.md',
        'data-given-files': true,
      }),
      ' ',
      given.text.trim() !== '' &&
        h(
          'button',
          { type: 'button', class: 'link', 'data-giving': 'another' },
          'Keep this and paste another',
        ),
    ),
    given.files.length > 0 &&
      h(
        'ul',
        { class: 'plain', 'data-key': 'list' },
        ...given.files.map(({ name }, i) =>
          h(
            'li',
            { 'data-key': `${i} ${name}` },
            name,
            ' ',
            h(
              'button',
              { type: 'button', class: 'link', 'data-giving': 'remove', 'data-index': i },
              'leave out',
              h('span', { class: 'hidden' }, ` ${name}`),
            ),
          ),
        ),
      ),
    h(
      'div',
      { 'data-key': 'answer', role: 'status' },
      given.wrong !== '' && h('p', { class: 'problem' }, given.wrong),
      given.answer && summary(view, given.answer),
    ),
    given.answer && h('div', { 'data-key': 'keys' }, ...details(given.answer)),
  );
}

/** @param {Imported} answer @param {string} status */
const of = ({ keys }, status) => keys.filter((key) => key.status === status);

/** "Axolotl YAML", "accelerate's settings and DeepSpeed JSON". @param {Imported} answer */
export function formats_of({ formats }) {
  const names = [...new Set(formats.map(({ name }) => name))];
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** @param {View} view @param {Imported} answer */
function summary({ n, ui, report }, answer) {
  const { formats, problems, notes, near, known } = answer;
  const count = (/** @type {string} */ status) => n.count(of(answer, status).length);
  const unsure = formats.some(({ sureness }) => sureness === 'likely');
  return h(
    'div',
    {},
    formats.length > 0 &&
      h(
        'p',
        { class: 'found' },
        h('b', {}, formats_of(answer)),
        unsure ? ', most likely' : '',
        `: ${count('became')} taken, ${count('unsupported')} not supported, ${count('unknown')} unknown, ${count('ignored')} ignored.`,
      ),
    ui.given.taken &&
      h(
        'p',
        {},
        'The scenario above is made of it; the card stays as it was. ',
        h('button', { type: 'button', class: 'link', 'data-giving': 'undo' }, 'Undo'),
      ),
    ui.given.taken &&
      problems.length === 0 &&
      h(
        'p',
        {},
        h('b', {}, verdict_sentence(report, n)),
        ' ',
        h('button', { type: 'button', class: 'link', 'data-skip': 'answer' }, 'See the verdict'),
      ),
    ...problems.map(({ message }) => h('p', { class: 'problem' }, message)),
    near.length > 0 &&
      h(
        'p',
        { class: 'near' },
        'Take in its place: ',
        ...near.flatMap((id, i) => [
          i > 0 ? ', ' : '',
          h('button', { type: 'button', class: 'link', 'data-meant': id }, id),
        ]),
      ),
    ...notes.map((note) => h('p', {}, note)),
    formats.length === 1 &&
      h(
        'p',
        {},
        h('label', { for: 'given-format' }, 'Read it as '),
        h(
          'select',
          { id: 'given-format', 'data-given-format': true },
          h('option', { value: '', selected: ui.given.format === '' }, 'what it looks like'),
          ...known.map(({ id, name }) =>
            h('option', { value: id, selected: ui.given.format === id }, name),
          ),
        ),
      ),
  );
}

/** @param {Imported} answer @returns {(Element | null)[]} */
function details(answer) {
  const many = answer.formats.length > 1;
  const groups = kGroups.map(({ status, title, open }) => {
    const keys = of(answer, status);
    return keys.length === 0
      ? null
      : open
        ? h('div', { 'data-key': status }, keys_table(keys, title, many, title))
        : h(
            'details',
            { class: 'figures', 'data-key': status },
            h('summary', {}, title),
            keys_table(keys, title, many),
          );
  });
  const implied =
    answer.implied.length === 0
      ? null
      : h(
          'details',
          { class: 'figures', 'data-key': 'implied' },
          h('summary', {}, 'What goes without saying there'),
          table(
            'What goes without saying there',
            ['Here', 'Why'],
            answer.implied.map(({ path, value, why }) =>
              h(
                'tr',
                { 'data-key': path },
                h('th', { scope: 'row' }, setting(path, value)),
                h('td', { class: 'why' }, why),
              ),
            ),
          ),
        );
  return [...groups, implied];
}

/** @param {string} path @param {string} value */
const setting = (path, value) => h('code', {}, `${path} = ${value}`);

/** @param {Key[]} keys @param {string} name @param {boolean} many several files @param {string} [caption] */
function keys_table(keys, name, many, caption) {
  return table(
    name,
    ['There', 'Here'],
    keys.map((key, i) =>
      h(
        'tr',
        { 'data-key': `${i} ${key.path}` },
        h(
          'th',
          { scope: 'row' },
          h('code', {}, key.given === '' ? key.path : `${key.path}: ${key.given}`),
          many && h('span', { class: 'dim' }, ` ${key.file}`),
        ),
        h(
          'td',
          { class: 'why' },
          ...key.became.flatMap(({ path, value }, at) => [
            at > 0 ? ', ' : '',
            setting(path, value),
          ]),
          key.became.length > 0 && key.why !== '' ? '; ' : '',
          key.why,
          key.nearest ? ['; did you mean ', h('code', {}, key.nearest), '?'] : '',
        ),
      ),
    ),
    caption,
  );
}
