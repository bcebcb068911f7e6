import { pageAt } from '../docs/pages.ts';

/** The rules that the guide gives a Redis user, as arguments of `ACL SETUSER` after the password. */
export function rulesOf(user: 'sluice' | 'redisson'): string[] {
  const { text } = pageAt('docs/security.md');
  const rules = new RegExp(`ACL SETUSER ${user} on >secret ([^\`]+)\`\`\``).exec(text);
  if (!rules) throw new Error(`docs/security.md has no rules for ${user}`);
  return rules[1].trim().split(/\s+/);
}

/** The commands that the rules allow. */
export function commandsIn(rules: readonly string[]): string[] {
  return rules.filter((rule) => rule.startsWith('+')).map((rule) => rule.slice(1).toUpperCase());
}
