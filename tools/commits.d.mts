export function fault(message: string): string | undefined;
