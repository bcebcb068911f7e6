import { type Arguments, parseArguments } from './arguments.ts';
import { type Outcome, outcomeOf } from './failure.ts';
import { run } from './run.ts';

function end({ code, message }: Outcome): void {
  if (message) process.stderr.write(`${message}\n`);
  process.exitCode = code;
}

let asked: Arguments | string | undefined;
try {
  asked = parseArguments(process.argv.slice(2));
} catch (error) {
  end(outcomeOf(error));
}
if (typeof asked === 'string') process.stdout.write(asked);
else if (asked) {
  end(await run(asked));
  // What is left to read, or to write to a reader that has stopped, must not hold the process.
  process.exit();
}
