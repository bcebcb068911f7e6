import { Fleet, type Marble } from '../../playground/model/fleet.ts';
import { VirtualTime } from '../../playground/model/virtualTime.ts';
import { type Window, windowsOf } from '../../playground/model/windows.ts';
import { fixedWindow, slidingWindow } from '../../src/index.ts';

export const limit = slidingWindow({ permits: 3, interval: 1_000 });

/** The requests: the moment (ms) and the process of each. */
const requests: readonly (readonly [at: number, process: number])[] = [
  [100, 0],
  [250, 1],
  [400, 2],
  [550, 0],
  [700, 1],
  [1_000, 2],
  [1_300, 0],
  [1_550, 1],
];
/** The request that is cancelled, by its place in the list, and when. */
const cancelled = { index: 4, at: 850 };

/** The end of the picture: milliseconds. */
export const end = 2_400;

/** The requests of three processes with one limit, and their results, in virtual time. */
export interface Scene {
  /** The requests, in order of arrival. */
  marbles: readonly Marble[];
  /** The request that was cancelled. */
  cancelled: Marble;
  /** The moment that was reserved for it. */
  reservedAt: number;
  /** The request that was granted at that moment in its place. */
  next: Marble;
}

/** Runs the scenario twice: as it is drawn, and without the cancellation, to learn what was reserved for that request. */
export function play(): Scene {
  const marbles = run(true);
  const reservedAt = run(false)[cancelled.index].endedAt!;
  const next = marbles.find(({ state, endedAt }) => state === 'granted' && endedAt === reservedAt);
  if (!next) throw new Error(`no request is granted at ${reservedAt} ms, in place of the cancelled one`);
  return { marbles, cancelled: marbles[cancelled.index], reservedAt, next };
}

function run(cancels: boolean): readonly Marble[] {
  const time = new VirtualTime();
  const fleet = new Fleet(limit, 3, time);
  requests.forEach(([at, process], index) => {
    time.schedule(() => {
      const { id } = fleet.emit(process);
      if (cancels && index === cancelled.index) time.schedule(() => fleet.cancel(id), cancelled.at - at);
    }, at);
  });
  time.runUntil(end);
  return fleet.marbles;
}

/** The moments of all grants, in order. */
export function grantsOf({ marbles }: Scene): number[] {
  return marbles.flatMap(({ state, endedAt }) => (state === 'granted' ? endedAt! : [])).sort((a, b) => a - b);
}

/** Windows one after the other, each starting with the first grant after the one before; those that the picture shows whole. */
export function windows(scene: Scene): Window[] {
  const { permits, interval } = limit;
  return windowsOf(fixedWindow({ permits, interval }))(grantsOf(scene), end).filter(({ to }) => to <= end);
}
