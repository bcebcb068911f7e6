// Limiters from their first rate to their end and beyond, at a time set by the test: after any steps, our grants follow
// the log before the call, and the keys agree and live as long as needed.
import type fc from 'fast-check';
import { test } from 'uvu';
import { promise } from '../support/campaign.ts';
import { sharedRedis } from '../support/sharedRedis.ts';
import { replay } from './lives/replay.ts';
import { type Life, ofOurs, withHands, withJvm } from './lives/steps.ts';

const shared = sharedRedis(test);

function lives(title: string, values: fc.Arbitrary<Life>): void {
  promise(title, 60, values, (life) => replay(shared.redis, life));
}

lives('grants follow the log, `value` agrees, and both live long enough: our clients', ofOurs);
lives('grants follow the log, `value` agrees, and both live long enough: with changes by hand', withHands);
lives('grants follow the log, `value` agrees, and both live long enough: with a JVM client', withJvm);

test.run();
