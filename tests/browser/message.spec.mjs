// A pasted out-of-memory message and measured figures, as people use them.
import { expect, findings, kSingle, test } from './support.mjs';

const kMessage = `[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.64 GiB. GPU 0 has a total capacity of
23.64 GiB of which 1.29 GiB is free. Including non-PyTorch memory, this process has 22.34 GiB memory in use. Of the allocated
memory 21.10 GiB is allocated by PyTorch, and 800.00 MiB is reserved by PyTorch but unallocated.`;
const kScenario = '#model=Qwen/Qwen3-0.6B&per_device_train_batch_size=8&card=rtx-4090';

test('a message names its tensor and what to change first, and the change is made', async ({
  ledger,
  page,
}) => {
  const asked = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await ledger(kScenario);
  expect(asked).not.toContain('/full.wasm');
  await page.getByRole('button', { name: 'Explain an error' }).click();
  await page.locator('#message-text').fill(kMessage);
  const said = page.locator('#message [data-key=answer]');
  // 4 bytes for each of 8 sequences of 1,024 tokens and 151,936 words: 4.64 GiB.
  await expect(said.locator('table').nth(1).locator('tbody th').first()).toContainText('logits');
  await expect(said).toContainText('23.64 GiB');
  expect(await findings(page, '#error')).toEqual([]);
  await said.locator('[data-cure]').first().click();
  await expect(page).not.toHaveURL(/per_device_train_batch_size=8/);
  await expect(page.locator('#problems li')).toHaveCount(0);
});

test('what is no message is said to be unknown, and an emptied box says nothing', async ({
  ledger,
  page,
}) => {
  await ledger();
  await page.getByRole('button', { name: 'Explain an error' }).click();
  await page.locator('#message-text').fill('Segmentation fault (core dumped)');
  await expect(page.locator('#message .found')).toContainText('Nothing in this text');
  await page.locator('#message-text').fill('');
  await expect(page.locator('#message .found')).toHaveCount(0);
});

test('measured figures stand beside the estimate', async ({ ledger, page }) => {
  await ledger('#model=Qwen/Qwen3-0.6B&card=rtx-4090');
  await page.locator('summary').filter({ hasText: 'run that was measured' }).click();
  await page.locator('#measured-max_memory_allocated').fill('9.00 GiB');
  const allocated = page.locator('#measured [data-key=allocated]');
  await expect(allocated.locator('td').nth(1)).toContainText('9.00');
  await expect(allocated.locator('td').nth(2)).toContainText('+');
  await page.locator('#measured-max_memory_allocated').fill('nine');
  await expect(page.locator('#measured .problem')).toContainText('no size');
});

test('the single file explains messages too', async ({ page }) => {
  await page.goto(`${kSingle}${kScenario}`);
  await expect(page.locator('html.alive')).toHaveCount(1);
  await page.getByRole('button', { name: 'Explain an error' }).click();
  await page.locator('#message-text').fill(kMessage);
  await expect(page.locator('#message [data-key=answer]')).toContainText('logits');
});
