// A recorded history of PyTorch's allocator (torch.cuda.memory._dump_snapshot) as a timeline, and what lived at its peak.
import { Unreadable, read_pickle } from './pickle.mjs';

/** What lived at the peak, of one size and from one source line. @typedef {{line: string, bytes: number, count: number}} Group */

/** @typedef {object} History bytes
 * @property {number[]} at index of the event of each point
 * @property {number[]} allocated after it, sizes rounded up as the allocator does
 * @property {number} events in all
 * @property {number} peak
 * @property {number} peak_point index into `at`
 * @property {Group[]} groups alive at the peak, the largest first
 * @property {number} missed bytes of frees whose allocation was not recorded */

// Bytes of a file; larger ones are refused before they are read.
export const kMostBytes = 256e6;
// Points of the timeline that are drawn.
const kPoints = 1500;
const kRounding = 512;

const round = (/** @type {number} */ bytes) => Math.ceil(bytes / kRounding) * kRounding;

/** @param {unknown} value @param {string} key */
const of = (value, key) => (value instanceof Map ? value.get(key) : undefined);

/** The first line that is not PyTorch's own machinery, or the first at all. @param {unknown} frames */
function line_of(frames) {
  if (!Array.isArray(frames) || frames.length === 0)
    return 'no Python frame (the backward pass runs in a thread of its own)';
  const own = frames.find((frame) => {
    const file = String(of(frame, 'filename') ?? '');
    return file.endsWith('.py') && !/torch\/(nn\/modules|_|utils|autograd)/.test(file);
  });
  const frame = own ?? frames[0];
  const file = String(of(frame, 'filename') ?? '??').replace(/^.*(site|dist)-packages\//, '');
  return `${file}:${of(frame, 'line') ?? ''} ${of(frame, 'name') ?? ''}`;
}

/** @param {Uint8Array} bytes @param {() => Promise<void>} [breathe] @returns {Promise<History>} */
export async function read_history(bytes, breathe) {
  const snapshot = await read_pickle(bytes, breathe);
  const traces = of(snapshot, 'device_traces');
  if (!Array.isArray(traces))
    throw new Unreadable('This pickle is no memory snapshot: it has no device_traces.');
  const trace = traces.reduce(
    (most, one) => (Array.isArray(one) && one.length > most.length ? one : most),
    [],
  );
  if (trace.length === 0)
    throw new Unreadable(
      'The snapshot holds no history: call torch.cuda.memory._record_memory_history() before the run.',
    );
  return history_of(trace);
}

/** @param {unknown[]} trace */
function history_of(trace) {
  /** @type {Map<unknown, {bytes: number, event: unknown}>} */
  const live = new Map();
  /** @type {number[]} */
  const after = [];
  let now = 0;
  let missed = 0;
  let peak = 0;
  let peak_event = 0;
  trace.forEach((event, i) => {
    const action = of(event, 'action');
    const address = of(event, 'addr');
    if (action === 'alloc') {
      const bytes = round(Number(of(event, 'size')) || 0);
      live.set(address, { bytes, event });
      now += bytes;
    } else if (action === 'free_requested' || action === 'free') {
      const block = live.get(address);
      if (block) now -= block.bytes;
      else missed += Number(of(event, 'size')) || 0;
      live.delete(address);
    }
    after.push(now);
    if (now > peak) [peak, peak_event] = [now, i];
  });
  const { at, allocated } = thinned(after);
  return {
    at,
    allocated,
    events: trace.length,
    peak,
    peak_point: at.indexOf(peak_event),
    groups: alive_at(trace, peak_event),
    missed,
  };
}

/** The highest point of every stretch; the first of the highest is the peak. @param {number[]} after */
function thinned(after) {
  const step = Math.max(1, Math.ceil(after.length / kPoints));
  /** @type {number[]} */
  const at = [];
  for (let from = 0; from < after.length; from += step) {
    let best = from;
    for (let i = from; i < Math.min(after.length, from + step); i++)
      if (after[i] > after[best]) best = i;
    at.push(best);
  }
  return { at, allocated: at.map((i) => after[i]) };
}

/** @param {unknown[]} trace @param {number} event @returns {Group[]} */
function alive_at(trace, event) {
  /** @type {Map<unknown, unknown>} */
  const live = new Map();
  for (const one of trace.slice(0, event + 1)) {
    const action = of(one, 'action');
    if (action === 'alloc') live.set(of(one, 'addr'), one);
    else if (action === 'free_requested' || action === 'free') live.delete(of(one, 'addr'));
  }
  /** @type {Map<string, Group>} */
  const groups = new Map();
  for (const one of live.values()) {
    const bytes = round(Number(of(one, 'size')) || 0);
    const line = line_of(of(one, 'frames'));
    const key = `${bytes} ${line}`;
    const group = groups.get(key) ?? { line, bytes, count: 0 };
    group.count += 1;
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => b.bytes * b.count - a.bytes * a.count);
}

/** Sizes of which the recorded run held more, or fewer, tensors at its peak than the estimate: the largest first.
 * @param {History} history @param {import('./types.mjs').Report} report
 * @returns {{bytes: number, recorded: number, estimated: number, lines: string[], names: string[]}[]} */
export function differences({ groups }, { parts }) {
  /** @type {Map<number, {recorded: number, estimated: number, lines: string[], names: string[]}>} */
  const sizes = new Map();
  const at = (/** @type {number} */ bytes) => {
    const known = sizes.get(bytes) ?? { recorded: 0, estimated: 0, lines: [], names: [] };
    sizes.set(bytes, known);
    return known;
  };
  for (const { bytes, count, line } of groups) {
    const size = at(bytes);
    size.recorded += count;
    if (!size.lines.includes(line)) size.lines.push(line);
  }
  for (const { lines } of parts) {
    for (const { bytes, count, what, where } of lines) {
      if (!(count > 0) || bytes <= 0) continue;
      const size = at(round(bytes / count));
      size.estimated += count;
      size.names.push(where ? `${where}: ${what}` : what);
    }
  }
  return [...sizes]
    .map(([bytes, rest]) => ({ bytes, ...rest }))
    .filter(({ recorded, estimated }) => recorded !== estimated)
    .sort(
      (a, b) =>
        b.bytes * Math.abs(b.recorded - b.estimated) - a.bytes * Math.abs(a.recorded - a.estimated),
    );
}
