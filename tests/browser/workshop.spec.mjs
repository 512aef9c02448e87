// The workshop as people use it: by keyboard, on a phone, in a room, on paper; nothing leaves the machine.
import { alive, expect, findings, kSingle, test } from './support.mjs';

const width = (page) => page.evaluate(() => document.documentElement.scrollWidth);

/** Opens a place of the workshop and waits until the core has answered. */
const at = async (ledger, page, hash) => {
  await ledger(hash);
  await expect(page.locator('main.workshop')).toBeVisible();
  await expect(page.getByText('The core is replaying')).toHaveCount(0);
};
const computed = (page, row = 0) =>
  page.locator('.compared tbody tr').nth(row).locator('data.size').last().getAttribute('value');

test('a whole exercise by keyboard only', async ({ ledger, page }) => {
  await ledger();
  await page.getByRole('link', { name: 'Workshop', exact: true }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Workshop' })).toBeFocused();
  await expect(page.locator('#scenario')).toBeHidden();
  await page.getByRole('link', { name: 'The logits of a large vocabulary', exact: true }).focus();
  await page.keyboard.press('Enter');
  await expect(page.locator('h1.ask')).toBeFocused();
  await expect(page.locator('.given')).toContainText('hidden width');
  // The slider's steps, then the figure itself.
  await page.locator('[data-amount=size]').focus();
  await page.keyboard.press('ArrowRight');
  await expect(page.locator('[data-amount=size]')).toHaveAttribute('aria-valuetext', /GiB/);
  await page.locator('[data-typed=size]').focus();
  await page.keyboard.press('ControlOrMeta+a');
  // B·T·V values of four bytes, as anybody would work it out.
  await page.keyboard.type(String((2048 * 151936 * 4) / 2 ** 30));
  await page.keyboard.press('Enter');
  await expect(page.locator('#result')).toBeFocused();
  await expect(page.locator('#result')).toHaveText('Right.');
  expect(Number(await computed(page))).toBe(2048 * 151936 * 4);
  await page.keyboard.press('Tab');
  const next = page.getByRole('link', { name: 'Next question' });
  await next.focus();
  await page.keyboard.press('Enter');
  await expect(page.locator('.crumbs')).toContainText('question 2 of 3');
  await expect(page.locator('h1.ask')).toBeFocused();
});

test('a guess that leaves something out is told what', async ({ ledger, page }) => {
  await at(ledger, page, '#workshop=two-bytes.2');
  // Weights and two moments of Llama-2-7B in BF16: no gradients.
  await page.locator('[data-typed=size]').fill(`${(6738415616 * 6) / 1e9} GB`);
  await page.getByRole('button', { name: 'Compare' }).click();
  await expect(page.locator('.result')).toContainText('That is what weights and optimizer hold');
  await expect(page.locator('.result')).toContainText('Left out: gradients');
  await expect(page.locator('.compared')).toContainText('What the computed peak is made of');
});

test('a guess is drawn with the pointer: a bar, and columns', async ({ ledger, page }) => {
  await at(ledger, page, '#workshop=logits.1');
  const bar = await page.locator('[data-draw]').boundingBox();
  await page.mouse.move(bar.x + bar.width / 4, bar.y + bar.height / 2);
  await page.mouse.down();
  await page.mouse.move(bar.x + bar.width / 2, bar.y + bar.height / 2);
  await page.mouse.up();
  await expect(page.locator('[data-amount=size]')).toHaveValue('256');
  await page.goto('/#workshop=sequence-length.1');
  const plan = page.locator('[data-plan=""]');
  await expect(plan).toBeVisible();
  await page.getByRole('button', { name: 'Compare' }).click();
  await expect(page.locator('#missing')).toHaveText(/A guess is missing/);
  await plan.scrollIntoViewIfNeeded();
  const box = await plan.boundingBox();
  await page.mouse.move(box.x + box.width / 6, box.y + box.height * 0.7);
  await page.mouse.down();
  for (const share of [0.3, 0.5, 0.7, 0.84])
    await page.mouse.move(box.x + box.width * share, box.y + box.height * (0.7 - share / 2));
  await page.mouse.up();
  await page.getByRole('button', { name: 'Compare' }).click();
  await expect(page.locator('#result')).toBeVisible();
  await expect(page.locator('.compared tbody tr')).toHaveCount(3);
});

test('a code restores an exercise and its answer; a strange one is explained', async ({
  ledger,
  page,
}) => {
  await at(ledger, page, '#workshop=where-is-the-peak.1=step');
  await expect(page.locator('#result')).toHaveText('Right.');
  await page.goto('/#workshop');
  await page.locator('#code').fill('logits.2=1.1,0,2.2,0,5,1.2,0');
  await page.keyboard.press('Enter');
  await expect(page.locator('#result')).toContainText('Close. Together you have 9.50 GiB');
  await expect(page.locator('.foot code')).toHaveText('logits.2=1.1,0,2.2,0,5,1.2,0');
  await page.goto('/#workshop');
  await page.locator('#code').fill('logitz.9');
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  await expect(page.locator('#code-problem')).toContainText('There is no exercise “logitz.9”');
  // An exercise of a scenario of one's own is its address.
  await page.goto('/#workshop=own.2&model=Qwen/Qwen3-0.6B&max_length=512');
  await expect(page.locator('.given')).toContainText('of 512 tokens');
  await page.goto('/#workshop=own.1&model=Qwen/Qwen3-0.6B&max_length=0');
  await expect(page.locator('.workshop .problem')).toContainText('max_length');
});

test('what was done stays on this machine, and can be forgotten', async ({ ledger, page }) => {
  await at(ledger, page, '#workshop=where-is-the-peak.1');
  await page.getByRole('radio', { name: 'optimizer step' }).check();
  await page.getByRole('button', { name: 'Compare' }).click();
  await expect(page.locator('#result')).toHaveText('Right.');
  await page.reload();
  await page.goto('/#workshop');
  await expect(page.locator('[data-key=where-is-the-peak] .mark-of.right')).toHaveCount(1);
  await page.getByRole('button', { name: 'Forget' }).click();
  await expect(page.locator('.mark-of.right')).toHaveCount(0);
  expect(await page.evaluate(() => localStorage.length)).toBe(0);
});

test('it works where nothing can be kept', async ({ ledger, page }) => {
  await page.addInitScript(() => {
    Object.defineProperty(globalThis, 'localStorage', {
      get() {
        throw new Error('refused');
      },
    });
  });
  await at(ledger, page, '#workshop=where-is-the-peak.1=forward');
  await expect(page.locator('#result')).toContainText('It is: optimizer step');
  await page.getByRole('button', { name: 'Guess again' }).click();
  await page.getByRole('radio', { name: 'optimizer step' }).check();
  await page.getByRole('button', { name: 'Compare' }).click();
  await expect(page.locator('#result')).toHaveText('Right.');
});

test('the way back: the page has its scenario, and the address leads in and out', async ({
  ledger,
  page,
}) => {
  await ledger('#model=Qwen/Qwen3-0.6B&max_length=512');
  await page.getByRole('link', { name: 'Workshop', exact: true }).click();
  await expect(page.locator('main.workshop')).toBeVisible();
  await page.getByRole('link', { name: 'Make an exercise of the scenario' }).click();
  await expect(page.locator('.given')).toContainText('of 512 tokens');
  await page.goBack();
  await page.goBack();
  await expect(page.locator('main.workshop')).toBeHidden();
  await expect(page.locator('.word[data-word=length]')).toHaveText('512');
  await page.goto('/#workshop=sequence-length.1');
  await page.getByRole('link', { name: 'Open the scenario on the page' }).click();
  await expect(page.locator('.word[data-word=length]')).toHaveText('256');
});

test('the presenter’s view: large type, one thing at a time, by keys', async ({ ledger, page }) => {
  await page.setViewportSize({ width: 1920, height: 1080 });
  await at(ledger, page, '#workshop=where-is-the-peak.1&view=presenter');
  const size = (selector) =>
    page.locator(selector).evaluate((node) => parseFloat(getComputedStyle(node).fontSize));
  expect(await size('h1.huge')).toBeGreaterThan(40);
  await expect(page.locator('.slide')).toHaveText('Where is the peak?');
  await page.keyboard.press('PageDown');
  await expect(page.locator('.slide .given')).toBeVisible();
  await page.keyboard.press(' ');
  await expect(page.locator('.slide .picks')).toBeVisible();
  await expect(page.locator('.slide table')).toHaveCount(0);
  await page.keyboard.press('ArrowRight');
  await expect(page.locator('.slide table b')).toHaveText('yes');
  expect(await page.evaluate(() => location.hash)).toMatch(/slide=3$/);
  await page.keyboard.press('PageUp');
  await expect(page.locator('.slide .picks')).toBeVisible();
  await page.keyboard.press('End');
  await expect(page.locator('.slide')).toContainText('The peak is the worst moment');
  await page.keyboard.press('Escape');
  await expect(page.locator('.crumbs')).toContainText('question 1 of 3');
});

test('the sheet: questions without answers, answers on a page of their own', async ({
  ledger,
  page,
}, { project }) => {
  test.skip(project.name !== 'chromium', 'only Chromium shows the print style here');
  await at(ledger, page, '#workshop=where-is-the-peak.1&view=sheet');
  await page.emulateMedia({ media: 'print' });
  const questions = page.getByRole('region', { name: 'Questions' });
  await expect(questions.locator('article')).toHaveCount(3);
  await expect(questions.locator('data.size')).toHaveCount(0);
  const answers = page.getByRole('region', { name: 'Answers' });
  await expect(answers.locator('article')).toHaveCount(3);
  await expect(answers).toContainText('optimizer step');
  expect(await answers.evaluate((node) => getComputedStyle(node).breakBefore)).toBe('page');
  await expect(page.getByRole('button', { name: 'Print' })).toBeHidden();
  await expect(page.locator('footer')).toBeHidden();
});

test('every question of the course has an answer', async ({ ledger, page }) => {
  test.slow();
  await at(ledger, page, '#workshop&view=sheet');
  const answers = page.getByRole('region', { name: 'Answers' });
  await expect(answers.locator('article').first()).toBeVisible({ timeout: 60_000 });
  const all = await page.getByRole('region', { name: 'Questions' }).locator('article').count();
  expect(all).toBeGreaterThanOrEqual(28);
  await expect(answers.locator('article')).toHaveCount(all);
  const texts = await page.locator('main.workshop').innerText();
  for (const nothing of ['—', 'NaN', 'undefined', 'Infinity', 'none of them'])
    expect(texts).not.toContain(nothing);
  const empty = await answers
    .locator('data.size')
    .evaluateAll((all) => all.filter((one) => !(Number(one.getAttribute('value')) >= 0)).length);
  expect(empty).toBe(0);
});

const kStates = [
  '#workshop',
  '#workshop=logits.1',
  '#workshop=logits.2=1.1,0,2.2,0,5,1.2,0',
  '#workshop=sequence-length.1=5,6,7',
  '#workshop=three-billion.3=lora',
  '#workshop=where-is-the-peak.1',
  '#workshop=logits.2=1,0,2,0,5,1,0&view=presenter&slide=7',
  '#workshop=logits.1&view=sheet',
];

for (const scheme of ['light', 'dark']) {
  test(`axe finds nothing in the ${scheme} workshop ${scheme === 'dark' ? '@dark' : ''}`, async ({
    ledger,
    page,
  }, { project }) => {
    test.skip(scheme === 'dark' && project.name === 'firefox', 'firefox-dark is the dark one');
    test.slow();
    if (project.name === 'chromium') await page.emulateMedia({ colorScheme: scheme });
    await ledger();
    for (const state of kStates) {
      await page.goto(`/${state}`);
      await expect(page.locator('main.workshop')).toBeVisible();
      await expect(page.getByText('The core is replaying')).toHaveCount(0);
      expect(await findings(page), state).toEqual([]);
    }
  });
}

test('nothing scrolls sideways at 360 px', async ({ ledger, page }) => {
  test.slow();
  await page.setViewportSize({ width: 360, height: 740 });
  await ledger();
  expect(await width(page)).toBeLessThanOrEqual(360);
  for (const state of kStates) {
    await page.goto(`/${state}`);
    await expect(page.locator('main.workshop')).toBeVisible();
    await expect(page.getByText('The core is replaying')).toHaveCount(0);
    expect(await width(page), state).toBeLessThanOrEqual(360);
  }
});

test('forced colours keep the guess apart from the truth, reduced motion moves nothing', async ({
  ledger,
  page,
}, { project }) => {
  test.skip(project.name !== 'chromium', 'only Chromium forces colours for a test');
  await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' });
  await at(ledger, page, '#workshop=logits.1=0.6');
  const fill = (kind) =>
    page.locator(`.fill.${kind}`).evaluate((node) => getComputedStyle(node).fill);
  expect(await fill('mine')).not.toBe(await fill('true'));
  const moving = await page.locator('.workshop *').evaluateAll(
    (all) =>
      all.filter((node) => {
        const { transitionDuration, animationName } = getComputedStyle(node);
        return transitionDuration !== '0s' || animationName !== 'none';
      }).length,
  );
  expect(moving).toBe(0);
});

test.describe('in German', () => {
  test.use({ locale: 'de-DE' });
  test('a guess is typed with a decimal comma', async ({ ledger, page }) => {
    await at(ledger, page, '#workshop=logits.1');
    await page.locator('[data-typed=size]').fill('1,16');
    await page.keyboard.press('Enter');
    await expect(page.locator('#result')).toHaveText('Right.');
  });
});

test.describe('the single file', () => {
  test.use({ quiet: false });
  test('holds the workshop too', async ({ page }, { project }) => {
    test.skip(project.name !== 'chromium', 'one browser is enough for what the build put inside');
    await page.goto(`${kSingle}#workshop=logits.1=1.16`);
    await alive(page);
    await expect(page.locator('#result')).toHaveText('Right.');
    const sheet = await page.evaluate(
      () => getComputedStyle(document.querySelector('.strip')).borderTopStyle,
    );
    expect(sheet).toBe('solid');
  });
});
