/** The order of the files of tests, by their time and by the mutants that they have detected. */
export class Likely {
  constructor(times: ReadonlyMap<string, number>);
  sorted(source: string, tests: readonly string[]): string[];
  record(source: string, test: string, detects: boolean): void;
}
