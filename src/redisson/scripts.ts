import acquire from '../../lua/redisson/acquire.lua';
import available from '../../lua/redisson/available.lua';
import command from '../../lua/redisson/command.lua';
import expire from '../../lua/redisson/expire.lua';
import refund from '../../lua/redisson/refund.lua';
import release from '../../lua/redisson/release.lua';
import setRate from '../../lua/redisson/set-rate.lua';
import type { RedisClient } from '../stores/redis/redisClient.ts';
import type { Script } from '../stores/redis/script.ts';
import { definedScripts } from '../stores/redis/scripts.ts';

/** The text of each script. */
export const scriptTexts = { acquire, available, command, expire, refund, release, setRate };

/** The scripts that work on the keys of Redisson. */
export type RedissonScripts = Record<keyof typeof scriptTexts, Script>;

/** The scripts as commands of the caller's connection. */
export function redissonScripts(redis: RedisClient): RedissonScripts {
  return definedScripts(redis, scriptTexts, 'redisson_');
}
