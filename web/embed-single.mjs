// The element with the core inside, as a classic script: for pages that cannot load modules, or may load nothing else.
import { define } from './element.mjs';
import { unpack } from './unpack.mjs';

define(unpack);
