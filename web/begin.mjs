// Starts the page over a core that is being loaded, or says why there is none. The page's scenario is its address.
import { read_address, write_address } from './address.mjs';
import { run } from './app.mjs';
import { CannotStart } from './core.mjs';

/** @param {Promise<import('./door.mjs').Door>} door */
export async function begin(door) {
  const status = document.getElementById('status');
  try {
    const home = page();
    const app = await run(await door, navigator.language, home);
    document.documentElement.classList.add('alive');
    later(app, home);
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

const in_workshop = () => /^#workshop(=|&|$)/.test(location.hash);

/** Opens the workshop once the address names it. @param {import('./app.mjs').App} app @param {import('./app.mjs').Home} home */
function later(app, home) {
  let asked = false;
  const look = async () => {
    if (asked || !in_workshop() || !home.kept) return;
    asked = true;
    try {
      const { workshop } = await import('./workshop.mjs');
      workshop(app, home.kept);
    } catch (error) {
      asked = false;
      const status = document.getElementById('status');
      if (status) status.textContent = `The workshop could not be loaded: ${error}.`;
    }
  };
  addEventListener('hashchange', look);
  void look();
}

/** The address while the workshop is not in it. */
let last = '';
function scenario_hash() {
  if (!in_workshop()) last = location.hash;
  return last;
}

/** @returns {import('./app.mjs').Home} */
const page = () => ({
  root: document,
  body: document.body,
  built: scenario_hash().length < 2,
  read: ({ defaults }) => {
    const read = read_address(scenario_hash(), defaults);
    say(read.notes.join(' '));
    return read;
  },
  keep: (scenario, usual) => keep_address(write_address(scenario, usual)),
  kept: {
    // Some browsers refuse to keep anything for a page, or for a file.
    read: (name) => attempt(() => localStorage.getItem(name)),
    write: (name, text) =>
      void attempt(() =>
        text === null ? localStorage.removeItem(name) : localStorage.setItem(name, text),
      ),
  },
});

/** @template T @param {() => T} act @returns {T | null} */
function attempt(act) {
  try {
    return act();
  } catch {
    return null;
  }
}

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
