// What every view is given: the state of the page, made once per change.

/**
 * @typedef {object} Ui what the reader has opened and pointed at; no figures
 * @property {string | null} open id of the control whose choices are shown under the sentence
 * @property {string} query what was typed to search them
 * @property {string | null} active key of the option that the arrow keys have reached
 * @property {string} paste what was pasted as a config.json
 * @property {string | null} paste_problem
 * @property {{[id: string]: 'GiB' | 'GB'}} units chosen for typed sizes
 * @property {number | null} held index into the timeline's points that is held; null is the peak
 * @property {number | null} hover index that the pointer is over
 * @property {string[]} parts ids of the parts of the ledger that are open
 * @property {string[]} lines keys of the lines whose working is open
 * @property {boolean} exact the ledger shows bytes instead of GiB and GB
 * @property {string | null} example id of the worked example that is open
 * @property {string} letter id of what the sweep varies
 * @property {boolean} curve its whole curve is drawn
 * @property {import('./recorded.mjs').Dropped | null} dropped a recorded run
 * @property {{text: string, answer: import('./types.mjs').Explanation | null}} message a pasted one, and what it says
 * @property {{given: {[id: string]: string}, answer: import('./types.mjs').Comparison | null}} measured
 * @property {State[]} trail every scenario since the page was opened, the present one last
 * @property {Marked[]} moments that are pinned in the picture, in their order
 * @property {string} find what was typed to search the ledger
 * @property {Pin[]} pins what the present scenario is compared with
 * @property {{text: string, files: {name: string, text: string}[], format: string, choice: {model?: string},
 *   answer: import('./types.mjs').Imported | null, wrong: string, taken: boolean,
 *   before: import('./types.mjs').Scenario | null}} given settings of other programs; `before` is what was there
 * @property {{[key: string]: {peak: number, why: string}}} ladder what was shown last, by change, while it is found out anew
 */

/** A scenario that was chosen, and its peak in bytes once it has been counted; null where it cannot be.
 * @typedef {{scenario: import('./types.mjs').Scenario, counted: boolean, peak: number | null,
 *   fits: 'yes' | 'close' | 'no' | null}} State */

/** A scenario that was pinned, with its report. @typedef {{scenario: import('./types.mjs').Scenario,
 *   report: import('./types.mjs').Report}} Pin */

/** What one change would need: its peak, the parts of it and what is reserved, in bytes, and the step and phase of the
 * peak; or null where it cannot be estimated.
 * @typedef {{peak: number, parts: {[id: string]: number}, fits: 'yes' | 'close' | 'no' | null, reserved: number,
 *   when: string} | null} Cost */

/** A moment that is pinned: an event of a scenario's timeline, and the ledger there.
 * @typedef {{scenario: import('./types.mjs').Scenario, event: number, parts: import('./types.mjs').Part[]}} Marked */

/**
 * @typedef {object} View
 * @property {import('./types.mjs').Catalog} catalog
 * @property {import('./number.mjs').Numbers} n
 * @property {import('./controls.mjs').Control[]} controls
 * @property {import('./types.mjs').Scenario} scenario as chosen
 * @property {import('./types.mjs').Scenario} full with every default filled in
 * @property {import('./types.mjs').Report} report the last good one
 * @property {import('./types.mjs').Moment | null} moment the ledger at the cursor, once it is known
 * @property {import('./types.mjs').Problem[]} problems with the scenario as chosen
 * @property {(patch: import('./scenario.mjs').Patch) => Cost | undefined} cost undefined while it is not known
 * @property {Ui} ui
 */

/** @returns {Ui} */
export const fresh_ui = () => ({
  open: null,
  query: '',
  active: null,
  paste: '',
  paste_problem: null,
  units: {},
  held: null,
  hover: null,
  parts: [],
  lines: [],
  exact: false,
  example: null,
  letter: 'batch',
  curve: false,
  dropped: null,
  message: { text: '', answer: null },
  measured: { given: {}, answer: null },
  trail: [],
  moments: [],
  find: '',
  pins: [],
  given: {
    text: '',
    files: [],
    format: '',
    choice: {},
    answer: null,
    wrong: '',
    taken: false,
    before: null,
  },
  ladder: {},
});
