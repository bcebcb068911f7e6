export function constantsOf(texts: readonly string[]): Map<string, string>;
export function inlined(text: string, constants: ReadonlyMap<string, string>): string;
