// Every figure of the answer comes from the report: its element names the place, and the program's own report of the same
// scenario has that value there. A figure without a place fails, as does a place that leads nowhere.
import { read_address } from '../../web/address.mjs';
import { change } from '../../web/scenario.mjs';
import { native } from '../wasm/load.mjs';
import { expect, test } from './support.mjs';
import { figures, is_one_of, values } from './trace.mjs';

const catalog = JSON.parse(native(['catalog']));
// With --lines the status is the same whether it fits or not.
const estimate = (scenario) =>
  JSON.parse(native(['estimate', '--lines', '-'], `${JSON.stringify(scenario)}\n`));

// The views that show one report. Those that show others (examples, sweeps, comparisons) have tests of their own.
const kPlaces = [
  'scenario',
  'answer',
  'tiers',
  'picture',
  'phases',
  'ladder',
  'logits',
  'ledger',
  'assumptions',
];

/** Every text with a digit in these places, with the place that it names. @param {import('@playwright/test').Page} page */
const texts = (page) =>
  page.evaluate((places) => {
    const found = [];
    for (const id of places) {
      const place = document.getElementById(id);
      if (!place) continue;
      const walk = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
      for (let node = walk.nextNode(); node; node = walk.nextNode()) {
        if (!/\d/.test(node.data)) continue;
        const from = (name) => node.parentElement.closest(`[${name}]`)?.getAttribute(name) ?? null;
        // A sign before a figure may stand in a text of its own.
        found.push({
          id,
          text: node.data,
          path: from('data-path'),
          of: from('data-of'),
          scale: from('data-scale'),
        });
      }
    }
    return found;
  }, kPlaces);

/** Holds all of them; gives what is wrong, and how many figures were held. */
async function held(page, scenario, point = '.') {
  const report = estimate(scenario);
  const changed = new Map();
  const root_of = (of) => {
    if (of === null) return { ...report, catalog };
    if (!changed.has(of)) {
      // Null is a key that the change takes away.
      const patch = JSON.parse(of, (_, value) => value ?? undefined);
      for (const key of Object.keys(JSON.parse(of))) patch[key] ??= undefined;
      changed.set(of, {
        ...estimate(change(catalog, scenario, patch)),
        change: patch,
        now: report,
        catalog,
      });
    }
    return changed.get(of);
  };
  const wrong = [];
  let count = 0;
  for (const { id, text, path, of, scale } of await texts(page)) {
    const all = scale !== null ? [Number(scale)] : path === null ? null : values(path, root_of(of));
    for (const figure of figures(text, point)) {
      count++;
      if (all === null) wrong.push(`#${id}: “${text}” says from nowhere`);
      else if (!is_one_of(figure, all))
        wrong.push(
          `#${id}: ${figure.written} in “${text}” is not at ${path ?? 'its height'}: ${all.slice(0, 4)}`,
        );
    }
  }
  return { wrong, count };
}

/** Opens what is closed, and waits until every change has been counted. */
async function open_all(page) {
  await page.locator('main details').evaluateAll((all) => all.forEach((one) => (one.open = true)));
  await expect(page.locator('#tiers data').first()).toBeVisible();
  await page.locator('#ledger [data-act=all]').click();
  for (const part of ['weights', 'activations'])
    await page.locator(`#ledger [data-key=${part}] .line button`).first().click();
  await expect(page.locator('#ledger .working')).toHaveCount(2);
  await expect(page.locator('#ladder .waiting, #ladder.waiting, .ladder.waiting')).toHaveCount(0);
}

const kScenes = {
  'a first visit': '',
  'QLoRA on a card that is too small':
    '#model=meta-llama/Llama-3.1-8B&peft.r=16&quantization.load_in_4bit=true&max_length=8192&per_device_train_batch_size=4&card=rtx-4090',
  'SFTTrainer with accumulation, and an evaluation':
    '#model=Qwen/Qwen3-1.7B&trainer=trl&gradient_accumulation_steps=4&moments=["load","train","evaluate","save"]&training.max_eval_samples=8&card=a100-40gb',
};

for (const [name, hash] of Object.entries(kScenes)) {
  test(`every figure is at its place in the report: ${name}`, async ({
    ledger,
    page,
    browserName,
  }) => {
    test.skip(browserName !== 'chromium', 'the same views over the same reports');
    test.slow();
    await ledger(hash);
    const { scenario, problems } = read_address(hash, catalog.defaults);
    expect(problems).toEqual([]);
    expect(estimate(scenario).problems).toEqual([]);
    await open_all(page);
    const { wrong, count } = await held(page, scenario);
    expect(wrong).toEqual([]);
    expect(count).toBeGreaterThan(250);

    // The same in bytes, and at another moment.
    await page.locator('[data-act=exact]').click();
    await page.locator('[data-cursor]').focus();
    await page.keyboard.press('PageUp');
    await expect(page.locator('#ledger h2')).toContainText('of step');
    await expect(page.locator('.ledger.waiting')).toHaveCount(0);
    const at = Number(await page.locator('[data-cursor]').getAttribute('aria-valuenow'));
    const event = estimate(scenario).timeline.event[at];
    const moved = await held(page, { ...scenario, at_event: event });
    expect(moved.wrong).toEqual([]);
  });
}

test.describe('in German', () => {
  test.use({ locale: 'de-DE' });
  test('figures with decimal commas are at their places too', async ({
    ledger,
    page,
    browserName,
  }) => {
    test.skip(browserName !== 'chromium', 'the same views over the same reports');
    await ledger();
    await open_all(page);
    const { wrong, count } = await held(page, read_address('', catalog.defaults).scenario, ',');
    expect(wrong).toEqual([]);
    expect(count).toBeGreaterThan(250);
  });
});
