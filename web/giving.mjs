// Where settings of other programs come in: the box, files dropped on the page, text pasted onto it. What is done with them
// is loaded once the first comes.
import { found } from './commands.mjs';

/** @typedef {import('./app.mjs').App} App */

const given = async () => await import('./given.mjs');
const kEditable = 'input, textarea, select, [contenteditable]';
// A recorded history of the allocator, which another box takes.
const kRecorded = /\.(pickle|pkl)$/;

/** @param {App} app @param {Document | ShadowRoot} root */
export function givings(app, root) {
  /** Opens the box, so that what became of it is seen. */
  const open = () => {
    const box = root.getElementById('given-box');
    if (box instanceof HTMLDetailsElement) box.open = true;
    return box !== null;
  };
  const page = root instanceof Document;
  if (page) {
    root.addEventListener('paste', (event) => {
      const inside = event.target instanceof Element && event.target.closest(kEditable);
      const text = event.clipboardData?.getData('text/plain') ?? '';
      const files = event.clipboardData?.files ?? [];
      if (inside || (text.trim() === '' && files.length === 0) || !open()) return;
      event.preventDefault();
      void given().then((acts) =>
        files.length > 0 ? acts.dropped(app, files) : acts.pasted(app, text),
      );
    });
    root.addEventListener('dragover', (event) => {
      if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
    });
    root.addEventListener('drop', (event) => {
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length === 0) return;
      event.preventDefault();
      const settings = files.filter(({ name }) => !kRecorded.test(name));
      if (settings.length > 0 && open()) void given().then((acts) => acts.dropped(app, settings));
    });
  }
  root.addEventListener('change', ({ target }) => {
    if (target instanceof HTMLInputElement && target.dataset.givenFiles !== undefined) {
      const files = [...(target.files ?? [])];
      target.value = ''; // the same file can be chosen once more
      void given().then((acts) => acts.dropped(app, files));
    } else if (target instanceof HTMLSelectElement && target.dataset.givenFormat !== undefined) {
      const format = target.value;
      void given().then((acts) => acts.choose_format(app, format));
    }
  });

  return {
    /** @param {string} text */
    typed(text) {
      void given().then((acts) => acts.typed(app, text));
    },
    /** @param {Event} event @returns {boolean} whether it was one of these buttons */
    click(event) {
      const act = found(event, 'giving');
      const model = found(event, 'meant');
      if (model) void given().then((acts) => acts.choose_model(app, model[1]));
      else if (act) {
        const index = Number(act[0].dataset.index);
        void given().then((acts) => {
          if (act[1] === 'undo') acts.undo(app);
          else if (act[1] === 'another') acts.add_another(app);
          else void acts.remove(app, index);
          app.render(['given']);
        });
      }
      return act !== null || model !== null;
    },
  };
}
