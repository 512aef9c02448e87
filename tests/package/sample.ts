// What a user of the package writes; tsc checks it against the package's types.
import { catalog, compare, estimate, explain, type Report, type Scenario } from 'memory-ledger';
import { estimate as packed } from 'memory-ledger/single';
import 'memory-ledger/element';

declare const console: { log(...values: unknown[]): void };

const scenario: Scenario = {
  model: 'Qwen/Qwen3-0.6B',
  training: { max_length: 512, gradient_checkpointing: true, optim: 'adamw_8bit' },
  peft: { r: 16, target_modules: ['q_proj', 'v_proj'] },
  card: 'RTX 4090',
};
const report = await estimate(scenario);
if (report.peak) {
  const bytes: number = report.peak.allocated_bytes;
  const fits: 'yes' | 'close' | 'no' | undefined = report.verdict?.fits;
  const whole: Report = report;
  console.log(
    bytes,
    fits,
    whole.parts.map(({ id }) => id),
  );
} else {
  console.log(report.problems.map(({ path, message }) => `${path}: ${message}`));
}
console.log((await packed('{"model": "gpt2"}')).problems, (await catalog()).cards[0].name);
console.log((await explain('CUDA out of memory.', scenario)).diagnosis.why);
console.log((await compare({ scenario, measured: { nvidia_smi: '8012MiB' } })).tiers);
// @ts-expect-error: a scenario has a model
await estimate({ training: {} });
// @ts-expect-error: a length is a number
await estimate({ model: 'gpt2', training: { max_length: 'long' } });
