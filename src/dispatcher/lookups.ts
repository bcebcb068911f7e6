import type { Reply } from '../stores/store.ts';
import { Chain, type Link } from './chain.ts';
import type { Request } from './request.ts';

/** Puts a question to the store. */
type Question<T> = (done: Reply<T>) => void;

/** A question that waits for its turn, behind an request of the line. */
interface Waiting extends Link<Waiting> {
  ask(): void;
  refuse(error: Error): void;
  behind: Request | undefined;
}

/** What the store is asked about this very moment: each question behind those of its process who came before. */
export class Lookups {
  readonly #waiting = new Chain<Waiting>();
  readonly #answered: () => void;
  #underWay = 0;

  /** `answered` is called after each answer. */
  constructor(answered: () => void) {
    this.#answered = answered;
  }

  /** Whether one waits for its turn. */
  get waiting(): boolean {
    return this.#waiting.first !== undefined;
  }

  /** Whether none waits or is under way. */
  get idle(): boolean {
    return !this.waiting && this.#underWay === 0;
  }

  /** Keeps a question until its turn; `behind` is the last of the line. */
  add<T>(question: Question<T>, reply: Reply<T>, behind: Request | undefined): void {
    const done: Reply<T> = (error, answer) => {
      this.#underWay--;
      reply(error, answer);
      this.#answered();
    };
    const ask = () => {
      this.#underWay++;
      question(done);
    };
    const refuse = (error: Error) => reply(error);
    this.#waiting.append({ ask, refuse, behind, previous: undefined, next: undefined });
  }

  /** Asks those whose turn it is: the store hears of those before them first, or they have to wait anyway. */
  ask(stands: boolean): void {
    for (let { first } = this.#waiting; first; { first } = this.#waiting) {
      if (!stands && first.behind?.stage === 'queued') return;
      this.#waiting.remove(first);
      first.ask();
    }
  }

  /** Refuses those that wait. */
  refuse(error: Error): void {
    for (let { first } = this.#waiting; first; { first } = this.#waiting) {
      this.#waiting.remove(first);
      first.refuse(error);
    }
  }
}
