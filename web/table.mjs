// A table of figures that scrolls sideways on its own where it is wider than the page.
import { h } from './dom.mjs';

/** @param {string} name what the region is called @param {string[]} heads none leaves the head away; an empty one heads
 * nothing @param {(Element | null)[]} rows @param {string} [caption] */
export const table = (name, heads, rows, caption) =>
  h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': name },
    h(
      'table',
      { class: 'phases' },
      caption !== undefined && h('caption', {}, caption),
      heads.length > 0 &&
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            ...heads.map((head) =>
              h(head === '' ? 'td' : 'th', { scope: head === '' ? null : 'col' }, head),
            ),
          ),
        ),
      h('tbody', {}, ...rows),
    ),
  );
