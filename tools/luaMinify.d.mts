export interface LuaToken {
  kind: 'variable' | 'field' | 'method' | 'string' | 'other';
  text: string;
  owner?: string;
}
export function tokensOf(text: string): LuaToken[];
export function shortNames(texts: readonly string[]): Map<string, string>;
export function minify(text: string, names: Map<string, string>): string;
