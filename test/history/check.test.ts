import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { redisStore } from '../../src/stores/redis/redisStore.ts';
import type { LimitSpec } from '../properties/specs.ts';
import { removeFolder, temporaryFolder } from '../support/leftovers.ts';
import { startRedis } from '../support/redisServer.ts';
import { breachesOf } from './check.ts';
import type { HistoryEvent } from './events.ts';
import { historiesOf, readHistories } from './histories.ts';
import { RecordedLimiter } from './recordedLimiter.ts';
import { HistoryWriter } from './writer.ts';

const start = 1_700_000_000_000;
const epoch = start * 1000;
const sliding: LimitSpec = { kind: 'slidingWindow', permits: 2, interval: 1_000, resolution: 1 };

/** A request of a process for one permit: made, reserved and granted at these times. */
interface Asked {
  id: number;
  asked?: number;
  moment: number;
  granted?: number;
  epoch?: number;
}

/** The history of a process with some granted requests, each reserved by its own call when it was made. */
function historyOf(
  process: string,
  requests: Asked[],
  { limit = sliding, further = [] as HistoryEvent[], stopped = true } = {},
) {
  const events: HistoryEvent[] = [{ event: 'started', at: start, process, limit }];
  for (const { id, moment, asked = 0, granted = moment, ...rest } of requests) {
    const at = start + asked;
    events.push({ event: 'asked', at, id, permits: 1, timeout: null });
    const reserved = [{ moment: start + moment, permits: 1, count: 1 }];
    events.push({ event: 'called', at, now: at, epoch: rest.epoch ?? epoch, reserved });
    events.push({ event: 'granted', at: start + granted, id, moment: start + moment, source: 'redis' });
  }
  events.push(...further);
  if (stopped) events.push({ event: 'stopped', at: start + 60_000 });
  return events;
}

/** The only breach of some histories. */
function breachOf(...histories: HistoryEvent[][]): string {
  const breaches = breachesOf(historiesOf(histories));
  assert.is(breaches.length, 1, breaches.join('\n'));
  return breaches[0];
}

const good = () => [
  historyOf('a', [
    { id: 1, moment: 0 },
    { id: 2, asked: 10, moment: 1_000 },
  ]),
  historyOf('b', [
    { id: 1, asked: 5, moment: 5 },
    { id: 2, asked: 15, moment: 1_005 },
  ]),
];

test('finds no breach in valid histories of a fleet', () => {
  assert.equal(breachesOf(historiesOf(good())), []);
});

const overs: [LimitSpec, number[]][] = [
  [sliding, [0, 500, 999]],
  [{ kind: 'fixedWindow', permits: 2, interval: 1_000, align: 'epoch' }, [0, 1, 999]],
  [{ kind: 'fixedWindow', permits: 2, interval: 1_000, align: 'first' }, [0, 1, 2, 3, 999]],
  [{ kind: 'tokenBucket', permits: 2, interval: 1_000, burst: 2 }, [0, 0, 490]],
];
for (const [limit, moments] of overs)
  test(`${limit.kind} ${'align' in limit ? limit.align : ''}: finds grants of several processes above the limit, soon or late`, () => {
    for (const later of [0, 20_000]) {
      const all = [...(later ? [-3_000 + later] : []), ...moments.map((moment) => moment + later)];
      const histories = all.map((moment, i) =>
        historyOf(`p${i}`, [{ id: 1, asked: moment, moment }], { limit }),
      );
      assert.match(breachOf(...histories), 'never over');
    }
  });

test('does not count refunded permits, or grants before a loss of data', () => {
  const returned: HistoryEvent[] = [
    { event: 'returned', at: start + 20, id: 1, permits: 1 },
    { event: 'gaveBack', at: start + 20, permits: 1 },
  ];
  const third = historyOf('c', [{ id: 1, asked: 30, moment: 30 }]);
  const two = (further: HistoryEvent[]) => [
    historyOf('a', [{ id: 1, moment: 0 }], { further }),
    historyOf('b', [{ id: 1, asked: 5, moment: 5 }]),
  ];
  assert.match(breachOf(...two([]), third), 'never over');
  assert.equal(breachesOf(historiesOf([...two(returned), third])), []);
  const lost: HistoryEvent[] = [
    { event: 'fault', at: start + 20, until: start + 25, kind: 'FLUSHALL', lost: true },
  ];
  assert.equal(breachesOf(historiesOf([...two([]), third, lost])), []);
  const before = historyOf('c', [{ id: 1, asked: 15, moment: 15 }]);
  assert.match(breachOf(...two([]), before, lost), 'never over');
});

