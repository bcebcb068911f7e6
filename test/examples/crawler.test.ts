import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lastValueFrom, take, toArray } from 'rxjs';
import sinon from 'sinon';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { crawl, hostLimits, urlsOf } from '../../examples/crawler.ts';
import { timed } from '../support/fakeTime.ts';
import { listen } from './httpServer.ts';

/** In place of the network: each page takes 100 ms by the clock of the test. */
function stubFetch(calls: string[]) {
  return sinon.stub(globalThis, 'fetch').callsFake(async (url) => {
    calls.push(new URL(String(url)).host);
    await new Promise((resolve) => setTimeout(resolve, 100));
    return new Response();
  });
}

timed('keeps every host busy, and holds a bounded number of lines of an endless file', async (clock) => {
  const calls: string[] = [];
  const hosts = ['a', 'b', 'c', 'd'];
  let read = 0;
  let closed = false;
  /** Sorted by host, 20 lines of each in turn. */
  async function* file() {
    try {
      for (; ; read++) yield `http://${hosts[Math.floor(read / 20) % 4]}/${read}\n`;
    } finally {
      closed = true;
    }
  }
  stubFetch(calls);
  let pages = 0;
  const subscription = crawl(urlsOf(file()), hostLimits(), { buffer: 100 }).subscribe(() => pages++);
  for (let second = 1; second <= 60; second++) {
    await clock.tickAsync(1_000);
    assert.ok(read - calls.length <= 101, `${read - calls.length} lines are held`);
  }
  for (const host of hosts) {
    const count = calls.filter((called) => called === host).length;
    assert.ok(count >= 119 && count <= 121, `${count} calls of ${host}`);
  }
  assert.ok(calls.length - pages <= 4);
  subscription.unsubscribe();
  await clock.tickAsync(1);
  assert.ok(closed);
});

test('loads the pages of a file from real servers, and goes on after one that fails', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'crawler-'));
  const server = createServer((request, response) => void response.end(`page ${request.url}`));
  const url = await listen(server);
  const dead = 'http://127.0.0.1:1/';
  try {
    const file = join(folder, 'urls.txt');
    writeFileSync(file, [`${url}1`, dead, `${url}2`, `${url}3`].join('\n'));
    const started = performance.now();
    const stream = createReadStream(file, 'utf8');
    const pages = await lastValueFrom(crawl(urlsOf(stream), hostLimits()).pipe(toArray()));
    assert.ok(performance.now() - started >= 998);
    const loaded = pages.filter(({ response }) => response !== undefined);
    assert.equal(await Promise.all(loaded.map(({ response }) => response!.text())), [
      'page /1',
      'page /2',
      'page /3',
    ]);
    assert.is(pages.find(({ response }) => response === undefined)?.url, dead);
  } finally {
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true });
  }
});

test('a page that takes too long is given up', async () => {
  const server = createServer(() => {});
  const url = await listen(server);
  const [page] = await lastValueFrom(crawl([url], hostLimits(), { timeout: 50 }).pipe(toArray()));
  assert.is(page.response, undefined);
  server.close();
  server.closeAllConnections();
});

test('the file is closed when the crawl ends early', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'crawler-'));
  const file = join(folder, 'urls.txt');
  writeFileSync(file, 'http://127.0.0.1:1/\n'.repeat(100_000));
  const stream = createReadStream(file, 'utf8');
  await lastValueFrom(crawl(urlsOf(stream), hostLimits(), { buffer: 10 }).pipe(take(1)));
  while (!stream.closed) await sleep(1);
  assert.ok(stream.bytesRead < 1_000_000, `${stream.bytesRead} bytes were read`);
  rmSync(folder, { recursive: true });
});

test('lines may be split between parts, and those that are no URL are skipped', async () => {
  async function* parts() {
    yield* ['http:', '//a/\n\n# no URL\nfile:///etc/hosts\nhttp://b/', '\r\n', 'http://c/'];
  }
  const urls: string[] = [];
  for await (const url of urlsOf(parts())) urls.push(new URL(url).href);
  assert.equal(urls, ['http://a/', 'http://b/', 'http://c/']);
});

test.run();
