import fc from 'fast-check';
import { type LimitSpec, record } from '../properties/specs.ts';
import type { History, Refunding, Step } from '../properties/steps.ts';
import type { ControlPicture } from './controlString.ts';
import {
  bucketFields,
  fieldsOfWindow,
  fixedFields,
  type LimitPicture,
  type Picture,
  unsigned,
} from './picture.ts';

/*
 * Random numbers seldom meet a bound exactly: a call at the moment at which a window ends, or a release of all permits that
 * are reserved. So some steps of a history take their numbers from the state before them.
 */

/** A moment or a count of a state: its place among them, in percent, and what is added to it. */
interface Meeting {
  place: number;
  /** Microseconds. */
  later: number;
  /** Permits, or requests. */
  more: number;
  /** Whether a request meets a moment, not a count. */
  inTime: boolean;
}

/** A step whose numbers may follow from the state before it. */
export type MeetingStep = Step & { meets?: Meeting };

const meetings: fc.Arbitrary<Meeting> = record({
  place: fc.integer({ min: 0, max: 99 }),
  later: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 2, arbitrary: fc.constantFrom(-1000, 1000) },
    { weight: 1, arbitrary: fc.constantFrom(-1, 1, -500) },
  ),
  more: fc.constantFrom(0, 0, 0, 1, -1),
  inTime: fc.boolean(),
});

/** The same histories, some of whose steps meet numbers of the state. */
export function meeting(histories: fc.Arbitrary<History>): fc.Arbitrary<History> {
  return record({
    history: histories,
    every: fc.constantFrom(1, 2, 3, 4, 1000),
    met: fc.array(meetings, { minLength: 10, maxLength: 40 }),
  }).map(({ history, every, met }) => ({
    ...history,
    steps: history.steps.map(
      (step, i): MeetingStep => (i % every === 0 ? { ...step, meets: met[i % met.length] } : step),
    ),
  }));
}

/** The step with its numbers from the state of the ledger and the control. */
export function met(
  { meets, ...step }: MeetingStep,
  { state, control }: { state: Picture | undefined; control: ControlPicture },
  serverUs: number,
): Step {
  if (!meets || !state) return step;
  const { place, later, more, inTime } = meets;
  const ahead = momentsOf(state, control)
    .map((moment) => moment * 1000 + later - serverUs)
    // Until 2112, microseconds are exact.
    .filter((us) => us > 0 && serverUs + us < 2 ** 52)
    .sort((a, b) => a - b);
  // Mostly an early one, so that the state remains.
  const us = ahead[Math.floor((ahead.length * place ** 2) / 10_000)] ?? 0;
  const countFor = (i: number) => {
    const counts = [...new Set(countsOf(state.limits[i % state.limits.length]))].sort((a, b) => a - b);
    return Math.min(1000, counts[Math.floor((counts.length * place) / 100)] + more);
  };
  if (step.kind === 'advance') return us > 0 ? { ...step, us } : step;
  if (step.kind === 'pause') return us > 0 ? { ...step, ms: us / 1000 } : step;
  const giving = <S extends Refunding>(part: S): S =>
    'permits' in part ? { ...part, permits: part.permits.map((_, i) => Math.max(0, countFor(i))) } : part;
  if (step.kind === 'release' || step.kind === 'owe') return giving(step);
  if (step.kind === 'batch') return { ...step, parts: step.parts.map(giving) };
  if (step.kind === 'setRate') {
    const limits = step.limits.map((limit, i) =>
      state.limits[i] ? changed(state.limits[i], limit, place + i) : limit,
    );
    return { ...step, limits };
  }
  if (step.kind === 'decide')
    return { ...step, cost: step.cost.map((n, i) => (n > 0 ? Math.max(1, countFor(i)) : 0)) };
  if (step.kind !== 'reserve') return step;
  const [first, ...runs] = step.runs;
  const asked = inTime ? { maxWait: us / 1000 } : { count: Math.max(1, Math.min(50, countFor(0))) };
  return { ...step, inLine: true, runs: [{ ...first, ...asked }, ...runs] };
}

