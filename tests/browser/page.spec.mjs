// The page as people use it: the sentence, the verdict, the picture, the ledger, the examples, the address.
import { alive, bytes, expect, test } from './support.mjs';

test('the first screen is in the HTML, and the core changes nothing about it', async ({
  ledger,
  page,
}) => {
  await ledger();
  const places = ['#scenario', '#answer', '#picture', '#ladder', '#ledger'];
  const before = await Promise.all(places.map((place) => page.locator(place).innerHTML()));
  const built = await (await page.request.get('/')).text();
  expect(built).toContain(await page.locator('#verdict-sentence').innerHTML());
  // Opening the panel shows every view anew.
  await page.getByText('Every setting').click();
  await expect(page.locator('#panel select').first()).toBeVisible();
  await expect(page.locator('.ladder.waiting')).toHaveCount(0);
  const after = await Promise.all(places.map((place) => page.locator(place).innerHTML()));
  expect(after).toEqual(before);
});

test('a word opens its choices in place, and the page follows', async ({ ledger, page }) => {
  await ledger();
  const verdict = await page.locator('#verdict-sentence').innerText();
  await page.locator('.word[data-word=model]').click();
  await expect(page.getByRole('dialog', { name: 'Model' })).toBeVisible();
  await page.getByRole('combobox').fill('qwen3-1.7');
  await expect(page.getByRole('option')).toHaveCount(1);
  await page.keyboard.press('Enter');
  await expect(page.locator('.word[data-word=model]')).toHaveText('Qwen3-1.7B');
  await expect(page.locator('#verdict-sentence')).not.toHaveText(verdict);
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(page.locator('.word[data-word=model]')).toBeFocused();
});

test('every choice says what it would need', async ({ ledger, page }) => {
  await ledger();
  await page.locator('.word[data-word=checkpointing]').click();
  const costs = page.getByRole('option').locator('.cost');
  await expect(costs).toHaveCount(3);
  await expect(page.getByRole('option').locator('data.cost')).toHaveCount(3);
  expect(await bytes(costs.nth(1))).toBeLessThan(await bytes(costs.nth(0)));
});

test('Tab walks the words, arrows change them, Escape closes', async ({ ledger, page }) => {
  await ledger();
  await page.locator('.word[data-word=model]').focus();
  for (let i = 0; i < 6; i++) await page.keyboard.press('Tab');
  await expect(page.locator('.word[data-word=length]')).toBeFocused();
  await page.keyboard.press('ArrowUp');
  await expect(page.locator('.word[data-word=length]')).toHaveText('1,536');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await expect(page.locator('.word[data-word=length]')).toHaveText('768');
  await page.keyboard.press('Enter');
  await expect(page.locator('#pop input[type=range]')).toBeFocused();
  await page.keyboard.press('ArrowRight');
  await expect(page.locator('.word[data-word=length]')).toHaveText('1,024');
  await page.keyboard.press('Escape');
  await expect(page.locator('#pop')).toHaveCount(0);
  await expect(page.locator('.word[data-word=length]')).toBeFocused();
});

test('the seven parts add up to what is allocated, to the byte', async ({ ledger, page }) => {
  await ledger();
  const parts = await page
    .locator('#ledger .part .total .n:not(.gb) data')
    .evaluateAll((all) => all.map((one) => Number(one.getAttribute('value'))));
  expect(parts).toHaveLength(7);
  expect(parts.reduce((sum, part) => sum + part)).toBe(
    await bytes(page.locator('#ledger .sum .n:not(.gb) data')),
  );
});

