/** A member of a {@link Chain}. */
export interface Link<T> {
  previous: T | undefined;
  next: T | undefined;
}

/** A doubly linked list. A removed member keeps no reference to the others. */
export class Chain<T extends Link<T>> {
  first: T | undefined;
  last: T | undefined;

  /** Adds a member in front of another one, or at the end. */
  add(member: T, next?: T): void {
    const previous = next ? next.previous : this.last;
    member.previous = previous;
    member.next = next;
    if (previous) previous.next = member;
    else this.first = member;
    if (next) next.previous = member;
    else this.last = member;
  }

  remove(member: T): void {
    if (member.previous) member.previous.next = member.next;
    else this.first = member.next;
    if (member.next) member.next.previous = member.previous;
    else this.last = member.previous;
    member.previous = member.next = undefined;
  }
}
