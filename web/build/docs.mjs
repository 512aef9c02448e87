// The documentation as pages beside the page: docs/*.md, one HTML file each, without a script.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path/posix';

/** What stands first in the list at the side, in this order; what is not named here follows. */
const kFirst = ['index', 'reading', 'importing', 'workshop', 'accuracy', 'contract', 'embedding'];
/** Pages' own policy, for servers that send none: nothing but the style, pictures and fonts beside them. */
const kPolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'";

/** @typedef {{name: string, title: string, text: string}} Source `name` is the path without its ending */

/** @param {string} folder @returns {Source[]} */
export function sources(folder) {
  const place = (/** @type {string} */ name) =>
    (kFirst.indexOf(name) + 1 || kFirst.length + 1) + (name.includes('/') ? 100 : 0);
  return readdirSync(folder, { recursive: true })
    .map((path) => String(path).replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.md'))
    .map((path) => {
      const text = readFileSync(join(folder, path), 'utf8');
      return {
        name: path.slice(0, -3),
        title: (text.match(/^# (.+)$/m)?.[1] ?? path).trim(),
        text,
      };
    })
    .sort((a, b) => place(a.name) - place(b.name) || (a.name < b.name ? -1 : 1));
}

/** The id of a heading, as GitHub makes it, so that a link holds in both places. @param {string} heading */
export const anchor = (heading) =>
  heading
    .toLowerCase()
    .replace(/<[^>]*>/g, '')
    .replace(/&\w+;/g, '')
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

/** @param {string} text */
const escape = (text) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');

/** Markdown to HTML: headings can be linked to, wide tables scroll on their own, HTML in it stays text.
 * @param {typeof import('marked').Marked} Marked */
function renderer(Marked) {
  const marked = new Marked({ gfm: true });
  /** @type {Map<string, number>} */
  let seen = new Map();
  let tables = 0;
  marked.use({
    renderer: {
      heading({ tokens, depth }) {
        const html = this.parser.parseInline(tokens);
        const plain = anchor(html);
        const count = seen.get(plain) ?? 0;
        seen.set(plain, count + 1);
        const id = count ? `${plain}-${count}` : plain;
        return `<h${depth} id="${id}">${html}</h${depth}>\n`;
      },
      table({ header, rows }) {
        const cell = (/** @type {any} */ { text, tokens }, /** @type {string} */ tag) => {
          const scope = tag === 'th' ? ' scope="col"' : '';
          // Figures and names stay whole; sentences wrap.
          const whole = tag === 'td' && text.length < 20 ? ' class="whole"' : '';
          return `<${tag}${scope}${whole}>${this.parser.parseInline(tokens)}</${tag}>`;
        };
        const head = header.map((one) => cell(one, one.text === '' ? 'td' : 'th')).join('');
        const body = rows.map((row) => `<tr>${row.map((one) => cell(one, 'td')).join('')}</tr>`);
        const heads = header.map(({ text }) => text).filter(Boolean);
        const name = escape(`Table ${++tables}: ${inline(heads.join(', '))}`);
        return `<div class="scroll" tabindex="0" role="region" aria-label="${name}"><table><thead><tr>${head}</tr></thead><tbody>\n${body.join('\n')}\n</tbody></table></div>\n`;
      },
      code: ({ text }) => `<pre tabindex="0"><code>${escape(text)}</code></pre>\n`,
      link({ href, tokens }) {
        const to = /^[a-z]+:/.test(href) ? href : href.replace(/\.md(?=#|$)/, '.html');
        return `<a href="${escape(to)}">${this.parser.parseInline(tokens)}</a>`;
      },
      html: ({ text }) => (text.trimStart().startsWith('<!--') ? '' : escape(text)),
    },
  });
  return (/** @type {string} */ text) => {
    seen = new Map();
    tables = 0;
    return String(marked.parse(text));
  };
}

/** "Rules: the caching allocator and the card" is called "The caching allocator and the card" in the list of rules.
 * @param {string} title */
const short = (title) => {
  const plain = title.replace(/^Rules(:| of)( the)? /, '').replace(/^Memory Ledger: /, '');
  return plain[0].toUpperCase() + plain.slice(1);
};

/** Every page by its path. @param {Source[]} all @param {typeof import('marked').Marked} Marked
 * @param {string} version @returns {{path: string, html: string}[]} */
export function pages(all, Marked, version) {
  const html_of = renderer(Marked);
  return all.map(({ name, title, text }) => {
    const here = dirname(name);
    const up = here === '.' ? '../' : '../../';
    const to = (/** @type {string} */ path) => relative(here, path) || path;
    const item = (/** @type {Source} */ row) =>
      `<li><a href="${to(`${row.name}.html`)}"${row.name === name ? ' aria-current="page"' : ''}>${escape(inline(short(row.title)))}</a></li>`;
    const rules = all.filter((row) => row.name.startsWith('rules/'));
    const rest = all.filter((row) => !row.name.startsWith('rules/'));
    return {
      path: `${name}.html`,
      html: `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${kPolicy}" />
    <title>${escape(inline(title))}${name === 'index' ? '' : ' · Memory Ledger'}</title>
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="description" content="${escape(first_sentence(text))}" />
    <meta name="color-scheme" content="light dark" />
    <link rel="icon" href="${up}icon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="${up}page.css" />
    <link rel="stylesheet" href="${to('docs.css')}" />
  </head>
  <body class="docs">
    <a class="skip" href="#text">Skip to the text</a>
    <header>
      <p class="name"><a href="${up}">Memory Ledger</a></p>
      <p>what a training run will hold, and when</p>
    </header>
    <div class="sides">
      <nav aria-label="Documentation">
        <ul>${rest.map(item).join('')}</ul>
        <p id="rules-title">Rules</p>
        <ul aria-labelledby="rules-title">${rules.map(item).join('')}</ul>
      </nav>
      <main id="text" tabindex="-1">
${html_of(text)}
      </main>
    </div>
    <footer>Memory Ledger ${escape(version)}. <a href="${up}">To the page</a></footer>
  </body>
</html>
`,
    };
  });
}

/** @param {string} text without its marks */
const inline = (text) => text.replace(/[`*]/g, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');

/** @param {string} text the first sentence after the title */
const first_sentence = (text) =>
  inline(
    text
      .replace(/^# .*$|<!--[^]*?-->/gm, '')
      .trim()
      .split('\n\n')[0]
      .replaceAll('\n', ' '),
  ).split(/(?<=[.:])\s/)[0];
