import { type Config, choices, defaults, numberOf, onlyOf, ranges } from './model/config.ts';

/** The configuration that a hash of the address describes. What is missing or unknown has its default. */
export function configOf(hash: string): Config {
  const given = new URLSearchParams(hash.replace(/^#/, ''));
  const config: Record<string, unknown> = { ...defaults };
  for (const [name, values] of Object.entries(choices)) {
    const value = given.get(name);
    if (value !== null && (values as readonly string[]).includes(value)) config[name] = value;
  }
  for (const name of Object.keys(ranges) as (keyof typeof ranges)[])
    config[name] = numberOf(name, given.get(name) ?? '');
  return config as unknown as Config;
}

/** The hash of the address that describes a configuration: all that applies to it, so that it survives other defaults. */
export function hashOf(config: Config): string {
  const names = (Object.keys(defaults) as (keyof Config)[]).filter(
    (name) => (onlyOf[name] ?? config.kind) === config.kind,
  );
  const pairs = names.map((name): [string, string] => [name, String(config[name])]);
  return `#${new URLSearchParams(pairs)}`;
}
