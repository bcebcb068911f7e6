/** A member of a {@link Heap}. */
export interface Heaped {
  /** Its place among the members: the least comes first. Members of the same rank are in no order. */
  readonly rank: number;
  /** Its index in the heap, or -1 if it is in none. */
  heapIndex: number;
}

/** A binary heap. Each member knows its index, so that it can leave. */
export class Heap<T extends Heaped> {
  readonly members: T[] = [];

  add(member: T): void {
    this.#place(member, this.members.length);
  }

  remove(member: T): void {
    const last = this.members.pop()!;
    if (last !== member) this.#place(last, member.heapIndex);
    member.heapIndex = -1;
  }

  /** Puts a member at a free index, or where others make room for it. */
  #place(member: T, free: number): void {
    const { members } = this;
    let index = free;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (members[parent].rank <= member.rank) break;
      this.#put(members[parent], index);
      index = parent;
    }
    for (;;) {
      let child = 2 * index + 1;
      if (child + 1 < members.length && members[child + 1].rank < members[child].rank) child++;
      if (child >= members.length || members[child].rank >= member.rank) break;
      this.#put(members[child], index);
      index = child;
    }
    this.#put(member, index);
  }

  #put(member: T, index: number): void {
    this.members[index] = member;
    member.heapIndex = index;
  }
}
