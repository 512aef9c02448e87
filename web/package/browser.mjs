// The package in a browser or a bundler: the bytes are fetched from beside this file. The addresses are written out, since
// that is the form in which bundlers (Vite, webpack, Rollup's plugin) find a file and bring it along.
import { functions } from './functions.mjs';

/** @param {URL} address */
async function bytes(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address.pathname}: the server answered ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}

export const { estimate, catalog, explain, compare } = functions(async (name) => {
  const [script, wasm] = await Promise.all(
    name === 'full'
      ? [import('./full.mjs'), bytes(new URL('./full.wasm', import.meta.url))]
      : [import('./ledger.mjs'), bytes(new URL('./ledger.wasm', import.meta.url))],
  );
  return [script.default, wasm];
});
