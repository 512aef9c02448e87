// What makes the site installable and lets it work without a network: the manifest, and the service worker with the list of
// files that are one version.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Each holds everything itself, or is fetched by others only. */
const kApart =
  /^(memory-ledger\.html|memory-ledger\.single\.js|parent\.js|service-worker\.js)$|\.txt$/;

export const manifest = {
  name: 'Memory Ledger',
  short_name: 'Memory Ledger',
  description: 'How much GPU memory a training run needs, to the byte, and whether it fits a card.',
  lang: 'en',
  id: './',
  start_url: './',
  scope: './',
  display: 'standalone',
  background_color: '#fbfaf7',
  theme_color: '#fbfaf7',
  icons: [
    { src: 'icon.svg', sizes: 'any', type: 'image/svg+xml' },
    { src: 'icons/192.png', sizes: '192x192', type: 'image/png' },
    { src: 'icons/512.png', sizes: '512x512', type: 'image/png' },
    { src: 'icons/512-maskable.png', sizes: '512x512', type: 'image/png', purpose: 'maskable' },
  ],
};

/** The files of a site that are kept together, by path, with their sums. @param {string} site
 * @returns {{[path: string]: string}} */
export function files_of(site) {
  const names = readdirSync(site, { recursive: true })
    .map((name) => String(name).replaceAll('\\', '/'))
    .filter((name) => statSync(join(site, name)).isFile() && !kApart.test(name))
    .sort();
  return Object.fromEntries(
    names.map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(site, name)))
        .digest('base64'),
    ]),
  );
}

/** Writes the worker of a finished site. @param {string} site @param {string} script the worker's own text */
export function write_worker(site, script) {
  const files = files_of(site);
  const version = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 12);
  const head = `globalThis.kept = ${JSON.stringify({ version, files })};\n`;
  writeFileSync(join(site, 'service-worker.js'), head + script);
}
