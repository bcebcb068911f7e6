import { createRequire } from 'node:module';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import type { Limit } from '../index.ts';
import { capacityOf } from '../limits/limit.ts';
import { duration, nonEmptyString, positiveInteger } from '../validate.ts';
import { algorithms, limitOf } from './algorithms.ts';
import { UsageError } from './failure.ts';

/** What the command line asks for, checked. */
export interface Arguments {
  /** Left out only on the keys of Redisson: the rate that is set there. */
  limit: Limit | undefined;
  /** The limit's identity across the fleet. */
  name: string;
  /** Where the fleet's Redis is; left out: the limit holds in this process. */
  redis: string | undefined;
  /** Whether the limit is one of Redisson's, on its keys. */
  redisson: boolean;
  /** Permits that a line costs. */
  permits: number;
  /** Milliseconds that a line may wait. */
  timeout: number;
  timestamps: boolean;
  quiet: boolean;
}

interface Options {
  limit?: number;
  interval: number;
  algorithm: string;
  burst?: number;
  name: string;
  redis?: string;
  redisson?: boolean;
  permits: number;
  timeout?: number;
  timestamps?: boolean;
  quiet?: boolean;
}

const examples = `
Examples:
  sluice --limit 10 < urls.txt | xargs -n 1 curl -sO
  sluice --limit 100 --name stripe --redis redis://cache:6379 < jobs.txt | ./work
  sluice --redisson --name stripe --redis redis://cache:6379 < jobs.txt | ./work

Every process with the same --name on the same Redis shares one limit.
Ends with 0 at the end of input or when its output is closed, 1 on a failure, 2 on bad arguments.`;

/**
 * Reads the command line.
 *
 * @param argv the arguments alone
 * @returns what it asks for, or the text that answers `--help` and `--version`
 * @throws UsageError for anything that cannot be meant, naming the option
 */
export function parseArguments(argv: readonly string[]): Arguments | string {
  let text = '';
  const writeOut = (part: string) => {
    text += part;
  };
  const command = declared()
    .exitOverride()
    .configureOutput({ writeOut, writeErr: () => {} });
  try {
    command.parse(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return text;
    throw new UsageError(error.message.replace(/^error: /, ''));
  }
  return checked(command.opts<Options>());
}

function declared(): Command {
  const { version } = createRequire(import.meta.url)('rxjs-sluice/package.json');
  return new Command('sluice')
    .description("Passes lines from standard input to standard output at the fleet's rate.")
    .option('--limit <permits>', 'permits per interval (required, but with --redisson)', number)
    .option('--interval <ms>', 'the interval, in milliseconds', number, 1000)
    .addOption(
      new Option('--algorithm <name>', 'how the limit counts').choices(algorithms).default(algorithms[0]),
    )
    .option('--burst <permits>', 'the most that a token-bucket holds (default: as many as --limit)', number)
    .option('--name <name>', "the limit's name: processes of the same name share it", 'sluice')
    .addOption(
      new Option('--redis <url>', 'where the limit is kept (default: in this process)').env('REDIS_URL'),
    )
    .option(
      '--redisson',
      'share the limit of a Redisson RRateLimiter of that name: at the rate that is set there, or else at --limit',
      false,
    )
    .option('--permits <count>', 'permits that a line costs', number, 1)
    .option('--timeout <ms>', 'fail when a line would have to wait for longer', number)
    .option(
      '--timestamps',
      'put the granted moment, in epoch milliseconds, and a tab before every line',
      false,
    )
    .option('--quiet', 'show no progress (there is none where standard error is no terminal)')
    .version(version)
    .allowExcessArguments(false)
    .addHelpText('after', examples);
}

function number(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isNaN(value)) throw new InvalidArgumentError('Expected a number.');
  return value;
}

function checked(options: Options): Arguments {
  const { name, permits, timeout = Infinity, timestamps = false, quiet = false } = options;
  const limit = limitFrom(options);
  try {
    nonEmptyString('--name', name);
    positiveInteger('--permits', permits);
    duration('--timeout', timeout);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const { redisson = false } = options;
  const redis = redisUrl(options.redis);
  if (redisson && redis === undefined)
    throw new UsageError('--redisson: expected --redis (or REDIS_URL) with it, got none');
  // On the keys of Redisson another rate may be set than the one that was given.
  const most = redisson || !limit ? Infinity : capacityOf(limit);
  if (permits > most)
    throw new UsageError(
      `--permits: expected at most ${most}, all that is ever there at once, got ${permits}`,
    );
  return { limit, name, redis, redisson, permits, timeout, timestamps, quiet };
}

/** The limit; none where the rate is left to Redisson. */
function limitFrom({ redisson, algorithm, interval, limit, burst }: Options): Limit | undefined {
  if (redisson && algorithm !== algorithms[0])
    throw new UsageError(`--algorithm: expected ${algorithms[0]} with --redisson, got ${algorithm}`);
  if (limit === undefined) {
    if (redisson) return undefined;
    throw new UsageError("required option '--limit <permits>' not specified");
  }
  return limitOf({ algorithm, limit, interval, burst });
}

function redisUrl(text: string | undefined): string | undefined {
  if (!text) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // What was given is not repeated: it may hold a password.
  if (!url || !/^rediss?:$/.test(url.protocol) || !url.host)
    throw new UsageError('--redis (or REDIS_URL): expected a URL such as redis://localhost:6379');
  if (!/^\/?\d*$/.test(url.pathname))
    throw new UsageError(
      '--redis (or REDIS_URL): expected the number of a database, if any, after the host, as in redis://localhost:6379/0',
    );
  return text;
}
