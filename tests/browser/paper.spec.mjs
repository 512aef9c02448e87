// On paper: the answer, the picture, the advice and the ledger fit on two pages.
import { alive, expect, test } from './support.mjs';

test.skip(({ browserName }) => browserName !== 'chromium', 'only Chromium makes a PDF here');

// Pages of a PDF are objects of the type Page.
const pages = (pdf) => pdf.toString('latin1').match(/\/Type\s*\/Page\b/g).length;

for (const format of ['A4', 'Letter'])
  test(`a first visit prints to two pages of ${format}`, async ({ page }) => {
    await page.goto('/');
    await alive(page);
    expect(pages(await page.pdf({ format }))).toBeLessThanOrEqual(2);
  });

test('so does a run with every part in it that does not fit', async ({ page }) => {
  await page.goto(
    '/#model=meta-llama/Llama-3.1-8B&card=rtx-4090&bf16=true&dtype=float32&gradient_checkpointing=true',
  );
  await alive(page);
  expect(pages(await page.pdf({ format: 'A4' }))).toBeLessThanOrEqual(2);
});