test('after a loss at an unknown time, each epoch has a limit of its own', () => {
  const lost: HistoryEvent[] = [
    { event: 'fault', at: start, until: start + 100, kind: 'eviction', lost: 'sometime' },
  ];
  const two = [historyOf('a', [{ id: 1, moment: 0 }]), historyOf('b', [{ id: 1, asked: 5, moment: 5 }])];
  const third = (other: number) => historyOf('c', [{ id: 1, asked: 30, moment: 30, epoch: epoch + other }]);
  assert.equal(breachesOf(historiesOf([...two, third(30_000), lost])), []);
  assert.match(breachOf(...two, third(0), lost), 'never over');
});

test('a moment that a process reserved before a loss of data and after it belongs to neither part', () => {
  const lost: HistoryEvent[] = [
    { event: 'fault', at: start, until: start + 100, kind: 'eviction', lost: 'sometime' },
  ];
  const both = historyOf('a', [
    { id: 1, moment: 30 },
    { id: 2, asked: 10, moment: 30, epoch: epoch + 10_000 },
  ]);
  const after = historyOf('b', [{ id: 1, asked: 10, moment: 30, epoch: epoch + 10_000 }]);
  assert.equal(breachesOf(historiesOf([both, after, lost])), []);
});

test('finds a grant without a reservation, or before its moment', () => {
  const [a, b] = good();
  const call = a.findIndex(({ event }) => event === 'called');
  assert.match(
    breachesOf(historiesOf([a.filter((_, i) => i !== call), b])).join(),
    'as reserved: a: request 1',
  );
  const early = historyOf('a', [{ id: 1, moment: 100, granted: 50 }]);
  assert.match(breachOf(early), 'as reserved: a: request 1 is granted at');
});

test('finds a request that passes an earlier one of its process', () => {
  const a = historyOf('a', [
    { id: 1, moment: 1_000 },
    { id: 2, asked: 10, moment: 20 },
  ]);
  const breaches = breachesOf(historiesOf([a])).join('\n');
  assert.match(breaches, 'first come, first served within a process: a: request 2');
});

test('finds a call that passes an earlier one of another process, unless that many permits were refunded', () => {
  const a = [
    { id: 1, moment: 0 },
    { id: 2, asked: 1, moment: 1_000 },
  ];
  const b = [{ id: 1, asked: 10, moment: 500 }];
  assert.match(
    breachOf(historyOf('a', a), historyOf('b', b)),
    'first come, first served across processes: b: 1 permits',
  );
  const further: HistoryEvent[] = [
    { event: 'asked', at: start + 2, id: 9, permits: 1, timeout: null },
    {
      event: 'called',
      at: start + 2,
      now: start + 2,
      epoch,
      reserved: [{ moment: start + 1_000, permits: 1, count: 1 }],
    },
    { event: 'cancelled', at: start + 3, id: 9 },
    { event: 'gaveBack', at: start + 3, permits: 1 },
  ];
  assert.equal(breachesOf(historiesOf([historyOf('a', a, { further }), historyOf('b', b)])), []);
});

test('any number of permits may pass a reservation that was refunded, and none a reservation that stands', () => {
  const call = (at: number, moment: number, count: number): HistoryEvent[] => [
    {
      event: 'called',
      at: start + at,
      now: start + at,
      epoch,
      reserved: [{ moment: start + moment, permits: 1, count }],
    },
  ];
  const passing = (moments: number[]) =>
    breachesOf(
      historiesOf([
        historyOf('a', [], {
          further: [
            ...call(0, 1_000, 1),
            {
              event: 'gaveBack',
              at: start + 1,
              permits: 1,
              moments: moments.map((moment) => start + moment),
            },
          ],
        }),
        historyOf('b', [], { further: call(10, 500, 2) }),
      ]),
    ).filter((breach) => breach.startsWith('first come, first served across'));
  assert.equal(passing([1_000]), []);
  assert.match(passing([400]).join(), 'b: 2 permits pass others');
});

