// Settings of other programs, pasted and dropped, as people bring them.
import { readFileSync } from 'node:fs';
import { expect, findings, kSingle, test } from './support.mjs';

const data = (name) => readFileSync(new URL(`../data/imports/${name}`, import.meta.url), 'utf8');
const kBox = '#given-box';

/** What Ctrl+V does on the page itself: browsers give tests no clipboard to paste from. */
const paste = (page, text) =>
  page.evaluate((pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', pasted);
    const event = new Event('paste', { bubbles: true, cancelable: true });
    Object.defineProperty(event, 'clipboardData', { value: clipboardData }); // Firefox makes none itself
    document.body.dispatchEvent(event);
  }, text);

const drop = (page, files) =>
  page.evaluate((list) => {
    const dataTransfer = new DataTransfer();
    for (const [name, text] of list) dataTransfer.items.add(new File([text], name));
    for (const kind of ['dragover', 'drop'])
      document.body.dispatchEvent(
        new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }),
      );
  }, files);

test('from a cold start, an Axolotl YAML and an RTX 4090 give the verdict in three actions', async ({
  ledger,
  page,
}) => {
  const asked = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await ledger('#model=Qwen/Qwen3-0.6B');
  expect(asked.filter((path) => /full|yaml|paste|given/.test(path))).toEqual([]);
  await paste(page, data('axolotl-qlora.yml')); // one
  await page.locator('.word[data-word=card]').click(); // two
  await page.locator('[data-option=rtx-4090]').click(); // three
  await expect(page.locator('#answer')).toContainText('RTX 4090');
  await expect(page.locator('#say')).toContainText('Meta-Llama-3-8B');
  await expect(page.locator('#say')).toContainText('QLoRA');
  await expect(page.locator('#problems li')).toHaveCount(0);
  await expect(page.locator('#given .found')).toContainText('Axolotl YAML');
});

test('every key says what it became, and the card stays; undo gives back what was there', async ({
  ledger,
  page,
}) => {
  await ledger('#model=Qwen/Qwen3-0.6B&card=rtx-4090');
  await page.getByRole('button', { name: 'Paste what you have' }).click();
  await page.locator('#given-text').fill(data('axolotl-fsdp.yml'));
  const box = page.locator('#given');
  await expect(box.locator('.found')).toContainText('Axolotl YAML');
  await expect(box).toContainText('neftune_noise_alpha: 5');
  await box.locator('summary').filter({ hasText: 'Taken' }).click();
  await expect(box).toContainText('training.max_length = 4096');
  await expect(box.locator('[role=status]')).toContainText('It does not fit');
  await expect(page).toHaveURL(/card=rtx-4090/);
  await expect(page).toHaveURL(/Llama-3.1-8B/);
  expect(await findings(page, kBox)).toEqual([]);
  await box.getByRole('button', { name: 'Undo' }).click();
  await expect(page.locator('#say')).toContainText('Qwen3-0.6B');
  await expect(page).toHaveURL(/model=Qwen\/Qwen3-0.6B&card=rtx-4090/);
});

test('several files are one scenario', async ({ ledger, page }) => {
  await ledger();
  const names = ['accelerate-fsdp2.yaml', 'config.json'];
  await drop(
    page,
    names.map((name) => [name, data(name)]),
  );
  const box = page.locator('#given');
  await expect(box.locator('.found')).toContainText("accelerate's settings and config.json");
  await expect(page.locator('#say')).toContainText('FSDP2');
  await box.getByRole('button', { name: 'leave out accelerate-fsdp2.yaml' }).click();
  await expect(page.locator('#say')).not.toContainText('FSDP2');
});

test('a model that is not known asks for its config.json, which completes it', async ({
  ledger,
  page,
}) => {
  await ledger();
  await paste(page, data('axolotl-misspelt.yml'));
  const box = page.locator('#given');
  await expect(box.locator('.problem')).toContainText('config.json');
  await expect(box).toContainText('did you mean micro_batch_size');
  expect(await findings(page, kBox)).toEqual([]);
  await paste(page, data('config.json'));
  await expect(box.locator('.problem')).toHaveCount(0);
  await expect(page.locator('#say')).toContainText('a pasted llama');
  await expect(page.locator('#problems li')).toHaveCount(0);
});

test('a preset can be taken in the place of a model that is not known', async ({
  ledger,
  page,
}) => {
  await ledger();
  await paste(page, data('axolotl-misspelt.yml'));
  await page.locator('#given [data-meant]').first().click();
  await expect(page.locator('#say')).toContainText('SmolLM2-1.7B');
});

test('with the keyboard alone: a command line, then another format', async ({ ledger, page }) => {
  await ledger();
  await page.getByRole('button', { name: 'Paste what you have' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.locator('#given-text')).toBeVisible(); // its module is loaded now
  await page.keyboard.press('Tab'); // from the summary into the box
  await expect(page.locator('#given-text')).toBeFocused();
  await page.keyboard.insertText(data('command-torchrun.txt'));
  await expect(page.locator('#given .found')).toContainText('TrainingArguments');
  await expect(page.locator('#say')).toContainText('gpt2');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('Delete');
  await expect(page.locator('#given .found')).toHaveCount(0);
});

test('nonsense is refused in a sentence, and the page goes on', async ({ ledger, page }) => {
  await ledger();
  for (const text of ['just some words', 'a: [', '{"a": 1}', '[1, 2]', 'a: &a [*a, *a]']) {
    await paste(page, text);
    await expect(page.locator('#given .problem').first()).not.toBeEmpty();
  }
  await paste(page, data('sft_config.yaml'));
  await expect(page.locator('#given .problem')).toHaveCount(0);
});

test('on a phone nothing is wider than the page', async ({ ledger, page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await ledger();
  await paste(page, data('axolotl-qlora.yml'));
  await expect(page.locator('#given .found')).toContainText('Axolotl YAML');
  const wide = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(wide).toBeLessThanOrEqual(0);
  expect(await findings(page, kBox)).toEqual([]);
});

test('the single file reads YAML too', async ({ page }) => {
  await page.goto(`${kSingle}#model=Qwen/Qwen3-0.6B`);
  await expect(page.locator('html.alive')).toHaveCount(1);
  await paste(page, data('llamafactory-qlora.yaml'));
  await expect(page.locator('#given .found')).toContainText('LLaMA-Factory');
});
