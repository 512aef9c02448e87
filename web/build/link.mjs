// Links ES modules into one script: fewer and smaller files for the site, a classic script for the page that is a single
// file. It knows the forms of import and export that web/ uses, and says which line it does not know.

/** @typedef {{name: string, text: string}} Module */

const kImport = /^import\s+(?:\{([^}]*)\}|\*\s+as\s+(\w+))\s+from\s+'\.\/([\w.-]+)';$/gm;
const kExport = /^export\s+((?:async\s+)?function|const|class)\s+(\w+)/gm;
const kDefault = /export\s*(?:default\s+(\w+)|\{\s*(\w+)\s+as\s+default\s*\})\s*;?/;

/** The modules that a module imports. @param {string} text @returns {string[]} */
export const imports_of = (text) => [...text.matchAll(kImport)].map(([, , , name]) => name);

/** One module as a function that returns its exports. @param {Module} module */
function wrap({ name, text }) {
  /** @type {string[]} */
  const given = [];
  const body = text
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

/** Every module after those that it imports.
 * @param {string} entry @param {(name: string) => string} read the text of a module @returns {Module[]} */
export function in_order(entry, read) {
  /** @type {Map<string, Module>} */
  const done = new Map();
  /** @param {string} name @param {string[]} above */
  const visit = (name, above) => {
    if (done.has(name)) return;
    if (above.includes(name))
      throw new Error(`modules in a circle: ${[...above, name].join(' → ')}`);
    const text = read(name);
    for (const wanted of imports_of(text)) visit(wanted, [...above, name]);
    done.set(name, { name, text });
  };
  visit(entry, []);
  return [...done.values()];
}

/** One script, to be run as a module. @param {string} entry @param {(name: string) => string} read */
export const link = (entry, read) =>
  `(() => {\n'use strict';\nconst modules = {};\n${in_order(entry, read).map(wrap).join('')}})();\n`;

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
