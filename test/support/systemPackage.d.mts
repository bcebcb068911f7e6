/** What to look for, and the system's packages that contain it. */
export interface SystemPackage<T> {
  readonly find: () => T | undefined;
  readonly what: string;
  readonly apt: string;
  readonly brew: string;
}

/** What `find` finds on the PATH; installs the package if it finds nothing, or throws with the line to run. */
export function onPathOrInstalled<T>(options: SystemPackage<T>): T;

/** The absolute path of a program on the PATH, or undefined. */
export function which(name: string): string | undefined;

/** Whether a path is that of a program. */
export function isExecutable(path: string): boolean;
