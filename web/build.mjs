// Makes the site and the single-file page:  node web/build.mjs build/wasm build/site
// The first screen is written into the HTML by the page's own views over the same core, so that it is there at once and
// the page's script replaces it without a visible change.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { dirname, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { pages, sources } from './build/docs.mjs';
import { link, link_classic, link_pieces, without_comments } from './build/link.mjs';
import { manifest, write_worker } from './build/offline.mjs';
import { paper } from './build/paper.mjs';
import { yaml_module } from './build/yaml.mjs';

const web = fileURLToPath(new URL('.', import.meta.url));
const [wasm = 'build/wasm', site = 'build/site'] = process.argv
  .slice(2)
  .map((path) => resolve(path));
const read = (path) => readFileSync(join(web, path), 'utf8');
const kStyles = ['base', 'scenario', 'answer', 'views', 'ledger'];
const kFont = 'fonts/memory-ledger-math.woff2';

globalThis.document = paper;
const { start } = await import('./core.mjs');
const { default: factory } = await import(pathToFileURL(join(wasm, 'ledger.mjs')).href);
const wasm_bytes = readFileSync(join(wasm, 'ledger.wasm'));
const core = await start(factory, wasm_bytes);

// --- The first screen ---

const { controls } = await import('./controls.mjs');
const { cost_of } = await import('./costs.mjs');
const { numbers } = await import('./number.mjs');
const { kLater, kPlaces } = await import('./page.mjs');
const { change, complete, kFirst } = await import('./scenario.mjs');
const { fresh_ui } = await import('./view.mjs');

const catalog = JSON.parse(core.catalog());
const report = JSON.parse(core.estimate(JSON.stringify(kFirst)));
if (!report.peak)
  throw new Error(`the first visit’s scenario has problems: ${JSON.stringify(report)}`);
const n = numbers('en');
const view = {
  catalog,
  n,
  controls: controls(catalog, n),
  scenario: kFirst,
  full: complete(catalog.defaults, kFirst, catalog.defaults_within),
  report,
  moment: null,
  problems: [],
  cost: (patch) => cost_of(core.estimate(JSON.stringify(change(catalog, kFirst, patch)))),
  ui: fresh_ui(),
};
const outside = {
  reports: () => ({}),
  address: () => '#',
  again: () => {},
  estimate: async () => ({ problems: [] }),
};
const versions = Object.entries(catalog.versions).map(([name, version]) => `${name} ${version}`);

// Replaces what must be there.
function put(html, place, text) {
  if (!html.includes(place)) throw new Error(`index.html has no ${place}`);
  return html.replace(place, () => text);
}

// The documentation needs a development package, which the page does without.
const { Marked } = await import('marked').catch(() => ({ Marked: null }));
if (!Marked)
  console.warn('The package marked is not installed: the page comes without its documentation.');

/** index.html with its places filled. @param {boolean} alone the page is one file, with nothing beside it */
function page(alone) {
  let html = read('index.html');
  for (const [id, fill] of Object.entries(kPlaces)) {
    if (kLater.includes(id)) continue;
    const nodes = fill(view, outside).filter(Boolean).join('');
    html = put(html, `<!--place:${id}-->`, nodes);
  }
  const about = Marked && !alone;
  const foot = [
    `Memory Ledger ${catalog.version}. It holds for ${versions.join(', ')}. Nothing leaves this machine`,
    alone
      ? '.'
      : '; <a href="memory-ledger.html" download>the whole page as one file</a> works without a network.',
    about
      ? ' <a href="docs/index.html">Documentation</a>: <a href="docs/accuracy.html">how accurate it is</a>, <a href="docs/embedding.html">how to embed it</a>.'
      : '',
  ];
  html = put(html, '<!--docs-->', about ? '<a href="docs/reading.html">How to read it</a>' : '');
  return put(html, '<!--footer-->', foot.join(''));
}

const html = page(false);
const style = kStyles.map((name) => read(`style/${name}.css`)).join('\n');

// --- The site: one script for the page and one for its worker, small ---

rmSync(site, { recursive: true, force: true });
mkdirSync(join(site, 'fonts'), { recursive: true });
const yaml = yaml_module();
const local = (name) =>
  name === 'ledger.mjs'
    ? readFileSync(join(wasm, name), 'utf8')
    : name === 'js-yaml.mjs'
      ? yaml
      : read(name);

// Text through esbuild, or null where there is none. `kind` is js or css.
function smaller(text, kind) {
  try {
    const options = ['--minify', '--charset=utf8', `--loader=${kind}`];
    return execFileSync('esbuild', options, {
      input: text,
      maxBuffer: 1 << 28,
      stdio: ['pipe', 'pipe', 'pipe'],
    }).toString();
  } catch (error) {
    if (error.code !== 'ENOENT') throw new Error(`esbuild: ${error.stderr}`);
    return null;
  }
}
const write_script = (name, text) =>
  writeFileSync(join(site, name), smaller(text, 'js') ?? without_comments(text));
const small_css = (path) => smaller(read(path), 'css') ?? read(path);
const with_styles = (name) =>
  name === 'workshop.style.mjs'
    ? `export const style = ${JSON.stringify(small_css('style/workshop.css'))};\n`
    : local(name);
for (const [name, text] of Object.entries(link_pieces('main.mjs', with_styles)))
  write_script(name, text);
write_script('worker.mjs', link('worker.mjs', local));
for (const name of ['ledger.mjs', 'ledger.wasm', 'full.mjs', 'full.wasm'])
  cpSync(join(wasm, name), join(site, name));
