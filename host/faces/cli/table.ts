/**
 * Rows with aligned columns, two blanks apart, one line each. The last column is not padded. `styles` colour a column's text
 * after it was padded, because colour codes have no width.
 */
export function alignedRows(
  rows: readonly (readonly string[])[],
  styles: readonly (((text: string, row: number) => string) | undefined)[] = [],
): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  }
  return rows.map((row, index) => {
    const cells = row.map((cell, column) => {
      const padded = column === row.length - 1 ? cell : cell.padEnd(widths[column]!);
      return cell === "" ? padded : (styles[column]?.(padded, index) ?? padded);
    });
    return cells.join("  ").trimEnd();
  });
}
