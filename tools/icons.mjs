// Draws the icons of the installed page from web/icon.svg:  node tools/icons.mjs   (LEDGER_CHROMIUM names the browser)
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const web = fileURLToPath(new URL('../web/', import.meta.url));
const icon = readFileSync(`${web}icon.svg`, 'utf8');
// A mask may cut off everything beyond a circle of four fifths: the drawing is smaller there, and its paper goes to the edge.
const maskable = icon
  .replace('viewBox="0 0 32 32"', 'viewBox="-5 -5 42 42"')
  .replace(/<rect[^>]*\/>/, '<rect x="-5" y="-5" width="42" height="42" fill="#fbfaf7"/>');

const browser = await chromium.launch({
  executablePath: process.env.LEDGER_CHROMIUM || '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
mkdirSync(`${web}icons`, { recursive: true });
for (const [name, size, drawing] of [
  ['192', 192, icon],
  ['512', 512, icon],
  ['512-maskable', 512, maskable],
]) {
  const page = await browser.newPage({ viewport: { width: size, height: size } });
  await page.setContent(
    `<style>body{margin:0}svg{display:block;width:${size}px}</style>${drawing}`,
  );
  writeFileSync(`${web}icons/${name}.png`, await page.screenshot({ omitBackground: true }));
  await page.close();
}
await browser.close();
