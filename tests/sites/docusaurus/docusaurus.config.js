module.exports = {
  title: 'A site of Docusaurus',
  url: 'http://127.0.0.1',
  baseUrl: '/docusaurus/',
  scripts: [{ src: '/docusaurus/memory-ledger.js', type: 'module' }],
  presets: [
    [
      'classic',
      { docs: { routeBasePath: '/', sidebarPath: undefined }, blog: false, pages: false },
    ],
  ],
};
