// The element and the frame in other people's pages: strict policies, several at once, their colours, their own elements.
import { fileURLToPath } from 'node:url';
import { expect, test } from './support.mjs';

const kPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";
const host = (body, head = '<script type="module" src="/memory-ledger.js"></script>') =>
  `<!doctype html><html lang="en"><head><title>A page</title>${head}</head><body>${body}</body></html>`;

/** Opens a page of somebody else's. */
async function open(page, html, policy = kPolicy) {
  const headers = { 'content-type': 'text/html', 'content-security-policy': policy };
  await page.route('**/somebody.html', (route) => route.fulfill({ body: html, headers }));
  await page.goto('/somebody.html');
}

test('two elements under a strict policy share one core and follow their attributes', async ({
  page,
}) => {
  const asked = [];
  const wrong = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()));
  const small = 'model="Qwen/Qwen3-0.6B" max_length="512" card="rtx-4090"';
  await open(
    page,
    host(
      `<form><memory-ledger id="a" ${small}></memory-ledger></form>
       <memory-ledger id="b" view="scenario ledger logits timeline" per_device_train_batch_size="2" peft.r="16"
         scenario='{"model": "Qwen/Qwen3-8B", "training": {"max_length": 512}}'></memory-ledger>`,
    ),
  );
  const sentence = page.locator('#a #verdict-sentence');
  await expect(sentence).toContainText('It fits');
  await expect(page.locator('#b #ledger .sum')).toHaveCount(1);
  // Attributes are added to the scenario, key by key.
  await expect(page.locator('#b .word[data-word=batch]')).toHaveText('2');
  await expect(page.locator('#b .word[data-word=length]')).toHaveText('512');
  await expect(page.locator('#b .logits')).toContainText('GiB');
  expect(asked.filter((path) => path === '/ledger.wasm')).toHaveLength(1);

  const told = page.evaluate(
    () =>
      new Promise((done) =>
        document.addEventListener('memory-ledger', ({ detail }) => done(detail.scenario), {
          once: true,
        }),
      ),
  );
  await page.locator('#a').evaluate((element) => element.setAttribute('max_length', '65536'));
  expect((await told).training.max_length).toBe(65536);
  await expect(sentence).toContainText('does not fit');

  // A reader's own choice, by keyboard, inside the shadow.
  await page.locator('#a .word[data-word=length]').focus();
  await page.keyboard.press('ArrowDown');
  await expect(page.locator('#a .word[data-word=length]')).toHaveText('49,152');
  await page.keyboard.press('Enter');
  await expect(page.locator('#a #pop')).toBeVisible();
  await page.locator('#b').click({ position: { x: 5, y: 5 } });
  await expect(page.locator('#a #pop')).toHaveCount(0);
  expect(wrong).toEqual([]);
});

test('an element is dark where the page’s own text is light, and says what it does not know', async ({
  page,
}) => {
  await open(
    page,
    host('<memory-ledger view="verdict maps" model="Qwen/Qwen3-0.6B"></memory-ledger>'),
  );
  const element = page.locator('memory-ledger');
  await expect(element.locator('#verdict-sentence')).toContainText('It needs');
  await expect(element.locator('.problem')).toContainText('no view “maps”');
  await expect(element).toHaveAttribute('data-theme', 'light');
  await page.evaluate(() => (document.documentElement.style.color = '#eee'));
  await expect(element).toHaveAttribute('data-theme', 'dark');
});

test('a problem with an attribute is said by the element, beside the last good answer', async ({
  page,
}) => {
  await open(page, host('<memory-ledger model="Qwen/Qwen3-0.6B" max_lenght="12"></memory-ledger>'));
  await expect(page.locator('memory-ledger #problems')).toContainText('training.max_length');
});

test('a frame asks for its height, and the page gives it', async ({ page }) => {
  await open(
    page,
    host(
      '<iframe data-memory-ledger title="Memory" src="/embed.html#model=Qwen/Qwen3-0.6B&view=verdict ledger"></iframe>',
      '<script src="/parent.js"></script>',
    ),
    `${kPolicy}; frame-src 'self'`,
  );
  const frame = page.frameLocator('iframe');
  await expect(frame.locator('#verdict-sentence')).toContainText('It needs');
  await expect
    .poll(async () => Number(await page.locator('iframe').getAttribute('height')))
    .toBeGreaterThan(300);
});

test('the classic script alone works in a sandboxed frame', async ({ page }) => {
  // From the test too: Chromium asks before a page that came from nowhere loads from this machine.
  const script = fileURLToPath(
    new URL('../../build/site/memory-ledger.single.js', import.meta.url),
  );
  await page.route('**/memory-ledger.single.js', (route) => route.fulfill({ path: script }));
  const inner = host(
    '<memory-ledger model="Qwen/Qwen3-0.6B"></memory-ledger>',
    '<script src="/memory-ledger.single.js" defer></script>',
  );
  await page.route('**/inner.html', (route) =>
    route.fulfill({ body: inner, headers: { 'content-type': 'text/html' } }),
  );
  await open(
    page,
    host('<iframe sandbox="allow-scripts" title="Memory" src="/inner.html"></iframe>', ''),
    "default-src 'none'; frame-src 'self'",
  );
  await expect(page.frameLocator('iframe').locator('#verdict-sentence')).toContainText('It needs');
});
