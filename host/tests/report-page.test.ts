import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHost, parseManifest } from "../index.ts";
import { reportPage } from "../measure/measure.ts";

/** report.html in a real browser. `.ci/run` installs Debian's chromium; elsewhere these tests are skipped where there is none. */

const CANDIDATES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const named = process.env["AIRLOCK_CHROMIUM"];
const executablePath = named ?? CANDIDATES.find((each) => existsSync(each));
const missing = executablePath === undefined || !existsSync(executablePath);
const REASON = `no browser at ${named ?? CANDIDATES.join(", ")}: apt-get install chromium, or set AIRLOCK_CHROMIUM`;

/** What a package could be called. */
const HOSTILE = ["</script><script>alert(1)</script>", '<img src=x onerror="alert(2)">', "<!--<script>"];
const TITLE = "<script>alert(3)</script>";
const PLOTS = 5;

const GUEST = `(component
  (core module $m (func (export "add") (param i32) (result i32) (i32.add (local.get 0) (i32.const 1))))
  (core instance $m (instantiate $m))
  (func (export "add") (param "x" u32) (result u32) (canon lift (core func $m "add"))))`;

/** How many pixels of each canvas are drawn, and how many differ from the canvas's most frequent colour. */
const PIXELS = `[...document.querySelectorAll("canvas")].map((canvas) => {
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
  const colours = new Map();
  for (let at = 0; at < data.length; at += 4) {
    const colour = data.slice(at, at + 4).join();
    colours.set(colour, (colours.get(colour) ?? 0) + 1);
  }
  const series = getComputedStyle(document.documentElement).getPropertyValue("--first").trim();
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(series.slice(at, at + 2), 16));
  const other = data.length / 4 - Math.max(...colours.values());
  return { colours: colours.size, other, series: colours.get([red, green, blue, 255].join()) ?? 0 };
})`;

/** A page hears of another colour scheme when it is next drawn. */
const DRAWN = "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))";

if (missing) process.stderr.write(`report.html is not tested: ${REASON}\n`);

it.runIf(missing && (process.env["CI"] ?? "") !== "")("has a browser where CI runs", () => {
  throw new Error(REASON);
});

describe.skipIf(missing)("report.html", () => {
  let folder: string;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "airlock-report-"));
    writeFileSync(join(folder, "report.html"), await hostileReport());
    // As root, as in most containers, its own sandbox cannot start; the page is ours.
    browser = await chromium.launch({ executablePath: executablePath!, args: ["--no-sandbox"] });
    page = await browser.newPage({ colorScheme: "light", viewport: { width: 1_000, height: 800 } });
    page.on("dialog", (dialog) => {
      complaints.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("console", (message) => complaints.push(`console ${message.type()} ${message.text()}`));
    page.on("pageerror", (error) => complaints.push(`error ${error.message}`));
    page.on("request", (request) => {
      if (!request.isNavigationRequest()) complaints.push(`request ${request.url()}`);
    });
    await page.goto(pathToFileURL(join(folder, "report.html")).href);
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(["light", "dark", "light"] as const)(
    "draws every plot in %s, and changes its colours while it is open",
    async (scheme) => {
      await page.emulateMedia({ colorScheme: scheme });
      await page.evaluate(DRAWN);
      const background = await page.evaluate("getComputedStyle(document.body).backgroundColor");
      expect(background).toBe(scheme === "light" ? "rgb(255, 255, 255)" : "rgb(18, 21, 28)");
      const plots = (await page.evaluate(PIXELS)) as { colours: number; other: number; series: number }[];
      expect(plots).toHaveLength(PLOTS);
      for (const [index, { colours, other, series }] of plots.entries()) {
        expect(colours, `colours of plot ${index}`).toBeGreaterThan(3);
        expect(other, `pixels of plot ${index}`).toBeGreaterThan(500);
        // The comparison is drawn in the colours of its verdicts.
        if (index < PLOTS - 1) expect(series, `pixels of the series in plot ${index}`).toBeGreaterThan(20);
      }
      expect(complaints).toEqual([]);
    },
  );

  it("shows names as text, in a table beside each plot, and makes no element of them", async () => {
    const cells = (await page.evaluate(
      '[...document.querySelectorAll("td")].map(({ textContent }) => textContent)',
    )) as string[];
    for (const name of HOSTILE) expect(cells).toContain(name);
    expect(await page.evaluate('[...document.querySelectorAll("p")].map(({ textContent }) => textContent)')).toContain(
      TITLE,
    );
    const made = await page.evaluate(
      '["script", "img", "canvas[role=img][aria-label]", "table"].map((each) => document.querySelectorAll(each).length)',
    );
    expect(made).toEqual([3, 0, PLOTS, PLOTS + 1]);
    expect(complaints).toEqual([]);
  });

  it("draws the case and the load that are chosen", async () => {
    const image = () => page.evaluate('document.querySelector("canvas").toDataURL()');
    const before = await image();
    await page.locator("select").first().selectOption({ index: 2 });
    await page.locator("select").last().selectOption({ index: 1 });
    expect(await image()).not.toBe(before);
    expect(complaints).toEqual([]);
  });

  it("may ask for nothing and run nothing that was not in it", async () => {
    const attempt = `(async () => {
      const script = document.createElement("script");
      script.textContent = "window.ran = true";
      document.body.append(script);
      const fetched = await fetch("data:text/plain,x").then(() => "fetched", () => "refused");
      return [window.ran ?? false, fetched];
    })()`;
    expect(await page.evaluate(attempt)).toEqual([false, "refused"]);
  });
});

async function hostileReport(): Promise<string> {
  const component = await parse(GUEST);
  const sha256 = createHash("sha256").update(component).digest("hex");
  const text = { id: "bench.page", version: "1.0.0", title: TITLE, component: "component.wasm", sha256, imports: [] };
  const source = { manifest: parseManifest(JSON.stringify(text), "page"), component };
  await using host = await createHost({ threads: 1, compile: { spares: 0 } });
  const results = await host.bench({
    package: source,
    compare: source,
    cases: HOSTILE.map((name, index) => ({ name, input: { x: index } })),
    concurrency: [1, 2],
    rounds: 2,
    durationMs: 30,
    warmUpMs: 0,
  });
  return reportPage(results);
}
