/** How to find a program, and the system's packages that contain it. */
export interface SystemPackage<T> {
  readonly find: () => T | undefined;
  readonly what: string;
  readonly apt: string;
  readonly brew: string;
}

/** Returns the result of `find`. If it finds nothing, installs the package, or throws an error with the command to run. */
export function onPathOrInstalled<T>(options: SystemPackage<T>): T;

/** The absolute path of a program on the PATH, or undefined. */
export function which(name: string): string | undefined;

/** Whether a path is that of a program. */
export function isExecutable(path: string): boolean;
