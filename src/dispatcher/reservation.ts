import type { Link } from '../chain.ts';
import type { Grant } from '../port/line.ts';

/** One moment that is reserved for `count` requests of one cost. All times but the moment are by the monotonic clock. */
export interface NewReservation {
  readonly grant: Grant;
  readonly count: number;
  /** When the requests may be granted. */
  readonly due: number;
  /** The time that is compared with deadlines. */
  readonly nominalDue: number;
  /** The earliest time that the moment can be: the call and its reply took some time. */
  readonly earliestDue: number;
  /** Milliseconds of the limit's full rate that each request takes. */
  readonly load: number;
}

export class Reservation implements NewReservation, Link<Reservation> {
  previous: Reservation | undefined;
  next: Reservation | undefined;
  readonly grant: Grant;
  readonly nominalDue: number;
  readonly earliestDue: number;
  readonly load: number;

  constructor(
    added: NewReservation,
    public count: number,
    public due: number,
  ) {
    this.grant = added.grant;
    this.nominalDue = added.nominalDue;
    this.earliestDue = added.earliestDue;
    this.load = added.load;
  }
}
