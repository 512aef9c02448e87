// The package's functions: objects in, objects out, over modules that are loaded once each.

/** What a module's script makes: its functions from text to text.
 * @typedef {(options: {wasmBinary: Uint8Array}) => Promise<{[name: string]: (...texts: string[]) => string}>} Factory */

/** `ledger` answers scenarios; `full` explains messages and compares measurements as well.
 * @typedef {'ledger' | 'full'} ModuleName */

/** A scenario, or its JSON. @param {unknown} given */
const text_of = (given) => (typeof given === 'string' ? given : JSON.stringify(given ?? null));

/** @param {(name: ModuleName) => Promise<[Factory, Uint8Array]>} load a module's script and its bytes */
export function functions(load) {
  /** @type {{[name: string]: ReturnType<Factory>}} */
  const started = {};
  /** @param {ModuleName} name */
  const core = (name) =>
    (started[name] ??= load(name)
      .then(([factory, wasmBinary]) => factory({ wasmBinary }))
      .catch((error) => {
        delete started[name]; // so that the next call tries again
        throw error;
      }));
  /** @param {ModuleName} name @param {string} what @param {string[]} texts */
  const ask = async (name, what, ...texts) => JSON.parse((await core(name))[what](...texts));

  return {
    /** @param {unknown} scenario an object, or JSON */
    estimate: (scenario) => ask('ledger', 'estimate', text_of(scenario)),
    catalog: () => ask('ledger', 'catalog'),
    /** @param {string} message any pasted text @param {unknown} [scenario] one, a list, or none */
    explain: (message, scenario) =>
      ask('full', 'explain', String(message), scenario === undefined ? '' : text_of(scenario)),
    /** @param {unknown} question a scenario and what was measured */
    compare: (question) => ask('full', 'compare', text_of(question)),
  };
}
