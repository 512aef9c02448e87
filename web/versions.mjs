// Versions of the address: what has changed since an older one was written, so that it still means what it meant. An address
// holds what differs from the defaults, hence also a default that changes is a row here. Addresses without a version are of
// the first.

/** One change: a key that has another name since, one that is gone, or one whose default was another until then.
 * @typedef {{since: number, key: string, renamed?: string, gone?: string, was?: string}} Change */
/** @typedef {[key: string, value: string]} Piece a key as the address names it, and its value's text */

/** The version that is written. Raise it with every row of kChanges. */
export const kVersion = 1;
export const kVersionKey = 'v';

/** In the order of the versions. `gone` ends a sentence that begins with the key: "has no effect any more".
 * @type {Change[]} */
export const kChanges = [];

/** An address of an older version in today's keys, and sentences on what could not be kept.
 * @param {Piece[]} pieces @param {Change[]} [changes] @param {number} [today]
 * @returns {{pieces: Piece[], notes: string[]}} */
export function migrated(pieces, changes = kChanges, today = kVersion) {
  const given = pieces.find(([key]) => key === kVersionKey);
  let now = pieces.filter(([key]) => key !== kVersionKey);
  const version = given ? Number(given[1]) : 1;
  if (!Number.isInteger(version) || version < 1)
    return {
      pieces: now,
      notes: [
        `The address says version “${given?.[1].slice(0, 20)}”, which is none; it was read as it is.`,
      ],
    };
  if (version > today)
    return {
      pieces: now,
      notes: [
        'This address was written by a newer version of this page. It was read as far as this one understands it.',
      ],
    };
  /** @type {string[]} */
  const notes = [];
  for (const { since, key, renamed, gone, was } of changes) {
    if (version >= since || now.length === 0) continue;
    const has = now.some(([one]) => one === key);
    if (renamed !== undefined)
      now = now.map(([one, value]) => [one === key ? renamed : one, value]);
    else if (gone !== undefined && has) {
      now = now.filter(([one]) => one !== key);
      notes.push(
        `This address was written by an older version; its “${key}” could not be kept: it ${gone}.`,
      );
    } else if (was !== undefined && !has) now = [...now, [key, was]];
  }
  return { pieces: now, notes };
}
