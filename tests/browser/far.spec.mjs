// How far it goes, loops of other trainers, and a recorded run beside the estimate, as people use them.
import { fileURLToPath } from 'node:url';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { alive, expect, findings, test } from './support.mjs';

const word = (page, id) => page.locator(`.word[data-word=${id}]`);
const far = (page) => page.locator('summary').filter({ hasText: 'How far it goes' });

test('the largest micro-batch fits, the next one does not, and both can be taken', async ({
  ledger,
  page,
}) => {
  await ledger();
  await far(page).click();
  const batch = page.locator('.solved [data-key=batch] button').first();
  await expect(batch).toHaveText(/^\d+$/);
  const largest = Number(await batch.innerText());
  await batch.click();
  await expect(word(page, 'batch')).toHaveText(String(largest));
  await expect(page.locator('#verdict-sentence')).toHaveClass(/yes/);
  await word(page, 'batch').press('ArrowUp');
  await expect(page.locator('#verdict-sentence')).not.toHaveClass(/yes/);
  expect(await findings(page)).toEqual([]);
});

test('the peak is swept by any of its letters, and the figures stand in a table', async ({
  ledger,
  page,
}) => {
  await ledger();
  await far(page).focus();
  await page.keyboard.press('Enter');
  await page.locator('#letter').selectOption('V');
  await expect(page.locator('.stops button').filter({ hasText: '262,144' })).toHaveCount(1);
  await page.locator('#sweep summary').click();
  const rows = page.locator('#sweep .phases tbody tr');
  await expect(rows).toHaveCount(6);
  const peaks = await rows
    .locator('td:nth-child(2) data')
    .evaluateAll((all) => all.map((one) => Number(one.getAttribute('value'))));
  expect(peaks).toEqual([...peaks].sort((a, b) => a - b));
  await expect(rows.filter({ hasText: '151,936' })).toHaveAttribute('aria-current', 'true');
});

test('nothing is wider than a phone', async ({ ledger, page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await ledger();
  await far(page).click();
  await expect(page.locator('.map .cell').first()).toHaveText(/\d/);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
});

test('GRPO is a loop with its own figures, which the address holds', async ({ ledger, page }) => {
  await ledger('#model=Qwen/Qwen3-0.6B');
  await word(page, 'trainer').click();
  await page.getByRole('option', { name: /GRPOTrainer/ }).click();
  await expect(page.locator('#pop [data-number=generations]')).toHaveValue('8');
  await page.locator('#pop [data-number=generations]').fill('4');
  await page.keyboard.press('Escape');
  await expect(word(page, 'trainer')).toHaveText('TRL’s GRPOTrainer');
  await expect(page).toHaveURL(/rl\.method=grpo&rl\.num_generations=4|rl\.num_generations=4/);
  await expect(page.locator('#problems li')).toHaveCount(0);
  const said = await page.locator('#say').innerText();
  await page.reload();
  await alive(page);
  expect(await page.locator('#say').innerText()).toBe(said);
});

test('a recorded history is drawn beside the estimate, and what is none is refused', async ({
  ledger,
  page,
}) => {
  await ledger();
  await page.locator('summary').filter({ hasText: 'run that was measured' }).click();
  const packed = readFileSync(
    fileURLToPath(new URL('../data/snapshots/two_steps.pickle.gz', import.meta.url)),
  );
  const file = { name: 'run.pickle', mimeType: 'application/octet-stream' };
  await page.locator('#snapshot').setInputFiles({ ...file, buffer: gunzipSync(packed) });
  const read = page.locator('#recorded [data-key=history]');
  await expect(read.locator('data').first()).toHaveAttribute('value', '31796736');
  await expect(read.locator('tbody tr').first()).toBeVisible();
  expect(await findings(page)).toEqual([]);
  await page.locator('#snapshot').setInputFiles({ ...file, buffer: Buffer.from('no pickle') });
  await expect(page.locator('#recorded .problem')).toContainText('not a pickle');
});
