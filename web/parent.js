// For pages that hold <iframe data-memory-ledger src="…/embed.html#…">: gives each frame the height that it asks for.
addEventListener('message', ({ data, source }) => {
  const height = Number(data?.['memory-ledger']);
  if (!(height > 0)) return;
  for (const frame of document.querySelectorAll('iframe')) {
    if (frame.contentWindow === source && frame.dataset.memoryLedger !== undefined)
      frame.height = String(Math.min(Math.ceil(height), 20000));
  }
});
