import { from, mergeMap, type Observable, VirtualTimeScheduler } from 'rxjs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  acquirePermits,
  fromThrottled,
  leakyBucket,
  RateLimiterGroup,
  throttleDistributed,
} from '../../src/index.ts';

const test = suite('fromThrottled, an input that is sorted by host');
const hosts = 50;
const urlsPerHost = 20;
const interval = 100;
/** The time of a crawl in which all hosts are busy all the time. */
const ideal = (urlsPerHost - 1) * interval;

interface Url {
  host: string;
  page: number;
}

/** The URLs of all hosts, one host after another. */
function* urls(): Generator<Url> {
  for (let host = 0; host < hosts; host++)
    for (let page = 0; page < urlsPerHost; page++) yield { host: `host ${host}`, page };
}

const key = ({ host }: Url) => host;

/** What a crawl achieves in virtual time: its calls and the hosts that it calls within `until` ms, and when it ends. */
function crawl(crawler: (group: RateLimiterGroup) => Observable<Url>, until: number) {
  const scheduler = new VirtualTimeScheduler();
  const limit = leakyBucket({ permits: 1, interval });
  const group = new RateLimiterGroup({ name: 'hosts', limit, scheduler });
  const called = new Map<string, number>();
  const result = { calls: 0, hosts: 0, ended: 0 };
  crawler(group).subscribe({
    next({ host, page }) {
      assert.is(page, called.get(host) ?? 0, 'the order of a host');
      called.set(host, page + 1);
      if (scheduler.now() < until) {
        result.calls++;
        result.hosts = called.size;
      }
    },
    complete: () => {
      result.ended = scheduler.now();
    },
  });
  scheduler.flush();
  return result;
}

const pulled = (buffer?: number) => (group: RateLimiterGroup) =>
  fromThrottled(urls(), group, { key, buffer });
const unbounded = (group: RateLimiterGroup) => from(urls()).pipe(throttleDistributed(group, { key }));
const merged = (concurrency: number) => (group: RateLimiterGroup) =>
  from(urls()).pipe(mergeMap((url) => from([url]).pipe(acquirePermits(group.get(url.host))), concurrency));

test('with the default buffer all hosts are busy, and the crawl takes the ideal time', () => {
  assert.equal(crawl(pulled(), ideal / 2), { calls: hosts * 10, hosts, ended: ideal });
  assert.equal(crawl(unbounded, ideal / 2), { calls: hosts * 10, hosts, ended: ideal });
});

test('with a buffer of 1, the crawl is serial', () => {
  // Each host has its first URL at once, while the next one waits.
  const { calls, hosts: busy, ended } = crawl(pulled(1), ideal / 2);
  assert.equal({ calls, busy, ended }, { calls: 10, busy: 1, ended: hosts * ideal });
});

test('the buffer decides how many hosts are busy', () => {
  const calls = [1, 20, 100, 500, 1_000].map((buffer) => crawl(pulled(buffer), 600).calls);
  const inOrder = [...calls].sort((a, b) => a - b);
  assert.equal(calls, inOrder);
  // 100 values are those of 5 hosts.
  assert.ok(calls[2] >= 5 * 6 && calls[2] <= 8 * 6, `${calls} calls`);
  assert.is(calls[4], hosts * 6);
});

test('it keeps hosts busy as an unbounded buffer does, and mergeMap with acquirePermits does not', () => {
  const time = 600;
  const [all, kept, few] = [unbounded, pulled(), merged(100)].map((crawler) => crawl(crawler, time).calls);
  assert.equal([all, kept], [hosts * 6, hosts * 6]);
  assert.ok(few < all / 4, `mergeMap makes ${few} calls, an unbounded buffer ${all}`);
});

test.run();
