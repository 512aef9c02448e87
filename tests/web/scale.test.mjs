// Places in the picture: nothing is lost, nothing is bent.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as scale from '../../web/scale.mjs';
import { GiB, report } from './support.mjs';

test('gridlines stand at round numbers', () => {
  assert.equal(scale.grid_step(24 * GiB, 5), 5 * GiB);
  assert.equal(scale.grid_step(12 * GiB, 5), 5 * GiB);
  assert.equal(scale.grid_step(2 * GiB, 4), GiB / 2);
  assert.equal(scale.grid_step(700 * GiB, 5), 200 * GiB);
});

test('the limit is drawn where it is near, and does not flatten the picture where it is far', () => {
  assert.equal(scale.vertical(12 * GiB, 24 * GiB).limit_shown, true);
  const far = scale.vertical(12 * GiB, 80 * GiB);
  assert.equal(far.limit_shown, false);
  assert.ok(far.top < 14 * GiB);
});

test('layers are stacked in order', () => {
  const layers = scale.stack(report.timeline, ['weights', 'activations']);
  assert.deepEqual(layers[1], report.timeline.allocated);
});

// The heights that a path reaches, in its own units from the floor.
const heights = (path) => {
  let y = 0;
  return [...path.matchAll(/([MHVhv])(-?\d+)(?: (\d+))?/g)].map(([, letter, a, b]) => {
    if (letter === 'M') y = Number(b);
    else if (letter === 'v') y += Number(a);
    else if (letter === 'V') y = Number(a);
    return scale.kHigh - y;
  });
};

test('a peak that lasts for one event of a million keeps its height', () => {
  const events = [0, 500_000, 500_001, 999_999];
  const path = scale.staircase(events, 1_000_000, [1, 100, 1, 1], 200);
  assert.equal(Math.max(...heights(path)), scale.kHigh / 2);
});

test('a value holds until the next point', () => {
  assert.equal(scale.staircase([0, 5], 10, [0, 100], 100), `M0 1000h2000v-1000H4000`);
});

test('equal neighbours cost nothing', () => {
  assert.equal(scale.staircase([0, 1, 2, 3], 4, [50, 50, 50, 50], 100), 'M0 500H4000');
});

test('the rule between two parts is drawn only where something lies on it', () => {
  const path = scale.rule([0, 5], 10, [50, 50], [50, 80], 100);
  assert.equal(path, 'M2000 500h2000');
});

test('the point of an event is the last one at or before it', () => {
  const events = [10, 20, 60];
  assert.deepEqual(
    [5, 10, 19, 20, 59, 60, 99].map((event) => scale.point_at(events, event)),
    [0, 0, 0, 1, 1, 2, 2],
  );
});

test('a name stands where its layer is thickest, or nowhere', () => {
  const events = [0, 25, 50, 75];
  const floor = [0, 0, 0, 0];
  const place = scale.label_place(floor, [1, 50, 80, 1], events, 100, 100, {
    wide: 0.2,
    high: 0.1,
  });
  assert.ok(place.x > 0.5 && place.x < 0.75);
  assert.equal(place.y, 0.6);
  assert.equal(
    scale.label_place(floor, [5, 5, 5, 5], events, 100, 100, { wide: 0.2, high: 0.1 }),
    null,
  );
});
