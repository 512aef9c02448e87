// A core that lies packed inside the script.
import { CannotStart, start } from './core.mjs';
import { here } from './door.mjs';
// @ts-ignore: made by the build
import { wasm } from './embedded.mjs';
// @ts-ignore: made by the build
import { default as factory } from './ledger.mjs';

/** @param {string} text base64 */
export const bytes_of = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

export async function unpack() {
  if (!('DecompressionStream' in globalThis)) {
    throw new CannotStart(
      'This browser cannot unpack the calculator (it has no DecompressionStream).',
    );
  }
  const stream = new Blob([bytes_of(wasm)]).stream().pipeThrough(new DecompressionStream('gzip'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return here(await start(factory, bytes));
}
