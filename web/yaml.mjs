// YAML as the tree that the core reads, by js-yaml; loaded once a pasted text needs it.
import { default as load } from './js-yaml.mjs';
import { is_object } from './scenario.mjs';

// As the core's own limits: what grows beyond them by aliases is no settings file.
const kMostValues = 100000;
const kDepth = 60;
const kMostAliases = 1000;

/** The first document of a text, and whether more follow.
 * @param {string} text @returns {{tree: unknown, more: boolean} | {error: string}} */
export function read_yaml(text) {
  try {
    const [first, ...more] = text.split(/^---\s*$/m).filter((part) => part.trim() !== '');
    const tree = load(first ?? '', { maxDepth: kDepth, maxAliases: kMostAliases });
    return { tree: plain(tree), more: more.length > 0 };
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    return { error: words.split('\n')[0] };
  }
}

/** The same with JSON's values only, every alias written out. @param {unknown} tree */
function plain(tree) {
  let left = kMostValues;
  /** @param {unknown} value @returns {unknown} */
  const copy = (value) => {
    if (--left < 0) throw new Error('it has more values, aliases counted, than are read');
    if (Array.isArray(value)) return value.map(copy);
    if (value instanceof Map) return copy(Object.fromEntries(value));
    if (value instanceof Date) return value.toISOString();
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
    if (typeof value === 'bigint') return Number(value);
    if (value === null || typeof value !== 'object') return value ?? null;
    const own = Object.entries(value).map(([key, one]) => [key, copy(one)]);
    // Merged keys come before the object's own, which win.
    const merged = own.flatMap(([key, one]) =>
      key === '<<' && is_object(one) ? Object.entries(one) : [],
    );
    return Object.fromEntries([...merged, ...own.filter(([key]) => key !== '<<')]);
  };
  return copy(tree);
}
