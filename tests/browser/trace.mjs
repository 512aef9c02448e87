// From a path on the page to its value in a report, and whether a written figure is that value. The grammar of paths stands in
// web/number.mjs.

const kGiB = 2 ** 30;

/** @param {string} path @param {any} root */
function follow(path, root) {
  let at = root;
  for (const [, name, condition] of path.matchAll(/([^.[\]]+)(?:\[([^\]]*)\])?/g)) {
    if (at === null || at === undefined) return undefined;
    at = at[name];
    if (condition === undefined) continue;
    const [key, text] = condition.split('=');
    at = at?.find((item) => String(item[key]) === text);
  }
  return at;
}

/** Reckons with numbers, and with objects of numbers of the same shape, such as ranges. */
function reckon(sign, a, b) {
  if (typeof a === 'number' && typeof b === 'number')
    return sign === '+' ? a + b : sign === '-' ? a - b : a / b;
  if (typeof a === 'object' && a !== null)
    return Object.fromEntries(
      Object.entries(a)
        .map(([key, value]) => [key, reckon(sign, value, typeof b === 'object' ? b?.[key] : b)])
        .filter(([, value]) => value !== undefined),
    );
  return undefined;
}

/** Every number and text at a path. @param {string} path @param {any} root */
export function values(path, root) {
  return path.split('; ').flatMap((expression) => {
    const [first, ...rest] = expression.split(/ ([+/-]) /);
    let value = follow(first, root);
    for (let i = 0; i < rest.length; i += 2)
      value = reckon(rest[i], value, follow(rest[i + 1], root));
    return leaves(value);
  });
}

/** @param {any} value @returns {(number | string)[]} */
function leaves(value) {
  if (typeof value === 'number' || typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [];
}

/** The figures in a text: not the digits of names such as Qwen3-8B. @param {string} text @param {string} point */
export function figures(text, point = '.') {
  const group = point === '.' ? ',' : '.';
  const pattern = new RegExp(
    `(?<![\\p{L}\\d_.,-])\\d[\\d${group}]*(?:[${point}]\\d+)?(?![\\p{L}\\d_])`,
    'gu',
  );
  return [...text.matchAll(pattern)].map(({ 0: written, index }) => {
    const plain = written.replaceAll(group, '').replace(point, '.');
    return { written, plain, value: Number(plain), below: text[index - 1] === '<' };
  });
}

/** Whether a figure is one of these values as the page writes it: in GiB, GB, billions, millions, percent or as it is,
 * rounded to its last place. @param {ReturnType<typeof figures>[number]} figure @param {(number | string)[]} all */
export function is_one_of({ written, plain, value, below }, all) {
  const half = 0.5 * 10 ** -(plain.split('.')[1]?.length ?? 0) * (1 + 1e-9);
  return all.some((one) => {
    // The core's own words are shown as they are, and formulas with the reader's separators.
    if (typeof one === 'string')
      return (
        figures(one.replace(/<[^>]*>/g, ' ')).some((figure) => figure.plain === plain) ||
        one.includes(written)
      );
    return [1, kGiB, 1e9, 1e6, 0.01].some((unit) => {
      const shown = Math.abs(one) / unit;
      if (below) return shown > 0 && shown < value;
      // Whole figures as they are have no rounding.
      return unit === 1 && half >= 0.5 ? shown === value : Math.abs(shown - value) <= half;
    });
  });
}
