/** Whether all cases are tried, in full length. */
export const triesAll = Number(process.env.SLUICE_SCALE ?? 1) >= 1;
/** Of so many cases, `npm test` tries one: a prime number, so that it meets different values of every list. */
const each = triesAll ? 1 : 17;

type OneOf<Lists extends readonly (readonly unknown[])[]> = {
  -readonly [Key in keyof Lists]: Lists[Key][number];
};

/** Every combination of the values of some lists: all with `npm run test:slow`, and the same seventeenth of them with `npm test`. */
export function cases<const Lists extends readonly (readonly unknown[])[]>(...lists: Lists): OneOf<Lists>[] {
  let all: unknown[][] = [[]];
  for (const list of lists) all = all.flatMap((row) => list.map((value) => [...row, value]));
  return all.filter((_, i) => i % each === 0) as OneOf<Lists>[];
}
