// What other choices would need, found out one estimate at a time while nothing else is asked.

/** @typedef {import('./types.mjs').Scenario} Scenario */
/** @typedef {import('./view.mjs').Cost} Cost */

/** The cost of a report's text. @param {string} text @returns {Cost} */
export function cost_of(text) {
  /** @type {import('./types.mjs').Report} */
  const report = JSON.parse(text);
  if (!report.peak) return null;
  return {
    peak: report.peak.allocated_bytes,
    parts: Object.fromEntries(report.parts.map(({ id, bytes }) => [id, bytes])),
    fits: report.verdict?.fits ?? null,
    reserved: report.peak.reserved_bytes,
    when: `${report.peak.step} ${report.peak.phase}`,
  };
}

// Milliseconds after which what is known so far is shown.
const kPatience = 400;

/** A book of costs. `changed` is called when there is something new in it.
 * @param {(scenario: Scenario) => Promise<string>} estimate @param {() => void} changed */
export function cost_book(estimate, changed) {
  /** @type {Map<string, Cost>} */
  const known = new Map();
  /** @type {Map<string, Scenario>} */
  let wanted = new Map();
  let running = false;

  async function work() {
    running = true;
    let shown = performance.now();
    for (let [next] = wanted; next; [next] = wanted) {
      const [key, scenario] = next;
      wanted.delete(key);
      if (known.size > 2000) known.clear();
      known.set(key, await estimate(scenario).then(cost_of, () => null));
      await new Promise((rest) => setTimeout(rest, 4));
      if (wanted.size > 0 && performance.now() - shown < kPatience) continue;
      shown = performance.now();
      changed();
    }
    running = false;
  }

  return {
    /** The cost of a scenario; undefined while it is not known, and then it is wanted.
     * @param {Scenario} scenario @returns {Cost | undefined} */
    of(scenario) {
      const key = JSON.stringify(scenario);
      if (known.has(key)) return known.get(key);
      wanted.set(key, scenario);
      return undefined;
    },
    /** Forgets what is no longer asked for; call it before the views ask again. */
    turn() {
      wanted = new Map();
    },
    /** Goes to work on what is wanted. */
    run() {
      if (!running && wanted.size > 0) void work();
    },
  };
}
