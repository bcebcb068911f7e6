/** The error if a stored rate has other names than the limits of a limiter: its permits could not be charged to them. */
export function otherNames(own: readonly string[], stored: readonly string[]): TypeError | undefined {
  if (stored.length === own.length && stored.every((name, i) => name === own[i])) return undefined;
  return new TypeError(
    `the stored rate has the limits ${JSON.stringify(stored)}, and this limiter ${JSON.stringify(own)}: ` +
      'give it those, or store another rate, or delete() the stored one',
  );
}
