// The single-file page's entry: core and font are inside, packed.
import { begin } from './begin.mjs';
// @ts-ignore: made by the build
import { font } from './embedded.mjs';
import { bytes_of, unpack } from './unpack.mjs';

const face = new FontFace('Memory Ledger Math', bytes_of(font));
document.fonts.add(face);
void face.load().catch(() => {});
void begin(unpack());
