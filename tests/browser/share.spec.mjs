// What people hand on: addresses that outlive versions, a picture, a citation, lines of the ledger.
import { readFileSync } from 'node:fs';
import { alive, expect, findings, test } from './support.mjs';

const sharing = (page) => page.locator('#sharing > summary');

// What the page copies is kept where a test can read it: not every browser lets it read the clipboard.
const keep_copies = (page) =>
  page.addInitScript(() => {
    globalThis.copied = [];
    const clipboard = {
      writeText: async (text) => void globalThis.copied.push(text),
      write: async ([item]) => void globalThis.copied.push((await item.getType('image/png')).size),
    };
    Object.defineProperty(navigator, 'clipboard', { value: clipboard });
  });
const last_copy = (page) => page.evaluate(() => globalThis.copied.at(-1));

test('the first visit’s address too is copied whole, with its version, and opens the same', async ({
  ledger,
  page,
}) => {
  await keep_copies(page);
  await ledger();
  const said = await page.locator('#say').innerText();
  await page.getByRole('button', { name: 'Copy address' }).click();
  await expect.poll(() => last_copy(page)).toMatch(/#model=Qwen\/Qwen3-0\.6B&.*&v=1$/);
  await page.goto(await last_copy(page));
  await page.reload();
  await alive(page);
  expect(await page.locator('#say').innerText()).toBe(said);
  await expect(page.locator('#status')).toBeEmpty();
});

test('an address without a version opens; one of a newer version says so', async ({
  ledger,
  page,
}) => {
  await ledger('#model=Qwen/Qwen3-8B&max_length=2048');
  await expect(page.locator('.word[data-word=length]')).toHaveText('2,048');
  await expect(page.locator('#status')).toBeEmpty();
  await page.goto('/#model=Qwen/Qwen3-8B&max_length=4096&v=999');
  await expect(page.locator('.word[data-word=length]')).toHaveText('4,096');
  await expect(page.locator('#status')).toHaveText(/newer version/);
  await page.locator('.word[data-word=length]').press('ArrowDown');
  await expect(page).toHaveURL(/max_length=3072&v=1$/);
  await expect(page.locator('#status')).toBeEmpty();
});

test('by keyboard alone: the picture is saved as PNG, copied, and the estimate cited', async ({
  ledger,
  page,
  browserName,
}) => {
  await keep_copies(page);
  await ledger();
  await sharing(page).focus();
  await page.keyboard.press('Enter');
  await expect(page.locator('canvas.shared')).toHaveAttribute('aria-label', /It fits/);
  expect(await findings(page)).toEqual([]);
  // Playwright hears of downloads from Chromium alone.
  if (browserName === 'chromium') {
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save as PNG' }).focus();
    await page.keyboard.press('Enter');
    const file = await download;
    expect(file.suggestedFilename()).toBe('memory-ledger-qwen3-0-6b.png');
    const png = readFileSync(await file.path());
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    expect(png.readUInt32BE(16)).toBe(2400);
  }
  await page.getByRole('button', { name: 'Copy the picture' }).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => last_copy(page)).toBeGreaterThan(10_000);
  await page.getByRole('button', { name: 'Copy as BibTeX' }).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => last_copy(page)).toMatch(/^@misc\{memory_ledger_qwen3_0_6b,/);
});

test('one line of the ledger is copied alone', async ({ ledger, page }) => {
  await keep_copies(page);
  await ledger();
  await page.locator('[data-part=activations]').click();
  await page.locator('tr.line button').first().click();
  const row = page.locator('tr.working').first();
  await row.getByRole('button', { name: 'LaTeX' }).click();
  await expect.poll(() => last_copy(page)).toMatch(/\\\[ .*bytes\} \\\]/);
  await row.getByRole('button', { name: 'CSV' }).click();
  await expect.poll(() => last_copy(page)).toMatch(/^part,what,.*\nactivations,[^\n]*\n$/);
});

test('on a phone nothing is wider than the page', async ({ ledger, page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await ledger();
  await sharing(page).click();
  await expect(page.locator('canvas.shared')).toBeVisible();
  await page.locator('[data-part=activations]').click();
  await page.locator('tr.line button').first().click();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  expect(await findings(page)).toEqual([]);
});

test('a letter of a working is dragged, or moved by keys, and the page follows', async ({
  ledger,
  page,
}) => {
  await ledger('#model=Qwen/Qwen3-0.6B&max_length=1024');
  await page.locator('[data-part=activations]').click();
  const line = page.locator('tr.line').filter({ hasText: 'T' }).first();
  await line.locator('button').click();
  const letter = page.locator('[data-drag=length]').first();
  await expect(letter).toHaveAttribute('aria-valuetext', '1,024');
  const word = page.locator('.word[data-word=length]');
  await letter.focus();
  await page.keyboard.press('ArrowRight');
  await expect(word).toHaveText('1,536');
  await expect(letter).toHaveAttribute('aria-valuetext', '1,536');
  await expect(letter).toBeFocused();
  await page.keyboard.press('ArrowLeft');
  await expect(word).toHaveText('1,024');
  await expect(letter).toHaveAttribute('aria-valuetext', '1,024');
  await letter.scrollIntoViewIfNeeded();
  const box = await letter.boundingBox();
  await page.mouse.move(box.x + 4, box.y + 4);
  await page.mouse.down();
  await page.mouse.move(box.x + 30, box.y + 4, { steps: 3 });
  await expect(word).toHaveText('1,536');
  await page.mouse.move(box.x + 4, box.y + 4, { steps: 3 });
  await expect(word).toHaveText('1,024');
  await page.mouse.move(box.x - 46, box.y + 4, { steps: 3 });
  await page.mouse.up();
  await page.mouse.move(box.x + 200, box.y + 4);
  await expect(word).toHaveText('512');
});
