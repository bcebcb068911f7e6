// No call keeps the server busy for ever: why each loop of the scripts ends, whatever the keys hold. Those of Redisson's keys
// have `for` loops only: "every loop of the scripts" in test/redisson/wrongConfig.test.ts.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as assert from 'uvu/assert';
import { StoreError, slidingWindow, tokenBucket } from '../../src/index.ts';
import { scriptsOf } from '../../src/stores/redis/scripts.ts';
import { filesIn } from '../../tools/lua.mjs';
import { rejection } from '../support/badInput.ts';
import { openRedisLedger } from '../support/redisLedger.ts';
import { ledgerOf } from './ledgers.ts';
import { redisSuite } from './redisSuite.ts';

const test = redisSuite('loops');
const lua = fileURLToPath(new URL('../../lua/', import.meta.url));

const entry = 'each round reads another entry, of which `entry` reads READ_LIMIT at most';
const step = 'each round passes or removes a step: MOST_PAST and MOST_AHEAD at most are read';
const inline = 'each round passes an entry of the ledger: MOST_INLINE at most';
const hole = 'each round passes or removes a hole: MOST_HOLES at most are read';

const window = 'each round passes a window: MOST_EARLIER and the last one at most are read';

/** Why each loop ends, by its file and its condition, in the order of the file. */
const loops: Record<string, [condition: string, why: string][]> = {
  'ledger/add-hole.lua': [['holes[place] and holes[place].moment <= moment', hole]],
  'ledger/ahead.lua': [
    ['2 * count <= most and fits(2 * count)', 'each round doubles the requests: no more than the call has'],
  ],
  'ledger/debts.lua': [
    ['left > 0', 'each round but one charges a part: DEBT_PARTS or MOST_DEBT at most; else it is an error'],
  ],
  'ledger/epochs.lua': [
    [
      '#voids > 1 and voids[1].from + NOTICE_PERIOD <= now',
      'each round removes a change: MOST_VOIDS at most',
    ],
  ],
  'ledger/holes.lua': [['ledger.holes[1] and ledger.holes[1].moment <= till', hole]],
  'ledger/move-up.lua': [['window and window.start >= t', window]],
  'limits/fixed-window.lua': [
    ['state.used > 0 and state.start > after', 'each round removes a window: MOST_EARLIER and one at most'],
  ],
  'limits/fixed-window/windows.lua': [
    ['state.earlier[place] and state.earlier[place].start > t', window],
    ['state.earlier[place] and present < state.earlier[place].stop', window],
    ['earlier[place + 1] and earlier[place].used == 0', window],
  ],
  'limits/sliding-window.lua': [
    ['pushed[1] and pushed[1][1] <= gone', inline],
    ['dropped < PURGE_LIMIT and dropped < state.len', 'PURGE_LIMIT rounds at most'],
    ['state.openTime > slot', entry],
    ['low < high', 'a binary search, which ends at an entry that does not exist'],
  ],
  'limits/sliding-window/search.lua': [
    ['index > 0', entry],
    ['index > 0', entry],
    ['needed + spare < 0', entry],
    ['index > 0', entry],
    ['state.oldest <= gone', entry],
    ['ahead > 0', 'GAP_LIMIT rounds at most'],
    ['finish < math.min(before, at + state.interval)', 'each round passes an entry of those GAP_LIMIT'],
    ['oldest < ahead', 'GAP_LIMIT rounds at most'],
    ['ahead > 0', 'GAP_LIMIT rounds at most'],
    ['ahead < length', 'each round passes an entry of those GAP_LIMIT'],
  ],
  'limits/token-bucket.lua': [
    [
      'state.steps[1] and state.steps[1].since > sure',
      'each round removes a step, as none ends before it begins',
    ],
  ],
  'limits/token-bucket/history.lua': [
    ['steps[2] and steps[2].stop >= t', step],
    ['steps[ahead + 1] and steps[ahead + 1].stop > now', step],
    ['#steps > ahead and roomAfter(state, now, steps[#steps].since, steps[#steps].held, taken) <= 0', step],
    ['part > 1', 'each round halves MERGED_PART'],
    ['#steps - ahead > KEPT_PAST and place <= #steps', step],
    ['#steps - ahead > KEPT_PAST', step],
    ['steps[place] and steps[place].since > t', step],
    ['steps[1] and steps[1].since > stop', step],
  ],
  'quick/sliding-window.lua': [
    ['first < last and oldest <= gone', inline],
    ['missing > 0 and from < last', inline],
  ],
  'refund.lua': [
    ['#holes > 0 and holes[#holes].moment >= newestOf(ledger, holes[#holes].cost, false)', hole],
  ],
  'reserve/asked.lua': [['ARGV[position + 1]', 'each round passes arguments']],
  'reserve/earlier.lua': [
    [
      'remaining > 0 and not ordered and held < math.max(share, load)',
      'each round grants a request of the call, removes a hole, or is the last one',
    ],
  ],
  'reserve/serve.lua': [
    [
      'remaining > 0',
      'each round grants a request of the call, or is one of #logs + 2 at most; as many more are an error',
    ],
  ],
};

