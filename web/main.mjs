// The site's entry: the core lies beside the page and lives in a worker, or here where there can be none.
import { begin } from './begin.mjs';
import { CannotStart, load_bytes, load_core } from './core.mjs';
import { afar, here } from './door.mjs';
import { keep } from './offline.mjs';

/** A script's address, in the form that a page with Trusted Types asks for. @type {(file: string) => string} */
const address = (() => {
  const of = (/** @type {string} */ file) => new URL(file, import.meta.url).href;
  const types = /** @type {any} */ (globalThis).trustedTypes;
  if (!types) return of;
  const policy = types.createPolicy('memory-ledger', { createScriptURL: of });
  return (/** @type {string} */ file) => policy.createScriptURL(file);
})();

async function open() {
  try {
    return await afar(new Worker(address('worker.mjs'), { type: 'module' }), load_bytes());
  } catch (error) {
    if (error instanceof CannotStart) throw error;
    return here(await load_core(), () => load_core('full'));
  }
}

void begin(open()).then(() => keep(address));
