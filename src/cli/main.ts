import { type Arguments, parseArguments } from './arguments.ts';
import { type Outcome, outcomeOf } from './failure.ts';
import { run } from './run.ts';

// Without a reader, no message is written, and the exit code stays.
process.stderr.on('error', () => {});

function end({ code, message }: Outcome): void {
  if (message) process.stderr.write(`${message}\n`);
  process.exitCode = code;
}

let parsed: Arguments | string | undefined;
try {
  parsed = parseArguments(process.argv.slice(2));
} catch (error) {
  end(outcomeOf(error));
}
if (typeof parsed === 'string') {
  process.stdout.on('error', (error) => end(outcomeOf(error)));
  process.stdout.write(parsed);
} else if (parsed) {
  end(await run(parsed));
  // Unread input, or a reader that has stopped, must not keep the process alive.
  process.exit();
}
