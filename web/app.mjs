// The page's state and its one loop: a change gives a scenario, the scenario a report, the report a page.
import { listen } from './acts.mjs';
import { read_address, write_address } from './address.mjs';
import { controls } from './controls.mjs';
import { cost_book } from './costs.mjs';
import { show } from './morph.mjs';
import { numbers } from './number.mjs';
import { kLater, kPlaces } from './page.mjs';
import { shown_point } from './picture.mjs';
import { change, complete, defaults_of, equal, is_object, kFirst, pare } from './scenario.mjs';
import { fresh_ui } from './view.mjs';

/** @typedef {import('./types.mjs').Scenario} Scenario */
/** @typedef {import('./types.mjs').Report} Report */
/** @typedef {import('./types.mjs').Problem} Problem */
/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./story.mjs').Sources} Sources */
/** @typedef {Awaited<ReturnType<typeof run>>} App */

// What answers a change, shown at once; the rest follows in the next frame, so that a letter that is dragged never waits.
const kSoon = ['trouble', 'answer', 'picture', 'ledger'];
const kRest = Object.keys(kPlaces).filter((id) => !kSoon.includes(id));

// Locales that write numbers as the build does.
const kBuiltFor = /^en(-(US|GB|CA|AU|NZ|IE))?$/;

/** Where an app lives and where its scenario comes from: the page with its address, or an element with its attributes.
 * @typedef {object} Home
 * @property {Document | ShadowRoot} root holds the places of page.mjs, by id
 * @property {Element} body bears the class stale
 * @property {(catalog: import('./types.mjs').Catalog) => {scenario: Scenario, problems: Problem[]}} read
 * @property {(scenario: Scenario, usual: Scenario) => void} keep
 * @property {(report: Report | null, problems: Problem[]) => void} [told] after every answer
 * @property {{read: (name: string) => string | null, write: (name: string, text: string | null) => void}} [kept] keeps text
 * on this machine, where it can
 * @property {boolean} [built] the first visit's views are already there */

/** Brings the page, or an element, to life.
 * @param {import('./door.mjs').Door} door @param {string} locale @param {Home} home */
