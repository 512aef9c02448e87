// The documentation as a site: every link leads somewhere, here and in the repository.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Marked } from 'marked';
import { anchor, pages, sources } from '../../web/build/docs.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const all = sources(join(root, 'docs'));
const site = pages(all, Marked, '0');
const by_path = new Map(site.map(({ path, html }) => [normalize(path), html]));
const ids = (html) => new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));

test('every link between its pages leads to a page, and every anchor to a heading', () => {
  for (const { path, html } of site)
    for (const [, href] of html.matchAll(/<a [^>]*href="([^"]*)"/g)) {
      if (/^https:/.test(href)) continue;
      const [file, id] = href.split('#');
      const to = normalize(join(dirname(path), file || path.split('/').pop()));
      if (to === '../' || to === '..') continue; // the page itself
      const target = by_path.get(to);
      assert.ok(target, `${path}: ${href} leads nowhere`);
      if (id) assert.ok(ids(target).has(id), `${path}: ${href} has no such heading`);
    }
});

test('every page can be reached from the list at the side, and names itself there', () => {
  for (const { path, html } of site) {
    assert.equal(html.match(/aria-current="page"/g)?.length, 1, path);
    assert.equal(html.match(/<nav [^]*?<\/nav>/)[0].match(/<li>/g).length, site.length, path);
  }
});

test('the index leads to every rule', () => {
  const index = by_path.get('index.html').match(/<main [^]*<\/main>/)[0];
  for (const { name } of all.filter((one) => one.name.startsWith('rules/')))
    assert.ok(index.includes(`href="${name}.html"`), name);
});

test('links of the repository’s own texts lead to files', () => {
  for (const name of ['README.md', 'CONTRIBUTING.md', ...all.map((one) => `docs/${one.name}.md`)])
    for (const [, href] of readFileSync(join(root, name), 'utf8').matchAll(/\]\(([^)\s]+)\)/g)) {
      const [file] = href.split('#');
      if (/^https:/.test(href) || file === '') continue;
      assert.ok(existsSync(join(root, dirname(name), file)), `${name}: ${href}`);
    }
});

test('headings have the ids that GitHub gives them', () => {
  assert.equal(anchor('The element'), 'the-element');
  assert.equal(anchor('<code>rl</code>'), 'rl');
  assert.equal(anchor('Sphinx, MyST &amp; more'), 'sphinx-myst--more');
});

test('HTML in a text stays text, and comments are left out', () => {
  const [{ html }] = pages(
    [
      {
        name: 'one',
        title: 'One',
        text: '# One\n\n<!-- quiet -->\n\n<script>alert(1)</script>\n\nA <b>b</b>.',
      },
    ],
    Marked,
    '0',
  );
  assert.ok(!html.includes('quiet'));
  assert.ok(html.includes('&lt;script&gt;alert(1)'));
  assert.ok(html.includes('A &lt;b&gt;b&lt;/b&gt;.'));
});
