// Reads Python's pickles as data: lists, dictionaries, tuples, texts, numbers. Opcodes that would import or call anything are
// refused by name, so nothing in a file can run. The format: Python's pickletools, protocols 2 to 5.

/** A file that is not read, with a sentence that says why. */
export class Unreadable extends Error {}

// Opcodes that make a pickle more than data.
const kActive = /** @type {{[code: number]: string}} */ ({
  0x63: 'GLOBAL',
  0x52: 'REDUCE',
  0x62: 'BUILD',
  0x69: 'INST',
  0x6f: 'OBJ',
  0x81: 'NEWOBJ',
  0x92: 'NEWOBJ_EX',
  0x93: 'STACK_GLOBAL',
  0x50: 'PERSID',
  0x51: 'BINPERSID',
  0x82: 'EXT1',
  0x83: 'EXT2',
  0x84: 'EXT4',
});
// Opcodes between two breaths, so that a page stays alive meanwhile.
const kBreath = 200_000;
// More values than any recorded history has; a damaged file must not fill the memory.
const kMostValues = 100_000_000;

const kMark = Symbol('mark');

/** @param {Uint8Array} bytes @param {() => Promise<void>} [breathe] called now and then @returns {Promise<unknown>} */
export async function read_pickle(bytes, breathe = async () => {}) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = new TextDecoder('utf-8');
  /** @type {unknown[]} */
  const stack = [];
  /** @type {unknown[]} */
  const memo = [];
  let at = 0;
  let values = 0;

  /** @param {number} count @returns {number} where `count` bytes begin */
  const take = (count) => {
    if (!(count >= 0) || at + count > bytes.length)
      throw new Unreadable('The file ends too early.');
    at += count;
    return at - count;
  };
  const u8 = () => bytes[take(1)];
  const u32 = () => view.getUint32(take(4), true);
  const u64 = () => Number(view.getBigUint64(take(8), true));
  const pop = () => {
    if (stack.length === 0 || stack[stack.length - 1] === kMark)
      throw new Unreadable('The file is damaged: a value is missing.');
    return stack.pop();
  };
  const to_mark = () => {
    const from = stack.lastIndexOf(kMark);
    if (from < 0) throw new Unreadable('The file is damaged: a mark is missing.');
    const list = stack.splice(from + 1);
    stack.pop();
    return list;
  };
  const top = () => {
    const value = stack[stack.length - 1];
    if (value === undefined) throw new Unreadable('The file is damaged: nothing to add to.');
    return value;
  };
  /** @param {unknown[]} list */
  const append = (list) => {
    const target = top();
    if (!Array.isArray(target)) throw new Unreadable('The file is damaged: no list to add to.');
    for (const one of list) target.push(one);
  };
  /** @param {unknown[]} list keys and values in turn */
  const set = (list) => {
    const target = top();
    if (!(target instanceof Map)) throw new Unreadable('The file is damaged: no dictionary.');
    for (let i = 0; i + 1 < list.length; i += 2) target.set(list[i], list[i + 1]);
  };
  /** @param {number} length */
  const long = (length) => {
    const from = take(length);
    let value = 0n;
    for (let i = Math.min(length, 16) - 1; i >= 0; i--)
      value = (value << 8n) | BigInt(bytes[from + i]);
    if (length > 0 && bytes[from + length - 1] > 127 && length <= 16)
      value -= 1n << BigInt(8 * length);
    return Number(value);
  };
  /** @param {number} index */
  const recall = (index) => {
    if (!(index in memo))
      throw new Unreadable('The file is damaged: it recalls what it never had.');
    stack.push(memo[index]);
  };
  /** @param {number} length */
  const words = (length) => {
    const from = take(length);
    stack.push(text.decode(bytes.subarray(from, from + length)));
  };
  /** @param {number} count */
  const tuple = (count) => {
    const list = [];
    for (let i = 0; i < count; i++) list.unshift(pop());
    stack.push(list);
  };

  for (;;) {
    if (++values % kBreath === 0) await breathe();
    if (values > kMostValues)
      throw new Unreadable('The file holds more values than a history does.');
    const code = u8();
    if (code === 0x2e) return pop(); // STOP
    switch (code) {
      case 0x80:
        take(1);
        break; // PROTO
      case 0x95:
        take(8);
        break; // FRAME
      case 0x28:
        stack.push(kMark);
        break; // MARK
      case 0x7d:
        stack.push(new Map());
        break; // EMPTY_DICT
      case 0x5d:
        stack.push([]);
        break; // EMPTY_LIST
      case 0x29:
        stack.push([]);
        break; // EMPTY_TUPLE
      case 0x8f:
        stack.push([]);
        break; // EMPTY_SET
      case 0x94:
        memo.push(top());
        break; // MEMOIZE
      case 0x71:
        memo[u8()] = top();
        break; // BINPUT
      case 0x72: {
        const index = u32();
        if (index > values) throw new Unreadable('The file is damaged.');
        memo[index] = top();
        break;
      } // LONG_BINPUT
      case 0x68:
        recall(u8());
        break; // BINGET
      case 0x6a:
        recall(u32());
        break; // LONG_BINGET
      case 0x4b:
        stack.push(u8());
        break; // BININT1
      case 0x4d:
        stack.push(view.getUint16(take(2), true));
        break; // BININT2
      case 0x4a:
        stack.push(view.getInt32(take(4), true));
        break; // BININT
      case 0x8a:
        stack.push(long(u8()));
        break; // LONG1
      case 0x8b:
        stack.push(long(u32()));
        break; // LONG4
      case 0x47:
        stack.push(view.getFloat64(take(8), false));
        break; // BINFLOAT
      case 0x4e:
        stack.push(null);
        break; // NONE
      case 0x88:
        stack.push(true);
        break; // NEWTRUE
      case 0x89:
        stack.push(false);
        break; // NEWFALSE
      case 0x8c:
        words(u8());
        break; // SHORT_BINUNICODE
      case 0x58:
        words(u32());
        break; // BINUNICODE
      case 0x8d:
        words(u64());
        break; // BINUNICODE8
      case 0x43:
        words(u8());
        break; // SHORT_BINBYTES
      case 0x42:
        words(u32());
        break; // BINBYTES
      case 0x55:
        words(u8());
        break; // SHORT_BINSTRING
      case 0x54:
        words(u32());
        break; // BINSTRING
      case 0x85:
        tuple(1);
        break;
      case 0x86:
        tuple(2);
        break;
      case 0x87:
        tuple(3);
        break;
      case 0x74:
        stack.push(to_mark());
        break; // TUPLE
      case 0x6c:
        stack.push(to_mark());
        break; // LIST
      case 0x64: {
        const list = to_mark();
        stack.push(new Map());
        set(list);
        break;
      } // DICT
      case 0x61:
        append([pop()]);
        break; // APPEND
      case 0x65:
        append(to_mark());
        break; // APPENDS
      case 0x90:
        append(to_mark());
        break; // ADDITEMS
      case 0x73: {
        const value = pop();
        set([pop(), value]);
        break;
      } // SETITEM
      case 0x75:
        set(to_mark());
        break; // SETITEMS
      case 0x30:
        pop();
        break; // POP
      default:
        throw new Unreadable(
          code in kActive
            ? `The file asks to run something (${kActive[code]}); only data is read here.`
            : at < 4
              ? 'This is not a pickle.'
              : `The file holds an opcode that is not read here (${code}).`,
        );
    }
  }
}
