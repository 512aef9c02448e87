// The workshop: worked examples as exercises in which one guesses first. It is loaded once it is opened and lives in the
// address (#workshop=logits.2), beside the page, which it hides; web/questions.mjs holds what is asked.
import { write_address } from './address.mjs';
import { is_complete, judge } from './check.mjs';
import { course } from './contents.mjs';
import * as at from './course.mjs';
import { with_figures } from './examples.mjs';
import { exercise, is_report } from './exercise.mjs';
import { lesson } from './lesson.mjs';
import { show } from './morph.mjs';
import { first_of, presenter, slides_of } from './presenter.mjs';
import { questions_of } from './questions.mjs';
import { say } from './say.mjs';
import { complete, defaults_of } from './scenario.mjs';
import { sheet } from './sheet.mjs';
import { fill } from './story.mjs';
import { workshop_acts } from './workshop-acts.mjs';
// @ts-ignore: made by the build
import { style } from './workshop.style.mjs';

/** @typedef {import('./app.mjs').App} App */
/** @typedef {import('./types.mjs').Example} Example */
/** @typedef {import('./types.mjs').Report} Report */
/** @typedef {import('./types.mjs').Scenario} Scenario */
/** @typedef {import('./story.mjs').Sources} Sources */
/** @typedef {import('./exercise.mjs').Guess} Guess */
/** @typedef {import('./exercise.mjs').Exercise} Exercise */

/** What the views are given.
 * @typedef {object} Stage
 * @property {at.Place} place
 * @property {import('./number.mjs').Numbers} n
 * @property {import('./types.mjs').Catalog} catalog
 * @property {Example[]} examples
 * @property {at.Done} done
 * @property {Sources} sources reports of the example
 * @property {Guess} guess
 * @property {boolean} complete something was guessed for everything
 * @property {boolean} guessed there is a guess to compare
 * @property {boolean} revealed
 * @property {import('./check.mjs').Judged | null} judged
 * @property {string | null} answer of the code
 * @property {string | null} typing
 * @property {string | null} trouble a sentence about what was typed
 * @property {string | null} copied
 * @property {string[]} refused why the scenario cannot be replayed
 * @property {string} scenario of the page, as an address
 * @property {(scenario: Scenario, report: Report) => string} say
 * @property {(text: string) => (Node | string)[]} tell
 * @property {(example: Example, label: string) => string} address */

/** What is remembered while the page is open, by code. @typedef {{guess: Guess, revealed: boolean}} Try */

