export interface LuaPart {
  file: string;
  text: string;
}
export function assemble(
  file: string,
  root?: string,
  options?: { plain?: boolean },
): { text: string; parts: LuaPart[] };
export function scripts(root: string): string[];
export function filesIn(root: string): string[];
