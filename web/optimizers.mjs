// The optimizers in groups, as people look for them. They come from the catalogue; nothing here has to be told of a new one.
import { equal, get, is_object } from './scenario.mjs';

/** @typedef {import('./types.mjs').OptimizerRow} OptimizerRow */

const kGroups = ['AdamW', '8-bit and paged', 'memory-lean', 'others'];

/** Bytes of a state as it is written in the catalogue, "2 e + 0.03", for elements of four bytes. @param {string} text */
const bytes_of = (text) =>
  text.split(' + ').reduce((sum, term) => {
    const figure = Number(term.replace(/ ?e$/, '') || 1);
    return sum + (term.endsWith('e') ? 4 * figure : figure);
  }, 0);

/** @param {OptimizerRow} row */
function group_of({ optim, bytes_per_parameter }) {
  if (/\dbit|paged/.test(optim) && !/^(adamw|lion|rmsprop)\w*_32bit/.test(optim)) return kGroups[1];
  if (optim.startsWith('adamw')) return kGroups[0];
  return bytes_of(bytes_per_parameter ?? '0') < 2 * 4 ? kGroups[2] : kGroups[3];
}

/** @param {unknown} optim @param {unknown} args */
const key_of = (optim, args) =>
  is_object(args) && Object.keys(args).length > 0
    ? `${optim} ${JSON.stringify(args)}`
    : String(optim);

/** @param {import('./types.mjs').Catalog} catalog @returns {import('./controls.mjs').Control} */
export function optimizer_control({ optimizers, defaults }) {
  const usual = get(defaults, 'training.optim_args');
  const options = optimizers.map((row) => {
    const bytes = row.bytes_per_parameter;
    const args = Object.entries(row.optim_args).map(([name, value]) => ` ${name}=${value}`);
    return {
      key: key_of(row.optim, row.optim_args),
      label: row.what,
      note: `${row.optim}${args.join('')} · ${bytes === null ? 'bytes by the shapes' : `${bytes} bytes per parameter`}`,
      group: group_of(row),
      patch: {
        'training.optim': row.optim,
        'training.optim_args': args.length > 0 ? row.optim_args : undefined,
      },
    };
  });
  return {
    id: 'optimizer',
    group: 'optimizer',
    label: 'Optimizer',
    kind: 'long',
    costed: true,
    paths: ['training.optim', 'training.optim_args'],
    help: 'Its state appears at the first step and stays; e is the size of an element of what is trained.',
    options: kGroups.flatMap((group) => options.filter((option) => option.group === group)),
    key: (full) => {
      const args = get(full, 'training.optim_args');
      return key_of(get(full, 'training.optim'), equal(args, usual) ? {} : args);
    },
  };
}
