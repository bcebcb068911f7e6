/** The number of a refund is a byte of an entry, in which 0 stands for none. */
const mostNumbers = 255;
/** The most calls whose last refunds are remembered. */
const mostCalls = 4096;

/** The last refund of a call. */
interface Numbered {
  /** The same each time the refund is sent. */
  sequence: number;
  number: number;
}

/** Numbers of refunds: the script takes a refund for sent again if it has the number of the last one of the same call. */
export class RefundNumbers {
  readonly #last = new Map<number, Numbered>();

  /** The number of a refund of grants of some calls: another one than that of the last refund of each, unless it is sent again. */
  next(calls: readonly number[], sequence: number): number {
    const again = this.#last.get(calls[0]);
    if (again?.sequence === sequence) return again.number;
    const taken = new Set(calls.map((call) => this.#last.get(call)?.number));
    let number = (sequence % mostNumbers) + 1;
    for (let tries = 0; taken.has(number) && tries < mostNumbers; tries++)
      number = (number % mostNumbers) + 1;
    for (const call of calls) {
      this.#last.delete(call);
      this.#last.set(call, { sequence, number });
    }
    for (const call of this.#last.keys()) {
      if (this.#last.size <= mostCalls) break;
      this.#last.delete(call);
    }
    return number;
  }
}
