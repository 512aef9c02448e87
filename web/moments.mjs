// Two moments beside each other: which tensors came, which went, by part. A pinned moment stands against the one that the
// ledger shows, or against the second one that was pinned.
import { ledger_now } from './book.mjs';
import { h } from './dom.mjs';
import { kGiB, size } from './number.mjs';
import { shown_point } from './picture.mjs';
import { point_at } from './scale.mjs';
import { table } from './table.mjs';
import { phase_name } from './verdict.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./types.mjs').Part} Part */
/** @typedef {import('./view.mjs').Marked} Marked */

/** A tensor group that differs, in bytes. @typedef {{key: string, what: string, where: string, why: string, before: number,
 *   after: number}} Change */

// More of a part nobody reads.
const kMost = 6;
// Bytes below which a difference does not show in two decimals.
const kSeen = kGiB / 200;

/** Pins the moment that is shown. With two already, the older one goes. @param {import('./app.mjs').App} app */
export async function pin_moment(app) {
  const { scenario, report, ui } = app.view();
  const { timeline } = report;
  const event = timeline.event[shown_point(app.view())];
  const own = pins_of(app.view()).filter((pin) => pin.event !== event);
  const answer = JSON.parse(
    await app.ask('estimate', JSON.stringify({ ...scenario, at_event: event })),
  );
  if (!answer.moment || app.view().scenario !== scenario) return;
  ui.moments = [...own.slice(-1), { scenario, event, parts: answer.moment.parts }].sort(
    (a, b) => a.event - b.event,
  );
  app.render(['picture', 'ledger']);
}

/** Those of the present scenario. @param {View} view @returns {Marked[]} */
export const pins_of = ({ ui, scenario }) => ui.moments.filter((pin) => pin.scenario === scenario);

/** What differs between two ledgers, part by part, the largest difference first.
 * @param {Part[]} before @param {Part[]} after */
export function differences(before, after) {
  return after.map(({ id, bytes, lines }) => {
    const other = before.find((part) => part.id === id) ?? { id, bytes: 0, lines: [] };
    /** @type {Map<string, Change>} */
    const changes = new Map();
    for (const [side, all] of /** @type {['before' | 'after', Part['lines']][]} */ ([
      ['before', other.lines],
      ['after', lines],
    ])) {
      for (const line of all) {
        const { what, where, why } = line;
        const key = `${id} ${what} ${where} ${why}`;
        const change = changes.get(key) ?? { key, what, where, why, before: 0, after: 0 };
        change[side] += line.bytes;
        changes.set(key, change);
      }
    }
    const by = (/** @type {Change} */ change) => Math.abs(change.after - change.before);
    return {
      id,
      before: other.bytes,
      after: bytes,
      changes: [...changes.values()]
        .filter((change) => by(change) >= kSeen)
        .sort((a, b) => by(b) - by(a)),
    };
  });
}

/** @param {View} view @returns {Element | null} */
export function moments(view) {
  const { n, catalog } = view;
  const pins = pins_of(view);
  if (pins.length === 0) return null;
  const shown = ledger_now(view);
  const [first, second] = pins;
  const a = { name: 'A', event: first.event, parts: first.parts, known: true };
  const b = second
    ? { name: 'B', event: second.event, parts: second.parts, known: true }
    : { name: 'shown', event: shown.event, parts: shown.parts, known: shown.known };
  const rows = differences(a.parts, b.parts).filter(({ before, after }) => before + after > 0);
  const sum = (/** @type {Part[]} */ parts) => parts.reduce((all, { bytes }) => all + bytes, 0);
  const name = (/** @type {string} */ id) => catalog.parts.find((one) => one.id === id)?.name ?? id;
  const figures = (/** @type {number} */ before, /** @type {number} */ after) => [
    h('td', {}, size(n, before)),
    h('td', {}, size(n, after)),
    h('td', {}, n.signed_gib(after - before)),
  ];
  return h(
    'section',
    {
      class: b.known ? 'moments' : 'moments waiting',
      'aria-labelledby': 'moments-title',
      'data-key': 'moments',
    },
    h(
      'div',
      { class: 'head' },
      h(
        'h2',
        { id: 'moments-title' },
        'From moment A to ',
        second ? 'moment B' : 'the moment shown',
      ),
      h(
        'button',
        { type: 'button', class: 'link', 'data-act': 'unpin-moments' },
        'Take the pins away',
      ),
    ),
    h(
      'p',
      {},
      `A: ${place_of(view, a.event)}. ${second ? 'B' : 'Shown'}: ${place_of(view, b.event)}.`,
      second ? '' : ' Move the cursor to compare with another moment, or pin a second one.',
    ),
    table(
      'The difference between two moments',
      ['', 'A', second ? 'B' : 'shown', 'difference, GiB'],
      [
        ...rows.flatMap(({ id, before, after, changes }) => [
          h(
            'tr',
            { 'data-key': id, class: 'sum' },
            h('th', { scope: 'row' }, h('i', { class: `swatch ${id}` }), name(id)),
            ...figures(before, after),
          ),
          ...(b.known ? changes.slice(0, kMost) : []).map((change) =>
            h(
              'tr',
              { 'data-key': change.key },
              h(
                'th',
                { scope: 'row', class: 'words change', title: change.why },
                change.what,
                h(
                  'span',
                  { class: 'where' },
                  ` ${change.where === change.what ? '' : change.where}`,
                ),
                h('span', { class: 'dim' }, ` ${fate(change)}`),
              ),
              ...figures(change.before, change.after),
            ),
          ),
          b.known && changes.length > kMost
            ? h(
                'tr',
                { 'data-key': `${id} more` },
                h(
                  'th',
                  { scope: 'row', class: 'change dim' },
                  `and ${n.count(changes.length - kMost)} more`,
                ),
                h('td', {}),
                h('td', {}),
                h('td', {}),
              )
            : null,
        ]),
        h(
          'tr',
          { 'data-key': 'all', class: 'sum' },
          h('th', { scope: 'row' }, 'Allocated'),
          ...figures(sum(a.parts), sum(b.parts)),
        ),
      ],
    ),
  );
}

/** @param {Change} change */
const fate = ({ before, after }) =>
  before === 0 ? 'born' : after === 0 ? 'gone' : after > before ? 'grown' : 'shrunk';

/** @param {View} view @param {number} event */
function place_of({ report, n }, event) {
  const { marks, event: events, place, places, allocated } = report.timeline;
  const mark =
    marks[
      point_at(
        marks.map((one) => one.event),
        event,
      )
    ];
  const i = point_at(events, event);
  const where = places[place[i]] ?? '';
  return `step ${n.count(mark.step)}, ${phase_name(mark.phase)}${where ? `, ${where}` : ''}, ${n.both(allocated[i])}`;
}
