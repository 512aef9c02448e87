// TypeScript's type of a scenario, from the catalogue's defaults, so that it cannot part from what the core reads.

// What may stand where the default is null, which says nothing of it.
const kNullable = {
  card: 'string | null',
  target_modules: 'string | string[] | null',
  target_parameters: 'string[]',
  trainable_token_indices: 'number[] | { [embedding: string]: number[] }',
  modules_to_save: 'string[]',
  sample_lengths: 'number[] | null',
  liger_kernel_config: '{ [kernel: string]: boolean } | null',
};

/** @param {string} key @param {unknown} value its default @param {string} indent */
function type_of(key, value, indent) {
  if (key in kNullable) return kNullable[key];
  if (value === null)
    return /_(bytes|mb|event|threshold|fraction)$/.test(key) ? 'number | null' : 'unknown';
  if (Array.isArray(value)) return 'string[]';
  return typeof value === 'object' ? object(value, indent) : typeof value;
}

/** An object of optional keys. The core knows a few more than have a default, and names what it does not know.
 * @param {{[key: string]: unknown}} defaults @param {string} indent */
function object(defaults, indent) {
  const rows = Object.entries(defaults).map(
    ([key, value]) => `${indent}  ${key}?: ${type_of(key, value, `${indent}  `)};\n`,
  );
  return `{\n${rows.join('')}${indent}  [key: string]: unknown;\n${indent}}`;
}

/** @param {import('../types.mjs').Catalog} catalog */
export function scenario_type({ defaults, defaults_within: within }) {
  const rows = Object.entries(defaults).map(([key, value]) => {
    const type = within[key] ? object(within[key], '  ') : type_of(key, value, '  ');
    // Several adapters are a list.
    const several = key === 'peft' ? ` | { [key: string]: unknown }[]` : '';
    return `  ${key}?: ${type}${several}${value === null && type.includes('{') ? ' | null' : ''};\n`;
  });
  return `// Written by the build from the catalogue's defaults.
export interface Scenario {
  /** A preset's id, or a config.json as an object. */
  model: string | { [key: string]: unknown };
${rows.join('')}}
`;
}
