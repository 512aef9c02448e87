// Keeps the page for use without a network, and offers a newer version once it has been fetched whole.
import { h } from './dom.mjs';

/** @param {(file: string) => string} address of a script beside the page, in the form that the page's policy wants */
export async function keep(address) {
  const workers = navigator.serviceWorker;
  if (!workers) return; // no secure address, or switched off
  const registration = await workers
    .register(address('service-worker.js'), { updateViaCache: 'none' })
    .catch(() => null);
  if (!registration) return;
  // On a first visit nothing is replaced.
  const had = workers.controller !== null;
  workers.addEventListener('controllerchange', () => had && location.reload());
  const offer = () => {
    if (registration.waiting && had) show_offer(registration.waiting);
  };
  offer();
  registration.addEventListener('updatefound', () =>
    registration.installing?.addEventListener('statechange', offer),
  );
}

/** @param {ServiceWorker} newer */
function show_offer(newer) {
  if (document.getElementById('newer')) return;
  const take = h('button', { type: 'button', class: 'link' }, 'Use it');
  take.addEventListener('click', () => newer.postMessage('take over'));
  const line = h('p', { id: 'newer', role: 'status' }, 'A newer version has been fetched. ', take);
  document.querySelector('footer')?.append(line);
}
