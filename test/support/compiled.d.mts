/** The text of a script, as in the package. */
export function assembled(file: string): Promise<string>;
