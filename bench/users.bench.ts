import { RateLimiterMemory } from 'rate-limiter-flexible';
import { heapUsed } from './support/heap.ts';
import { library } from './support/library.ts';
import { medians, type Way } from './support/sideBySide.ts';
import { printTable } from './support/table.ts';

export const question =
  'How many decisions a second for 20,000 users in a process, for new and for known users, and how many bytes of the heap?';

const { fixedWindow, RateLimiterGroup, slidingWindow, tokenBucket } = library;
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

interface Opened {
  decide: (user: string) => Promise<unknown>;
  /** Forgets a user. */
  forget?: (user: string) => Promise<unknown>;
}

/** Measures a limiter that is created again for each round, twice. */
function twice(name: string, open: () => Opened): Way[] {
  let { decide, forget } = open();
  const fresh = () => {
    ({ decide, forget } = open());
    return ask(decide);
  };
  const again = async () => {
    const rate = await ask(decide);
    if (forget) for (const user of users) await forget(user);
    return rate;
  };
  return [
    [`${name}, new`, fresh],
    [`${name}, again`, again],
  ];
}

/** The bytes that a user takes after some decisions, a turn of the clock apart. Reads the heap after a collection of garbage. */
async function bytesOf(open: () => (user: string) => Promise<unknown>, decisions: number): Promise<number> {
  const before = heapUsed();
  const decide = open();
  for (let i = 0; i < decisions; i++) {
    await ask(decide);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const bytes = (heapUsed() - before) / users.length;
  // Used once more, so that it is not collected before.
  await decide(users[0]);
  return bytes;
}

async function printBytes(): Promise<void> {
  const rows: (string | number)[][] = [];
  for (const limit of [fixedWindow, slidingWindow, tokenBucket]) {
    const open = () => {
      const group = new RateLimiterGroup({ name: 'users', limit: limit({ permits, interval }) });
      return (user: string) => group.get(user).decide();
    };
    await bytesOf(open, 1);
    rows.push([limit.name, await bytesOf(open, 1), await bytesOf(open, 3)]);
  }
  printTable(['bytes of a user, after', 'one decision', 'three decisions'], rows);
}

export async function run(): Promise<void> {
  const rates = await medians(
    [
      ...twice('rate-limiter-flexible, memory', () => {
        const peer = new RateLimiterMemory({ points: permits, duration: interval / 1_000 });
        // Its timers would keep the users of all rounds, and the other limiter would collect garbage among them.
        return { decide: (user) => peer.consume(user), forget: (user) => peer.delete(user) };
      }),
      ...twice('RateLimiterGroup, memory', () => {
        const group = new RateLimiterGroup({ name: 'users', limit: fixedWindow({ permits, interval }) });
        return { decide: (user) => group.get(user).decide() };
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
  console.log();
  await printBytes();
}
