import { type Browser, chromium } from 'playwright-core';
import { onPathOrInstalled, which } from './systemPackage.mjs';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'chrome'];

/** Starts a browser without a window, for the tests of pages. */
export function startChromium(): Promise<Browser> {
  const find = () => names.map(which).find((path) => path !== undefined);
  const executablePath = onPathOrInstalled({ find, what: 'Chromium', apt: 'chromium', brew: 'chromium' });
  return chromium.launch({
    executablePath,
    // A busy machine takes its time.
    timeout: 120_000,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
