/**
 * The order of the files of tests: first those that most likely detect a mutant soon, by their time and by the mutants that
 * they have detected.
 */
export class Likely {
  #times;
  #tried = new Map();

  /** @param times the processor time of each file of tests on the unchanged code, in milliseconds */
  constructor(times) {
    this.#times = times;
  }

  /** The files of tests for a mutant of a source, the best first. */
  sorted(source, tests) {
    const worth = new Map(
      tests.map((test) => [test, this.#rate(source, test) / (20 + this.#times.get(test))]),
    );
    return [...tests].sort((a, b) => worth.get(b) - worth.get(a));
  }

  /** Records whether a file of tests has detected a mutant of a source. */
  record(source, test, detects) {
    for (const key of [test, `${source} ${test}`]) {
      const { tried, detected } = this.#counts(key);
      this.#tried.set(key, { tried: tried + 1, detected: detected + Number(detects) });
    }
  }

  /** The expected part of a source's mutants that a test detects: at first that of all sources. */
  #rate(source, test) {
    const all = this.#counts(test);
    const own = this.#counts(`${source} ${test}`);
    return (own.detected + (all.detected + 1) / (all.tried + 2)) / (own.tried + 1);
  }

  #counts(key) {
    return this.#tried.get(key) ?? { tried: 0, detected: 0 };
  }
}