test('a client that waits in order or in turns may pass a reservation, and no other client', () => {
  const passing = (hasTurn: boolean) => {
    const reserved = [{ moment: start + 500, permits: 1, count: 1 }];
    const call: HistoryEvent = { event: 'called', at: start + 10, now: start + 10, epoch, reserved, hasTurn };
    const a = historyOf('a', [{ id: 1, moment: 1_000 }]);
    const b = historyOf('b', [], { further: [call] });
    return breachesOf(historiesOf([a, b])).filter((breach) => breach.startsWith('first come'));
  };
  assert.equal(passing(true), []);
  assert.match(passing(false).join(), 'b: 1 permits pass others');
});

test('finds a request that never ends, ends twice, or refunds more than its grant', () => {
  const open: HistoryEvent[] = [{ event: 'asked', at: start + 2_000, id: 9, permits: 1, timeout: null }];
  const requests = [{ id: 1, moment: 0 }];
  assert.match(
    breachOf(historyOf('a', requests, { further: open })),
    'nothing lost: a: request 9 has not ended',
  );
  // The process was killed.
  assert.equal(breachesOf(historiesOf([historyOf('a', requests, { further: open, stopped: false })])), []);
  const twice: HistoryEvent[] = [{ event: 'refused', at: start + 10, id: 1 }];
  const breaches = breachesOf(historiesOf([historyOf('a', requests, { further: twice })])).join();
  assert.match(breaches, 'nothing lost: a: request 1 is granted and refused');
  const more: HistoryEvent[] = [{ event: 'returned', at: start + 10, id: 1, permits: 2 }];
  assert.match(
    breachesOf(historiesOf([historyOf('a', requests, { further: more })])).join(),
    'has given back 2',
  );
});

test('finds a request that is charged although it was refused', () => {
  const reserved = [{ moment: start + 1_000, permits: 1, count: 1 }];
  const further: HistoryEvent[] = [
    { event: 'asked', at: start + 1, id: 9, permits: 1, timeout: 10 },
    { event: 'called', at: start + 1, now: start + 1, epoch, reserved },
    { event: 'refused', at: start + 2, id: 9 },
  ];
  assert.match(
    breachOf(historyOf('a', [{ id: 1, moment: 0 }], { further })),
    'refused is free: a: 2 permits',
  );
});

test('finds a request that waits without any grant, unless a fault causes it', () => {
  const late = historyOf('a', [
    { id: 1, moment: 0 },
    { id: 2, asked: 10, moment: 9_000 },
  ]);
  assert.match(breachOf(late), 'liveness: nothing is granted');
  const fault: HistoryEvent[] = [
    { event: 'fault', at: start + 100, until: start + 5_000, kind: 'SIGSTOP', lost: false },
  ];
  assert.equal(breachesOf(historiesOf([late, fault])), []);
});

test('reads and checks the history of a limiter on a real Redis, with half a last line', async () => {
  const server = await startRedis();
  const folder = temporaryFolder();
  const all = ['a', 'b'].map((process) => {
    const redis = new Redis(server.port);
    const limit: LimitSpec = { kind: 'slidingWindow', permits: 10, interval: 200, resolution: 1 };
    const options = { name: 'history', process, limit, store: redisStore(redis) };
    return { redis, limiter: new RecordedLimiter(options, new HistoryWriter(folder, process)) };
  });
  for (const { limiter } of all)
    await Promise.all(
      Array.from({ length: 30 }, async (_, i) => {
        const request = limiter.ask(1 + (i % 2), i % 5 === 0 ? 50 : Infinity);
        if (i % 7 === 0) setTimeout(request.cancel, 100);
        const permit = await request.ended;
        if (permit && i % 3 === 0) await limiter.refund(permit, 1);
      }),
    );
  for (const { limiter, redis } of all) {
    await limiter.close();
    redis.disconnect();
  }
  const file = join(folder, 'b.jsonl');
  writeFileSync(file, `${readFileSync(file, 'utf8')}{"at":`);
  const histories = readHistories(folder);
  assert.equal(breachesOf(histories), []);
  for (const end of ['granted', 'refused', 'cancelled'])
    assert.ok(
      histories.processes.some(({ requests }) => requests.some((request) => request.end === end)),
      end,
    );
  removeFolder(folder);
  await server.stop();
});

test.run();
