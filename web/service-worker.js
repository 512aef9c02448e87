// Keeps one whole version of the page's own files, so that it works without a network. The build puts the version and
// its files (each path with the SHA-256 of its bytes) before this. A version is taken only if every byte of it is right, and all pages
// are served from one version: the next waits until none of the old is open, or until a reader asks for it.

// Its types would be those of every script: the library for workers cannot be had for one file.
const worker = /** @type {any} */ (globalThis);
/** @type {{version: string, files: {[path: string]: string}}} */
const { version, files } = /** @type {any} */ (globalThis).kept;
const scope = new URL(worker.registration.scope);
// An origin may hold more than this page.
const mine = `memory-ledger ${scope.pathname} `;
const current = mine + version;

/** A file of this version from the network, or an error. @param {string} path */
async function right(path) {
  const answer = await fetch(new URL(path, scope), {
    cache: 'no-cache',
    credentials: 'same-origin',
  });
  const body = await answer.arrayBuffer();
  const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', body));
  if (!answer.ok || btoa(String.fromCharCode(...sum)) !== files[path])
    throw new Error(`${path} is not of the version ${version}`);
  const headers = new Headers(answer.headers);
  // The body is unpacked by now.
  for (const name of ['content-encoding', 'content-length']) headers.delete(name);
  return new Response(body, { headers });
}

async function install() {
  const cache = await caches.open(current);
  try {
    await Promise.all(
      Object.keys(files).map(async (path) => cache.put(new URL(path, scope), await right(path))),
    );
  } catch (error) {
    await caches.delete(current);
    throw error;
  }
}

async function forget_others() {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(mine) && name !== current);
  await Promise.all(old.map((name) => caches.delete(name)));
}

/** @param {string} path */
async function own(path) {
  const cache = await caches.open(current);
  return (await cache.match(new URL(path, scope))) ?? right(path);
}

worker.addEventListener('install', (/** @type {any} */ event) => event.waitUntil(install()));
worker.addEventListener('activate', (/** @type {any} */ event) => event.waitUntil(forget_others()));
worker.addEventListener('message', (/** @type {MessageEvent} */ { data }) => {
  if (data === 'take over') void worker.skipWaiting();
});
worker.addEventListener('fetch', (/** @type {any} */ event) => {
  const { method, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== 'GET' || origin !== scope.origin || !pathname.startsWith(scope.pathname)) return;
  const asked = decodeURIComponent(pathname.slice(scope.pathname.length));
  const path = asked === '' || asked.endsWith('/') ? `${asked}index.html` : asked;
  if (Object.hasOwn(files, path)) event.respondWith(own(path));
});
