import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/limits/limit.ts';
import { timed } from '../support/fakeTime.ts';
import { openLine, recorder } from '../support/lines.ts';
import { replyTo, scriptedLedger } from '../support/scriptedLedger.ts';

/** A dispatcher, and a waiter that makes counted requests, each with a number of its own. */
function open(maxQueue = Infinity, permits = 100_000) {
  const limit = slidingWindow({ permits, interval: 1000 });
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger, maxQueue);
  const recorded = recorder<number>();
  let asked = 0;
  const count = (requests: number) => {
    for (let i = 0; i < requests; i++) line.count(recorded, [1], asked++);
  };
  /** Replies to the last call: rows of a count and a delay. */
  const answer = (...rows: [count: number, delay: number][]) => {
    const { request, reply } = ledger.reserves[ledger.reserves.length - 1];
    const segments = rows.map(([size, delay]) => ({ count: size, delay, retryAfter: 0 }));
    reply(null, replyTo(request, [], { segments }));
  };
  return { ledger, line, recorded, count, answer };
}

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

timed('each of many counted requests is granted with its own data, in order', (clock) => {
  const { ledger, recorded, count } = open();
  count(2_500);
  clock.tick(1);
  count(3);
  for (const sent of ledger.reserves) {
    sent.reply(null, replyTo(sent.request, [0]));
    clock.tick(1);
  }
  assert.equal(recorded.all('granted'), numbers(0, 2_503));
});

timed('counted requests that are reserved apart keep their data', (clock) => {
  const { recorded, count, answer } = open();
  count(6);
  clock.tick(1);
  answer([2, 0], [3, 10], [1, 20]);
  assert.equal(recorded.all('granted'), [0, 1]);
  clock.tick(10);
  assert.equal(recorded.all('granted'), [0, 1, 2, 3, 4]);
  clock.tick(10);
  assert.equal(recorded.all('granted'), numbers(0, 6));
});

timed('the newest counted requests fail beyond maxQueue, and later ones have their own data', (clock) => {
  const { recorded, count, answer } = open(3);
  count(6);
  clock.tick(1);
  answer([1, 50], [5, -1]);
  assert.equal(recorded.all('failed'), [3, 4, 5]);
  clock.tick(50);
  assert.equal(recorded.all('granted'), [0]);
  count(1);
  answer([2, 0]);
  assert.equal(recorded.all('granted'), [0, 1, 2]);
  clock.tick(1);
  answer([1, 0]);
  assert.equal(recorded.all('granted'), [0, 1, 2, 6]);
});

timed('a request that joins where others have failed has its own data', (clock) => {
  const { recorded, count, answer } = open(4, 100);
  const { granted } = recorded;
  recorded.granted = (grant, data) => {
    granted(grant, data);
    if (data === 0) count(1);
  };
  count(6);
  clock.tick(1);
  // The reservations are enough for now, so the others stay in the queue.
  answer([2, 50], [4, -1]);
  assert.equal(recorded.all('failed'), [4, 5]);
  clock.tick(50);
  answer([3, 0]);
  assert.equal(recorded.all('granted'), [0, 1, 2, 3, 6]);
});

timed('an error fails the data of its call, and closing fails the rest in order', async (clock) => {
  const { ledger, line, recorded, count } = open();
  count(2);
  clock.tick(1);
  count(2);
  ledger.reserves[0].reply(new Error('no'));
  assert.equal(recorded.all('failed'), [0, 1]);
  const closed = line.close();
  clock.tick(2_000);
  await closed;
  assert.equal(recorded.all('failed'), [0, 1, 2, 3]);
});

test.run();
