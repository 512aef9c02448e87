// The element for other people's pages, with the core beside it: <script type="module" src="memory-ledger.js">.
import { load_core } from './core.mjs';
import { here } from './door.mjs';
import { define } from './element.mjs';

define(async () => here(await load_core()));
