import { mkdirSync } from 'node:fs';
import { basename } from 'node:path';
import { build } from 'esbuild';
import type { Browser, BrowserContextOptions, CDPSession, Page } from 'playwright-core';
import { bundle } from '../../tools/playground/bundle.ts';
import { root } from '../docs/pages.ts';
import { startChromium } from '../support/chromium.ts';

/** Where the screenshots are kept. */
export const results = `${root}test-results/playground`;
mkdirSync(results, { recursive: true });

const origin = 'http://localhost';
const types: Record<string, string> = { html: 'text/html', css: 'text/css', js: 'text/javascript' };

/** A marble as the page shows it. Times in milliseconds since the start. */
export interface Shown {
  id: number;
  process: number;
  state: string;
  arrivedAt: number;
  endedAt: number | undefined;
}

/** The playground in a browser, without a server. Its pages have a clock that only the test moves. */
export class Playground {
  /** Errors of all pages: on the console, and thrown ones. */
  readonly errors: string[] = [];
  readonly #browser: Browser;
  readonly #files: ReadonlyMap<string, Uint8Array>;

  private constructor(browser: Browser, files: ReadonlyMap<string, Uint8Array>) {
    this.#browser = browser;
    this.#files = files;
  }

  static async start(): Promise<Playground> {
    const { outputFiles } = await build({ ...bundle, sourcemap: false, write: false });
    const files = new Map(outputFiles.map(({ path, contents }) => [basename(path), contents]));
    return new Playground(await startChromium(), files);
  }

  /** Opens the page with a hash, at 1280 by 900 pixels by default. */
  async open(hash = '', options: BrowserContextOptions = {}): Promise<OpenPage> {
    const context = await this.#browser.newContext({ viewport: { width: 1_280, height: 900 }, ...options });
    context.setDefaultTimeout(120_000);
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin });
    const page = await context.newPage();
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.errors.push(message.text());
    });
    page.on('pageerror', (error) => this.errors.push(String(error)));
    await page.route('**', (route) => {
      const name = new URL(route.request().url()).pathname.slice(1) || 'index.html';
      const contents = this.#files.get(name);
      if (!contents) return route.abort();
      return route.fulfill({ body: Buffer.from(contents), contentType: types[name.split('.')[1]] });
    });
    await page.clock.install({ time: 0 });
    await page.goto(`${origin}/${hash}`);
    // A moment that the page has not reached yet, however slow the machine is.
    await page.clock.pauseAt(600_000);
    await page.evaluate(`document.getElementById('restart').click()`);
    return new OpenPage(page);
  }

  close(): Promise<void> {
    return this.#browser.close();
  }
}

/** One open page. */
export class OpenPage {
  constructor(readonly page: Page) {}

  /** Lets time pass on the page, in one step. */
  async pass(ms: number): Promise<void> {
    await this.page.clock.fastForward(ms);
  }

  /** The marbles in sight, in order of arrival. */
  async marbles(): Promise<Shown[]> {
    const shown = await this.page
      .locator('g.marble[data-id]')
      .evaluateAll((groups) => groups.map((group) => ({ ...group.dataset })));
    return shown
      .map(({ id, process, state, arrived, ended }) => ({
        id: Number(id),
        process: Number(process),
        state: String(state),
        arrivedAt: Number(arrived),
        endedAt: ended ? Number(ended) : undefined,
      }))
      .sort((a, b) => a.id - b.id);
  }

  /** The marbles in a state. */
  async inState(state: string): Promise<Shown[]> {
    return (await this.marbles()).filter((marble) => marble.state === state);
  }

  /** The windows in sight: how many grants each has, and how many it may have. */
  windows(): Promise<{ count: number; most: number }[]> {
    return this.page
      .locator('rect.window')
      .evaluateAll((rects) =>
        rects.map((rect) => ({ count: Number(rect.dataset.count), most: Number(rect.dataset.most) })),
      );
  }

  text(selector: string): Promise<string> {
    return this.page.locator(selector).innerText();
  }

  code(): Promise<string> {
    return this.page.locator('#code').evaluate((code) => String(code.textContent));
  }

  press(key: string): Promise<void> {
    return this.page.keyboard.press(key);
  }

  click(selector: string): Promise<void> {
    return this.page.locator(selector).click();
  }

  /** Fills a field of the settings, and leaves it. */
  async fill(name: string, value: string): Promise<void> {
    await this.page.locator(`[name=${name}]`).fill(value);
    await this.press('Tab');
  }

  async select(name: string, value: string): Promise<void> {
    await this.page.locator(`select[name=${name}]`).selectOption(value);
  }

  /** The middle of the ring of a waiting marble, in pixels of the page. */
  async ringOf(id: number): Promise<{ x: number; y: number }> {
    const { x, y, width, height } = (await this.page
      .locator(`g.marble[data-id="${id}"] .grip`)
      .boundingBox())!;
    return { x: x + width / 2, y: y + height / 2 };
  }

  devtools(): Promise<CDPSession> {
    return this.page.context().newCDPSession(this.page);
  }

  /** Keeps a screenshot of the whole page. */
  async screenshot(name: string): Promise<void> {
    const path = `${results}/${name}.png`;
    await this.page.screenshot({ path, fullPage: true });
    console.log(path);
  }

  close(): Promise<void> {
    return this.page.context().close();
  }
}