/** The lines of a file without comments. */
const linesOf = (file: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.replace(/--.*/, ''));

test('each loop without a bound in its first line is known to end', () => {
  const found: Record<string, string[]> = {};
  for (const file of filesIn(lua)) {
    const name = file.slice(lua.length);
    if (name.startsWith('redisson/')) continue;
    for (const line of linesOf(file)) {
      assert.not.match(line, /\b(repeat|goto)\b/, name);
      const condition = /\bwhile (.*?) do\b/.exec(line)?.[1];
      if (condition) found[name] = [...(found[name] ?? []), condition];
      else assert.not.match(line, /\bwhile\b/, `${name}: the condition of a loop is in one line`);
      // Lua computes the bound of a `for` before the first round.
      const bound = /\bfor\b(.*)\bdo\b/.exec(line)?.[1] ?? '';
      assert.not.match(bound, /huge|interval|permits/, name);
    }
  }
  const known = Object.fromEntries(
    Object.entries(loops).map(([name, conditions]) => [name, conditions.map(([condition]) => condition)]),
  );
  assert.equal(found, known);
});

const ahead = 2 ** 45;

for (const isSmall of [true, false])
  test(`a reservation of a bucket that ends before it begins holds up no call, ${isSmall ? 'in a small ledger' : 'in any other ledger'}`, async ({
    redis,
    connect,
  }) => {
    const [bucket, window] = [tokenBucket, slidingWindow].map((make) =>
      make({ permits: 1, interval: 60_000 }),
    );
    const name = isSmall ? '' : 'a';
    await ledgerOf(redis, { [name]: bucket }).reserve([1], { count: 2, maxWait: Infinity });
    const held = (await redis.getBuffer('{p:n}'))!;
    // Where the newest step is: behind the head, the units, the last moment and the number of steps; or behind the text of the
    // limits, their kinds, three options and twelve fields.
    const since = isSmall ? 33 + 8 + 6 + 1 : 30 + 4 + held.readUInt32LE(30) + 4 + 1 + 8 * 15;
    const stop = since + (isSmall ? 6 : 8);
    const read = (at: number) => (isSmall ? held.readUIntLE(at, 6) : held.readDoubleLE(at));
    assert.is(read(since), read(stop));
    assert.ok(read(since) > 1.7e12);
    if (isSmall) held.writeUIntLE(ahead, since, 6);
    else held.writeDoubleLE(ahead, since);
    await redis.set('{p:n}', held);
    // Another limit makes the reservations void: those that begin later are removed one by one.
    const config = { name: 'n', prefix: 'p', clientId: 'me', names: [name], limits: [window] };
    const own = openRedisLedger(config, scriptsOf(connect({ commandTimeout: 5_000 })));
    const request = { limits: config.limits, ifAbsent: false, keepState: true };
    const error = await rejection(
      new Promise((resolve, reject) =>
        own.setRate(request, (error, reply) => (error ? reject(error) : resolve(reply))),
      ),
    );
    assert.instance(error, StoreError);
    assert.match(
      error.message,
      'the key {p:n} holds no ledger of version 21: found a count below zero; reset()',
    );
  });

test.run();
