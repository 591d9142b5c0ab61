import { Declined } from "./declined.ts";

/** Takes one record: its fields and the line (from 1) on which it begins. A blank line comes as one empty field. */
export type OnRow = (fields: readonly string[], line: number) => void;

/** A text cut into lines. */
export interface Lines {
  readonly lines: readonly string[];
  /** Whether there is a quote anywhere: most tables have none, and then no line is looked at for one. */
  readonly quoted: boolean;
}

/**
 * Lines of the text, by LF, CRLF or CR, without a byte order mark and without the empty one after the last line break.
 * Here and below `split` does the searching: QuickJS has a fast search behind it, and a slow one behind `indexOf`.
 */
export function linesOf(source: string): Lines {
  let text = source.charCodeAt(0) === 0xfeff ? source.slice(1) : source;
  if (has(text, "\r")) text = text.replaceAll("\r\n", "\n").replaceAll("\r", "\n");
  const lines = text.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  return { lines, quoted: has(text, '"') };
}

/** The likeliest of the usual delimiters: the one that the first line has most of, outside of quotes. */
export function detectDelimiter({ lines }: Lines): string {
  const unquoted = (lines[0] ?? "").split('"').filter((_, index) => index % 2 === 0);
  const header = unquoted.join("");
  let best = ",";
  let most = 1;
  for (const candidate of [",", ";", "\t", "|"]) {
    const fields = header.split(candidate).length;
    if (fields > most) {
      best = candidate;
      most = fields;
    }
  }
  return best;
}

/**
 * Reads records after RFC 4180, leniently: a quote inside an unquoted field stands for itself, and what follows a
 * closing quote belongs to the field. Declines with `unclosed-quote`.
 */
export function readRows({ lines, quoted }: Lines, delimiter: string, onRow: OnRow): void {
  for (let i = 0; i < lines.length; ) {
    const line = lines[i]!;
    if (quoted && has(line, '"')) {
      const { fields, next } = readQuoted(lines, i, delimiter);
      onRow(fields, i + 1);
      i = next;
    } else {
      i++;
      onRow(line.split(delimiter), i);
    }
  }
}

function has(text: string, char: string): boolean {
  return text.split(char, 1)[0]!.length !== text.length;
}

/** A record that has a quote somewhere, so that it may go on over several lines. */
function readQuoted(
  lines: readonly string[],
  start: number,
  delimiter: string,
): { readonly fields: readonly string[]; readonly next: number } {
  const fields: string[] = [];
  let index = start;
  let line = lines[index]!;
  let position = 0;
  for (;;) {
    let field = "";
    if (line.charCodeAt(position) === 0x22) {
      position++;
      for (;;) {
        const close = line.indexOf('"', position);
        if (close < 0) {
          field += `${line.slice(position)}\n`;
          const next = lines[++index];
          if (next === undefined) {
            throw new Declined("unclosed-quote", `The record on line ${start + 1} has a quote that never closes`);
          }
          line = next;
          position = 0;
          continue;
        }
        field += line.slice(position, close);
        position = close + 1;
        if (line.charCodeAt(position) !== 0x22) break;
        field += '"';
        position++;
      }
    }
    const end = line.indexOf(delimiter, position);
    if (end < 0) {
      fields.push(field + line.slice(position));
      return { fields, next: index + 1 };
    }
    fields.push(field + line.slice(position, end));
    position = end + 1;
  }
}
