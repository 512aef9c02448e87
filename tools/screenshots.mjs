// Pictures of the page for README and docs/screenshots, at three widths, light and dark:  node tools/screenshots.mjs
// (LEDGER_CHROMIUM names the browser; build/site is the page)
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { serve } from '../web/serve.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));
const folder = `${root}docs/screenshots`;
const server = await serve(`${root}build/site`, { port: 0 });
const address = `http://127.0.0.1:${server.address().port}/#model=Qwen/Qwen3-8B&peft.r=16&max_length=2048&card=rtx-4090`;
const browser = await chromium.launch({
  executablePath: process.env.LEDGER_CHROMIUM || '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
mkdirSync(folder, { recursive: true });
for (const [width, height] of [
  [390, 844],
  [1280, 800],
  [1920, 1080],
])
  for (const colorScheme of ['light', 'dark']) {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme });
    await page.goto(address);
    await page.waitForSelector('html.alive', { state: 'attached' });
    await page.waitForSelector('.ladder:not(.waiting)', { timeout: 120_000 });
    await page.screenshot({ path: `${folder}/${width}-${colorScheme}.png` });
    await page.close();
  }
await browser.close();
server.close();
