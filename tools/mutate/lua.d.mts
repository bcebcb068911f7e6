/** All changes of a source that its tests are expected to notice, in the order of the text. */
export function mutantsOf(text: string): { start: number; end: number; replacement: string }[];
