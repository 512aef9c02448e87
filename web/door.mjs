// The way to the core: questions and answers as text, in a worker where there can be one, so that the page never waits.
import { CannotStart } from './core.mjs';

/** What can be asked: the functions of wasm/bindings.cpp. @typedef {keyof import('./types.mjs').Core} Question */

/** The core, asked from afar. @typedef {(what: Question, ...texts: string[]) => Promise<string>} Door */

/** A core in this thread. @param {import('./types.mjs').Core} core @returns {Door} */
export const here =
  (core) =>
  async (what, ...texts) =>
    answer(core, what, texts);

/** @param {import('./types.mjs').Core} core @param {Question} what @param {string[]} texts @returns {string} */
export const answer = (core, what, texts) =>
  /** @type {(...texts: string[]) => string} */ (core[what])(...texts);

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
