import { Column } from "./column.ts";
import { Declined } from "./declined.ts";
import { type ColumnProfile, finishColumn } from "./finish.ts";
import { uniqueNames } from "./header.ts";
import { detectDelimiter, linesOf, readRows } from "./rows.ts";

/** What can be asked; the host has checked it against the manifest's schema. */
export interface ProfileInput {
  readonly csv: string;
  /** One character; found out when it is not given. */
  readonly delimiter?: string;
  /** Whether the first row has the names. */
  readonly header?: boolean;
  /** How many different values of a column are remembered. */
  readonly maxDistinct?: number;
  /** How many of the most frequent values are listed. */
  readonly topValues?: number;
  /** How many interquartile ranges outside of the quartiles a value may lie. */
  readonly outlierFactor?: number;
}

export interface ProfileOutput {
  readonly delimiter: string;
  readonly rows: number;
  readonly raggedRows: number;
  readonly columns: readonly ColumnProfile[];
}

/** Tells of one anomaly; the type is one of those that the manifest declares. */
export type Emit = (type: string, payload: unknown) => void;

const MAX_COLUMNS = 1_000;
const MAX_RAGGED_EVENTS = 20;

/**
 * Profiles a table. Anomalies go to `emit`: `duplicate-header`, `ragged-row` (the first twenty), `mixed-types`,
 * `outlier-column`. Declines with `empty-input`, `bad-header`, `too-many-columns`, `bad-delimiter`, `unclosed-quote`.
 */
export function profile(input: ProfileInput, emit: Emit): ProfileOutput {
  const lines = linesOf(input.csv);
  const delimiter = input.delimiter ?? detectDelimiter(lines);
  if (delimiter.length !== 1 || delimiter === '"' || delimiter === "\n" || delimiter === "\r") {
    throw new Declined("bad-delimiter", "The delimiter must be one character, and neither a quote nor a line break");
  }
  const maxDistinct = input.maxDistinct ?? 2_000;
  let names: readonly string[] | null = null;
  let columns: Column[] = [];
  let rows = 0;
  let ragged = 0;

  readRows(lines, delimiter, (fields, line) => {
    if (names === null) {
      if (fields.length === 1 && fields[0]!.trim() === "") return;
      if (fields.length > MAX_COLUMNS) {
        throw new Declined(
          "too-many-columns",
          `Line ${line} has ${fields.length} fields, at most ${MAX_COLUMNS} are read`,
        );
      }
      columns = fields.map(() => new Column(maxDistinct));
      names = input.header === false ? fields.map((_, index) => `column ${index + 1}`) : uniqueNames(fields, emit);
      if (input.header !== false) return;
    }
    const width = columns.length;
    if (fields.length !== width) {
      // A blank line is a missing value only where a row has one field.
      if (fields.length === 1 && fields[0] === "") return;
      ragged++;
      if (ragged <= MAX_RAGGED_EVENTS) {
        emit("ragged-row", { row: rows + 1, line, fields: fields.length, expected: width });
      }
    }
    rows++;
    for (let i = 0; i < width; i++) {
      const cell = fields[i];
      if (cell === undefined) columns[i]!.addMissing();
      else columns[i]!.add(cell);
    }
  });

  if (names === null) throw new Declined("empty-input", "The text has no row");
  const settings = { topValues: input.topValues ?? 5, outlierFactor: input.outlierFactor ?? 3, emit };
  return {
    delimiter,
    rows,
    raggedRows: ragged,
    columns: (names as readonly string[]).map((name, index) => finishColumn(name, index, columns[index]!, settings)),
  };
}
