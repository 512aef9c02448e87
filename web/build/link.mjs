// Links ES modules into one script: fewer and smaller files for the site, a classic script for the page that is a single
// file. It knows the forms of import and export that web/ uses, and says which line it does not know.

/** @typedef {{name: string, text: string}} Module */

const kImport = /^import\s+(?:\{([^}]*)\}|\*\s+as\s+(\w+))\s+from\s+'\.\/([\w.-]+)';$/gm;
const kExport = /^export\s+((?:async\s+)?function|const|class)\s+(\w+)/gm;
// A module that is loaded once it is asked for. Types are imported without `await`.
const kLater = /\bawait import\('\.\/([\w.-]+)'\)/g;
const kDefault = /export\s*(?:default\s+(\w+)|\{\s*(\w+)\s+as\s+default\s*\})\s*;?/;

/** The modules that a module imports. @param {string} text @returns {string[]} */
export const imports_of = (text) => [...text.matchAll(kImport)].map(([, , , name]) => name);

/** The modules that a module loads later. @param {string} text @returns {string[]} */
const later_of = (text) => [...text.matchAll(kLater)].map(([, name]) => name);

/** One module as a function that returns its exports.
 * @param {Module} module @param {(name: string) => string} later the code that loads a module later */
function wrap({ name, text }, later) {
  /** @type {string[]} */
  const given = [];
  const body = text
    .replace(kLater, (_, wanted) => later(wanted))
    .replace(kImport, (_, list, all, from) =>
      all
        ? `const ${all} = modules['${from}'];`
        : `const {${list.replace(/(\w+)\s+as\s+(\w+)/g, '$1: $2')}} = modules['${from}'];`,
    )
    .replace(kExport, (_, kind, exported) => {
      given.push(exported);
      return `${kind} ${exported}`;
    })
    .replace(kDefault, (_, plain, listed) => {
      given.push(`default: ${plain ?? listed}`);
      return '';
    })
    .replace(/^export \{\};$/m, '');
  const left = body.match(/^(?:import|export)\b[^(].*$/m);
  if (left) throw new Error(`${name}: the linker does not know “${left[0]}”`);
  return `modules['${name}'] = (() => {\n${body}\nreturn {${given.join(', ')}};\n})();\n`;
}

/** Every module after those that it imports, but for those that are there already.
 * @param {string[]} entries @param {(name: string) => string} read the text of a module
 * @param {Module[]} [there] @returns {Module[]} */
export function in_order(entries, read, there = []) {
  const known = new Set(there.map(({ name }) => name));
  /** @type {Map<string, Module>} */
  const done = new Map();
  /** @param {string} name @param {string[]} above */
  const visit = (name, above) => {
    if (done.has(name) || known.has(name)) return;
    if (above.includes(name))
      throw new Error(`modules in a circle: ${[...above, name].join(' → ')}`);
    const text = read(name);
    for (const wanted of imports_of(text)) visit(wanted, [...above, name]);
    done.set(name, { name, text });
  };
  for (const entry of entries) visit(entry, []);
  return [...done.values()];
}

/** @param {Module[]} modules @param {(name: string) => string} later */
const script = (modules, later) =>
  `(() => {\n'use strict';\nconst modules = {};\n${modules.map((one) => wrap(one, later)).join('')}})();\n`;

/** One script with everything inside, also what is asked for later; to be run as a module.
 * @param {string} entry @param {(name: string) => string} read */
export function link(entry, read) {
  let modules = in_order([entry], read);
  for (let before = -1; before !== modules.length;) {
    before = modules.length;
    const wanted = modules.flatMap(({ text }) => later_of(text));
    modules = [...modules, ...in_order(wanted, read, modules)];
  }
  // The entry runs last, when all that it may ask for is there.
  const last = modules.findIndex(({ name }) => name === entry);
  modules.push(...modules.splice(last, 1));
  return script(modules, (name) => `modules['${name}']`);
}

/** The same in pieces: one script of what is needed at once, and one of each module that is asked for later, with those
 * that only it needs. A piece is a module whose `fill` adds them to the first script's and returns the one asked for.
 * @param {string} entry @param {(name: string) => string} read @returns {{[name: string]: string}} */
export function link_pieces(entry, read) {
  const later = (/** @type {string} */ name) => `(await import('./${name}')).fill(modules)`;
  const first = in_order([entry], read);
  /** @type {{[name: string]: string}} */
  const pieces = { [entry]: script(first, later) };
  const wanted = first.flatMap(({ text }) => later_of(text));
  for (let name = wanted.shift(); name !== undefined; name = wanted.shift()) {
    if (name in pieces) continue;
    const own = in_order([name], read, first);
    wanted.push(...own.flatMap(({ text }) => later_of(text)));
    pieces[name] =
      `export const fill = (modules) => {\n${own.map((one) => `modules['${one.name}'] || (${wrap(one, later).replace(/;\n$/, '')});\n`).join('')}return modules['${name}'];\n};\n`;
  }
  return pieces;
}

/** One script, to be run as a classic one. @param {string} entry @param {(name: string) => string} read */
export const link_classic = (entry, read) =>
  link(entry, read).replaceAll('import.meta.url', 'document.baseURI');

/** A module without its comments, which stand on lines of their own or before a cast.
 * @param {string} text */
export const without_comments = (text) =>
  text
    .replace(/^[ \t]*\/\*\*?(?:[^*]|\*(?!\/))*\*\/[ \t]*\n/gm, '')
    .replace(/^[ \t]*\/\/.*\n/gm, '')
    .replace(/\/\*\* @type(?:[^*]|\*(?!\/))*\*\/ /g, '');
