import type { Reply } from '../stores/store.ts';
import type { Entry } from './entry.ts';

/** Puts a question to the store. */
type Question<T> = (done: Reply<T>) => void;

/** What the store is asked about this very moment: each question behind those of its process who came before. */
export class Questions {
  readonly #waiting: { ask: () => void; refuse: (error: Error) => void; behind: Entry | undefined }[] = [];
  readonly #answered: () => void;
  #underWay = 0;

  /** `answered` is called after each answer. */
  constructor(answered: () => void) {
    this.#answered = answered;
  }

  /** Whether one waits for its turn. */
  get waiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Whether none waits or is under way. */
  get idle(): boolean {
    return !this.waiting && this.#underWay === 0;
  }

  /** Keeps a question until its turn; `behind` is the last of the line. */
  add<T>(question: Question<T>, reply: Reply<T>, behind: Entry | undefined): void {
    const done: Reply<T> = (error, answer) => {
      this.#underWay--;
      reply(error, answer);
      this.#answered();
    };
    const ask = () => {
      this.#underWay++;
      question(done);
    };
    this.#waiting.push({ ask, refuse: (error) => reply(error), behind });
  }

  /** Asks those whose turn it is: the store hears of those before them first, or they have to wait anyway. */
  ask(stands: boolean): void {
    while (this.#waiting.length > 0 && (stands || this.#waiting[0].behind?.stage !== 'queued'))
      this.#waiting.shift()!.ask();
  }

  /** Refuses those that wait. */
  refuse(error: Error): void {
    for (const { refuse } of this.#waiting.splice(0)) refuse(error);
  }
}
