/** A printed table. */
export interface Table {
  heads: readonly string[];
  rows: readonly (readonly (string | number)[])[];
}

/** All printed tables, in order. */
export const printed: Table[] = [];

/** Prints rows under their headings, with numbers aligned to the right. */
export function printTable(heads: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  printed.push({ heads, rows });
  const cells = [heads, ...rows].map((row) =>
    row.map((cell) => (typeof cell === 'number' ? shown(cell) : cell)),
  );
  const widths = heads.map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  for (const row of cells)
    console.log(
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  '),
    );
}

/** Formats a number with three significant digits. */
function shown(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);
}
