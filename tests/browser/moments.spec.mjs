// Two moments of the steps beside each other, and the search of the ledger.
import { bytes, expect, findings, test } from './support.mjs';

const cursor = (page) => page.getByRole('slider', { name: 'Moment of the two steps' });

test('two moments are pinned by keys, and their difference adds up', async ({ ledger, page }) => {
  await ledger();
  await cursor(page).focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('p');
  const heading = page.getByRole('heading', { name: /From moment A/ });
  await expect(heading).toHaveText('From moment A to the moment shown');
  for (let i = 0; i < 3; i++) await page.keyboard.press('PageDown');
  await expect(cursor(page)).toHaveAttribute('aria-valuetext', /Step 2, forward pass/);
  await page.keyboard.press('p');
  await expect(heading).toHaveText('From moment A to moment B');
  await expect(page.locator('.said.pin')).toHaveText(['A', 'B']);
  // Between the start of the first and of the second step the optimizer's state has come.
  const row = page.locator('.moments tr.sum').filter({ hasText: 'Optimizer' });
  expect(await bytes(row.locator('data').first())).toBe(0);
  expect(await bytes(row.locator('data').nth(1))).toBeGreaterThan(4 * 2 ** 30);
  await expect(page.locator('.moments')).toContainText('exp_avg');
  await expect(page.locator('.moments')).toContainText('born');
  const totals = page.locator('.moments tr').last().locator('data');
  for (const i of [0, 1]) {
    const parts = await page
      .locator('.moments tr.sum:not(:last-child)')
      .evaluateAll(
        (rows, i) =>
          rows.reduce((sum, one) => sum + Number(one.querySelectorAll('data')[i].value), 0),
        i,
      );
    expect(parts).toBe(await bytes(totals.nth(i)));
  }
  // Another scenario has other moments.
  await page.locator('.word[data-word=checkpointing]').focus();
  await page.keyboard.press('ArrowDown');
  await expect(page.locator('.moments')).toHaveCount(0);
});

test('a pin is set by its button, and taken away', async ({ ledger, page }) => {
  await ledger();
  await page.getByRole('button', { name: 'Pin this moment' }).click();
  await expect(page.locator('.moments')).toBeVisible();
  await page.getByRole('button', { name: 'Take the pins away' }).click();
  await expect(page.locator('.moments')).toHaveCount(0);
});

test('the ledger is searched, and says why what was found is alive', async ({ ledger, page }) => {
  await ledger();
  const field = page.getByRole('searchbox', { name: /Search the ledger/ });
  await field.fill('loss');
  await expect(page.locator('#ledger .alive').first()).toContainText('alive as:');
  await expect(page.locator('#ledger .totals')).toContainText('lines');
  await page.locator('#ledger .line button').first().click();
  await expect(page.locator('#ledger .working dl')).toContainText('Life');
  await expect(field).toHaveValue('loss');
  await field.fill('');
  await expect(page.locator('#ledger .alive')).toHaveCount(0);
  await expect(page.locator('#ledger .totals')).toContainText('Allocated');
});

test('axe finds nothing, and a phone does not scroll sideways', async ({ ledger, page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await ledger();
  await cursor(page).focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('p');
  await expect(page.locator('.moments')).toBeVisible();
  await page.keyboard.press('Escape');
  await page.getByRole('searchbox', { name: /Search the ledger/ }).fill('loss');
  await expect(page.locator('#ledger .alive').first()).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  expect(await findings(page, '#ledger')).toEqual([]);
});
