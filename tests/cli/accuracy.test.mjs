// docs/accuracy.md and the README's table speak of the rows that are there. That rows are equal is held by tests/rows_test.cpp.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';

const root = new URL('../../', import.meta.url);
const read = (path) => readFileSync(new URL(path, root));
const suffix = '.jsonl.gz';

test('docs/accuracy.md and the README count every measured row (./dev accuracy writes them)', () => {
  const page = read('docs/accuracy.md').toString();
  const number = (pattern) => Number(page.match(new RegExp(pattern, 'm'))?.[1] ?? 0);
  let all = 0;
  for (const file of readdirSync(new URL('tests/data/rows/', root))) {
    if (!file.endsWith(suffix)) continue;
    const text = gunzipSync(read(`tests/data/rows/${file}`)).toString();
    const compared = number(`^\\| ${file.slice(0, -suffix.length)} \\| (\\d+) \\|`);
    const others = number(`^\`${file}\` also holds (\\d+) rows`);
    assert.equal(compared + others, text.trim().split('\n').length, file);
    all += compared;
  }
  const front = read('README.md').toString();
  assert.ok(front.includes(`| all | ${all.toLocaleString('en')} |`));
});
