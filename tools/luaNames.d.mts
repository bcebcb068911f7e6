export type ShortNames = Record<'inner' | 'outer' | 'fields', Map<string, string>>;
export function shortNames(scripts: readonly (readonly string[])[]): ShortNames;
