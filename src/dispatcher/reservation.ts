import type { Link } from '../chain.ts';
import type { Grant } from '../port/line.ts';

/** One moment that is reserved for `count` requests of one cost. All times but the grant's moment are by the monotonic clock. */
export class Reservation implements Link<Reservation> {
  previous: Reservation | undefined;
  next: Reservation | undefined;

  constructor(
    readonly grant: Grant,
    public count: number,
    /** When the requests may be granted. */
    public due: number,
    /** The time that is compared with deadlines. */
    readonly nominalDue: number,
    /** The earliest time that the moment can be: the call and its reply took some time. */
    readonly earliestDue: number,
    /** Milliseconds of the limit's full rate that each request takes. */
    readonly load: number,
  ) {}

  /** A reservation of the same moment for `count` requests. */
  part(count: number, due = this.due): Reservation {
    return new Reservation(this.grant, count, due, this.nominalDue, this.earliestDue, this.load);
  }
}
