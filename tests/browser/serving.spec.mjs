// What is served afterwards: opened, chosen by keys, every figure equal to the report's.
import { read_address } from '../../web/address.mjs';
import { native } from '../wasm/load.mjs';
import { expect, findings, test } from './support.mjs';
import { figures, is_one_of, values } from './trace.mjs';

const catalog = JSON.parse(native(['catalog']));
const report_of = (hash) => {
  const { scenario } = read_address(hash, catalog.defaults);
  return JSON.parse(native(['estimate', '--lines', '-'], `${JSON.stringify(scenario)}\n`));
};

/** Every figure of a place that names where it comes from, held against the report. */
async function held(page, place, report) {
  const texts = await page
    .locator(`${place} [data-path]`)
    .evaluateAll((all) =>
      all.map((one) => ({ path: one.dataset.path, text: one.textContent, title: one.title })),
    );
  const wrong = [];
  let count = 0;
  for (const { path, text } of texts)
    for (const figure of figures(text)) {
      count++;
      if (!is_one_of(figure, values(path, report))) wrong.push(`${figure.written} at ${path}`);
    }
  expect(wrong).toEqual([]);
  return count;
}

const kScenes = {
  transformers: '#model=Qwen/Qwen3-0.6B&card=rtx-4090&serving.engine=transformers',
  vllm: '#model=Qwen/Qwen3-0.6B&card=rtx-4090&serving.engine=vllm&serving.colocated=true',
  sglang: '#model=Qwen/Qwen3-0.6B&card=rtx-4090&serving.engine=sglang',
};

for (const [engine, hash] of Object.entries(kScenes)) {
  test(`the figures of ${engine} are the report's`, async ({ ledger, page }) => {
    await ledger(hash);
    await page.locator('#afterwards > summary').click();
    await expect(page.locator('#serving data').first()).toBeVisible();
    const report = report_of(hash);
    expect(report.problems).toEqual([]);
    expect(await held(page, '#serving', report)).toBeGreaterThan(15);
    // The defaults of the engine stand in their fields.
    await expect(page.locator('#serving [data-number=prompt]')).toHaveValue('1,024');
    if (engine === 'vllm')
      await expect(page.locator('#serving [data-key=training]')).toContainText('does not fit');
  });
}

test('opened by keys, an engine is chosen, and its cache is shown', async ({ ledger, page }) => {
  await ledger();
  await page.locator('#afterwards > summary').focus();
  await page.keyboard.press('Enter');
  await expect(page.locator('#serving')).toContainText('Choose an engine');
  const engine = page.locator('#serving [data-select=engine]');
  await engine.focus();
  await engine.selectOption('transformers');
  const cache = page.locator('#serving [data-key=cache_bytes] data');
  await expect(cache).toBeVisible();
});

test('serving without a card says what an engine needs', async ({ ledger, page }) => {
  await ledger('#model=Qwen/Qwen3-0.6B&serving.engine=vllm');
  await page.locator('#afterwards > summary').click();
  await expect(page.locator('#serving')).toContainText('whose size is not known');
});

test('one rank stands beside one device alone, in figures of both reports', async ({
  ledger,
  page,
}) => {
  const hash = '#model=Qwen/Qwen3-1.7B&parallel={"strategy":"fsdp2","world_size":8}';
  await ledger(hash);
  await page.locator('#divided > summary').click();
  const row = (id) => page.locator(`#ranks [data-key="${id}"]`);
  await expect(row('weights')).toHaveAttribute('data-kind', 'divided');
  await expect(row('weights')).toContainText('divided by 8');
  await expect(row('activations')).toHaveAttribute('data-kind', 'replicated');
  await expect(row('temporary gathered weight')).toBeVisible();
  const now = report_of(hash);
  const alone = report_of('#model=Qwen/Qwen3-1.7B');
  expect(await held(page, '#ranks', { ...alone, now })).toBeGreaterThan(20);
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  expect(await findings(page, '#divided')).toEqual([]);
});

test('axe finds nothing in serving, and a phone does not scroll sideways', async ({
  ledger,
  page,
}) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await ledger(kScenes.vllm);
  await page.locator('#afterwards > summary').click();
  await expect(page.locator('#serving data').first()).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  expect(await findings(page, '#afterwards')).toEqual([]);
});
