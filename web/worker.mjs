// The core in a thread of its own: first its bytes, then one question at a time, in the order in which they come.
import { CannotStart, load_factory, start } from './core.mjs';
import { answer } from './door.mjs';

const factory = load_factory();
/** @type {Promise<import('./types.mjs').Core> | null} */
let core = null;

addEventListener('message', async ({ data }) => {
  if (data.core) {
    core = factory.then((make) => start(make, data.core));
    core.then(() => postMessage({ ready: true }), refuse);
    return;
  }
  const { id, what, texts } = data;
  try {
    const known = await core;
    if (known) postMessage({ id, text: answer(known, what, texts) });
  } catch (error) {
    postMessage({ id, error: String(error) });
  }
});

/** @param {unknown} error */
function refuse(error) {
  const known = error instanceof CannotStart;
  postMessage({ cannot: known ? error.message : `The calculator could not start: ${error}.` });
}
