// docs/accuracy.md and the README's table speak of the rows that are there. That every row is equal is held by tests/rows_test.cpp.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';

const root = new URL('../../', import.meta.url);
const read = (path) => readFileSync(new URL(path, root));
const suffix = '.jsonl.gz';

test('docs/accuracy.md and the README count every measured row (./dev accuracy writes them)', () => {
  const page = read('docs/accuracy.md').toString();
  let all = 0;
  for (const file of readdirSync(new URL('tests/data/rows/', root))) {
    if (!file.endsWith(suffix)) continue;
    const lines = gunzipSync(read(`tests/data/rows/${file}`))
      .toString()
      .trim()
      .split('\n');
    const scenarios = lines.map(JSON.parse).filter((row) => row.scenario && row.measured).length;
    const rest = lines.length - scenarios;
    if (scenarios)
      assert.match(
        page,
        new RegExp(`^\\| ${file.slice(0, -suffix.length)} \\| ${scenarios} \\|`, 'm'),
      );
    if (rest)
      assert.ok(page.includes(`\`${file}\` also holds ${rest} rows`), `${file}: ${rest} rows`);
    all += scenarios;
  }
  assert.ok(
    read('README.md')
      .toString()
      .includes(`| all | ${all.toLocaleString('en')} |`),
  );
});
