// The page's tests in the browsers of the machine: LEDGER_CHROMIUM and LEDGER_FIREFOX name them (./dev test finds them).
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { defineConfig } from '@playwright/test';

// The configuration is read once more in every worker, which inherits the port through the environment.
async function free_port() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return String(port);
}
process.env.LEDGER_PORT ??= await free_port();
const address = `http://127.0.0.1:${process.env.LEDGER_PORT}`;

const installed = (name, usual) => process.env[name] ?? (existsSync(usual) ? usual : '');
const chromium = installed('LEDGER_CHROMIUM', '/usr/bin/chromium');
const firefox = installed('LEDGER_FIREFOX', '/usr/bin/firefox-esr');

const quiet = [
  '--disable-gpu',
  '--disable-dev-shm-usage', // containers have little of it
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const as_root = process.getuid?.() === 0 ? ['--no-sandbox'] : [];

// channel moz-firefox drives a stock Firefox through WebDriver BiDi. It ignores colorScheme; dark pages are a project of
// their own, through preferences.
const stock_firefox = (firefoxUserPrefs = {}) => ({
  browserName: 'firefox',
  channel: 'moz-firefox',
  launchOptions: { executablePath: firefox, firefoxUserPrefs },
});
const dark = {
  'ui.systemUsesDarkTheme': 1,
  'layout.css.prefers-color-scheme.content-override': 0,
};

export default defineConfig({
  testDir: 'tests/browser',
  testMatch: '*.spec.mjs',
  outputDir: 'test-results',
  fullyParallel: true,
  workers: 2,
  // Generous, so that a slow or busy machine does not decide; a test that passes at its second try is named as flaky.
  timeout: 90_000,
  expect: { timeout: 20_000 },
  forbidOnly: Boolean(process.env.CI),
  retries: process.env.CI ? 1 : 0,
  reporter: process.env.GITHUB_ACTIONS ? [['list'], ['github']] : 'list',
  // Only what tests it keeps the page for later: elsewhere that costs time, and hides requests.
  use: { baseURL: address, trace: 'off', serviceWorkers: 'block' },
  projects: [
    {
      name: 'chromium',
      use: {
        browserName: 'chromium',
        launchOptions: { executablePath: chromium, args: [...quiet, ...as_root] },
      },
    },
    { name: 'firefox', use: stock_firefox() },
    // Only tests whose title has @dark.
    { name: 'firefox-dark', grep: /@dark/, use: stock_firefox(dark) },
  ].filter((project) => (project.use.browserName === 'chromium' ? chromium : firefox)),
  webServer: {
    command: 'node web/serve.mjs build/site',
    env: { PORT: process.env.LEDGER_PORT },
    url: address,
    reuseExistingServer: false,
  },
});