test('a line of the ledger opens into its working, in letters and in figures', async ({
  ledger,
  page,
}) => {
  await ledger();
  await page.getByRole('button', { name: 'Activations' }).click();
  await page.locator('#ledger .line button').first().click();
  const working = page.locator('#ledger .working').first();
  await expect(working.locator('math').first()).toBeVisible();
  expect(await working.locator('mi').count()).toBeGreaterThan(0);
  await expect(working).toContainText('Alive as');
  await expect(working).toContainText('vocabulary');
  const [letters, figures, result] = await working
    .locator('math')
    .first()
    .locator('mtr')
    .allTextContents();
  expect(letters).toMatch(/[BTV]/);
  const product = figures
    .match(/[\d,]+/g)
    .map((figure) => Number(figure.replaceAll(',', '')))
    .reduce((a, b) => a * b);
  expect(Number(result.replace(/\D/g, ''))).toBe(product);
});

test('the cursor fills the ledger at any moment, by key and by pointer', async ({
  ledger,
  page,
}) => {
  await ledger();
  const cursor = page.locator('[data-cursor]');
  const sum = page.locator('#ledger .sum .n:not(.gb) data');
  const peak = await bytes(sum);
  await cursor.focus();
  await page.keyboard.press('Home');
  await expect(page.locator('#ledger-title')).toHaveText(/forward pass of step 1/);
  await expect(page.locator('.readout')).toContainText('Held');
  await page.keyboard.press('PageDown');
  await expect(page.locator('#ledger-title')).toHaveText(/backward pass of step 1/);
  await expect(page.locator('#ledger .ledger')).not.toHaveClass(/waiting/);
  const parts = await page
    .locator('#ledger .part .total .n:not(.gb) data')
    .evaluateAll((all) => all.map((one) => Number(one.getAttribute('value'))));
  expect(parts.reduce((total, part) => total + part)).toBe(await bytes(sum));
  expect(await bytes(sum)).toBeLessThan(peak);
  await page.keyboard.press('Escape');
  await expect(page.locator('#ledger-title')).toHaveText('The ledger at the peak');
  expect(await bytes(sum)).toBe(peak);
  await cursor.scrollIntoViewIfNeeded();
  const box = await cursor.boundingBox();
  await page.mouse.click(box.x + box.width * 0.9, box.y + box.height / 2);
  await expect(page.locator('#ledger-title')).toHaveText(/backward pass of step 2/);
  await page.getByRole('button', { name: 'Back to the peak' }).first().click();
  await expect(page.locator('#ledger-title')).toHaveText('The ledger at the peak');
});

