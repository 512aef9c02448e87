// Inside a frame: the element from the address's hash (keys as in the page's address, and view), and its height for the page
// around it, which parent.js takes.
const element = document.createElement('memory-ledger');
for (const piece of location.hash.slice(1).split('&').filter(Boolean)) {
  const [name, ...rest] = piece.split('=').map(decodeURIComponent);
  try {
    element.setAttribute(name, rest.join('='));
  } catch {
    // no name of an attribute: nothing that a scenario could have
  }
}
document.body.append(element);

new ResizeObserver(() =>
  parent.postMessage({ 'memory-ledger': document.documentElement.scrollHeight }, '*'),
).observe(element);
