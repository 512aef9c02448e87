// What the browser tests share: a page that is watched while it is used.
import AxeBuilder from '@axe-core/playwright';
import { test as base, expect } from '@playwright/test';

export { expect };

/** Where the page is the single file, opened from disk. */
export const kSingle = new URL('../../build/site/memory-ledger.html', import.meta.url).href;

// `ledger` opens the page and waits until its core runs. At the end of a test nothing may have gone wrong unseen: no error
// on the console, no violation of the content policy, no request to another origin.
export const test = base.extend({
  quiet: [true, { option: true }],
  ledger: async ({ page, baseURL, quiet }, use) => {
    const wrong = [];
    const asked = [];
    page.on('console', (message) => {
      // playwright.config.mjs has service workers refused, and Playwright says so.
      if (message.text().startsWith('Service Worker registration blocked')) return;
      if (['error', 'warning'].includes(message.type())) wrong.push(message.text());
    });
    page.on('pageerror', (error) => wrong.push(String(error)));
    page.on('request', (request) => asked.push(request.url()));
    await page.addInitScript(() => {
      addEventListener('securitypolicyviolation', (event) =>
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`),
      );
    });
    const open = async (hash = '') => {
      await page.goto(`/${hash}`);
      await alive(page);
      return page;
    };
    await use(open);
    if (quiet) expect(wrong).toEqual([]);
    for (const url of asked)
      expect(url.startsWith(baseURL) || url.startsWith('blob:') || url.startsWith('data:')).toBe(
        true,
      );
  },
});

/** Waits until the page's core runs. */
export const alive = (page) => expect(page.locator('html.alive')).toHaveCount(1);

/** The bytes behind a size on the page. */
export const bytes = async (locator) => Number(await locator.getAttribute('value'));

/** What axe finds in the page, or in a place of it, a line each. */
export async function findings(page, place) {
  const axe = new AxeBuilder({ page }).options({ resultTypes: ['violations'] });
  if (place) axe.include(place);
  const { violations } = await axe.analyze();
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
  );
}
