// Without a network, and from one version to the next: the page's own files are kept whole, and never mixed.
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { write_worker } from '../../web/build/offline.mjs';
import { serve } from '../../web/serve.mjs';
import { alive, expect, test } from './support.mjs';

test.use({ serviceWorkers: 'allow' });
test.skip(({ browserName }) => browserName !== 'chromium', 'Playwright drives workers of Chromium');

const site = fileURLToPath(new URL('../../build/site/', import.meta.url));
const sum = (path) => createHash('sha256').update(readFileSync(path)).digest('base64');

/** A copy of the site that a test may change, and a server for it. */
async function copy() {
  const folder = mkdtempSync(join(tmpdir(), 'memory-ledger-'));
  cpSync(site, folder, { recursive: true });
  const server = await serve(folder, { port: 0 });
  return {
    folder,
    address: `http://127.0.0.1:${server.address().port}/`,
    /** Another version: index.html says so, and the worker knows. */
    renew(word) {
      const path = join(folder, 'index.html');
      const html = readFileSync(path, 'utf8').replace(/<title>[^<]*/, `<title>${word}`);
      writeFileSync(path, html);
      const script = readFileSync(join(site, 'service-worker.js'), 'utf8');
      write_worker(folder, script.slice(script.indexOf('\n') + 1));
    },
    close() {
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Opens the page and waits until a version of it is kept. */
async function kept(page, address) {
  await page.goto(address);
  await alive(page);
  const state = () =>
    page.evaluate(async () => (await navigator.serviceWorker.getRegistration())?.active?.state);
  await expect.poll(state).toBe('activated');
}

test('once visited, page, explanation and documentation work without a server', async ({
  page,
}) => {
  const wrong = [];
  page.on('pageerror', (error) => wrong.push(String(error)));
  const { address, close } = await copy();
  await kept(page, address);
  close();
  await page.goto(`${address}#model=Qwen/Qwen3-1.7B`);
  await page.reload();
  await alive(page);
  await expect(page.locator('.word[data-word=model]')).toHaveText('Qwen3-1.7B');
  // The module that explains messages had not been loaded before.
  await page.getByText('Explain an out-of-memory message').click();
  await page.locator('#message textarea').fill('CUDA out of memory. Tried to allocate 1.16 GiB.');
  await expect(page.locator('#message')).toContainText('1.16 GiB');
  await page.goto(`${address}docs/reading.html`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('How to read the ledger');
  expect(wrong).toEqual([]);
});

test('a newer version waits until it is asked for, and then comes whole', async ({ page }) => {
  const { address, renew, close } = await copy();
  await kept(page, address);
  renew('The next version');
  await page.reload();
  await alive(page);
  await expect(page).toHaveTitle(/Memory Ledger/);
  await expect(page.locator('#newer')).toContainText('newer version');
  await page.locator('#newer button').click();
  await expect(page).toHaveTitle('The next version');
  await alive(page);
  await expect(page.locator('#newer')).toHaveCount(0);
  const caches_left = await page.evaluate(async () => (await caches.keys()).length);
  expect(caches_left).toBe(1);
  close();
});

test('a version of which a file is not right is not taken', async ({ page }) => {
  const { address, folder, renew, close } = await copy();
  await kept(page, address);
  const before = sum(join(folder, 'page.css'));
  renew('Half a version');
  // As where a server is still being filled: the list is new, a file is not what it says.
  writeFileSync(join(folder, 'page.css'), 'body { color: red }');
  const refused = page.evaluate(
    () =>
      new Promise((done) => {
        navigator.serviceWorker.ready.then((registration) => {
          registration.addEventListener('updatefound', () => {
            const { installing } = registration;
            installing.addEventListener('statechange', () => done(installing.state));
          });
          registration.update().catch(() => done('redundant'));
        });
      }),
  );
  expect(await refused).toBe('redundant');
  await page.reload();
  await alive(page);
  await expect(page).toHaveTitle(/Memory Ledger/);
  await expect(page.locator('#newer')).toHaveCount(0);
  const style = await page.evaluate(async () => {
    const body = await (await fetch('page.css')).arrayBuffer();
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', body));
    return btoa(String.fromCharCode(...digest));
  });
  expect(style).toBe(before);
  close();
});

test('the page can be installed: its manifest names pictures that are there', async ({
  page,
  request,
  baseURL,
}) => {
  await page.goto('/');
  const href = await page.locator('link[rel=manifest]').getAttribute('href');
  const manifest = await (await request.get(`${baseURL}/${href}`)).json();
  expect(manifest.display).toBe('standalone');
  for (const { src, sizes, type } of manifest.icons) {
    const answer = await request.get(`${baseURL}/${src}`);
    expect(answer.headers()['content-type']).toContain(type);
    if (type !== 'image/png') continue;
    const bytes = await answer.body();
    expect(`${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`).toBe(sizes);
  }
  const session = await page.context().newCDPSession(page);
  const { installabilityErrors } = await session.send('Page.getInstallabilityErrors');
  expect(
    installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== 'in-incognito'), // as every context of a test is
  ).toEqual([]);
});
