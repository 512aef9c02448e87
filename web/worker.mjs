// The core in a thread of its own: first its bytes, then one question at a time, in the order in which they come.
import { CannotStart, load_factory, start } from './core.mjs';

const factory = load_factory();
/** @type {Promise<import('./types.mjs').Core> | null} */
let core = null;

addEventListener('message', async ({ data }) => {
  if (data.core) {
    core = factory.then((make) => start(make, data.core));
    core.then(() => postMessage({ ready: true }), refuse);
    return;
  }
  const { id, what, text } = data;
  try {
    const known = await core;
    postMessage({ id, text: what === 'catalog' ? known?.catalog() : known?.estimate(text) });
  } catch (error) {
    postMessage({ id, error: String(error) });
  }
});

/** @param {unknown} error */
function refuse(error) {
  const known = error instanceof CannotStart;
  postMessage({ cannot: known ? error.message : `The calculator could not start: ${error}.` });
}
