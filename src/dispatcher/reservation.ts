import type { Grant } from '../port/line.ts';
import type { Link } from './chain.ts';

/** Moments that are booked for `count` requests of one cost. */
export interface Booking {
  readonly grant: Grant;
  readonly count: number;
  /** When they may be granted, by the line's clock. */
  readonly due: number;
  /** The time, by the line's clock, that decides whether they come in time. */
  readonly meant: number;
  /** The earliest time, by the line's clock, at which that moment can have been meant: the reply took some time. */
  readonly soonest: number;
  /** Milliseconds of the limit's full rate that each of them takes. */
  readonly load: number;
}

/** A booking that stands in the line. */
export class Reservation implements Booking, Link<Reservation> {
  previous: Reservation | undefined;
  next: Reservation | undefined;
  readonly grant: Grant;
  readonly meant: number;
  readonly soonest: number;
  readonly load: number;

  constructor(
    booking: Booking,
    public count: number,
    public due: number,
  ) {
    this.grant = booking.grant;
    this.meant = booking.meant;
    this.soonest = booking.soonest;
    this.load = booking.load;
  }
}
