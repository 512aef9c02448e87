// The package with its bytes inside, for bundlers that bring no other files along: one module serves both names.
import { wasm } from './embedded.mjs';
import factory from './full.mjs';
import { functions } from './functions.mjs';

/** @type {Promise<Uint8Array> | null} */
let bytes = null;
async function unpack() {
  const packed = Uint8Array.from(atob(wasm), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export const { estimate, catalog, explain, compare } = functions(async () => [
  factory,
  await (bytes ??= unpack()),
]);
