// Changes as advice and as a trail, scenarios side by side, rules of thumb: as people use them.
import { bytes, expect, findings, test } from './support.mjs';

const kTooMuch = '#model=meta-llama/Llama-3.1-8B&max_length=4096&card=rtx-4090';
const beside = (page) => page.locator('#beside > summary');
const shown = (page) => page.locator('#verdict-sentence');

test('where no single change is enough, a pair of them fits with one click, and can be taken back', async ({
  ledger,
  page,
}) => {
  await ledger(kTooMuch);
  await expect(shown(page)).toHaveClass(/no/);
  await expect(page.locator('#ladder [data-key="card bigger"]')).toContainText('fits');
  await expect(page.locator('#ladder [data-key="model smaller"]')).toContainText('Llama-3.2-3B');
  const pair = page.locator('[data-pair]').first();
  await expect(pair).toBeVisible();
  const promised = await bytes(page.locator('#pairs data').first());
  expect(await findings(page)).toEqual([]);
  await pair.click();
  await expect(shown(page)).toHaveClass(/yes/);
  expect(await bytes(page.locator('#answer .details data').first())).toBe(promised);
  await expect(page.locator('.trail li')).toHaveCount(1);
  await expect(page.locator('.trail li')).toContainText('now it fits');
  await expect(page.locator('[data-pair]')).toHaveCount(0);
  expect(await findings(page)).toEqual([]);
  await page.getByRole('button', { name: 'Undo the last' }).click();
  await expect(shown(page)).toHaveClass(/no/);
  await expect(page.locator('.trail')).toHaveCount(0);
  expect(page.url()).toContain(kTooMuch);
});

test('by keyboard alone: a slider makes one step, and an earlier step takes the later ones along', async ({
  ledger,
  page,
}) => {
  await ledger();
  const batch = page.locator('.word[data-word=batch]');
  await batch.focus();
  for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowUp');
  await expect(batch).toHaveText('4');
  await page.locator('.word[data-word=length]').focus();
  await page.keyboard.press('ArrowDown');
  const steps = page.locator('.trail li');
  await expect(steps).toHaveCount(2);
  await expect(steps.first()).toContainText('Micro-batch: 1 → 4');
  await expect(steps.first().locator('data')).toHaveText(/GiB/);
  await page.getByRole('button', { name: /Go back to before: Micro-batch/ }).focus();
  await page.keyboard.press('Enter');
  await expect(batch).toHaveText('1');
  await expect(page.locator('.trail')).toHaveCount(0);
});

test('four scenarios side by side, explained by part', async ({ ledger, page }) => {
  await ledger();
  await beside(page).focus();
  await page.keyboard.press('Enter');
  const pin = page.getByRole('button', { name: 'Pin the present scenario' });
  const peak = page.locator('#answer .details data').first();
  await pin.focus();
  await page.keyboard.press('Enter');
  const first = await bytes(peak);
  await page.locator('.word[data-word=length]').press('ArrowUp');
  await expect.poll(() => bytes(peak)).toBeGreaterThan(first);
  const second = await bytes(peak);
  const row = page.locator('#compare tr[data-key=peak] td');
  await expect(row).toHaveCount(2);
  await expect(row.nth(1).locator('data.by')).toHaveAttribute('value', String(second - first));
  await expect(page.locator('#compare .set')).toHaveCount(1);
  await expect(page.locator('.why-parts').first()).toContainText('Activations');
  await pin.click();
  await page.locator('.word[data-word=batch]').press('ArrowUp');
  await expect(row).toHaveCount(3);
  await pin.click();
  await expect(row).toHaveCount(4);
  await expect(pin).toBeDisabled();
  expect(await findings(page)).toEqual([]);
  await page.getByRole('button', { name: 'Open A', exact: true }).click();
  await expect.poll(() => bytes(peak)).toBe(first);
  await page.getByRole('button', { name: 'Let A go' }).click();
  await expect(row).toHaveCount(3);
});

test('rules of thumb count parameters, the replay counts tensors', async ({ ledger, page }) => {
  await ledger('#model=Qwen/Qwen3-8B');
  await beside(page).click();
  const parameters = 8_190_735_360; // of the published model
  const says = (id) => bytes(page.locator(`.rules [data-key="${id}"] td data`).first());
  await expect(page.locator('.rules tbody tr')).toHaveCount(10);
  expect(await says('weights')).toBe(2 * parameters);
  expect(await says('wide gradients')).toBe(18 * parameters);
  // 34 · 1,024 tokens · width 4,096 · 36 layers
  expect(await says('activations')).toBe(34 * 1024 * 4096 * 36);
  expect(await findings(page)).toEqual([]);
});

test('on a phone nothing is wider than the page', async ({ ledger, page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await ledger(kTooMuch);
  await beside(page).click();
  await page.locator('[data-act=pin]').click();
  await page.locator('[data-pair]').first().click();
  await expect(page.locator('.stacks li')).toHaveCount(2);
  await expect(page.locator('.trail li')).toHaveCount(1);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  expect(await findings(page)).toEqual([]);
});

test('the whole curve is drawn over two hundred values, can be stopped, and copied as data and as a picture', async ({
  ledger,
  page,
}) => {
  await page.addInitScript(() => {
    globalThis.copied = [];
    const clipboard = {
      writeText: async (text) => void globalThis.copied.push(text),
      write: async ([item]) => void globalThis.copied.push((await item.getType('image/png')).size),
    };
    Object.defineProperty(navigator, 'clipboard', { value: clipboard });
  });
  const last_copy = () => page.evaluate(() => globalThis.copied.at(-1));
  await ledger(
    '#model=meta-llama/Llama-3.1-8B&max_length=2048&card=rtx-4090&peft.r=16&quantization.load_in_4bit=true',
  );
  await page.locator('summary').filter({ hasText: 'How far it goes' }).click();
  await page.locator('#letter').selectOption('length');
  const whole = page.getByRole('button', { name: 'Draw the whole curve' });
  await whole.focus();
  await page.keyboard.press('Enter');
  const status = page.locator('#sweep [data-key=whole] [role=status]');
  await expect(status).toContainText('of 200 values were counted', { timeout: 60_000 });
  expect(await findings(page)).toEqual([]);
  await page.locator('#sweep .copies [data-act=sweep]').click();
  await expect.poll(last_copy).toMatch(/^training\.max_length,peak_bytes,counted,/);
  const rows = (await last_copy()).trim().split('\n').slice(1);
  expect(rows).toHaveLength(200);
  // What is drawn was counted at both ends, and grows all the way.
  expect(rows[0]).toMatch(/^128,\d+,true,/);
  const peaks = rows.map((row) => Number(row.split(',')[1]));
  expect(peaks).toEqual([...peaks].sort((a, b) => a - b));
  await page.locator('#sweep .copies [data-act=chart-svg]').click();
  await expect.poll(last_copy).toMatch(/^<svg [^]*fill="rgb\(.*peak memory by length in tokens/);
  await page.locator('#sweep .copies [data-act=chart-png]').click();
  await expect.poll(last_copy).toBeGreaterThan(5_000);
  await page.getByRole('button', { name: 'Show the stops again' }).click();
  await expect(page.locator('#bars')).toBeVisible();
  await expect(page.locator('#curve')).toHaveCount(0);
});
