// Which view stands in which place of index.html. The build fills the places for the first visit with the same views.
import { popover } from './choices.mjs';
import { ladder } from './changes.mjs';
import { h } from './dom.mjs';
import { examples } from './examples.mjs';
import { ledger } from './book.mjs';
import { panel } from './panel.mjs';
import { later, once } from './later.mjs';
import { logits } from './logits.mjs';
import { measured, message } from './message.mjs';
import { phase_table } from './phases.mjs';
import { picture } from './picture.mjs';
import { problem_list } from './problems.mjs';
import { recorded } from './recorded.mjs';
import { say } from './say.mjs';
import { tiers } from './tiers.mjs';
import { verdict } from './verdict.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./types.mjs').Example} Example */

/** What views need from outside: a worked example's reports, the address of one of its scenarios, and to be shown again.
 * @typedef {{reports: (example: Example) => import('./story.mjs').Sources,
 *   address: (example: Example, label: string) => string, again: (places: string[]) => void,
 *   estimate: (scenario: import('./types.mjs').Scenario) => Promise<import('./types.mjs').Report | {problems:
 *   import('./types.mjs').Problem[]}>}} Outside */

/** @param {View} view */
const fits_not = ({ report: { verdict } }) => verdict !== null && verdict.fits !== 'yes';

const moments = once(
  (/** @type {View} */ { ui, scenario }) => ui.moments.some((pin) => pin.scenario === scenario),
  later('ledger', async () => (await import('./moments.mjs')).moments),
);

/** The page's places by id, each with the function that fills it. Those in kLater are filled only once they are opened.
 * @type {{[id: string]: (view: View, outside: Outside) => (Node | null)[]}} */
export const kPlaces = {
  scenario: (view) => [say(view), popover(view)],
  trouble: (view) => [problem_list(view)],
  answer: (view) => [verdict(view)],
  tiers: (view) => [tiers(view)],
  picture: (view) => [picture(view)],
  phases: (view) => [phase_table(view)],
  ladder: (view) => [ladder(view)],
  pairs: once(
    (view) => fits_not(view),
    later('pairs', async () => (await import('./pairs.mjs')).two_steps),
  ),
  trail: once(
    (view) => view.ui.trail.length > 1,
    later('trail', async () => (await import('./trail.mjs')).trail),
  ),
  logits: (view) => [logits(view)],
  compare: later('compare', async () => (await import('./compare.mjs')).compare),
  sweep: later('sweep', async () => (await import('./sweep.mjs')).sweep),
  ranks: later('ranks', async () => (await import('./ranks.mjs')).ranks),
  serving: later('serving', async () => (await import('./serving.mjs')).serving),
  message: (view) => [message(view)],
  given: later('given', async () => (await import('./paste.mjs')).paste),
  measured: (view) => [measured(view)],
  recorded: (view) => [recorded(view)],
  share: later('share', async () => (await import('./share.mjs')).share),
  ledger: (view, outside) => [...moments(view, outside), ledger(view)],
  panel: (view) => [panel(view)],
  examples: (view, { reports, address }) => [examples(view, reports, address)],
  assumptions: (view) => [assumptions(view)],
};
export const kLater = [
  'panel',
  'tiers',
  'logits',
  'sweep',
  'compare',
  'ranks',
  'share',
  'serving',
  'message',
  'given',
  'measured',
  'recorded',
];

/** @param {View} view */
function assumptions({ report }) {
  return h(
    'ul',
    {},
    ...report.assumptions.map((sentence, i) =>
      h('li', { 'data-path': `assumptions.${i}` }, sentence),
    ),
  );
}