for (const name of [kFont, 'fonts/GUST-FONT-LICENSE.txt'])
  cpSync(join(web, name), join(site, name));
for (const name of ['icon.svg', 'icons'])
  cpSync(join(web, name), join(site, name), { recursive: true });
writeFileSync(join(site, 'manifest.webmanifest'), JSON.stringify(manifest));
const small_style = smaller(style, 'css') ?? style;
writeFileSync(join(site, 'page.css'), small_style);
writeFileSync(join(site, 'index.html'), html);

// --- The element for other people's pages ---

/** The page's style for a shadow root: sizes in a unit of the element's own, since a page may change its rem; widths are
 * the element's; colours follow the page around it. */
function style_of_element() {
  const units = style
    .replace(/@font-face\s*\{[^}]*\}/, '')
    .replace(
      /@media \((max|min)-width: ([\d.]+)rem\)/g,
      (_, end, rem) => `@container (${end}-width: ${16 * rem}px)`,
    )
    .replace(
      /@media screen and \(prefers-color-scheme: dark\) \{\s*:root \{([^}]*)\}\s*\}/,
      ":host([data-theme='dark']) {$1}",
    )
    .replace(/\bhtml \{[^}]*\}/g, '')
    .replace(/(^|\n)body \{[^}]*\}/, '')
    .replaceAll(':root', ':host')
    .replaceAll('color-scheme: light dark;', '')
    .replace(/(?<![\w.-])(-?[\d.]+)rem\b/g, 'calc(var(--ledger-unit, 16px) * $1)');
  const own = `
:host { display: block; container-type: inline-size; color: var(--ink); font: var(--ledger-unit, 16px)/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums; }
:host([hidden]) { display: none; }
.embedded > section + section { margin-top: calc(var(--ledger-unit, 16px) * 1.6); }
.embedded.stale > section { opacity: 0.6; }
`;
  return smaller(units + own, 'css') ?? units + own;
}
const style_module = `export const style = ${JSON.stringify(style_of_element())};\n`;
const packed = gzipSync(wasm_bytes, { level: 9 }).toString('base64');
const embedded = `export const wasm = '${packed}';\nexport const font = '${readFileSync(join(web, kFont)).toString('base64')}';\n`;
const made = { 'element.style.mjs': style_module, 'embedded.mjs': embedded };
const all = (name) => made[name] ?? with_styles(name);
// What an element has no view for is left out of it: its exports are there, and empty.
const kPageOnly = [
  'compare.mjs',
  'share.mjs',
  'pairs.mjs',
  'trail.mjs',
  'paste.mjs',
  'given.mjs',
  'yaml.mjs',
];
const emptied = (text) =>
  [...text.matchAll(/^export (?:async )?(?:function|const) (\w+)/gm)]
    .map(([, name]) => `export const ${name} = undefined;\n`)
    .join('');
const of_element = (name) => (kPageOnly.includes(name) ? emptied(local(name)) : all(name));
write_script('memory-ledger.js', link('embed.mjs', of_element));
write_script(
  'memory-ledger.single.js',
  link_classic('embed-single.mjs', (name) =>
    name === 'embedded.mjs' ? `export const wasm = '${packed}';\n` : of_element(name),
  ),
);
for (const name of ['frame.js', 'parent.js']) write_script(name, read(name));
writeFileSync(join(site, 'embed.html'), read('embed.html'));
writeFileSync(
  join(site, 'embed.css'),
  smaller(read('style/embed.css'), 'css') ?? read('style/embed.css'),
);

// --- The single file: a classic script with everything inside, for file:// and for mail ---

// It holds the full core: it cannot load anything later.
const packed_full = gzipSync(readFileSync(join(wasm, 'full.wasm')), { level: 9 }).toString(
  'base64',
);
const linked = link_classic('single.mjs', (name) => {
  if (name === 'ledger.mjs') return readFileSync(join(wasm, 'full.mjs'), 'utf8');
  return all(name).replace(packed, packed_full);
});
const script = (smaller(linked, 'js') ?? linked).replaceAll('</script', '<\\/script');
const plain_style = small_style.replace(/@font-face\s*\{[^}]*\}/, '');
const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)} 'wasm-unsafe-eval'`,
  `style-src ${hash(plain_style)}`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');
const icon = `data:image/svg+xml;base64,${Buffer.from(read('icon.svg')).toString('base64')}`;
const meta = `<meta charset="utf-8" />`;
const changes = [
  [meta, `${meta}\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`],
  ['href="icon.svg"', `href="${icon}"`],
  ['<link rel="apple-touch-icon" href="icons/192.png" />', ''],
  ['<link rel="manifest" href="manifest.webmanifest" />', ''],
  ['<link rel="stylesheet" href="page.css" />', `<style>${plain_style}</style>`],
  ['<script type="module" src="main.mjs"></script>', ''],
  ['</body>', `<script>${script}</script>\n  </body>`],
];
writeFileSync(
  join(site, 'memory-ledger.html'),
  changes.reduce((text, [place, with_this]) => put(text, place, with_this), page(true)),
);

// --- The documentation, and what keeps all of it for use without a network ---

if (Marked) {
  const folder = join(web, '../docs');
  for (const { path, html } of pages(sources(folder), Marked, catalog.version)) {
    mkdirSync(dirname(join(site, 'docs', path)), { recursive: true });
    writeFileSync(join(site, 'docs', path), html);
  }
  const style = read('style/docs.css');
  writeFileSync(join(site, 'docs/docs.css'), smaller(style, 'css') ?? style);
}
write_worker(site, smaller(read('service-worker.js'), 'js') ?? read('service-worker.js'));
