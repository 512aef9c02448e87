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

test('docs/accuracy.md has a line for every published row, with an estimate or the reason why there is none', () => {
  const lines = read('docs/accuracy.md').toString().split('\n');
  const rows = gunzipSync(read('tests/data/published/rows.jsonl.gz')).toString().trim().split('\n');
  for (const { id } of rows.map((row) => JSON.parse(row))) {
    const [line, ...more] = lines.filter((text) => text.startsWith(`| \`${id}\` |`));
    assert.equal(more.length, 0, id);
    assert.match(
      line ?? '',
      / \| (\d+\.\d+( to \d+\.\d+)? \| ([-+]\d+\.\d %|within)|none \| \| not answered: \S)/,
      id,
    );
    assert.equal(/\| -(?!0\.0 %)/.test(line), line.includes('**under**'), id);
  }
});
