import { createRequire } from 'node:module';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import type { Limit } from '../index.ts';
import { capacityOf } from '../limits/limit.ts';
import { duration, nonEmptyString, positiveInteger } from '../validate.ts';
import { algorithms, limitOf } from './algorithms.ts';
import { UsageError } from './failure.ts';

/** The checked command line. */
export interface Arguments {
  /** Undefined only with `redisson`: then the rate on Redisson's keys is in force. */
  limit: Limit | undefined;
  /** The identity of the limit across the fleet. */
  name: string;
  /** The URL of Redis; undefined for a limit in this process. */
  redis: string | undefined;
  /** Whether the limit is on Redisson's keys. */
  redisson: boolean;
  /** Permits of a line. */
  permits: number;
  /** Milliseconds that a line may wait for its permits. */
  timeout: number;
  timestamps: boolean;
  quiet: boolean;
}

interface Options {
  limit?: number;
  interval?: number;
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
Exits with 0 at the end of input or when its output is closed, 1 on failure, 2 on invalid arguments.`;

/**
 * Parses the command line.
 *
 * @param argv the arguments, without the command
 * @returns the checked arguments, or the output of `--help` or `--version`
 * @throws UsageError for invalid arguments; the message names the option
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
  const options = command.opts<Options>();
  // As of an unset variable in `--redis "$URL"`: the fleet would exceed a limit that each process holds.
  if (options.redis === '' && command.getOptionValueSource('redis') === 'cli')
    throw new UsageError(
      '--redis: expected a URL such as redis://localhost:6379, got none; ' +
        'leave it out, and REDIS_URL empty, for a limit of this process alone',
    );
  return checked(options);
}

function declared(): Command {
  const { version } = createRequire(import.meta.url)('rxjs-sluice/package.json');
  return new Command('sluice')
    .description("Passes lines from standard input to standard output at the fleet's rate.")
    .option('--limit <permits>', 'permits per interval (required without --redisson)', number)
    .option('--interval <ms>', 'the interval, in milliseconds (default: 1000)', number)
    .addOption(
      new Option('--algorithm <name>', 'how the limit counts').choices(algorithms).default(algorithms[0]),
    )
    .option('--burst <permits>', 'the most permits that a token-bucket holds (default: --limit)', number)
    .option('--name <name>', 'the name of the limit: processes with the same name share it', 'sluice')
    .addOption(
      new Option('--redis <url>', 'the Redis that holds the limit (default: this process holds it)').env(
        'REDIS_URL',
      ),
    )
    .option(
      '--redisson',
      'share the limit of a Redisson RRateLimiter of that name: at its stored rate, or at --limit if it has none',
      false,
    )
    .option('--permits <count>', 'permits of a line', number, 1)
    .option('--timeout <ms>', 'fail if a line would wait longer for its permits', number)
    .option(
      '--timestamps',
      'put the granted moment, in epoch milliseconds, and a tab before each line',
      false,
    )
    .option('--quiet', 'show no progress (it is shown only if standard error is a terminal)')
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
  // On Redisson's keys, another rate may be stored.
  const most = redisson || !limit ? Infinity : capacityOf(limit);
  if (permits > most)
    throw new UsageError(
      `--permits: expected at most ${most}, the most that the limit can grant at a time, got ${permits}`,
    );
  return { limit, name, redis, redisson, permits, timeout, timestamps, quiet };
}

/** The limit; undefined if Redisson's stored rate is used. */
function limitFrom({ redisson, algorithm, interval, limit, burst }: Options): Limit | undefined {
  if (redisson && algorithm !== algorithms[0])
    throw new UsageError(`--algorithm: expected ${algorithms[0]} with --redisson, got ${algorithm}`);
  if (redisson && burst !== undefined)
    throw new UsageError(`--burst: expected none with --redisson, got ${burst}`);
  if (limit === undefined) {
    if (!redisson) throw new UsageError("required option '--limit <permits>' not specified");
    // The stored rate has an interval of its own.
    if (interval !== undefined) throw new UsageError('--interval: expected --limit with it, got none');
    return undefined;
  }
  return limitOf({ algorithm, limit, interval, burst });
}

function redisUrl(text: string | undefined): string | undefined {
  if (!text) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The message does not repeat the URL, which may contain a password.
  if (!url || !/^rediss?:$/.test(url.protocol) || !url.host)
    throw new UsageError('--redis (or REDIS_URL): expected a URL such as redis://localhost:6379');
  if (!/^\/?\d*$/.test(url.pathname))
    throw new UsageError(
      '--redis (or REDIS_URL): expected a database number or nothing after the host, as in redis://localhost:6379/0',
    );
  return text;
}
