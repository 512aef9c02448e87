// The core in a thread of its own: one question at a time, in the order in which they come.
import { CannotStart, load_core } from './core.mjs';

try {
  const core = await load_core();
  addEventListener('message', ({ data: { id, what, text } }) => {
    try {
      postMessage({ id, text: what === 'catalog' ? core.catalog() : core.estimate(text) });
    } catch (error) {
      postMessage({ id, error: String(error) });
    }
  });
  postMessage({ ready: true });
} catch (error) {
  postMessage({
    cannot:
      error instanceof CannotStart ? error.message : `The calculator could not start: ${error}.`,
  });
}
