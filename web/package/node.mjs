// The package under Node.js: the bytes lie beside this file.
import { readFile } from 'node:fs/promises';
import { functions } from './functions.mjs';

export const { estimate, catalog, explain, compare } = functions(async (name) => {
  const [script, bytes] = await Promise.all([
    name === 'full' ? import('./full.mjs') : import('./ledger.mjs'),
    readFile(new URL(`./${name}.wasm`, import.meta.url)),
  ]);
  return [script.default, bytes];
});
