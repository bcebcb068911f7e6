/** A change, as the texts of its files. */
export interface Mutant {
  readonly title: string;
  readonly tests?: readonly string[];
  readonly texts: readonly { readonly file: string; readonly text: string }[];
}

export const root: string;

/** The changes of the table for an area, or for all, each of which must apply in exactly one place. */
export function tabled(name?: string): Mutant[];

/** A sample of the changes that the operators make of the files that one of the patterns matches, but not of equivalent ones. */
export function sampled(patterns: readonly RegExp[], size: number, seed: string): Mutant[];

/** The entries of the list of equivalent mutants that no mutant of the areas matches. */
export function outdatedEquivalents(): { readonly why: string }[];
