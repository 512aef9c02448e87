// What people do to the page: clicks, keys, typing, pasting, the pointer over the picture. Views carry data-attributes;
// the page listens once and looks for them.
import { matching } from './choices.mjs';
import { patch_of, step } from './choose.mjs';
import { changes } from './changes.mjs';
import { do_act, found, go, go_back } from './commands.mjs';
import { drop } from './drop.mjs';
import { givings } from './giving.mjs';
import { questions } from './asked.mjs';
import { cursor_acts } from './cursor.mjs';
import { kGB, kGiB } from './number.mjs';
import { get } from './scenario.mjs';

/** @typedef {import('./app.mjs').App} App */
/** @typedef {import('./controls.mjs').Control} Control */

/** @param {App} app @param {Document | ShadowRoot} root */
export function listen(app, root) {
  const on = /** @type {Document['addEventListener']} */ (root.addEventListener.bind(root));
  const { ui } = app;
  const asked = questions(app);
  const giving = givings(app, root);
  const control = (/** @type {string | null} */ id) =>
    app.view().controls.find((row) => row.id === id);

  /** @param {string} id */
  const open = (id) => {
    Object.assign(ui, { open: id, query: '', active: null, paste_problem: null });
    app.render();
    requestAnimationFrame(() => requestAnimationFrame(() => focus_choices(root)));
  };
  const close = (/** @type {boolean} */ back) => {
    if (ui.open === null) return;
    const word = root.querySelector(`.word[data-word="${ui.open}"]`);
    ui.open = null;
    app.render();
    if (back && word instanceof HTMLElement) word.focus();
  };
  /** @param {Control} row @param {string} key */
  const choose = (row, key) => {
    const option = row.options?.find((one) => one.key === key);
    if (option) app.change(patch_of(option, app.view().full));
  };
  /** @param {string[]} list @param {string} item */
  const flip = (list, item) =>
    list.includes(item) ? list.filter((one) => one !== item) : [...list, item];

  on('click', (event) => {
    const word = found(event, 'word');
    if (word) return ui.open === word[1] ? close(true) : open(word[1]);
    const option = found(event, 'option');
    const row = control(ui.open);
    if (option && row) {
      choose(row, option[1]);
      return row.stays ? undefined : close(true);
    }
    const stop = found(event, 'set');
    const set = stop && control(stop[1]);
    if (stop && set) return app.change({ [set.paths[0]]: Number(stop[0].dataset.value) });
    const take = found(event, 'take');
    if (take) {
      const value = JSON.parse(take[0].dataset.value ?? 'null');
      const whole = take[1] === 'card' ? { 'device.total_bytes': undefined } : {};
      return app.change({ [take[1]]: value, ...whole });
    }
    const cure = found(event, 'cure');
    if (cure) return asked.cure(Number(cure[1]));
    const pair = found(event, 'pair');
    if (pair) return void two_at_once(pair[1]);
    const back = found(event, 'back');
    if (back) return void go_back(app, Number(back[1]));
    const opened = found(event, 'open');
    if (opened) return app.take(ui.pins[Number(opened[1])].scenario);
    const gone = found(event, 'unpin');
    if (gone) ui.pins = ui.pins.filter((_, i) => i !== Number(gone[1]));
    if (giving.click(event)) return;
    const part = found(event, 'part');
    const line = found(event, 'line');
    const change = found(event, 'change');
    const example = found(event, 'example');
    const act = found(event, 'act');
    if (part) ui.parts = flip(ui.parts, part[1]);
    else if (line) ui.lines = flip(ui.lines, line[1]);
    else if (example) ui.example = ui.example === example[1] ? null : example[1];
    else if (change) {
      const patch = changes(app.view()).find(({ key }) => key === change[1])?.patch;
      if (patch) app.change(patch);
    } else if (act) do_act(app, act[1], act[0], root);
    else if (!gone) return go(event, root);
    app.render();
  });

  // Outside of an element's shadow too: hence the whole document, and the path into it.
  for (const kind of ['pointerdown', 'focusin']) {
    document.addEventListener(kind, (event) => {
      const [target] = event.composedPath();
      const inside = target instanceof Element && target.closest('#pop, [data-word]');
      if (!inside || target.getRootNode() !== root) close(false);
    });
  }

  const drags = async () => await import('./drag.mjs');
  on('pointerdown', (event) => {
    const dragged = found(event, 'drag');
    if (!dragged || event.button !== 0) return;
    void drags().then(({ drag }) => drag(app, dragged[1], event));
  });

  on('keydown', (event) => {
    if (event.key === 'Escape' && ui.open !== null) {
      event.preventDefault();
      return close(true);
    }
    const up = event.key === 'ArrowUp' || event.key === 'ArrowRight';
    const down = event.key === 'ArrowDown' || event.key === 'ArrowLeft';
    const word = found(event, 'word');
    const row = word && control(word[1]);
    if (word && row && (up || down) && word[0].classList.contains('word')) {
      event.preventDefault();
      // In a list, down is further; of a number, up is more.
      const further = row.stops ? up : event.key === 'ArrowDown' || event.key === 'ArrowRight';
      const patch = step(row, app.view().full, further ? 1 : -1);
      if (patch) app.change(patch);
      return;
    }
    const dragged = found(event, 'drag');
    if (dragged && (up || down || /^(Page(Up|Down)|Home|End)$/.test(event.key))) {
      event.preventDefault();
      void drags().then(({ press }) => press(app, dragged[1], event.key));
    } else if (found(event, 'list') || found(event, 'search')) list_key(event);
    else if (event.key === 'Enter' && (found(event, 'number') || found(event, 'size'))) close(true);
  });

  /** @param {KeyboardEvent} event */
  function list_key(event) {
    const row = control(ui.open);
    if (!row) return;
    const keys = matching(row, ui.query).map(({ key }) => key);
    const at = keys.indexOf(ui.active ?? row.key(app.view().full));
    const search = event.target instanceof HTMLInputElement;
    const moves = /** @type {{[key: string]: number}} */ ({
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + 8,
      PageUp: at - 8,
      ...(search ? {} : { Home: 0, End: keys.length - 1 }),
    });
    if (event.key in moves) {
      ui.active = keys[Math.max(0, Math.min(keys.length - 1, moves[event.key]))] ?? null;
      app.render();
      requestAnimationFrame(() =>
        requestAnimationFrame(() =>
          root.querySelector('.option.active')?.scrollIntoView({ block: 'nearest' }),
        ),
      );
    } else if (event.key === 'Enter' || (event.key === ' ' && !search)) {
      const key = ui.active ?? (search && ui.query !== '' ? keys[0] : undefined);
      if (key !== undefined) choose(row, key);
      if (!row.stays) close(true);
    } else return;
    event.preventDefault();
  }

  on('input', (event) => {
    const target = event.target;
    if (target instanceof HTMLTextAreaElement && target.dataset.paste !== undefined)
      return paste(target.value);
    if (target instanceof HTMLTextAreaElement && target.dataset.message !== undefined)
      return asked.message(target.value);
    if (target instanceof HTMLTextAreaElement && target.dataset.given !== undefined)
      return giving.typed(target.value);
    if (!(target instanceof HTMLInputElement)) return;
    const { search, slide, number, measured, find } = target.dataset;
    if (find !== undefined) {
      ui.find = target.value;
      return app.render(['ledger']);
    }
    if (measured !== undefined) return asked.measured(measured, target.value);
    if (search !== undefined) {
      Object.assign(ui, { query: target.value, active: null });
      if (target.value !== '')
        ui.active =
          matching(/** @type {Control} */ (control(search)), target.value)[0]?.key ?? null;
      return app.render();
    }
    const row = control(slide ?? number ?? null);
    if (!row) return;
    if (slide !== undefined) app.change({ [row.paths[0]]: row.stops?.[Number(target.value)] });
    else {
      // What is half typed is not an error yet: it is read when it is left.
      const value = app.view().n.read(target.value);
      if (value > 0 && Number.isInteger(value)) app.change({ [row.paths[0]]: value });
    }
  });

  on('change', (event) => {
    const target = event.target;
    if (target instanceof HTMLSelectElement) {
      const row = control(target.dataset.select ?? null);
      if (row) choose(row, target.value);
      if (target.dataset.letter !== undefined) {
        ui.letter = target.value;
        app.render();
      }
      const unit = target.dataset.unit;
      if (unit !== undefined) {
        ui.units = { ...ui.units, [unit]: target.value === 'GB' ? 'GB' : 'GiB' };
        const field = target.parentElement?.querySelector('input');
        if (field instanceof HTMLInputElement && field.value !== '') typed_size(unit, field.value);
        app.render();
      }
    } else if (target instanceof HTMLInputElement) {
      if (target.dataset.snapshot !== undefined) return void drop(app, target.files?.[0]);
      const { number, size, switch: on, tick, name } = target.dataset;
      const row = control(number ?? on ?? tick ?? null);
      if (row?.items && name !== undefined) {
        const items = row.items(app.view().full);
        const names = items.filter((one) => (one.name === name) !== one.on).map((one) => one.name);
        app.change({ [row.paths[0]]: names.length === items.length ? (row.all ?? names) : names });
      } else if (row && on !== undefined) choose(row, String(target.checked));
      else if (row) {
        const value = app.view().n.read(target.value);
        app.change({ [row.paths[0]]: Number.isNaN(value) ? target.value : value });
      } else if (size !== undefined) typed_size(size, target.value);
    }
  });

  /** @param {string} id @param {string} text */
  function typed_size(id, text) {
    const row = control(id);
    if (!row) return;
    const value = app.view().n.read(text);
    const unit = ui.units[id] === 'GB' ? kGB : kGiB;
    const bytes =
      text.trim() === '' ? undefined : Number.isNaN(value) ? text : Math.round(value * unit);
    if (get(app.view().full, row.paths[0]) === bytes) return;
    app.change({ [row.paths[0]]: bytes, ...(id === 'usable' ? { card: undefined } : {}) });
  }

  /** @param {string} keys */
  async function two_at_once(keys) {
    const patch = (await import('./pairs.mjs')).pair_patch(app.view(), keys);
    if (patch) app.change(patch);
  }

  /** @param {string} text */
  function paste(text) {
    ui.paste_problem = null;
    if (text.trim() !== '') {
      try {
        app.change({ model: JSON.parse(text) });
      } catch (error) {
        ui.paste_problem = `This is not JSON: ${error instanceof Error ? error.message : error}.`;
      }
    }
    app.render();
  }

  on('toggle', () => app.render(), true);
  addEventListener('hashchange', () => app.follow());
  addEventListener('resize', () => ui.open !== null && app.render());
  app.on_take = () => asked.again();
  cursor_acts(app, root);
}

/** @param {Document | ShadowRoot} root */
function focus_choices(root) {
  const first = root.querySelector('#pop [data-search], #pop [data-list], #pop input, #pop select');
  if (first instanceof HTMLElement) first.focus();
  root.querySelector('#pop .option[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
}
