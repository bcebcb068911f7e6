import type { Fleet } from './fleet.ts';

/** The variables of a simulation. Times in milliseconds. */
export type Case = Pick<Fleet, 'clients' | 'roundTrip' | 'cancel'> & { permits: number };

const fleets = [
  { clients: 1, permits: 100 },
  { clients: 1, permits: 1_000_000 },
  { clients: 10, permits: 1_000 },
  { clients: 10, permits: 100_000 },
  { clients: 100, permits: 100 },
  { clients: 100, permits: 10_000 },
  { clients: 1_000, permits: 1_000 },
  { clients: 10_000, permits: 10_000 },
];
const roundTrips = [0.4, 5, 50];
const cancels = [0, 0.3];

/** One to ten thousand clients, near to the store and far from it, with and without cancelled requests. */
export const cases: Case[] = fleets.flatMap((fleet) =>
  roundTrips.flatMap((roundTrip) => cancels.map((cancel) => ({ ...fleet, roundTrip, cancel }))),
);
