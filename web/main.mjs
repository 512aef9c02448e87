// The site's entry: the core lies beside the page and lives in a worker, or here where there can be none.
import { begin } from './begin.mjs';
import { CannotStart, load_bytes, load_core } from './core.mjs';
import { afar, here } from './door.mjs';

/** The worker's address, in the form that a page with Trusted Types asks for. @returns {string} */
function worker_address() {
  const address = new URL('./worker.mjs', import.meta.url).href;
  const types = /** @type {any} */ (globalThis).trustedTypes;
  return types
    ? types.createPolicy('memory-ledger', { createScriptURL: () => address }).createScriptURL('')
    : address;
}

async function open() {
  try {
    return await afar(new Worker(worker_address(), { type: 'module' }), load_bytes());
  } catch (error) {
    if (error instanceof CannotStart) throw error;
    return here(await load_core(), () => load_core('full'));
  }
}

void begin(open());
