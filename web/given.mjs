// Settings of other programs that were pasted or dropped: read by the core, taken as the scenario, and given back.

/** @typedef {import('./app.mjs').App} App */
/** @typedef {{name: string, text: string}} Given */
/** @typedef {import('./types.mjs').Imported} Imported */

// What stays of the scenario that was there: the machine, which such files do not know.
const kKept = ['card', 'device', 'allocator'];
// Bytes of one file; settings are small, and the core refuses longer ones.
const kMostBytes = 1e6;
// Milliseconds for which typing rests.
const kRest = 300;

/** @type {ReturnType<typeof setTimeout> | undefined} */
let later;

/** What was typed or pasted into the box. @param {App} app @param {string} text */
export function typed(app, text) {
  app.ui.given = { ...app.ui.given, text };
  clearTimeout(later);
  later = setTimeout(() => void read(app), kRest);
}

/** What was pasted onto the page: it takes the place of what is there, unless that still lacks its model.
 * @param {App} app @param {string} text */
export function pasted(app, text) {
  const lacks = app.ui.given.answer?.problems.some(({ path }) => path === 'model');
  if (lacks) add_another(app);
  else app.ui.given = { ...app.ui.given, files: [], choice: {}, format: '' };
  app.ui.given = { ...app.ui.given, text };
  return read(app);
}

/** Keeps what is in the box as a file of its own, so that another can be pasted. @param {App} app */
export function add_another(app) {
  const { text, files } = app.ui.given;
  if (text.trim() === '') return;
  app.ui.given = { ...app.ui.given, files: [...files, { name: 'pasted text', text }], text: '' };
}

/** @param {App} app @param {Iterable<File>} list */
export async function dropped(app, list) {
  const all = [...list];
  const large = all.find(({ size }) => size > kMostBytes);
  if (large) {
    const wrong = `${large.name} is larger than settings are; give the settings alone.`;
    app.ui.given = { ...app.ui.given, wrong };
    return app.render(['given']);
  }
  const files = await Promise.all(
    all.map(async (file) => ({ name: file.name, text: await file.text() })),
  );
  const { given } = app.ui;
  const lacks = given.answer?.problems.some(({ path }) => path === 'model');
  const before = given.answer && !lacks ? [] : given.files;
  const text = given.answer && !lacks ? '' : given.text;
  app.ui.given = { ...given, files: [...before, ...files], text, choice: {}, format: '' };
  return read(app);
}

/** @param {App} app @param {number} index */
export function remove(app, index) {
  const { files } = app.ui.given;
  app.ui.given = { ...app.ui.given, files: files.filter((_, i) => i !== index) };
  return read(app);
}

/** @param {App} app @param {string} format empty for what the core recognises */
export function choose_format(app, format) {
  app.ui.given = { ...app.ui.given, format };
  return read(app);
}

/** Takes a preset in the place of a model that is not known. @param {App} app @param {string} model */
export function choose_model(app, model) {
  app.ui.given = { ...app.ui.given, choice: { model } };
  return read(app);
}

/** Goes back to the scenario that was there before. @param {App} app */
export function undo(app) {
  const { before } = app.ui.given;
  app.ui.given = { ...app.ui.given, before: null, taken: false };
  if (before) app.take(before);
}

/** Names that differ, as the core's answer goes by them. @param {Given[]} list @returns {Given[]} */
export const named_apart = (list) =>
  list.map(({ name, text }, i) => {
    const same = list.slice(0, i).filter((one) => one.name === name).length;
    return { name: same === 0 ? name : `${name} (${same + 1})`, text };
  });

/** What the core is asked.
 * @param {import('./view.mjs').Ui['given']} given @param {import('./types.mjs').Scenario} scenario */
export function request_of({ text, files, format, choice }, scenario) {
  const own = text.trim() === '' ? [] : [{ name: 'pasted text', text }];
  const keep = Object.fromEntries(
    kKept.flatMap((key) => (scenario[key] ? [[key, scenario[key]]] : [])),
  );
  return {
    files: named_apart([...files, ...own]),
    keep,
    with: choice,
    ...(format ? { format } : {}),
  };
}

let asked = 0;

/** @param {App} app */
async function read(app) {
  const own = ++asked;
  const { given } = app.ui;
  const request = request_of(given, given.before ?? app.view().scenario);
  if (request.files.length === 0) {
    app.ui.given = { ...given, answer: null, wrong: '' };
    return app.render(['given']);
  }
  const answer = await answer_of(app, request);
  if (own !== asked) return; // something else was given meanwhile
  const now = app.ui.given;
  if (typeof answer === 'string') {
    app.ui.given = { ...now, answer: null, wrong: answer };
  } else if (answer.whole && answer.scenario) {
    app.ui.given = {
      ...now,
      answer,
      wrong: '',
      before: now.before ?? app.view().scenario,
      taken: true,
    };
    app.take(answer.scenario);
  } else {
    app.ui.given = { ...now, answer, wrong: '', taken: false };
  }
  app.render(['given']);
}

/** @param {App} app @param {ReturnType<typeof request_of>} request @returns {Promise<Imported | string>} a sentence where
 * it cannot be read */
async function answer_of(app, request) {
  /** @param {object} asking @returns {Promise<Imported>} */
  const ask = async (asking) => JSON.parse(await app.ask('import_files', JSON.stringify(asking)));
  const first = await ask(request);
  if (first.yaml.length === 0) return first;
  const { read_yaml } = await import('./yaml.mjs');
  /** @type {({name: string, text: string} | {name: string, tree: unknown, documents?: number})[]} */
  const files = [];
  for (const file of request.files) {
    if (!first.yaml.includes(file.name)) {
      files.push(file);
      continue;
    }
    const yaml = read_yaml(file.text);
    if ('error' in yaml)
      return `${file.name} is neither JSON nor a command line, and no YAML that can be read: ${yaml.error}.`;
    files.push({ name: file.name, tree: yaml.tree, ...(yaml.more ? { documents: 2 } : {}) });
  }
  return ask({ ...request, files });
}
