// A scenario as the page keeps it: only what was chosen, in the contract's own keys. Nothing here knows what a key means.

/** @typedef {import('./types.mjs').Scenario} Scenario */
/** What of the catalogue says defaults.
 * @typedef {Pick<import('./types.mjs').Catalog, 'defaults' | 'defaults_within' | 'training_defaults'>} Defaults */
/** A change: dotted paths and their new values; undefined takes a key away.
 * @typedef {{[path: string]: unknown}} Patch */

/** What a first visit shows: every kind of memory, on a card that many people have. @type {Scenario} */
export const kFirst = {
  model: 'Qwen/Qwen3-0.6B',
  dtype: 'float32',
  training: { max_length: 1024, bf16: true },
  card: 'rtx-4090',
};

/** @param {unknown} value @returns {value is {[key: string]: unknown}} */
export const is_object = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value at a dotted path. A config.json given as `model` is one value.
 * @param {unknown} scenario @param {string} path @returns {unknown} */
export function get(scenario, path) {
  let at = scenario;
  for (const key of path.split('.')) {
    if (!is_object(at)) return undefined;
    at = at[key];
  }
  return at;
}

/** The scenario with every missing key filled in from the defaults. `within` holds the defaults of objects that are
 * absent unless they are given: `peft` and `quantization`.
 * @param {Scenario} defaults @param {Scenario} scenario @param {Scenario} [within] @returns {Scenario} */
export function complete(defaults, scenario, within = {}) {
  const full = { ...defaults };
  for (const [key, value] of Object.entries(scenario)) {
    const base = defaults[key] ?? within[key] ?? null;
    full[key] =
      is_object(value) && is_object(base) && key !== 'model' && key !== 'optim_args'
        ? complete(base, value)
        : value;
  }
  return full;
}

/** A changed copy.
 * @param {Scenario} scenario @param {Patch} patch @returns {Scenario} */
export function apply(scenario, patch) {
  let next = scenario;
  for (const [path, value] of Object.entries(patch)) next = set(next, path.split('.'), value);
  return next;
}

/** @param {Scenario} object @param {string[]} keys @param {unknown} value @returns {Scenario} */
function set(object, [key, ...rest], value) {
  const next = { ...object };
  if (rest.length > 0) {
    const inner = set(is_object(object[key]) ? object[key] : {}, rest, value);
    if (Object.keys(inner).length > 0) next[key] = inner;
    else delete next[key];
  } else if (value === undefined) delete next[key];
  else next[key] = value;
  return next;
}

/** What differs from the defaults, so that equal runs have one form. An object that is absent unless it is given stays,
 * be it empty: that it is given is a choice.
 * @param {Scenario} defaults @param {Scenario} scenario @param {Scenario} [within] @returns {Scenario} */
export function pare(defaults, scenario, within = {}) {
  /** @type {Scenario} */
  const kept = {};
  for (const [key, value] of Object.entries(scenario)) {
    const base = defaults[key] ?? within[key] ?? null;
    if (is_object(value) && is_object(base) && key !== 'optim_args') {
      const inner = pare(base, value);
      if (Object.keys(inner).length > 0 || !is_object(defaults[key])) kept[key] = inner;
    } else if (!equal(value ?? null, base)) kept[key] = value;
  }
  return kept;
}

/** The defaults of a scenario: those of `training` follow the trainer.
 * @param {Defaults} catalog @param {Scenario} scenario @returns {Scenario} */
export function defaults_of({ defaults, training_defaults }, scenario) {
  const trainer = String(scenario.trainer ?? defaults.trainer);
  return { ...defaults, training: training_defaults[trainer] ?? defaults.training };
}

/** The scenario after a change. What the change does not name stays as it is, also where another trainer has other
 * defaults: one thing changes at a time.
 * @param {Defaults} catalog @param {Scenario} scenario @param {Patch} patch @returns {Scenario} */
export function change(catalog, scenario, patch) {
  const { training } = complete(defaults_of(catalog, scenario), scenario);
  const next = apply({ ...scenario, training }, patch);
  return pare(defaults_of(catalog, next), next, catalog.defaults_within);
}

/** A patch of whole objects merged into another (RFC 7396): null takes a key away.
 * @param {Scenario} scenario @param {Scenario} patch @returns {Scenario} */
export function merged(scenario, patch) {
  const next = { ...scenario };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete next[key];
    else if (is_object(value)) next[key] = merged(is_object(next[key]) ? next[key] : {}, value);
    else next[key] = value;
  }
  return next;
}

/** Equality of JSON values; the order of keys does not matter.
 * @param {unknown} a @param {unknown} b @returns {boolean} */
export function equal(a, b) {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, i) => equal(item, b[i]));
  }
  if (!is_object(a) || !is_object(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => key in b && equal(a[key], b[key]))
  );
}
