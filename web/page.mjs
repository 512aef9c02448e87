// Which view stands in which place of index.html. The build fills the places for the first visit with the same views.
import { popover } from './choices.mjs';
import { ladder } from './changes.mjs';
import { h } from './dom.mjs';
import { examples } from './examples.mjs';
import { ledger } from './book.mjs';
import { panel } from './panel.mjs';
import { logits } from './logits.mjs';
import { measured, message } from './message.mjs';
import { phase_table } from './phases.mjs';
import { picture } from './picture.mjs';
import { problem_list } from './problems.mjs';
import { recorded } from './recorded.mjs';
import { say } from './say.mjs';
import { sweep } from './sweep.mjs';
import { tiers } from './tiers.mjs';
import { verdict } from './verdict.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./types.mjs').Example} Example */

/** What a worked example needs from outside: its reports, and the address of one of its scenarios.
 * @typedef {{reports: (example: Example) => import('./story.mjs').Sources,
 *   address: (example: Example, label: string) => string}} Outside */

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
  logits: (view) => [logits(view)],
  sweep: (view) => [sweep(view)],
  message: (view) => [message(view)],
  measured: (view) => [measured(view)],
  recorded: (view) => [recorded(view)],
  ledger: (view) => [ledger(view)],
  panel: (view) => [panel(view)],
  examples: (view, { reports, address }) => [examples(view, reports, address)],
  assumptions: (view) => [assumptions(view)],
};
export const kLater = ['panel', 'tiers', 'logits', 'sweep', 'message', 'measured', 'recorded'];

/** @param {View} view */
function assumptions({ report }) {
  return h('ul', {}, ...report.assumptions.map((sentence) => h('li', {}, sentence)));
}
