// The answer: a sentence, the card as a bar, and what the bar is made of.
import { h, svg } from './dom.mjs';
import { size, size_range, traced } from './number.mjs';
import { reserved_of, reserved_path, segments } from './segments.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./types.mjs').Report} Report */
/** @typedef {import('./number.mjs').Numbers} Numbers */

const kPhases = /** @type {{[id: string]: string}} */ ({
  generate: 'generation',
  log_probabilities: 'log-probabilities',
  forward: 'forward pass',
  backward: 'backward pass',
  step: 'optimizer step',
  evaluate: 'evaluation',
  save: 'saving',
});

/** What happens, without the phase where that has just been said.
 * @param {string} moment @param {string} phase */
export const without_phase = (moment, phase) => moment.replace(`${phase_name(phase)}, `, '');

/** @param {string} phase */
export const phase_name = (phase) => kPhases[phase] ?? phase;

/** "13.0 GiB", or "12.9 to 13.4 GiB". @param {string} low @param {string} high @param {string} unit */
const span = (low, high, unit) => (low === high ? `${high} ${unit}` : `${low} to ${high} ${unit}`);

/** The verdict in one sentence, in one unit.
 * @param {Report} report @param {Numbers} n @param {'GiB' | 'GB'} [unit] @returns {string} */
export function verdict_sentence({ verdict, peak }, n, unit = 'GiB') {
  const say = unit === 'GiB' ? n.gib : n.gb;
  const of = (/** @type {number} */ low, /** @type {number} */ high) =>
    span(say(low), say(high), unit);
  if (!verdict) return `It needs ${of(peak.process_bytes.low, peak.process_bytes.high)}.`;
  const { low, high } = verdict.spare_bytes;
  if (verdict.fits === 'yes') return `It fits, with ${of(low, high)} to spare.`;
  if (verdict.fits === 'no') return `It does not fit: ${of(-high, -low)} too much.`;
  if (high < 0)
    return `It just fits: ${of(-high, -low)} of what it would reserve must be given back on the way.`;
  return low < 0 && high > 0
    ? `It may fit: between ${say(-low)} ${unit} too much and ${say(high)} ${unit} to spare.`
    : `It just fits, with ${of(low, high)} to spare.`;
}

/** The same in GB, as an aside: what the sentence says between its first and last words.
 * @param {Report} report @param {Numbers} n */
const in_gb = (report, n) => {
  const figures = verdict_sentence(report, n, 'GB').match(/[-<±\d].*GB/);
  return figures ? ` (${figures[0]})` : '';
};

/** @param {View} view @returns {Element} */
export function verdict(view) {
  const { report, n } = view;
  const { peak } = report;
  const failure = report.verdict?.first_failure ?? null;
  return h(
    'div',
    { class: 'answer' },
    h(
      'p',
      {
        class: `sentence ${report.verdict?.fits ?? 'open'}`,
        id: 'verdict-sentence',
        role: 'status',
        'data-path': report.verdict ? 'verdict.spare_bytes' : 'peak.process_bytes',
      },
      verdict_sentence(report, n),
      h('span', { class: 'gb' }, in_gb(report, n)),
    ),
    h(
      'p',
      { class: 'details' },
      'At its worst moment it holds ',
      size(n, peak.allocated_bytes, 'peak.allocated_bytes'),
      ' of tensors, in the ',
      phase_name(peak.phase),
      ' of step ',
      traced('peak.step', peak.step),
      '; PyTorch reserves ',
      size_range(n, reserved_of(report), reserved_path(report)),
      ', and nvidia-smi shows ',
      size_range(n, peak.process_bytes, 'peak.process_bytes'),
      '.',
      failure &&
        traced(
          'verdict.first_failure.step; verdict.first_failure.what',
          ` It would stop first ${failure.step > 0 ? `in step ${failure.step}` : 'before the first step'}: ${failure.what}.`,
        ),
    ),
    bar(view),
    key(view),
  );
}

/** The card as a bar. Positions are shares of its width, so that text keeps its size.
 * @param {View} view */
function bar(view) {
  const { report, n } = view;
  const needed = report.verdict?.needed_bytes ?? report.peak.process_bytes;
  const usable = report.verdict?.usable_bytes ?? needed.high;
  const whole = Math.max(usable, needed.high);
  const share = (/** @type {number} */ bytes) => `${Number(((100 * bytes) / whole).toFixed(3))}%`;
  let at = 0;
  const rects = [];
  const labels = [];
  for (const { id, name, low, high } of segments(view)) {
    if (id === 'spare') continue;
    const width = (100 * low) / whole;
    rects.push(
      svg('rect', {
        class: `fill ${id}`,
        x: share(at),
        y: 0,
        width: share(low),
        height: '100%',
        'data-key': id,
      }),
    );
    if (high > low) {
      rects.push(
        svg('rect', {
          class: `fill ${id} maybe`,
          x: share(at + low),
          y: 0,
          width: share(high - low),
          height: '100%',
          'data-key': `${id} maybe`,
        }),
      );
    }
    if (width > 0.5)
      rects.push(
        svg('line', {
          class: 'gap',
          x1: share(at),
          x2: share(at),
          y1: 0,
          y2: '100%',
          'data-key': `${id} gap`,
        }),
      );
    // Names stand where they have room: on a wide screen, or on every screen.
    if (width > 1.5 + 0.72 * name.length && id !== 'context') {
      labels.push(
        svg(
          'text',
          {
            class: `on ${id}${width < 3 + 1.95 * name.length ? ' roomy' : ''}`,
            x: share(at + low / 2),
            y: '50%',
            dy: '.35em',
            'data-key': id,
          },
          name,
        ),
      );
    }
    at += high;
  }
  const over = report.verdict !== null && needed.high > usable;
  return h(
    'div',
    { class: 'card' },
    svg(
      'svg',
      { class: 'bar', role: 'img', 'aria-labelledby': 'bar-text', width: '100%', height: '100%' },
      svg(
        'title',
        {
          id: 'bar-text',
          'data-path': segments(view)
            .map(({ path }) => path)
            .join('; '),
        },
        bar_text(view),
      ),
      svg('g', { 'data-key': 'fills' }, ...rects),
      svg('g', { 'data-key': 'labels' }, ...labels),
      svg('rect', {
        class: 'frame',
        x: 0,
        y: 0,
        width: share(usable),
        height: '100%',
        'data-key': 'frame',
      }),
      over &&
        svg('line', {
          class: 'limit',
          x1: share(usable),
          x2: share(usable),
          y1: 0,
          y2: '100%',
          'data-key': 'limit',
        }),
    ),
    report.verdict &&
      h(
        'p',
        { class: 'usable' },
        traced('verdict.card', `${report.verdict.card ?? 'As typed'}: `),
        size(n, report.verdict.usable_bytes, 'verdict.usable_bytes'),
        ' usable',
        over ? h('span', { class: 'over' }, ', the red line') : '',
      ),
  );
}

/** @param {View} view */
function bar_text(view) {
  const { n } = view;
  const list = segments(view).map(
    ({ name, low, high }) => `${name} ${span(n.gib(low), n.gib(high), 'GiB')}`,
  );
  return `What the memory of the card is made of: ${list.join(', ')}.`;
}

/** @param {View} view */
function key(view) {
  const { n } = view;
  return h(
    'ul',
    { class: 'key' },
    ...segments(view).map(({ id, name, low, high, path }) =>
      h(
        'li',
        { 'data-key': id },
        h('span', { class: 'name' }, h('i', { class: `swatch ${id}` }), name),
        ' ',
        size_range(n, { low, high }, path),
      ),
    ),
  );
}
