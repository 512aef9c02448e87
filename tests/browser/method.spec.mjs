// LoRA, QLoRA, the optimizers' menu and the letters of mixtures, as people use them.
import { alive, bytes, expect, test } from './support.mjs';

const kFourBits =
  'quantization.load_in_4bit=true&quantization.bnb_4bit_quant_type=nf4&quantization.bnb_4bit_compute_dtype=bfloat16';
const kQlora = `#model=Qwen/Qwen3-0.6B&gradient_checkpointing=true&peft.r=16&peft.target_modules=all-linear&${kFourBits}`;
const word = (page, id) => page.locator(`.word[data-word=${id}]`);
const sum = (page) => page.locator('#ledger .sum .n:not(.gb) data');

test('by keyboard alone: QLoRA with another rank, and the address holds it', async ({
  ledger,
  page,
}) => {
  await ledger();
  const full = await bytes(sum(page));
  await word(page, 'method').focus();
  await page.keyboard.press('ArrowDown');
  await expect(word(page, 'method')).toHaveText('LoRA, rank 16');
  await page.keyboard.press('Enter');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(word(page, 'method')).toHaveText('QLoRA, rank 16');
  await page.keyboard.press('Tab');
  await expect(page.locator('#pop [data-slide=rank]')).toBeFocused();
  await page.keyboard.press('ArrowRight');
  await expect(word(page, 'method')).toHaveText('QLoRA, rank 32');
  await page.locator('#pop [data-switch=double]').press('Space');
  await page.locator('#pop [data-name=gate_proj]').press('Space');
  await page.keyboard.press('Escape');
  await expect(word(page, 'method')).toBeFocused();
  await expect(page).toHaveURL(/peft\.r=32&.*up_proj.*quantization\.load_in_4bit=true/);
  await expect(page).not.toHaveURL(/gate_proj|double_quant/);
  await expect.poll(() => bytes(sum(page))).toBeLessThan(full);
  await expect(page.locator('#problems li')).toHaveCount(0);
  const said = await page.locator('#say').innerText();
  await page.reload();
  await alive(page);
  expect(await page.locator('#say').innerText()).toBe(said);
});

test('a problem with an adapter stands beside its control, under the method', async ({
  ledger,
  page,
}) => {
  await ledger('#model=Qwen/Qwen3-0.6B&peft.r=0&peft.target_modules=["q_pro"]');
  await expect(page.locator('#problems li')).toHaveCount(2);
  await expect(word(page, 'method')).toHaveClass(/wrong/);
  await page.locator('#problems').getByRole('button', { name: 'These linears' }).click();
  const pop = page.getByRole('dialog', { name: 'Method' });
  await expect(pop.locator('[data-key=modules] .problem')).toContainText('"q_pro"');
  await expect(pop.locator('[data-key=rank] .problem')).toContainText('peft.r');
  await pop.locator('[data-select=targets]').selectOption('all');
  await pop.locator('[data-number=rank]').fill('8');
  await expect(page.locator('#problems li')).toHaveCount(0);
});

test('changes that do not help say why', async ({ ledger, page }) => {
  await ledger(kQlora);
  await expect(page.locator('.ladder.waiting')).toHaveCount(0);
  const lora = page.locator('.ladder li').filter({ hasText: /^LoRA, rank 16/ });
  await expect(lora).toHaveClass('more');
  await expect(lora.locator('.why')).toHaveText(/Weights \+\d/);
  const rungs = page.locator('.ladder li');
  expect(await rungs.count()).toBeLessThanOrEqual(12);
  const peaks = await page
    .locator('.ladder .less data.peak')
    .evaluateAll((all) => all.map((one) => Number(one.getAttribute('value'))));
  expect(peaks).toEqual([...peaks].sort((a, b) => a - b));
});

test('optimizers are searched, and each says its bytes and what it costs here', async ({
  ledger,
  page,
}) => {
  await ledger();
  await word(page, 'optimizer').click();
  const options = page.getByRole('option');
  expect(await options.count()).toBeGreaterThan(30);
  await page.getByRole('combobox').fill('adamw 8bit torchao');
  await expect(options).toHaveCount(1);
  await expect(options.locator('.note')).toContainText('bytes per parameter');
  const promised = await bytes(options.locator('data.cost'));
  await page.keyboard.press('Enter');
  await expect(sum(page)).toHaveAttribute('value', String(promised));
});

test('every setting of a method is in the panel, with what it costs', async ({ ledger, page }) => {
  await ledger(kQlora);
  await page.getByText('Every setting').click();
  const panel = page.locator('#panel');
  for (const id of [
    'method',
    'rank',
    'targets',
    'dropout',
    'dora',
    'wide',
    'double',
    'compute',
    'prepare',
  ])
    await expect(panel.locator(`[data-key=${id}] .others data`).first()).toBeVisible();
  await panel.getByLabel('A padding mask is passed').check();
  await expect(page.locator('#say')).toContainText('tokens with a padding mask');
  await panel.getByLabel('Method').selectOption('full');
  await expect(panel.locator('[data-key=rank]')).toHaveCount(0);
});

test('a mixture’s working has its letters in the legend, with their values', async ({
  ledger,
  page,
}) => {
  await ledger('#model=Qwen/Qwen3-30B-A3B&max_length=128');
  await page.getByRole('button', { name: 'Weights', exact: true }).click();
  await page
    .locator('#ledger .line')
    .filter({ hasText: 'experts' })
    .first()
    .locator('button')
    .click();
  const legend = page.locator('#ledger .legend');
  await expect(legend).toContainText('128 experts');
  await expect(legend).toContainText('768 feed-forward width of one expert');
});
