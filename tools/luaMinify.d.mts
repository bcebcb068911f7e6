export interface LuaToken {
  kind: 'variable' | 'field' | 'method' | 'string' | 'other';
  text: string;
  owner?: string;
}
export function tokensOf(text: string): LuaToken[];
export type ShortNames = Record<'inner' | 'outer' | 'fields', Map<string, string>>;
export function shortNames(texts: readonly string[]): ShortNames;
export function minify(text: string, names: ShortNames): string;
