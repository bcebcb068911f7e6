import type { Arguments } from './arguments.ts';
import { type Outcome, outcomeOf } from './failure.ts';
import { type Gate, openGate } from './gate.ts';
import { Output } from './output.ts';
import { Progress } from './progress.ts';
import { pump, type Tally } from './pump.ts';

/**
 * Passes standard input to standard output until the input ends, the output is closed, a signal arrives, or a call fails.
 *
 * @returns a promise of the result, which resolves when reservations are refunded
 */
export async function run(options: Arguments): Promise<Outcome> {
  const { stdin, stdout, stderr } = process;
  const tally: Tally = { lines: 0, waiting: 0 };
  const progress = stderr.isTTY && !options.quiet ? new Progress(stderr, tally) : undefined;
  const output = new Output(stdout, () => {
    if (stdout.isTTY) progress?.clear();
  });
  let gate: Gate | undefined;

  async function work(): Promise<Outcome> {
    gate = await openGate(options);
    await pump(stdin, output, gate.limiter, options, tally);
    return { code: 0 };
  }

  const outcome = await Promise.race([work().catch(outcomeOf), output.failed.catch(outcomeOf), signalled()]);
  progress?.end();
  await gate?.close();
  return outcome;
}

/** The signals that end the command, and the exit codes for them. */
const signals = { SIGINT: 130, SIGTERM: 143 };

/** Resolves at the first signal; a second one, of whatever kind, ends the process at once. */
function signalled(): Promise<Outcome> {
  return new Promise((resolve) => {
    const listeners = Object.entries(signals).map(([signal, code]) => {
      const end = () => {
        for (const [other, listener] of listeners) process.off(other, listener);
        resolve({ code });
      };
      process.on(signal, end);
      return [signal, end] as const;
    });
  });
}
