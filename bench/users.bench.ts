import { RateLimiterMemory } from 'rate-limiter-flexible';
import { library } from './support/library.ts';
import { medians, type Way } from './support/sideBySide.ts';
import { printTable } from './support/table.ts';

export const question =
  'How many decisions a second for 20,000 users in a process, for new and for known users?';

const { fixedWindow, RateLimiterGroup } = library;
const users = Array.from({ length: 20_000 }, (_, i) => `user-${i}`);
const permits = 1_000;
const interval = 600_000;

/** One decision for each user, without waiting for one before the next. */
async function ask(decide: (user: string) => Promise<unknown>): Promise<number> {
  const start = performance.now();
  const answers: Promise<unknown>[] = [];
  for (const user of users) answers.push(decide(user));
  await Promise.all(answers);
  return (users.length * 1_000) / (performance.now() - start);
}

/** Measures a limiter that is created again for each round, twice. */
function twice(name: string, open: () => (user: string) => Promise<unknown>): Way[] {
  let decide = open();
  const fresh = () => {
    decide = open();
    return ask(decide);
  };
  return [
    [`${name}, new`, fresh],
    [`${name}, again`, () => ask(decide)],
  ];
}

export async function run(): Promise<void> {
  const rates = await medians(
    [
      ...twice('rate-limiter-flexible, memory', () => {
        const peer = new RateLimiterMemory({ points: permits, duration: interval / 1_000 });
        return (user) => peer.consume(user);
      }),
      ...twice('RateLimiterGroup, memory', () => {
        const group = new RateLimiterGroup({ name: 'users', limit: fixedWindow({ permits, interval }) });
        return (user) => group.get(user).decide();
      }),
    ],
    9,
  );
  const [peerNew, peerAgain, ...ours] = [...rates.values()];
  printTable(
    ['decisions/s', 'new', 'again'],
    [
      ['rate-limiter-flexible, memory', peerNew, peerAgain],
      ['RateLimiterGroup, memory', ...ours],
      ['ratio', ours[0] / peerNew, ours[1] / peerAgain],
    ],
  );
}
