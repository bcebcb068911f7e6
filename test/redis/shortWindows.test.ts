// A window of one millisecond opens at the millisecond rounded up: the fast path and the twin in memory then know the same.
import { fixedWindow } from '../../src/limits/limit.ts';
import type { Call } from '../properties/calls.ts';
import { aboutIoredis } from '../support/anyClient.ts';
import { limitNames } from '../support/limitNames.ts';
import { redisSuite } from './redisSuite.ts';
import { sameReplies } from './twins.ts';

const shared = redisSuite('short windows');
const test = aboutIoredis(shared, 'each call is made in a transaction of ioredis');

for (const align of ['first', 'epoch'] as const)
  test(`a window of a millisecond that opens within one forgets what is past: ${align}`, async ({
    redis,
  }) => {
    const limits = [fixedWindow({ permits: 5, interval: 1, align })];
    const start = 1_700_000_000_000_000;
    const decide = (us: number): Call => ({ client: 0, serverUs: start + us, kind: 'decide', cost: [1] });
    const moment = start / 1000 + 3;
    const grant = { moment, epoch: start, source: 'redis', cost: [1], count: 1 } as const;
    await sameReplies(redis, { names: limitNames(limits), limits }, [
      ...[0, 2864].map(decide),
      { client: 0, serverUs: start + 2900, kind: 'refund', refunds: [grant], sequence: 1 },
      decide(2950),
    ]);
  });

shared.run();
