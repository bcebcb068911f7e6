/** The Redis commands of the scripts, found in their texts; a name that is not a constant is rejected. */
export function commandsOf(texts: readonly string[]): string[] {
  const calls = texts.flatMap((text) => [...text.matchAll(/\b(?:p?call|try)\(\s*([^,)]*)/g)]);
  const names = calls.map(([, name]) => name).filter((name) => name !== 'cmsgpack.unpack');
  const wrong = names.find((name) => !/^'[A-Z]+'$/.test(name));
  if (wrong !== undefined) throw new Error(`expected the name of a command, got ${wrong}`);
  return [...new Set(names.map((name) => name.slice(1, -1)))].sort();
}
