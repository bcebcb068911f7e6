/** What the process whose event loop is blocked asks for, and what it tells of each grant. */
export const limit = { kind: 'slidingWindow', permits: 20, interval: 200, resolution: 1 } as const;
export const requests = 200;

export interface Sight {
  index: number;
  grantedAt: number;
  /** The wall clock when the grant was heard of. */
  heard: number;
}
