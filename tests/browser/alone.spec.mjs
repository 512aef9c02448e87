// Where things are missing: no WebAssembly, no script, no server.
import { alive, expect, kSingle, test } from './support.mjs';

test.describe('what cannot start says why', () => {
  test.use({ quiet: false });
  const still = async (page) => {
    await page.goto('/');
    await expect(page.locator('#status')).toContainText(
      'figures below were computed when the page was built',
    );
    await expect(page.locator('#verdict-sentence')).toContainText('GiB');
    return page.locator('#status').innerText();
  };

  test('when ledger.wasm does not come', async ({ page, ledger: _ }) => {
    await page.route('**/ledger.wasm', (route) => route.fulfill({ status: 404, body: 'gone' }));
    expect(await still(page)).toContain('the server answered 404');
  });

  test('when the policy forbids WebAssembly', async ({ page, ledger: _ }) => {
    await page.route('**/*', async (route) => {
      const answer = await route.fetch();
      const headers = answer.headers();
      const policy = (headers['content-security-policy'] ?? '').replace("'wasm-unsafe-eval'", '');
      await route.fulfill({
        response: answer,
        headers: { ...headers, 'content-security-policy': policy },
      });
    });
    expect(await still(page)).toMatch(/could not start|policy/);
  });

  test('when ledger.wasm is not what it should be', async ({ page, ledger: _ }) => {
    await page.route('**/ledger.wasm', (route) =>
      route.fulfill({ status: 200, body: 'not a module' }),
    );
    expect(await still(page)).toContain('could not start');
  });
});

test('it goes on without workers', async ({ page, ledger }) => {
  await page.addInitScript(() => {
    delete globalThis.Worker;
  });
  await ledger('#model=Qwen/Qwen3-1.7B');
  await expect(page.locator('.word[data-word=model]')).toHaveText('Qwen3-1.7B');
});

test.describe('without script', () => {
  test.use({ javaScriptEnabled: false });
  test('the first visit’s figures stand in the page, with a word why they do not move', async ({
    page,
  }) => {
    await page.goto('/');
    await expect(page.locator('#verdict-sentence')).toContainText('GiB');
    expect(await page.locator('noscript').textContent()).toMatch(/scripts are\s+switched off/);
    await expect(page.locator('.areas path.fill').first()).toBeVisible();
  });
});

test('the single file works from disk, under its own policy', async ({ page }) => {
  const wrong = [];
  page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()));
  page.on('pageerror', (error) => wrong.push(String(error)));
  await page.goto(kSingle);
  await alive(page);
  await page.locator('.word[data-word=length]').focus();
  await page.keyboard.press('ArrowUp');
  await expect(page.locator('.word[data-word=length]')).toHaveText('1,536');
  await expect(page).toHaveURL(/max_length=1536/);
  await page.getByRole('button', { name: 'Activations' }).click();
  await page.locator('#ledger .line button').first().click();
  await expect(page.locator('#ledger .working math').first()).toBeVisible();
  await expect
    .poll(() => page.evaluate(() => document.fonts.check('16px "Memory Ledger Math"')))
    .toBe(true);
  expect(wrong).toEqual([]);
});

test('the single file works behind a server’s strict policy too', async ({ ledger, page }) => {
  await ledger('memory-ledger.html#model=Qwen/Qwen3-1.7B');
  await expect(page.locator('.word[data-word=model]')).toHaveText('Qwen3-1.7B');
});
