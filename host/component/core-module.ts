import { Reader } from "../binary/binary.ts";
import type { CoreKind, CoreModuleInfo } from "./component-info.ts";
import { readCoreExternType, readCoreKind, readCoreValueType } from "./core-type.ts";
import type { Findings } from "./findings.ts";
import { kindOf } from "./kind.ts";
import { expectEnd, sectionsOf } from "./sections.ts";

/** Reads what the host asks of a core module. Instructions, types and data are left to the engine's validation. */
export function readCoreModule(
  bytes: Uint8Array,
  start: number,
  end: number,
  findings: Findings,
  path: string,
): CoreModuleInfo {
  if (kindOf(bytes.subarray(start, end)) !== "core-module") new Reader(bytes, start, end).fail("Not a core module");
  const imports: { module: string; name: string; kind: CoreKind }[] = [];
  const exports: { name: string; kind: CoreKind }[] = [];
  const customSections: string[] = [];
  const counts = { functions: 0, memories: 0, tables: 0, largestBodyBytes: 0, mostLocals: 0 };
  let hasStart = false;
  let isPlainMemory = true;
  for (const section of sectionsOf(bytes, start, end, findings)) {
    const reader = new Reader(bytes, section.start, section.end);
    switch (section.id) {
      case 0:
        customSections.push(findings.name(reader, "custom-section", path));
        continue;
      case 2:
        for (let count = reader.count(4); count > 0; count--) {
          const module = findings.name(reader, "core-import-module", path);
          const name = findings.name(reader, "core-import-name", path);
          const kind = readCoreKind(reader);
          readCoreExternType(reader, kind);
          imports.push({ module, name, kind });
        }
        break;
      case 3:
        counts.functions += reader.count();
        continue;
      case 4:
        counts.tables += reader.count(2);
        continue;
      case 5:
        counts.memories += reader.count(2);
        // Past 3, a maximum and shared, it has 64 bits or pages of another size. What is shared the meter refuses.
        if (counts.memories > 0) isPlainMemory = reader.byte() <= 3;
        continue;
      case 7:
        for (let count = reader.count(3); count > 0; count--) {
          const name = findings.name(reader, "core-export", path);
          exports.push({ name, kind: readCoreKind(reader) });
          reader.u32();
        }
        break;
      case 8:
        hasStart = true;
        continue;
      case 10:
        readBodies(reader, counts, findings);
        break;
      default:
        if (section.id > 13) reader.fail("Unknown section", section.header);
        continue;
    }
    expectEnd(reader, section);
  }
  const imported = imports.filter(({ kind }) => kind === "memory").length;
  const hostMakesMemory = counts.memories === 0 || (counts.memories + imported === 1 && isPlainMemory);
  return { path, start, end, imports, exports, ...counts, hostMakesMemory, hasStart, customSections };
}

function readBodies(
  reader: Reader,
  counts: { largestBodyBytes: number; mostLocals: number },
  findings: Findings,
): void {
  for (let count = reader.count(2); count > 0; count--) {
    findings.spend(reader);
    const size = reader.count();
    const body = new Reader(reader.bytes, reader.position, reader.position + size);
    let locals = 0;
    for (let groups = body.count(2); groups > 0; groups--) {
      locals += body.u32();
      readCoreValueType(body);
    }
    counts.largestBodyBytes = Math.max(counts.largestBodyBytes, size);
    counts.mostLocals = Math.max(counts.mostLocals, locals);
    reader.skip(size);
  }
}
