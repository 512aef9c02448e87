// Everybody's page: assistive technology, small screens, other languages, paper.
import { expect, findings, test } from './support.mjs';

async function open_everything(page) {
  await page.getByText('Every setting').click();
  await page.getByText('What each tool would show').click();
  await page.getByText('The same figures as a table').click();
  await page.getByRole('button', { name: 'Temporary' }).click();
  await page.locator('#ledger .line button').first().click();
  await page.locator('[data-example]').first().click();
  await expect(page.locator('.example.open .body data').first()).toBeVisible();
  await expect(page.locator('#panel select').first()).toBeVisible();
}

for (const scheme of ['light', 'dark']) {
  test(`axe finds nothing in the ${scheme} page ${scheme === 'dark' ? '@dark' : ''}`, async ({
    ledger,
    page,
  }, { project }) => {
    test.skip(scheme === 'dark' && project.name === 'firefox', 'firefox-dark is the dark one');
    test.slow();
    if (project.name === 'chromium') await page.emulateMedia({ colorScheme: scheme });
    await ledger();
    await open_everything(page);
    expect(await findings(page)).toEqual([]);
    for (const word of ['model', 'length', 'optimizer', 'method']) {
      await page.locator(`.word[data-word=${word}]`).click();
      await expect(page.locator('#pop')).toBeVisible();
      if (word === 'method') {
        await page.locator('[data-option=qlora]').click();
        await expect(page.locator('#also-rank')).toBeVisible();
      }
      expect(await findings(page, '#scenario')).toEqual([]);
      await page.keyboard.press('Escape');
    }
  });
}

test('axe finds nothing in a page with problems', async ({ ledger, page }) => {
  await ledger('#model=Qwen/Qwen3-0.6B&max_length=0&optim=adamw&colour=blue');
  await expect(page.locator('#problems li')).toHaveCount(3);
  expect(await findings(page)).toEqual([]);
});

test('nothing scrolls sideways at 360 px', async ({ ledger, page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await ledger();
  const width = () => page.evaluate(() => document.documentElement.scrollWidth);
  expect(await width()).toBeLessThanOrEqual(360);
  await open_everything(page);
  expect(await width()).toBeLessThanOrEqual(360);
  for (const word of ['model', 'length', 'card', 'trainer', 'optimizer', 'method']) {
    await page.locator(`.word[data-word=${word}]`).click();
    await expect(page.locator('#pop')).toBeVisible();
    if (word === 'method') await page.locator('[data-option=qlora]').click();
    expect(await width()).toBeLessThanOrEqual(360);
    await page.keyboard.press('Escape');
  }
});

test('long names and large figures do not scroll sideways either', async ({ ledger, page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  const width = () => page.evaluate(() => document.documentElement.scrollWidth);
  await ledger('#model=meta-llama/Llama-3.1-405B&card=rtx-4090');
  await expect(page.locator('.ladder.waiting')).toHaveCount(0);
  expect(await width()).toBeLessThanOrEqual(360);
  await page.evaluate(() => (location.hash = `#model=${'x'.repeat(300)}&max_length=1e300`));
  await expect(page.locator('#problems li')).toHaveCount(2);
  expect(await width()).toBeLessThanOrEqual(360);
});

test('the picture’s text keeps its size on a phone', async ({ ledger, page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await ledger();
  const heights = await page
    .locator('.plot text')
    .evaluateAll((all) =>
      all
        .filter((text) => text.getBoundingClientRect().width > 0)
        .map((text) => text.getBoundingClientRect().height),
    );
  expect(Math.min(...heights)).toBeGreaterThanOrEqual(11);
});

test('the verdict is announced, the picture has words, the page has landmarks', async ({
  ledger,
  page,
}) => {
  await ledger();
  await expect(page.getByRole('status').filter({ hasText: 'GiB' })).toHaveCount(1);
  await expect(
    page.getByRole('img', { name: /Live memory over the events of two training steps/ }),
  ).toHaveCount(1);
  await expect(page.getByRole('slider', { name: 'Moment of the two steps' })).toHaveAttribute(
    'aria-valuetext',
    /Step 2, backward pass.*allocated/,
  );
  await expect(page.getByRole('main')).toHaveCount(1);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Memory Ledger');
});

test.describe('in German', () => {
  test.use({ locale: 'de-DE' });
  test('figures have decimal commas, and typed figures are read with them', async ({
    ledger,
    page,
  }) => {
    await ledger();
    await expect(page.locator('#verdict-sentence')).toHaveText(/\d,\d\d GiB/);
    await expect(page.locator('.word[data-word=length]')).toHaveText('1.024');
    await page.locator('.word[data-word=card]').click();
    await page.locator('#pop [data-size]').fill('7,5');
    await page.keyboard.press('Enter');
    await expect(page.locator('.word[data-word=card]')).toHaveText('a card with 7,50 GiB usable');
  });
});

test('paper shows the answer, not the controls', async ({ ledger, page, browserName }) => {
  test.skip(browserName !== 'chromium', 'only Chromium shows the print style here');
  await ledger();
  await page.emulateMedia({ media: 'print' });
  await expect(page.locator('#verdict-sentence')).toBeVisible();
  await expect(page.locator('.plot')).toBeVisible();
  await expect(page.locator('nav')).toBeHidden();
  for (const one of await page.locator('.settings').all()) await expect(one).toBeHidden();
});
