// The step in time: live memory over the events of two steps, stacked by part, with a cursor.
import { h, svg } from './dom.mjs';
import { areas, axis, frame, grid, limits, marks, names, peak, percent } from './drawing.mjs';
import { size, traced } from './number.mjs';
import * as scale from './scale.mjs';
import { phase_name, without_phase } from './verdict.mjs';

/** @typedef {import('./view.mjs').View} View */
/** @typedef {import('./types.mjs').Report} Report */

/** @typedef {import('./drawing.mjs').Frame} Frame */

/** The point that is shown: under the pointer, held, or the peak.
 * @param {View} view @returns {number} index into the timeline */
export const shown_point = ({ report, ui }) => {
  const last = report.timeline.event.length - 1;
  const index = ui.hover ?? ui.held ?? scale.peak_point(report.timeline, report.peak.event);
  return Math.max(0, Math.min(last, index));
};

/** @param {View} view @returns {Element} */
export function picture(view) {
  const f = frame(view);
  return h(
    'figure',
    { class: 'picture' },
    readout(view),
    h(
      'div',
      { class: 'plot', 'data-plot': true },
      svg(
        'svg',
        {
          class: 'areas',
          width: '100%',
          height: '100%',
          role: 'img',
          'data-caption': `${(view.report.model.id ?? view.report.model.model_type).split('/').pop()}: live memory over the events of two training steps`,
          'aria-labelledby': 'picture-text',
        },
        svg(
          'title',
          {
            id: 'picture-text',
            'data-path':
              'phases; peak.allocated_bytes; peak.step; peak.reserved_bytes; verdict.usable_bytes',
          },
          picture_text(view),
        ),
        svg('g', { 'data-key': 'grid' }, ...grid(view, f)),
        areas(f),
        svg('g', { 'data-key': 'marks' }, ...marks(view, f)),
        svg('g', { 'data-key': 'limits' }, ...limits(view, f)),
        svg('g', { 'data-key': 'names' }, ...names(f)),
        svg('g', { 'data-key': 'peak' }, ...peak(view, f)),
        svg('g', { 'data-key': 'pins' }, ...pins(view, f)),
        svg('g', { 'data-key': 'cursor' }, ...cursor(view, f)),
      ),
      handle(view),
    ),
    axis(view, f),
  );
}

/** The moments that are pinned. @param {View} view @param {Frame} f */
function pins({ ui, scenario }, f) {
  return ui.moments
    .filter((pin) => pin.scenario === scenario)
    .flatMap(({ event }, i) => {
      const x = percent(f.x(event));
      const name = 'AB'[i];
      return [
        svg('line', { class: 'cursor', x1: x, x2: x, y1: 0, y2: '100%', 'data-key': `line ${i}` }),
        svg('text', { class: 'said pin', x, y: 12, dx: 4, 'data-key': name }, name),
      ];
    });
}

/** @param {View} view @param {Frame} f */
function cursor(view, f) {
  if (view.ui.hover === null && view.ui.held === null) return [];
  const i = shown_point(view);
  const x = percent(f.x(f.timeline.event[i]));
  return [
    svg('line', { class: 'cursor', x1: x, x2: x, y1: 0, y2: '100%', 'data-key': 'line' }),
    svg('circle', {
      class: 'cursor-dot',
      cx: x,
      cy: percent(f.y(f.timeline.allocated[i])),
      r: 4,
      'data-key': 'dot',
    }),
  ];
}

/** What takes the pointer and the arrow keys.
 * @param {View} view */
function handle(view) {
  const i = shown_point(view);
  return h('div', {
    class: 'handle',
    role: 'slider',
    tabindex: 0,
    'data-cursor': true,
    'aria-label': 'Moment of the two steps',
    'aria-valuemin': 0,
    'aria-valuemax': view.report.timeline.event.length - 1,
    'aria-valuenow': i,
    'aria-valuetext': moment_text(view, i),
    'aria-describedby': 'cursor-keys',
  });
}

/** @param {Report} report @param {number} event */
const mark_at = ({ timeline }, event) =>
  timeline.marks[
    scale.point_at(
      timeline.marks.map((mark) => mark.event),
      event,
    )
  ];

/** @param {View} view @param {number} i */
function moment_text({ report, n }, i) {
  const { timeline } = report;
  const mark = mark_at(report, timeline.event[i]);
  const place = timeline.places[timeline.place[i]] ?? '';
  return `Step ${mark.step}, ${phase_name(mark.phase)}${place ? `, ${place}` : ''}: ${n.both(timeline.allocated[i])} allocated`;
}

/** @param {View} view */
function readout(view) {
  const { report, ui, n } = view;
  const { timeline, peak } = report;
  const i = shown_point(view);
  const moved = ui.hover !== null || ui.held !== null;
  const event = timeline.event[i];
  const { step, phase } = moved ? mark_at(report, event) : peak;
  const place = moved ? timeline.places[timeline.place[i]] : without_phase(peak.moment, phase);
  return h(
    'p',
    { class: 'readout' },
    h('b', {}, moved ? (ui.hover === null ? 'Held' : 'Here') : 'Peak'),
    ' in step ',
    traced(moved ? 'timeline.marks' : 'peak.step', step),
    `, ${phase_name(phase)}: `,
    size(n, timeline.allocated[i], `timeline.allocated.${i}`),
    ' allocated, ',
    size(n, timeline.reserved[i], `timeline.reserved.${i}`),
    ' reserved. ',
    h('span', { class: 'place', 'data-path': moved ? 'timeline.places' : 'peak.moment' }, place),
    ' ',
    h(
      'button',
      { type: 'button', class: 'link', 'data-act': 'pin-moment', 'data-key': 'pin' },
      'Pin this moment',
    ),
    ' ',
    moved &&
      h(
        'button',
        { type: 'button', class: 'link', 'data-act': 'peak', 'data-key': 'peak' },
        'Back to the peak',
      ),
  );
}

/** The picture in words. @param {View} view */
function picture_text({ report, n }) {
  const { phases, peak, verdict } = report;
  const list = phases.map(
    ({ step, phase, peak_bytes }) => `step ${step} ${phase_name(phase)} ${n.gib(peak_bytes)} GiB`,
  );
  const limit = verdict ? ` The card offers ${n.gib(verdict.usable_bytes)} GiB.` : '';
  return (
    `Live memory over the events of two training steps. Peaks: ${list.join(', ')}. ` +
    `The highest is ${n.gib(peak.allocated_bytes)} GiB, in the ${phase_name(peak.phase)} of step ${peak.step}; reserved ${n.gib(peak.reserved_bytes)} GiB.${limit}`
  );
}