export async function run(door, locale, home) {
  const { root } = home;
  /** @type {import('./types.mjs').Catalog} */
  const catalog = JSON.parse(await door('catalog'));
  const { defaults_within: within } = catalog;
  const usual = (/** @type {Scenario} */ scenario) => defaults_of(catalog, scenario);
  const n = numbers(locale);
  const rows = controls(catalog, n);
  const ui = fresh_ui();
  const ask = (/** @type {Scenario} */ scenario) => door('estimate', JSON.stringify(scenario));
  const book = cost_book(ask, () => queue(['scenario', 'panel', 'ladder', 'pairs', 'sweep']));

  /** @param {Scenario} scenario @returns {Promise<Report | {problems: Problem[]}>} */
  const estimate = async (scenario) => JSON.parse(await ask(scenario));

  let { scenario, problems } = home.read(catalog);
  // The build has written the first visit's page with these same views: there is nothing to show anew.
  let as_built = home.built === true && kBuiltFor.test(locale);
  let report = /** @type {Report | null} */ (null);
  /** @type {import('./types.mjs').Moment | null} */
  let moment = null;
  /** @type {Map<string, Sources>} */
  const stories = new Map();

  /** @returns {View} */
  function view() {
    if (!report) throw new Error('nothing has been counted yet');
    const full = with_answers(complete(usual(scenario), scenario, within), report.scenario);
    const cost = (/** @type {import('./scenario.mjs').Patch} */ patch) =>
      book.of(change(catalog, scenario, patch));
    return { catalog, n, controls: rows, scenario, full, report, moment, problems, cost, ui };
  }

  /** @type {import('./page.mjs').Outside} */
  const outside = {
    reports(example) {
      const made = stories.get(example.id);
      if (made) return made;
      const empty = { inputs: example.inputs ?? {} };
      stories.set(example.id, empty);
      void tell(example);
      return empty;
    },
    address: (example, label) => {
      const found = example.scenarios.find((row) => row.label === label);
      return (found && write_address(found.scenario, usual(found.scenario))) || '#';
    },
    again: (places) => queue(places),
    estimate,
  };

  /** Estimates every scenario of a worked example. @param {import('./types.mjs').Example} example */
  async function tell(example) {
    const reports = await Promise.all(
      example.scenarios.map(async ({ label, what, scenario }) => [
        label,
        { ...(await estimate(scenario)), what },
      ]),
    );
    stories.set(example.id, { inputs: example.inputs ?? {}, ...Object.fromEntries(reports) });
    queue(['examples']);
  }

  /** @param {string[]} [places] all of them unless named */
  function render(places = Object.keys(kPlaces)) {
    if (kRest.every((id) => places.includes(id))) book.turn();
    const now = view();
    for (const id of places) {
      const place = root.getElementById(id);
      if (!place || (kLater.includes(id) && place.closest('details')?.open === false)) continue;
      show(place, ...kPlaces[id](now, outside));
    }
    home.body.classList.toggle('stale', problems.length > 0);
    put_popover(root);
    ask_moment();
    if (!counting) book.run();
  }

  /** The present scenario's place in the trail. */
  function remember() {
    if (ui.trail.at(-1)?.scenario !== scenario)
      ui.trail.push({ scenario, counted: false, peak: null, fits: null });
    return ui.trail[ui.trail.length - 1];
  }

  let shown_once = false;
  let counting = false;
  let again = /** @type {Problem[] | null} */ (null);
  /** Estimates the scenario as it is now and shows it; while one estimate runs, only the last wish is kept.
   * @param {Problem[]} [found] problems with the address itself */
  async function recount(found = []) {
    again = found;
    if (counting) return;
    counting = true;
    while (again) {
      const own = again;
      again = null;
      const state = remember();
      const answer = await estimate(scenario);
      state.counted = true;
      if ('peak' in answer)
        Object.assign(state, {
          peak: answer.peak.allocated_bytes,
          fits: answer.verdict?.fits ?? null,
        });
      problems = [...own, ...answer.problems];
      if ('peak' in answer) take(answer);
      else report ??= /** @type {Report} */ (await estimate(kFirst));
    }
    counting = false;
    home.told?.(problems.length > 0 ? null : report, problems);
    if (as_built) remember_ladder(ui, root);
    else if (shown_once) {
      render(kSoon);
      queue(kRest);
    } else render();
    [as_built, shown_once] = [false, true];
  }

  /** @param {Report} next */
  function take(next) {
    // A cursor that is held stays at its share of the two steps.
    if (ui.held !== null && report) {
      ui.held = Math.floor((ui.held / report.timeline.event.length) * next.timeline.event.length);
    }
    report = next;
    moment = null;
  }

  let queued = /** @type {Set<string>} */ (new Set());
  /** Shows places once before the next frame. @param {string[]} [places] all of them unless named */
  function queue(places = Object.keys(kPlaces)) {
    if (queued.size === 0) {
      requestAnimationFrame(() => {
        const now = [...queued];
        queued = new Set();
        if (report) render(now);
      });
    }
    for (const id of places) queued.add(id);
  }

  let asked = 0;
  /** Has the ledger at the cursor estimated, once the cursor rests. */
  function ask_moment() {
    clearTimeout(asked);
    if (!report || (ui.hover === null && ui.held === null) || problems.length > 0) return;
    const event = report.timeline.event[shown_point(view())];
    if (moment?.event === event) return;
    asked = setTimeout(async () => {
      const answer = await estimate({ ...scenario, at_event: event });
      if (!('peak' in answer) || !answer.moment) return;
      // The page asked for this event, whatever the core calls it.
      moment = { ...answer.moment, event };
      queue(['ledger']);
    }, 90);
  }

  const app = {
    ui,
    /** Called once another scenario has been taken. @type {() => void} */
    on_take: () => {},
    view,
    render: queue,
    /** @param {import('./scenario.mjs').Patch} patch */
    change(patch) {
      app.take(change(catalog, scenario, patch));
    },
    /** Asks the core. */
    ask: door,
    /** The scenario of an address. @param {string} hash */
    read: (hash) => read_address(hash, catalog.defaults).scenario,
    /** Takes another scenario. @param {Scenario} next */
    take(next) {
      app.settle(pare(usual(next), next, within));
    },
    /** Goes back to a scenario of the trail. @param {import('./view.mjs').State[]} states those that are left, the one to show last */
    back(states) {
      ui.trail = states;
      app.settle(states[states.length - 1].scenario);
    },
    /** @param {Scenario} next as it is kept */
    settle(next) {
      scenario = next;
      remember();
      home.keep(scenario, usual(scenario));
      queue(['scenario', 'panel']);
      void recount();
      app.on_take();
    },
    /** Reads the scenario again from where it comes from. */
    follow() {
      const read = home.read(catalog);
      const pared = (/** @type {Scenario} */ given) => pare(usual(given), given);
      const same = equal(pared(read.scenario), pared(scenario));
      if (same && read.problems.length === 0 && problems.length === 0) return;
      scenario = read.scenario;
      ui.held = null;
      void recount(read.problems);
    },
  };

  await recount(problems);
  listen(app, root);
  return app;
}

/** An object without the keys that hold nothing. @param {Scenario} given @returns {Scenario} */
const said = (given) =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));

// What has no defaults in the catalogue, and the key that decides which keys there are.
const kAnswered = { rl: 'method', serving: 'engine', parallel: 'strategy' };

/** What the core made of what was not said: lengths of `rl` that follow from each other, defaults of an engine.
 * @param {Scenario} full @param {Scenario} answered @returns {Scenario} */
function with_answers(full, answered) {
  const all = { ...full };
  for (const [key, kind] of Object.entries(kAnswered)) {
    const given = full[key];
    const made = answered[key];
    if (is_object(given) && is_object(made) && (given[kind] ?? made[kind]) === made[kind])
      all[key] = { ...made, ...said(given) };
  }
  return all;
}

/** Takes the figures of single changes from the page as it was built, so that they stand until they are found out anew.
 * @param {import('./view.mjs').Ui} ui @param {Document | ShadowRoot} root */
function remember_ladder(ui, root) {
  for (const row of root.querySelectorAll('#ladder [data-key]')) {
    const peak = Number(row.querySelector('data.peak')?.getAttribute('value') ?? 0);
    const why = row.querySelector('.why')?.textContent?.trim() ?? '';
    if (peak) ui.ladder[row.getAttribute('data-key') ?? ''] = { peak, why };
  }
}

/** Puts what is open under its word, within the page's width. @param {Document | ShadowRoot} root */
function put_popover(root) {
  const pop = root.getElementById('pop');
  const place = root.getElementById('scenario');
  const word = pop && root.querySelector(`.word[data-word="${pop.dataset.key}"]`);
  if (!pop || !place || !word) return;
  const area = place.getBoundingClientRect();
  const at = word.getBoundingClientRect();
  const left = Math.max(0, Math.min(at.left - area.left, area.width - pop.offsetWidth));
  pop.style.left = `${left}px`;
  pop.style.top = `${at.bottom - area.top + 6}px`;
}
