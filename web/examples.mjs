// Worked examples as cards that open. Their sentences hold no figure of their own: each is filled in from reports that
// the core has just made.
import { h } from './dom.mjs';
import { fill } from './story.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./types.mjs').Example} Example */
/** @typedef {import('./story.mjs').Sources} Sources */

/** @param {View} view @param {(example: Example) => Sources} reports estimates an example's scenarios
 * @param {(example: Example, label: string) => string} address of one of its scenarios @returns {Element} */
export function examples(view, reports, address) {
  return h(
    'div',
    { class: 'examples' },
    ...view.catalog.examples.map((example) => card(view, example, reports, address)),
  );
}

/** @param {View} view @param {Example} example @param {(example: Example) => Sources} reports
 * @param {(example: Example, label: string) => string} address */
function card(view, example, reports, address) {
  const open = view.ui.example === example.id;
  return h(
    'article',
    {
      class: open ? 'example open' : 'example',
      'data-key': example.id,
      id: `example-${example.id}`,
    },
    h(
      'h3',
      {},
      h(
        'button',
        { type: 'button', 'data-example': example.id, 'aria-expanded': String(open) },
        h('span', { class: 'number' }, `${example.number}`),
        ` ${example.title}`,
      ),
    ),
    open && body(view, example, reports(example), address),
  );
}

/** A sentence whose figures say where they come from. @param {import('./story.mjs').Piece[]} pieces
 * @param {import('./number.mjs').Numbers} n */
export const with_figures = (pieces, n) =>
  pieces.map(({ text, value, source }) =>
    source === null
      ? text
      : h(
          'data',
          {
            value: String(value ?? ''),
            'data-from': source,
            title: typeof value === 'number' ? n.count(value) : null,
          },
          text,
        ),
  );

/** @param {View} view @param {Example} example @param {Sources} sources
 * @param {(example: Example, label: string) => string} address */
function body(view, example, sources, address) {
  const { n } = view;
  /** @param {string} text @param {string} [row] */
  const filled = (text, row) => with_figures(fill(text, sources, n, row), n);
  const table = example.table ?? [];
  return h(
    'div',
    { class: 'body', 'data-key': 'body' },
    ...example.story.map((paragraph) => h('p', {}, filled(paragraph))),
    table.length > 0 &&
      h(
        'div',
        { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': example.title },
        h(
          'table',
          {},
          h('thead', {}, h('tr', {}, ...table.map(({ head }) => h('th', { scope: 'col' }, head)))),
          h(
            'tbody',
            {},
            ...example.scenarios.map(({ label }) =>
              h(
                'tr',
                {},
                ...table.map(({ cell }, i) =>
                  i === 0
                    ? h(
                        'th',
                        { scope: 'row' },
                        h('a', { href: address(example, label) }, filled(cell, label)),
                      )
                    : h('td', {}, filled(cell, label)),
                ),
              ),
            ),
          ),
        ),
      ),
    h('p', { class: 'lesson' }, h('b', {}, 'To take away: '), filled(example.lesson)),
    h(
      'p',
      {},
      h('a', { href: address(example, example.scenarios[0].label) }, 'Open this scenario above'),
      ' or ',
      h('a', { href: `#workshop=${example.id}.1` }, 'work through its questions'),
    ),
  );
}
