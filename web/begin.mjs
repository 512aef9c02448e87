// Starts the page over a core that is being loaded, or says why there is none. The page's scenario is its address.
import { read_address, write_address } from './address.mjs';
import { run } from './app.mjs';
import { CannotStart } from './core.mjs';

/** @param {Promise<import('./door.mjs').Door>} door */
export async function begin(door) {
  const status = document.getElementById('status');
  try {
    await run(await door, navigator.language, page());
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

/** @returns {import('./app.mjs').Home} */
const page = () => ({
  root: document,
  body: document.body,
  built: location.hash.length < 2,
  read: ({ defaults }) => {
    const read = read_address(location.hash, defaults);
    say(read.notes.join(' '));
    return read;
  },
  keep: (scenario, usual) => keep_address(write_address(scenario, usual)),
});

// Longer ones are cut or refused by browsers and by what people paste addresses into.
const kLongestAddress = 30_000;

/** Writes the address, or says that it does not hold this scenario. @param {string} hash */
function keep_address(hash) {
  const fits = hash.length <= kLongestAddress;
  history.replaceState(null, '', (fits && hash) || location.pathname + location.search);
  say(fits ? '' : 'This scenario is too long for the address, which therefore does not hold it.');
}

/** @param {string} text */
function say(text) {
  const status = document.getElementById('status');
  if (status) status.textContent = text;
}
