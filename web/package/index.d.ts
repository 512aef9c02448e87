// The package's functions. Sizes are bytes; docs/contract.md says what every key means.
import type { Catalog, Comparison, Explanation, Problem, Report } from './types.d.mts';
import type { Scenario } from './scenario.d.mts';

export type { Catalog, Comparison, Explanation, Problem, Report, Scenario };
export type {
  Card,
  Line,
  Moment,
  Part,
  Phase,
  Preset,
  Range,
  Timeline,
  Verdict,
} from './types.d.mts';

/** What is answered where the scenario has problems: all of them at once, and no figures. */
export interface Refusal {
  problems: Problem[];
  peak?: undefined;
}

/** Replays a scenario. It does not throw for a scenario with problems: they are in the answer. */
export function estimate(scenario: Scenario | string): Promise<Report | Refusal>;

/** Everything that a scenario can choose from, with the defaults. */
export function catalog(): Promise<Catalog>;

/** What an out-of-memory message says, beside one scenario, a few of them, or none. */
export function explain(
  message: string,
  scenario?: Scenario | Scenario[] | string,
): Promise<Explanation>;

/** Measured memory beside the estimate. Numbers are bytes; texts are sizes as they were printed. */
export function compare(question: {
  scenario: Scenario;
  measured: {
    max_memory_allocated?: number | string;
    max_memory_reserved?: number | string;
    nvidia_smi?: number | string;
    free?: number | string;
    total?: number | string;
  };
}): Promise<Comparison>;