/** Opens the workshop where the address names it, and follows the address. @param {App} app @param {at.Keeper} keeper */
export function workshop(app, keeper) {
  const { catalog, n } = app.view();
  const usual = (/** @type {Scenario} */ scenario) => defaults_of(catalog, scenario);
  /** @type {Map<string, Sources>} */
  const estimated = new Map();
  /** @type {Map<string, Try>} */
  const tries = new Map();
  let place = at.read_place(location.hash);
  const now = {
    done: at.read_done(keeper),
    typing: /** @type {string | null} */ (null),
    trouble: /** @type {string | null} */ (null),
    copied: /** @type {string | null} */ (null),
  };
  const sheet_of_style = new CSSStyleSheet();
  sheet_of_style.replaceSync(style);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet_of_style];
  const page = /** @type {HTMLElement} */ (document.querySelector('main'));
  const root = document.createElement('main');
  root.className = 'workshop';
  page.after(root);
  const title = document.title;

  const address = (/** @type {Scenario} */ scenario) =>
    write_address(scenario, usual(scenario)) || '#';

  /** @param {string | null} id @returns {Example | null} */
  function example_of(id) {
    if (id !== at.kOwn) return catalog.examples.find((one) => one.id === id) ?? null;
    return {
      id: at.kOwn,
      number: 0,
      title: 'A run of your own',
      lesson: '',
      story: [],
      scenarios: [{ label: 'own', what: 'the run', scenario: app.read(place.scenario) }],
    };
  }

  /** The reports of an example, asked for once. @param {Example} example @returns {Sources} */
  function sources_of(example) {
    const name = example.id === at.kOwn ? `${example.id} ${place.scenario}` : example.id;
    const known = estimated.get(name);
    if (known) return known;
    const sources = /** @type {Sources} */ ({ inputs: example.inputs ?? {} });
    estimated.set(name, sources);
    void Promise.all(
      example.scenarios.map(async ({ label, what, scenario }) => {
        const text = await app.ask('estimate', JSON.stringify(scenario));
        return /** @type {const} */ ([label, { ...JSON.parse(text), what }]);
      }),
    ).then((reports) => {
      Object.assign(sources, Object.fromEntries(reports));
      render();
      take_answer();
    });
    return sources;
  }

  /** @param {Example} example @param {number} number @returns {Exercise | null} */
  const exercise_of = (example, number) =>
    exercise(example, number, sources_of(example), n, catalog);

  /** @param {number} number */
  const code_of = (number) =>
    at.write_code(place.example ?? '', number, null) +
    (place.example === at.kOwn ? place.scenario : '');

  /** @param {number} number @returns {Try} */
  function try_of(number) {
    const code = code_of(number);
    const known = tries.get(code) ?? { guess: {}, revealed: false };
    tries.set(code, known);
    return known;
  }

  /** The exercise that is shown, or the one of the slide. @returns {Exercise | null} */
  function current() {
    const example = example_of(place.example);
    if (!example) return null;
    if (place.scene !== 'presenter') return exercise_of(example, place.number);
    const all = slides(example);
    return exercise_of(example, all[Math.min(place.slide, all.length - 1)]?.number ?? 1);
  }

  /** @param {Example} example */
  const all_of = (example) =>
    questions_of(example).flatMap((_, i) => exercise_of(example, i + 1) ?? []);
  const slides = (/** @type {Example} */ example) => slides_of(all_of(example), example.lesson);

  /** @param {Exercise | null} shown @returns {Stage} */
  function stage(shown) {
    const tried = shown ? try_of(shown.number) : { guess: {}, revealed: false };
    const whole = shown?.known === true && is_complete(shown, tried.guess);
    const any = Object.keys(tried.guess).length > 0;
    const sources = shown ? sources_of(shown.example) : {};
    return {
      place,
      n,
      catalog,
      examples: catalog.examples,
      ...now,
      sources,
      guess: tried.guess,
      complete: whole,
      guessed: any,
      revealed: tried.revealed,
      judged: shown && whole && any ? judge(shown, tried.guess, catalog, n) : null,
      answer: shown?.known && any ? at.write_answer(shown, tried.guess) : null,
      refused: Object.values(sources).flatMap((report) =>
        report && typeof report === 'object' && 'problems' in report && !is_report(report)
          ? /** @type {import('./types.mjs').Problem[]} */ (report.problems).map(
              (one) => one.message,
            )
          : [],
      ),
      scenario: address(app.view().scenario).replace(/^#$/, ''),
      say(scenario, report) {
        const full = complete(usual(scenario), scenario, catalog.defaults_within);
        const view = { ...app.view(), scenario, full, report, problems: [] };
        return say(view).textContent ?? '';
      },
      tell: (text) => with_figures(fill(text, sources, n), n),
      address: (example, label) =>
        address(example.scenarios.find((row) => row.label === label)?.scenario ?? {}),
    };
  }

  function render() {
    const open = at.is_workshop(location.hash);
    document.documentElement.classList.toggle('in-workshop', open);
    document.documentElement.classList.toggle('presenting', open && place.scene === 'presenter');
    page.hidden = open;
    root.hidden = !open;
    document.title = open ? `Workshop: ${title}` : title;
    if (open) show(root, ...scene());
  }

  /** @returns {(Element | null)[]} */
  function scene() {
    const example = example_of(place.example);
    if (place.scene === 'sheet') {
      const chosen = example ? [example] : catalog.examples;
      return sheet(stage(example && exercise_of(example, 1)), chosen.flatMap(all_of));
    }
    const shown = current();
    if (!example || !shown) {
      if (place.example !== null)
        now.trouble = `There is no exercise “${at.write_code(place.example, place.number, null)}”. A code is the name of an example and the number of a question, as in ${at.write_code(catalog.examples[0].id, 1, null)}.`;
      return course(stage(null));
    }
    if (place.scene === 'presenter')
      return presenter(stage(shown), all_of(example), slides(example));
    return lesson(stage(shown), shown);
  }

  /** A code that has an answer restores it. */
  function take_answer() {
    const example = example_of(place.example);
    const shown = example && exercise_of(example, place.number);
    if (place.answer === null || !shown?.known) return;
    const tried = try_of(place.number);
    tried.guess = at.read_answer(shown, place.answer);
    tried.revealed = is_complete(shown, tried.guess);
    place.answer = null;
    render();
  }

  /** Follows the address. @param {boolean} [focus] */
  function follow(focus = true) {
    if (!at.is_workshop(location.hash)) return render();
    place = at.read_place(location.hash);
    Object.assign(now, { typing: null, trouble: null, copied: null });
    const example = example_of(place.example);
    if (place.scene === 'presenter' && example && place.slide === 0)
      place.slide = first_of(slides(example), place.number);
    render();
    take_answer();
    const head = root.querySelector('h1');
    if (focus && head instanceof HTMLElement) head.focus();
  }

  workshop_acts(root, {
    n,
    now,
    render,
    current,
    try_of,
    place: () => place,
    count_slides: () => {
      const example = example_of(place.example);
      return example ? slides(example).length : 1;
    },
    /** Keeps what was reached. @param {Exercise} shown */
    reached(shown) {
      const { guess } = try_of(shown.number);
      const { grade } = judge(shown, guess, catalog, n);
      if (shown.example.id === at.kOwn) return;
      now.done = {
        ...now.done,
        [code_of(shown.number)]: { grade, answer: at.write_answer(shown, guess) },
      };
      at.write_done(keeper, now.done);
    },
    forget() {
      now.done = {};
      tries.clear();
      at.write_done(keeper, now.done);
    },
  });
  addEventListener('hashchange', () => follow());
  follow();
}
