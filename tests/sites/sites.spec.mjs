// The element in real sites: it answers on the first page and on one that is reached by a link, once and for all elements.
import { readdirSync } from 'node:fs';
import { expect, test } from '@playwright/test';

const built = readdirSync(new URL('../../build/sites/out/', import.meta.url));
/** How each makes its pages dark; null where it does not. */
const kDark = {
  plain: null,
  mkdocs: (page) => page.locator('label[title=Dark]').click(),
  sphinx: (page) => page.locator('.theme-toggle:visible').first().click(),
  docusaurus: async (page) => {
    const scheme = page.locator('html');
    for (let turn = 0; turn < 3 && (await scheme.getAttribute('data-theme')) !== 'dark'; turn++)
      await page.getByRole('button', { name: /dark and light mode/ }).click();
  },
};

test('every kind of site has been built', () => {
  expect(built.sort()).toEqual(Object.keys(kDark).sort());
});

for (const [site, make_dark] of Object.entries(kDark)) {
  test(`${site}: several elements on a page share one core, and answer after a link too`, async ({
    page,
    baseURL,
  }) => {
    const asked = [];
    const wrong = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    page.on('pageerror', (error) => wrong.push(String(error)));
    // A site's map names the address for which it was built; here it is served from another port.
    await page.route('**/sitemap.xml', async (route) => {
      const answer = await route.fetch();
      const body = (await answer.text()).replaceAll('http://127.0.0.1:8000', baseURL);
      await route.fulfill({ response: answer, body });
    });
    await page.goto(`/${site}/`);
    await page.evaluate(() => (globalThis.same_document = true));
    await expect(page.locator('#first-run #verdict-sentence')).toContainText('It fits');
    await page.locator('#second-run').scrollIntoViewIfNeeded();
    await expect(page.locator('#second-run #ledger .sum')).toHaveCount(1);
    const cores = () => asked.filter((path) => path.endsWith('/ledger.wasm')).length;
    // A frame is a page of its own.
    expect(cores()).toBe(site === 'plain' ? 2 : 1);
    if (site === 'plain') {
      await expect(page.frameLocator('iframe').locator('#verdict-sentence')).toContainText('GiB');
      const height = () => page.locator('iframe').getAttribute('height').then(Number);
      await expect.poll(height).toBeGreaterThan(150);
    }

    // A reader's own change, in the host's page, by keyboard.
    await page.locator('#first-run .word[data-word=length]').focus();
    await page.keyboard.press('ArrowUp');
    await expect(page.locator('#first-run .word[data-word=length]')).toHaveText('1,536');

    const before = cores();
    await page
      .locator('main, .document, body')
      .first()
      .getByRole('link', { name: 'More', exact: true })
      .first()
      .click();
    await expect(page.locator('#third-run #verdict-sentence')).toContainText('GiB');
    // Where the site swaps its pages in place, the core stays.
    if (site === 'mkdocs' || site === 'docusaurus') {
      expect(await page.evaluate(() => globalThis.same_document)).toBe(true);
      expect(cores()).toBe(before);
    }
    expect(wrong).toEqual([]);
  });

  test(`${site}: nothing of the element is wider than its place, in the site's light and dark`, async ({
    page,
  }) => {
    await page.setViewportSize({ width: 390, height: 800 });
    await page.goto(`/${site}/`);
    await expect(page.locator('#first-run #verdict-sentence')).toContainText('It fits');
    await expect(page.locator('#first-run')).toHaveAttribute('data-theme', 'light');
    const over = await page
      .locator('#first-run')
      .evaluate((element) => element.scrollWidth - element.clientWidth);
    expect(over).toBeLessThanOrEqual(0);
    if (!make_dark) return;
    await page.setViewportSize({ width: 1280, height: 800 });
    await make_dark(page);
    await expect(page.locator('#first-run')).toHaveAttribute('data-theme', 'dark');
  });
}