/** The limit of a state, unchanged or with one of its numbers changed, or the other limit. */
function changed({ kind, numbers }: LimitPicture, other: LimitSpec, choice: number): LimitSpec {
  const [permits, interval, extra] = numbers;
  const rate = {
    permits: choice % 4 === 1 ? other.permits : permits,
    interval: choice % 4 === 2 ? other.interval : interval,
  };
  if (choice % 4 === 3) return other;
  if (kind === 'f') return { kind: 'fixedWindow', ...rate, align: extra === 1 ? 'epoch' : 'first' };
  if (kind === 't') return { kind: 'tokenBucket', ...rate, burst: extra };
  return { kind: 'slidingWindow', ...rate, resolution: Math.min(extra, rate.interval) };
}

/** The moments at which something begins or ends, in milliseconds by the server's clock. */
function momentsOf(state: Picture, control: ControlPicture): number[] {
  const {
    soleUntil,
    crowdUntil,
    frontiers,
    pacedUntil,
    largestUntil,
    movedAt,
    lateAt,
    voids,
    holes,
    tickets,
  } = state;
  const moments = [
    ...[state.seen + 1000, state.expires, state.pausedUntil, soleUntil, crowdUntil, pacedUntil, largestUntil],
    ...[
      ...frontiers.flatMap((frontier) => [Math.floor(frontier), Math.ceil(frontier)]),
      movedAt + 100,
      movedAt + 1000,
      movedAt + 3000,
      lateAt + 3000,
    ],
    ...voids.flatMap(({ from }) => [from, from + 2000]),
    ...holes.map(({ moment }) => moment),
    ...tickets.flatMap(({ due, until, stride }) => {
      const held = due + 1000 + Math.min(4000, Math.max(1000, stride));
      return [due, due + 1000, held, until].map(Math.ceil);
    }),
    ...state.crowd.map(([, until]) => until),
    ...state.limits.flatMap(momentsIn),
  ];
  const { pausedUntil, liftedUntil } = control;
  // A reservation is far ahead until two seconds before it.
  const all = [...moments, ...moments.map((moment) => moment - 2000)].map((moment) => moment - state.shift);
  return [...new Set([...all, pausedUntil, liftedUntil])];
}

function momentsIn({ kind, numbers, log }: LimitPicture): number[] {
  const [permits, interval, extra] = numbers;
  if (kind === 's') {
    const ends = log.slice(-64).flatMap(([time]) => [time, time + interval, time - extra]);
    return [...ends, ...log.slice(0, 3).map(([time]) => Math.ceil(time + interval * 1.125)), numbers[5]];
  }
  if (kind === 'f') {
    const [start, end, , newest] = numbers.slice(3);
    // Where each earlier window starts and ends, and its newest moment.
    const earlier = numbers.slice(fixedFields).filter((_, i) => [0, 1, 3].includes(i % fieldsOfWindow));
    return [start, end, newest, ...earlier.slice(0, 9), end + interval];
  }
  const [units, ts, ...others] = numbers.slice(3);
  const levels = [0, 1, 2, extra].map((n) => ts + Math.ceil((n * interval - units) / permits));
  // Not the former rate, nor the permits that the steps hold.
  return [...levels, ...others.filter((_, i) => i < 6 || (i > 7 && i % 3 !== 1))];
}

/** The permits of a limit that are granted, reserved or free. */
function countsOf({ kind, numbers, log }: LimitPicture): number[] {
  const [permits, interval, extra] = numbers;
  if (kind === 's') {
    const total = numbers[4];
    return [permits, total, permits - total, ...log.slice(-8).map(([, count]) => count)].map(unsigned);
  }
  if (kind === 'f') {
    const [used, reserved] = [numbers[5], numbers[7]];
    const [, , used0 = 0, , reserved0 = 0] = numbers.slice(fixedFields);
    return [
      permits,
      used,
      permits - used,
      reserved,
      used - reserved,
      used0,
      permits - used0,
      used0 - reserved0,
    ];
  }
  const free = Math.floor(numbers[3] / interval);
  const held = numbers.slice(bucketFields).filter((_, i) => i % 3 === 2);
  return [extra, free, extra - free, ...held];
}
