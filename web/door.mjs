// The way to the core: questions and answers as text, in a worker where there can be one, so that the page never waits.
import { CannotStart } from './core.mjs';

/** @typedef {import('./types.mjs').Core} Core */
/** What can be asked: the functions of wasm/bindings.cpp. @typedef {keyof Core} Question */

/** The core, asked from afar. @typedef {(what: Question, ...texts: string[]) => Promise<string>} Door */

/** A core in this thread; what it cannot answer, the full one is loaded for.
 * @param {Core} core @param {() => Promise<Core>} [load_full] @returns {Door} */
export function here(core, load_full = async () => core) {
  /** @type {Promise<Core> | null} */
  let full = null;
  return async (what, ...texts) => {
    const one = what in core ? core : await (full ??= load_full());
    return /** @type {(...texts: string[]) => string} */ (one[what])(...texts);
  };
}

/** A core in a worker of its own.
 * @param {Worker} worker @param {Promise<Uint8Array<ArrayBuffer>>} bytes the compiled core, given away @returns {Promise<Door>} */
export function afar(worker, bytes) {
  /** @type {Map<number, {done: (text: string) => void, fail: (error: Error) => void}>} */
  const waiting = new Map();
  let count = 0;
  /** @type {Door} */
  const ask = (what, ...texts) =>
    new Promise((done, fail) => {
      waiting.set(++count, { done, fail });
      worker.postMessage({ id: count, what, texts });
    });
  return new Promise((done, fail) => {
    bytes.then((core) => worker.postMessage({ core }, [core.buffer]), fail);
    worker.addEventListener('error', () => fail(new Error('the worker could not be started')));
    worker.addEventListener('message', ({ data }) => {
      if (data.ready) {
        done(ask);
      } else if (data.cannot !== undefined) fail(new CannotStart(data.cannot));
      else {
        const asker = waiting.get(data.id);
        waiting.delete(data.id);
        if (data.error === undefined) asker?.done(data.text);
        else asker?.fail(new Error(data.error));
      }
    });
  });
}
