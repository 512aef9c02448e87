// Starts the page over a core that is being loaded, or says why there is none.
import { run } from './app.mjs';
import { CannotStart } from './core.mjs';

/** @param {Promise<import('./door.mjs').Door>} door */
export async function begin(door) {
  const status = document.getElementById('status');
  try {
    await run(await door, navigator.language);
    document.documentElement.classList.add('alive');
  } catch (error) {
    const why =
      error instanceof CannotStart
        ? error.message
        : `The page could not start: ${error instanceof Error ? error.message : error}.`;
    document.documentElement.classList.add('still');
    if (status) {
      status.textContent = `${why} The figures below were computed when the page was built, for the scenario shown; they cannot be changed here.`;
    }
  }
}
