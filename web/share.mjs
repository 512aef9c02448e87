// What can be handed on: the address, a picture of verdict and ledger, and a citation with versions and assumptions.
import { write_address } from './address.mjs';
import { draw, file_name } from './card.mjs';
import { h } from './dom.mjs';
import { in_latex } from './latex.mjs';
import { defaults_of } from './scenario.mjs';
import { say } from './say.mjs';
import { verdict_sentence } from './verdict.mjs';

/** @typedef {import('./view.mjs').View} View */

/** The scenario as plain words. @param {View} view */
export const scenario_said = (view) => (say(view).textContent ?? '').replace(/\s+/g, ' ').trim();

/** "Memory Ledger 0.1.0, for torch 2.14.1, …" @param {View} view */
const program = ({ catalog }) => {
  const versions = Object.entries(catalog.versions).map(([name, version]) => `${name} ${version}`);
  return `Memory Ledger ${catalog.version}, for ${versions.join(', ')}`;
};

/** @param {View} view @param {string} said the scenario in words @param {string} address @param {string} day as 2026-12-01 */
export function citation(view, said, address, day) {
  const { report, n } = view;
  const { peak } = report;
  return [
    `${program(view)}. ${said}`,
    `${verdict_sentence(report, n)} At the peak (step ${peak.step}, ${peak.moment}) ${n.bytes(peak.allocated_bytes)} are allocated and ${n.bytes(peak.reserved_bytes)} reserved.`,
    `${address} (${day})`,
    `Assumptions: ${report.assumptions.join(' ')}`,
  ].join('\n');
}

/** @param {View} view @param {string} said @param {string} address @param {string} day */
export function bibtex(view, said, address, day) {
  const { report, catalog } = view;
  const { peak } = report;
  const model = report.model.id ?? report.model.model_type;
  const key = `memory_ledger_${(model.split('/').pop() ?? '').toLowerCase().replace(/[^a-z0-9]+/g, '_')}`;
  const versions = Object.entries(catalog.versions).map(([name, version]) => `${name} ${version}`);
  const fields = {
    title: `{Memory Ledger}: ${in_latex(said)}`,
    version: catalog.version,
    year: day.slice(0, 4),
    url: address,
    urldate: day,
    note: in_latex(
      `Estimate for ${versions.join(', ')}: ${peak.allocated_bytes} bytes allocated and ${peak.reserved_bytes} reserved at the peak, step ${peak.step}, ${peak.moment}. ${report.assumptions.join(' ')}`,
    ),
  };
  const lines = Object.entries(fields).map(([name, value]) => `  ${name} = {${value}}`);
  return `@misc{${key},\n${lines.join(',\n')}\n}`;
}

const today = () => new Date().toISOString().slice(0, 10);

/** The address that opens this scenario, with the version that wrote it. @param {View} view */
export const address_of = ({ catalog, scenario }) =>
  location.href.replace(/#.*$/s, '') +
  write_address(scenario, defaults_of(catalog, scenario), { always: true });

/** @param {View} view */
export const cite_text = (view) => citation(view, scenario_said(view), address_of(view), today());
/** @param {View} view */
export const cite_bibtex = (view) => bibtex(view, scenario_said(view), address_of(view), today());

/** @param {View} view @returns {Element} */
export function share(view) {
  if (view.problems.length > 0)
    return h('p', { class: 'dim' }, 'To be had once the scenario can be counted.');
  const canvas = drawn(view);
  return h(
    'div',
    { class: 'share' },
    h(
      'p',
      { class: 'copies' },
      copy_button('address', 'Copy the address'),
      ' ',
      h('span', { class: 'dim' }, 'It holds the whole scenario in readable words.'),
    ),
    h('h3', {}, 'A picture'),
    canvas,
    h(
      'p',
      { class: 'copies' },
      h('button', { type: 'button', class: 'link', 'data-act': 'picture-save' }, 'Save as PNG'),
      ' ',
      h(
        'button',
        { type: 'button', class: 'link', 'data-act': 'picture-copy' },
        'Copy the picture',
      ),
    ),
    h('h3', {}, 'Cite this estimate'),
    quote('Citation', cite_text(view)),
    h(
      'p',
      { class: 'copies' },
      copy_button('cite', 'Copy as text'),
      ' ',
      copy_button('bibtex', 'Copy as BibTeX'),
    ),
    h(
      'details',
      { class: 'figures', 'data-key': 'bibtex' },
      h('summary', {}, 'BibTeX'),
      quote('BibTeX', cite_bibtex(view)),
    ),
  );
}

/** @param {string} act @param {string} name */
const copy_button = (act, name) =>
  h('button', { type: 'button', class: 'link', 'data-act': act }, name);

/** @param {string} name @param {string} text */
const quote = (name, text) =>
  h('pre', { class: 'quote', tabindex: 0, role: 'region', 'aria-label': name }, text);

/** A canvas that has been drawn. Its key says what it shows: another picture is another canvas. @param {View} view */
function drawn(view) {
  const { report, n } = view;
  const said = scenario_said(view);
  const verdict = verdict_sentence(report, n);
  const label = `Picture: ${said} ${verdict}`;
  const canvas = /** @type {HTMLCanvasElement} */ (
    h('canvas', { class: 'shared', role: 'img', 'aria-label': label, 'data-key': label })
  );
  draw(canvas, view, said, `${program(view)}. ${location.host}${location.pathname}`);
  return canvas;
}

/** The picture as a file. @param {View} view @returns {Promise<Blob>} */
const picture_blob = (view) =>
  new Promise((done, fail) =>
    drawn(view).toBlob(
      (blob) => (blob ? done(blob) : fail(new Error('this browser draws none'))),
      'image/png',
    ),
  );

/** Offers the picture as a download. @param {View} view */
export async function save_picture(view) {
  const url = URL.createObjectURL(await picture_blob(view));
  const link = /** @type {HTMLAnchorElement} */ (h('a', { href: url, download: file_name(view) }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Puts the picture on the clipboard. @param {View} view */
export const copy_picture = (view) =>
  navigator.clipboard.write([new ClipboardItem({ 'image/png': picture_blob(view) })]);
