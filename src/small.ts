/**
 * A whole number. V8 keeps the product or the sum of large or fractional numbers in an object even if it is small, and rounds it
 * without one. A field that has held such an object once is an object of 16 bytes from then on, in all objects of its shape.
 */
export function small(whole: number): number {
  return Math.floor(whole);
}
