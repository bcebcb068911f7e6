// No permit is lost or refunded twice, whatever consumers and the functions of options do to streams of the limiter.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { memoryStore } from '../../src/index.ts';
import { answered, lateStore } from '../support/lateStore.ts';
import { assertIdle } from '../support/marbles.ts';
import { randomOf } from '../support/seed.mjs';
import { RandomStreams } from './randomStreams.ts';

const test = suite('operators with any consumers');

for (const [how, storeOf] of Object.entries({
  'at once': () => memoryStore(),
  'a turn later': () => lateStore(memoryStore()),
  'a turn later, as Redis does': () => lateStore(memoryStore(), 'redis'),
}))
  test(`each permit is either emitted or given back, over a store that replies ${how}`, async () => {
    for (let i = 0; i < 300; i++) {
      const name = `any consumer, ${how}, ${i}`;
      const streams = new RandomStreams(randomOf(name), storeOf());
      for (let n = 0; n < 40; n++) {
        streams.act();
        if (n % 4 === 0) await answered();
      }
      streams.end();
      await answered();
      assert.is(await streams.limiter.availablePermits(), streams.permits - streams.used, name);
      assertIdle(streams.limiter);
    }
  });

test.run();
