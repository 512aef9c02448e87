// A file that was given: read in pieces, so that the page stays alive, and refused with a sentence where it cannot be.
import { Unreadable } from './pickle.mjs';
import { kMostBytes, read_history } from './snapshot.mjs';

const kBreath = () => new Promise((/** @type {(value: void) => void} */ rest) => setTimeout(rest));

/** @param {import('./app.mjs').App} app @param {File | undefined} file */
export async function drop(app, file) {
  const { ui } = app;
  if (!file) return;
  const { name } = file;
  ui.dropped = { name, reading: true };
  app.render(['recorded']);
  const answer = await read(file).then(
    (history) => ({ name, history }),
    (error) => ({ name, problem: sentence(error) }),
  );
  // Another file may have been given meanwhile.
  if (ui.dropped?.name === name) ui.dropped = answer;
  app.render(['recorded']);
}

/** @param {File} file */
async function read(file) {
  if (file.size > kMostBytes)
    throw new Unreadable(
      'The file is larger than what is read here. Record fewer entries: _record_memory_history(max_entries=…, stacks="python").',
    );
  return read_history(new Uint8Array(await file.arrayBuffer()), kBreath);
}

/** @param {unknown} error */
const sentence = (error) =>
  error instanceof Unreadable ? error.message : `It could not be read (${error}).`;
