// The npm package's module in a page of somebody else's, under a strict policy, without a bundler.
import { fileURLToPath } from 'node:url';
import { expect, test } from './support.mjs';

const place = fileURLToPath(new URL('../../build/package/', import.meta.url));

test('the package’s module answers in a browser', async ({ page }) => {
  const own = `import { estimate, explain } from '/package/browser.mjs';
    const report = await estimate({ model: 'Qwen/Qwen3-0.6B', card: 'RTX 4090' });
    const { known } = await explain('CUDA out of memory. Tried to allocate 1.16 GiB.');
    document.title = report.verdict.fits + ' ' + known;`;
  await page.route('**/package/*', (route) =>
    route.fulfill({ path: place + new URL(route.request().url()).pathname.split('/').pop() }),
  );
  await page.route('**/own.mjs', (route) =>
    route.fulfill({ body: own, contentType: 'text/javascript' }),
  );
  await page.route('**/somebody.html', (route) =>
    route.fulfill({
      body: '<!doctype html><title>A page</title><script type="module" src="/own.mjs"></script>',
      headers: {
        'content-type': 'text/html',
        'content-security-policy':
          "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'",
      },
    }),
  );
  await page.goto('/somebody.html');
  await expect(page).toHaveTitle('yes true');
});
