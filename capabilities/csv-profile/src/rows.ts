import { Declined } from "./declined.ts";

/** Takes one record: its fields and the line (from 1) on which it begins. Blank lines come as one empty field. */
export type OnRow = (fields: string[], line: number) => void;

/**
 * Reads CSV after RFC 4180, leniently: any of LF, CRLF and CR ends a line, a byte order mark is dropped, a quote inside
 * an unquoted field stands for itself. Lines without a quote take a path of two engine calls, because each step of an
 * interpreted loop costs fuel. Declines with `unclosed-quote`.
 */
export function readRows(source: string, delimiter: string, onRow: OnRow): void {
  const text = unifiedLines(source);
  const end = text.length;
  let position = 0;
  let line = 1;
  let quote = text.indexOf('"');
  while (position < end) {
    let lineEnd = text.indexOf("\n", position);
    if (lineEnd < 0) lineEnd = end;
    if (quote >= 0 && quote < position) quote = text.indexOf('"', position);
    if (quote < 0 || quote > lineEnd) {
      onRow(text.slice(position, lineEnd).split(delimiter), line);
      position = lineEnd + 1;
      line++;
    } else {
      const record = readQuotedRecord(text, position, delimiter, line);
      onRow(record.fields, line);
      position = record.next;
      line += record.lines;
    }
  }
}

/** The likeliest of the usual delimiters: the one that the first line has most of, outside of quotes. */
export function detectDelimiter(source: string): string {
  const text = unifiedLines(source.slice(0, 65_536));
  const counts: Record<string, number> = { ",": 0, ";": 0, "\t": 0, "|": 0 };
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    if (char === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (char === "\n") break;
    else if (char in counts) counts[char] = counts[char]! + 1;
  }
  let best = ",";
  for (const candidate in counts) if (counts[candidate]! > counts[best]!) best = candidate;
  return best;
}

function unifiedLines(source: string): string {
  const text = source.charCodeAt(0) === 0xfeff ? source.slice(1) : source;
  return text.indexOf("\r") < 0 ? text : text.replaceAll("\r\n", "\n").replaceAll("\r", "\n");
}

interface QuotedRecord {
  readonly fields: string[];
  readonly next: number;
  readonly lines: number;
}

function readQuotedRecord(text: string, start: number, delimiter: string, line: number): QuotedRecord {
  const end = text.length;
  const fields: string[] = [];
  let position = start;
  let lines = 1;
  for (;;) {
    let field = "";
    if (text.charCodeAt(position) === 0x22) {
      position++;
      for (;;) {
        const close = text.indexOf('"', position);
        if (close < 0) throw new Declined("unclosed-quote", `The record on line ${line} has a quote that never closes`);
        const part = text.slice(position, close);
        lines += countOf(part, "\n");
        field += part;
        position = close + 1;
        if (text.charCodeAt(position) !== 0x22) break;
        field += '"';
        position++;
      }
    }
    // What stands between a closing quote and the delimiter belongs to the field, too.
    let lineEnd = text.indexOf("\n", position);
    if (lineEnd < 0) lineEnd = end;
    const next = text.indexOf(delimiter, position);
    if (next >= 0 && next < lineEnd) {
      fields.push(field + text.slice(position, next));
      position = next + 1;
    } else {
      fields.push(field + text.slice(position, lineEnd));
      return { fields, next: lineEnd + 1, lines };
    }
  }
}

function countOf(text: string, char: string): number {
  let count = 0;
  for (let at = text.indexOf(char); at >= 0; at = text.indexOf(char, at + 1)) count++;
  return count;
}
