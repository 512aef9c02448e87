// The core behind the page: functions from text to text, in WebAssembly. If it cannot start, an error says why. There are two
// modules: `ledger` answers scenarios, `full` explains messages and compares measurements as well.

/** @typedef {import('./types.mjs').Core} Core */

/** An error whose message is a sentence for the reader. */
export class CannotStart extends Error {}

/** What the build's script makes: see wasm/bindings.cpp.
 * @typedef {(options: object) => Promise<Core>} Factory */

/** @typedef {'ledger' | 'full'} ModuleName */

/** Starts a core that lies beside the page. @param {ModuleName} [name] @returns {Promise<Core>} */
export async function load_core(name = 'ledger') {
  if (typeof WebAssembly !== 'object') {
    throw new CannotStart(
      'This browser has WebAssembly switched off, and the calculator is a WebAssembly module.',
    );
  }
  const [factory, bytes] = await Promise.all([load_factory(name), load_bytes(name)]);
  return start(factory, bytes);
}

/** The script that starts it. @param {ModuleName} [name] @returns {Promise<Factory>} */
export async function load_factory(name = 'ledger') {
  try {
    // Made by the build, beside this file.
    return (await import(`./${name}.mjs`)).default;
  } catch {
    throw new CannotStart(`The calculator’s script, ${name}.mjs, could not be loaded.`);
  }
}

/** The compiled core, as it lies beside the page. @param {ModuleName} [name] */
export async function load_bytes(name = 'ledger') {
  const address = new URL(`./${name}.wasm`, import.meta.url);
  const answer = await fetch(address, { credentials: 'same-origin' }).catch(() => null);
  if (!answer)
    throw new CannotStart(
      `The calculator, ${name}.wasm, could not be loaded: the network or a policy refused it.`,
    );
  if (!answer.ok)
    throw new CannotStart(
      `The calculator, ${name}.wasm, could not be loaded: the server answered ${answer.status}.`,
    );
  return new Uint8Array(await answer.arrayBuffer());
}

/** Compiles and starts the module.
 * @param {Factory} factory @param {Uint8Array<ArrayBuffer>} bytes @returns {Promise<Core>} */
export async function start(factory, bytes) {
  return new Promise((done, fail) => {
    /** @param {unknown} error */
    const refuse = (error) => {
      const text = error instanceof Error ? error.message : String(error);
      const why = /content security|unsafe-eval|disallowed by embedder/i.test(text)
        ? 'this page’s content policy does not allow WebAssembly (it needs ‘wasm-unsafe-eval’)'
        : text;
      fail(new CannotStart(`The calculator could not start: ${why}.`));
    };
    /** @param {WebAssembly.Imports} imports @param {(instance: WebAssembly.Instance) => void} ready */
    const instantiateWasm = (imports, ready) => {
      WebAssembly.instantiate(bytes, imports).then(({ instance }) => ready(instance), refuse);
      return {};
    };
    factory({ instantiateWasm }).then(done, refuse);
  });
}
