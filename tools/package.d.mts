export function differences(packed: readonly string[], expected: readonly string[]): string[];
