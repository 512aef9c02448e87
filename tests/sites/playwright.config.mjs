// The built sites in Chromium, served as any static server would:  ./dev sites
import base from '../../playwright.config.mjs';

export default {
  ...base,
  testDir: '.',
  outputDir: '../../test-results',
  projects: base.projects.filter(({ name }) => name === 'chromium'),
  webServer: {
    command: `python3 -m http.server ${process.env.LEDGER_PORT} --bind 127.0.0.1 --directory ../../build/sites/out`,
    url: `http://127.0.0.1:${process.env.LEDGER_PORT}/plain/`,
    reuseExistingServer: false,
    stderr: 'ignore',
  },
};
