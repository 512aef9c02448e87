// The documentation beside the page: reached from it, readable by everybody, without a script.
import { expect, findings, test } from './support.mjs';

test('the page leads to its documentation, which leads back', async ({ ledger, page }) => {
  await ledger();
  await page.getByRole('link', { name: 'How to read it' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('How to read the ledger');
  await page.getByRole('link', { name: 'Caching allocator and the card' }).first().click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('allocator');
  await page.getByRole('link', { name: 'To the page' }).click();
  await expect(page.locator('#verdict-sentence')).toContainText('GiB');
});

for (const scheme of ['light', 'dark']) {
  test(`axe finds nothing in the ${scheme} documentation ${scheme === 'dark' ? '@dark' : ''}`, async ({
    page,
    baseURL,
  }, { project }) => {
    test.skip(scheme === 'dark' && project.name === 'firefox', 'firefox-dark is the dark one');
    if (project.name === 'chromium') await page.emulateMedia({ colorScheme: scheme });
    // The smallest that has headings, lists, tables and code: axe takes long on long pages.
    await page.goto(`${baseURL}/docs/embedding.html`);
    expect(await findings(page)).toEqual([]);
  });
}

test('no page of it scrolls sideways at 360 px', async ({ page, baseURL }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(`${baseURL}/docs/index.html`);
  const links = await page
    .locator('nav a')
    .evaluateAll((all) => all.map((link) => link.getAttribute('href')));
  expect(links.length).toBeGreaterThan(10);
  for (const link of links) {
    await page.goto(`${baseURL}/docs/${link}`);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width, link).toBeLessThanOrEqual(360);
  }
});