test('a worked example opens, and every figure in it has been computed', async ({
  ledger,
  page,
}) => {
  await ledger();
  for (const button of await page.locator('[data-example]').all()) {
    await button.click();
    const body = page.locator('.example.open .body');
    await expect(body).toBeVisible();
    await expect(body).not.toContainText('—');
    expect(await body.innerText()).not.toMatch(/[{}]|NaN|undefined/);
    expect(await body.locator('data').count()).toBeGreaterThan(0);
  }
  await page.locator('.example.open').getByText('Open this scenario above').click();
  await expect(page).toHaveURL(/#model=/);
});

test('the address holds the scenario', async ({ ledger, page }) => {
  await ledger();
  await page.locator('.word[data-word=length]').focus();
  await page.keyboard.press('ArrowUp');
  await page.locator('.word[data-word=checkpointing]').focus();
  await page.keyboard.press('ArrowDown');
  await expect(page).toHaveURL(
    /#model=Qwen\/Qwen3-0\.6B&.*max_length=1536&.*gradient_checkpointing=true/,
  );
  await expect(page.locator('body.stale')).toHaveCount(0);
  const said = await page.locator('#say').innerText();
  await expect(page.locator('#say')).toContainText('1,536');
  await page.waitForTimeout(300);
  const verdict = await page.locator('#answer').innerText();
  await page.reload();
  await alive(page);
  expect(await page.locator('#say').innerText()).toBe(said);
  expect(await page.locator('#answer').innerText()).toBe(verdict);
  await page.evaluate(() => (location.hash = '#model=Qwen/Qwen3-4B&max_length=512'));
  await expect(page.locator('.word[data-word=model]')).toHaveText('Qwen3-4B');
  await expect(page.locator('.word[data-word=length]')).toHaveText('512');
});

test('nonsense in the address gives sentences, and the page is not blank', async ({
  ledger,
  page,
}) => {
  await ledger('#%E0%A4%A&model=Qwen/Qwen3-9999B&max_length=-3&colour=blue');
  const problems = page.locator('#problems li');
  await expect(problems).toHaveCount(4);
  await expect(page.locator('#problems')).toContainText('key=value');
  await expect(page.locator('#problems')).toContainText('colour');
  await expect(page.locator('#verdict-sentence')).toContainText('GiB');
  await expect(page.locator('.areas path.fill').first()).toBeVisible();
});

test('a problem is shown beside the control that caused it, and the last good report stays', async ({
  ledger,
  page,
}) => {
  await ledger();
  const verdict = await page.locator('#verdict-sentence').innerText();
  await page.locator('.word[data-word=length]').click();
  await page.locator('#pop .figure').fill('0');
  await page.locator('#pop .figure').blur();
  await expect(page.locator('#problems')).toContainText('Length in tokens');
  await expect(page.locator('.word[data-word=length]')).toHaveClass(/wrong/);
  await expect(page.locator('#pop .problem')).toContainText('max_length');
  await expect(page.locator('body')).toHaveClass(/stale/);
  expect(await page.locator('#verdict-sentence').innerText()).toBe(verdict);
  await page.locator('#pop .figure').fill('2048');
  await page.keyboard.press('Enter');
  await expect(page.locator('#problems li')).toHaveCount(0);
  await expect(page.locator('body')).not.toHaveClass(/stale/);
});

test('a pasted config.json is a model', async ({ ledger, page }) => {
  await ledger();
  await page.locator('.word[data-word=model]').click();
  await page.locator('#paste').fill('{"model_type": ');
  await expect(page.locator('#pop .problem')).toContainText('not JSON');
  const config = {
    model_type: 'llama',
    hidden_size: 256,
    intermediate_size: 512,
    num_hidden_layers: 4,
    num_attention_heads: 4,
    vocab_size: 1000,
  };
  await page.locator('#paste').fill(JSON.stringify(config));
  await expect(page.locator('.word[data-word=model]')).toHaveText('a pasted llama');
  await expect(page.locator('#problems li')).toHaveCount(0);
  await page.reload();
  await alive(page);
  await expect(page.locator('.word[data-word=model]')).toHaveText('a pasted llama');
});

test('usable memory is typed in GiB or in GB', async ({ ledger, page }) => {
  await ledger();
  await page.locator('.word[data-word=card]').click();
  const pop = page.locator('#pop');
  await pop.locator('[data-unit]').selectOption('GB');
  await pop.locator('[data-size]').fill('8');
  await page.keyboard.press('Enter');
  await expect(page.locator('.word[data-word=card]')).toHaveText('a card with 7.45 GiB usable');
  await expect(page.locator('#verdict-sentence')).toHaveText(/does not fit/);
  await expect(page).toHaveURL(/device\.total_bytes=8000000000/);
});

test('one changed thing says its new peak, and a click makes the change', async ({
  ledger,
  page,
}) => {
  await ledger('#model=Qwen/Qwen3-0.6B&max_length=2048');
  const rung = page.locator('.ladder li').filter({ hasText: 'Checkpointing' });
  await expect(rung.locator('data.peak')).toBeVisible();
  await expect(page.locator('.ladder.waiting')).toHaveCount(0);
  const promised = await bytes(rung.locator('data.peak'));
  await rung.getByRole('button').click();
  await expect(page.locator('.word[data-word=checkpointing]')).toHaveText('checkpointing');
  await expect(page.locator('#ledger .sum .n:not(.gb) data')).toHaveAttribute(
    'value',
    String(promised),
  );
});
