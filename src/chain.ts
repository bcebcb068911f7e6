/** A member of a {@link Chain}. */
export interface Link<T> {
  previous: T | undefined;
  next: T | undefined;
}

/** A doubly linked list. A removed member keeps no reference to the others. */
export class Chain<T extends Link<T>> {
  first: T | undefined;
  last: T | undefined;

  append(member: T): void {
    member.previous = this.last;
    if (this.last) this.last.next = member;
    else this.first = member;
    this.last = member;
  }

  insertBefore(member: T, next: T): void {
    member.previous = next.previous;
    member.next = next;
    if (next.previous) next.previous.next = member;
    else this.first = member;
    next.previous = member;
  }

  remove(member: T): void {
    if (member.previous) member.previous.next = member.next;
    else this.first = member.next;
    if (member.next) member.next.previous = member.previous;
    else this.last = member.previous;
    member.previous = undefined;
    member.next = undefined;
  }
}
