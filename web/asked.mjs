// Questions to the core beside the estimate: a pasted message, measured figures. Each is asked again once the typing rests,
// and once the scenario has changed.
import { merged } from './scenario.mjs';

/** @typedef {import('./app.mjs').App} App */

// Milliseconds for which typing rests.
const kRest = 250;

/** @param {App} app */
export function questions(app) {
  const { ui } = app;
  /** @type {{[place: string]: ReturnType<typeof setTimeout>}} */
  const later = {};
  /** @param {string} place @param {() => Promise<void>} ask */
  const soon = (place, ask) => {
    clearTimeout(later[place]);
    later[place] = setTimeout(() => void ask().then(() => app.render([place])), kRest);
  };
  const scenario = () => app.view().scenario;

  return {
    /** @param {string} text */
    message(text) {
      ui.message.text = text;
      soon('message', async () => {
        ui.message.answer =
          text.trim() === ''
            ? null
            : JSON.parse(await app.ask('explain', text, JSON.stringify(scenario())));
      });
    },
    /** @param {string} id @param {string} text */
    measured(id, text) {
      ui.measured.given = { ...ui.measured.given, [id]: text };
      soon('measured', async () => {
        const given = Object.entries(ui.measured.given).filter(([, one]) => one.trim() !== '');
        const measured = Object.fromEntries(
          given.map(([key, one]) => [key, /^[\d_]+$/.test(one.trim()) ? Number(one) : one]),
        );
        ui.measured.answer =
          given.length === 0
            ? null
            : JSON.parse(
                await app.ask('compare', JSON.stringify({ scenario: scenario(), measured })),
              );
      });
    },
    /** Takes a change that the explanation offers. @param {number} index */
    cure(index) {
      const { answer } = ui.message;
      const patch = answer?.changes[index]?.patch;
      if (patch) app.take(merged(scenario(), patch));
    },
    /** The scenario has changed: what was asked of the old one is asked again. */
    again() {
      if (ui.message.text.trim() !== '') this.message(ui.message.text);
      const [first] = Object.entries(ui.measured.given);
      if (first) this.measured(...first);
    },
  };
}
