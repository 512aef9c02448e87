// The core in a thread of its own: first its bytes, then one question at a time, in the order in which they come.
import { CannotStart, load_core, load_factory, start } from './core.mjs';
import { here } from './door.mjs';

const factory = load_factory();
/** @type {Promise<import('./door.mjs').Door> | null} */
let door = null;

addEventListener('message', async ({ data }) => {
  if (data.core) {
    door = factory.then(async (make) =>
      here(await start(make, data.core), () => load_core('full')),
    );
    door.then(() => postMessage({ ready: true }), refuse);
    return;
  }
  const { id, what, texts } = data;
  try {
    const ask = await door;
    if (ask) postMessage({ id, text: await ask(what, ...texts) });
  } catch (error) {
    postMessage({ id, error: String(error) });
  }
});

/** @param {unknown} error */
function refuse(error) {
  const known = error instanceof CannotStart;
  postMessage({ cannot: known ? error.message : `The calculator could not start: ${error}.` });
}
