// Serves a folder as a plain static server would, under the strict content policy that the page promises to work with.
//   node web/serve.mjs [FOLDER]        PORT and HOST say where; a busy port gives way to a free one
import { createHash } from 'node:crypto';
import { readFile, realpath } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const kTypes = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
};
const kPacked = new Set(['.woff2', '.png', '.ico']); // already compressed

// Nothing from elsewhere, no eval. What a page of the folder holds inline is named by its hash. Framing is allowed: other
// people's pages may embed this one.
export function policy(html = '') {
  const hashes = (element) =>
    [...html.matchAll(new RegExp(`<${element}\\b[^>]*>([^]*?)</${element}>`, 'gi'))]
      .filter(([, text]) => text !== '')
      .map(([, text]) => ` 'sha256-${createHash('sha256').update(text).digest('base64')}'`)
      .join('');
  return [
    "default-src 'none'",
    `script-src 'self' 'wasm-unsafe-eval'${hashes('script')}`,
    `style-src 'self'${hashes('style')}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

// The file that a request's path names, or null where it names none inside the folder.
async function find(folder, pathname) {
  try {
    const asked = decodeURIComponent(pathname);
    if (asked.split('/').some((part) => part.startsWith('.')) || asked.includes('\0')) return null;
    const path = await realpath(join(folder, asked.endsWith('/') ? `${asked}index.html` : asked));
    if (!path.startsWith(folder + sep)) return null;
    return { path, bytes: await readFile(path) };
  } catch {
    return null;
  }
}

async function answer(folder, request, response) {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const head = { 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' };
  const refuse = (status, sentence) =>
    response.writeHead(status, { ...head, 'Content-Type': 'text/plain' }).end(`${sentence}\n`);
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return refuse(405, 'Only GET and HEAD.');
  const file = await find(folder, url.pathname);
  if (!file) return refuse(404, 'There is no such file.');

  const kind = extname(file.path);
  const tag = `"${createHash('sha256').update(file.bytes).digest('base64url')}"`;
  Object.assign(head, {
    'Content-Type': kTypes[kind] ?? 'application/octet-stream',
    'Content-Security-Policy': policy(kind === '.html' ? file.bytes.toString() : ''),
    ETag: tag,
    Vary: 'Accept-Encoding',
    // An address with ?v= names one state of a file for ever; any other is asked for again.
    'Cache-Control': url.searchParams.has('v')
      ? 'public, max-age=31536000, immutable'
      : 'public, no-cache',
  });
  if (request.headers['if-none-match'] === tag) return response.writeHead(304, head).end();
  let body = file.bytes;
  if (!kPacked.has(kind) && /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) {
    body = gzipSync(body, { level: 9 });
    head['Content-Encoding'] = 'gzip';
  }
  head['Content-Length'] = String(body.length);
  response.writeHead(200, head).end(request.method === 'HEAD' ? undefined : body);
}

// Resolves to the server once it listens. A busy port gives way to a free one unless `exactly`.
export async function serve(folder, { port = 8080, host = '127.0.0.1', exactly = false } = {}) {
  const root = await realpath(resolve(folder));
  const server = createServer((request, response) =>
    answer(root, request, response).catch(() => response.destroy()),
  );
  const listen = (wanted) =>
    new Promise((done, fail) =>
      server.once('error', fail).listen(wanted, host, () => {
        server.off('error', fail);
        done(server);
      }),
    );
  return listen(port).catch((error) => {
    server.removeAllListeners('error');
    if (error.code !== 'EADDRINUSE' || exactly) throw error;
    return listen(0);
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const host = process.env.HOST ?? '127.0.0.1';
  const server = await serve(process.argv[2] ?? 'build/site', {
    port: Number(process.env.PORT ?? 8080),
    host,
  });
  const name = host === '127.0.0.1' || host === '0.0.0.0' ? 'localhost' : host;
  console.log(`Memory Ledger: http://${name}:${server.address().port}/   (Ctrl+C ends it)`);
}
