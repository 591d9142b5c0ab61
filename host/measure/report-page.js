// The script of report.html. It runs in a browser, reads the results from the page, and asks nothing of any network. Names come
// from packages: they become text, never markup.
(() => {
  const results = JSON.parse(document.getElementById("results").textContent);
  const { subjects, machine, settings, comparison } = results;
  const app = document.getElementById("report");
  const labels = subjects.map(({ name, source }, index) =>
    subjects.length > 1 && subjects[0].name === subjects[1].name
      ? `${name} (${source ?? `package ${index + 1}`})`
      : name,
  );
  /** Each draws its chart anew, in the colours that hold now. */
  const drawings = [];

  addHead();
  addLatencies();
  addThroughput();
  addPerCase("Fuel per call", "units of fuel", ({ fuel }) => fuel, count);
  addPerCase("Peak memory", "bytes", ({ peakMemoryBytes }) => peakMemoryBytes, bytes);
  if (comparison !== null) addComparison();
  addOnce();

  const draw = () => {
    for (const each of drawings) each();
  };
  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

  function addHead() {
    document.title = `${labels.join(" and ")}: airlock bench`;
    const heading = make("h1", "");
    for (const [index, label] of labels.entries()) {
      if (index > 0) heading.append(" and ");
      heading.append(make("span", label, subjects.length > 1 ? ["first", "second"][index] : undefined));
    }
    const titles = subjects.map(({ title }) => title).filter((title) => title !== null);
    app.append(
      heading,
      ...(titles.length === 0 ? [] : [make("p", [...new Set(titles)].join(" · "))]),
      make(
        "p",
        `${new Date(results.startedAt).toLocaleString()} · ${machine.cpu}, ${machine.cores} cores, load ${machine.load.toFixed(1)} · Node ${machine.node} · ${settings.rounds} rounds of ${ms(settings.durationMs)} · ${settings.threads} threads · ${settings.tier} memories`,
        "faint",
      ),
    );
  }

  function addLatencies() {
    const names = subjects[0].cases.map(({ name }) => name);
    const chosen = { case: null, load: 0 };
    const controls = make("p", "");
    const cases = chooser("Case ", ["all cases", ...names], (index) => {
      chosen.case = index === 0 ? null : names[index - 1];
    });
    const loads = chooser(
      "In flight ",
      subjects[0].loads.map(({ concurrency }) => String(concurrency)),
      (index) => {
        chosen.load = index;
      },
    );
    controls.append(cases, loads);
    addFigure("Latency distribution", "Share of warm calls by their latency", controls, (colours) => ({
      type: "line",
      data: {
        datasets: subjects.map(({ loads: all }, index) => ({
          label: labels[index],
          data: distribution(all[chosen.load], chosen.case),
          borderColor: colours.subjects[index],
          backgroundColor: `${colours.subjects[index]}33`,
          fill: true,
          stepped: "middle",
          pointRadius: 0,
          borderWidth: 2,
        })),
      },
      options: options(colours, {
        x: {
          type: "logarithmic",
          title: { display: true, text: "latency" },
          ticks: { callback: ms, maxTicksLimit: 10 },
        },
        y: { beginAtZero: true, title: { display: true, text: "% of calls" } },
      }),
    }));
    addTable(
      "Warm calls: median over the rounds, lowest to highest round",
      [
        "package",
        "case",
        "in flight",
        "calls",
        "p50",
        "p90",
        "p99",
        "slowest",
        "queue",
        "instantiate",
        "guest",
        "host calls",
      ],
      subjects.flatMap((subject, index) =>
        subject.loads.flatMap((load) =>
          load.cases.map((each) => [
            labels[index],
            each.name,
            load.concurrency,
            count(each.calls),
            spread(each.latencyMs.p50, ms),
            spread(each.latencyMs.p90, ms),
            spread(each.latencyMs.p99, ms),
            ms(each.latencyMs.max.max),
            ms(each.queueMs.median),
            ms(each.instantiateMs.median),
            ms(each.guestMs.median),
            ms(each.hostMs.median),
          ]),
        ),
      ),
      2,
    );

    function chooser(text, choices, choose) {
      const label = make("label", text);
      const select = make("select", "");
      for (const choice of choices) select.append(make("option", choice));
      select.addEventListener("change", () => {
        choose(select.selectedIndex);
        draw();
      });
      label.append(select);
      return label;
    }
  }

  /** Points of a histogram, empty buckets in between included, as shares in percent. */
  function distribution(load, name) {
    const counts = new Map();
    let total = 0;
    for (const each of load.cases) {
      if (name !== null && each.name !== name) continue;
      for (const [bucket, calls] of each.histogram) {
        counts.set(bucket, (counts.get(bucket) ?? 0) + calls);
        total += calls;
      }
    }
    const [least, most] = [Math.min(...counts.keys()), Math.max(...counts.keys())];
    const points = [];
    for (let bucket = least - 1; bucket <= most + 1; bucket++) {
      points.push({ x: 0.001 * 1.1 ** (bucket + 0.5), y: (100 * (counts.get(bucket) ?? 0)) / total });
    }
    return points;
  }

  function addThroughput() {
    addFigure("Throughput against concurrency", "Calls a second by calls in flight", null, (colours) => ({
      type: "line",
      data: {
        labels: subjects[0].loads.map(({ concurrency }) => String(concurrency)),
        datasets: subjects.flatMap(({ loads }, index) => {
          const colour = colours.subjects[index];
          const line = (label, pick, more) => ({
            label,
            data: loads.map(({ callsPerSecond }) => pick(callsPerSecond)),
            borderColor: colour,
            backgroundColor: colour,
            ...more,
          });
          const edge = { borderWidth: 1, borderDash: [3, 3], pointRadius: 0 };
          return [
            line(labels[index], ({ median }) => median, { borderWidth: 2, pointRadius: 4 }),
            line(`${labels[index]}, lowest round`, ({ min }) => min, edge),
            line(`${labels[index]}, highest round`, ({ max }) => max, {
              ...edge,
              fill: "-1",
              backgroundColor: `${colour}22`,
            }),
          ];
        }),
      },
      options: options(colours, {
        x: { title: { display: true, text: "calls in flight" } },
        y: { beginAtZero: true, title: { display: true, text: "calls a second" } },
      }),
    }));
    addTable(
      "Throughput: median over the rounds, lowest to highest round; garbage collections of all rounds",
      ["package", "in flight", "calls a second", "events a second", "calls", "gc in threads", "gc in main"],
      subjects.flatMap((subject, index) =>
        subject.loads.map((load) => [
          labels[index],
          load.concurrency,
          spread(load.callsPerSecond, rate),
          spread(load.eventsPerSecond, rate),
          count(load.calls),
          `${load.gc.threads.pauses} in ${ms(load.gc.threads.totalMs)}`,
          `${load.gc.main.pauses} in ${ms(load.gc.main.totalMs)}`,
        ]),
      ),
      1,
    );
  }

  function addPerCase(title, unit, pick, shown) {
    const names = subjects[0].cases.map(({ name }) => name);
    const height = 5 + names.length * (subjects.length > 1 ? 2.2 : 1.6);
    addFigure(
      title,
      `${title} for each case, in ${unit}`,
      null,
      (colours) => ({
        type: "bar",
        data: {
          labels: names.map(short),
          datasets: subjects.map(({ cases }, index) => ({
            label: labels[index],
            data: names.map((name) => {
              const found = cases.find((each) => each.name === name);
              return found === undefined ? null : pick(found);
            }),
            backgroundColor: colours.subjects[index],
          })),
        },
        options: {
          ...options(colours, { x: { beginAtZero: true, ticks: { callback: shown } }, y: {} }),
          indexAxis: "y",
        },
      }),
      height,
    );
    addTable(
      title,
      ["package", "case", "ends", unit, ...(unit === "bytes" ? ["host calls", "events"] : ["fuel of setup", "exact"])],
      subjects.flatMap(({ cases }, index) =>
        cases.map((each) => [
          labels[index],
          each.name,
          each.outcome,
          shown(pick(each)),
          ...(unit === "bytes"
            ? [each.hostCalls, each.events]
            : [count(each.setupFuel), each.fuelExact ? "yes" : "no"]),
        ]),
      ),
      3,
    );
  }

  function addComparison() {
    const text = (row) => [row.measure, row.case, row.concurrency === null ? null : `${row.concurrency} in flight`];
    const rows = comparison.filter(({ verdict }) => verdict !== "same");
    if (rows.length > 0) {
      addFigure(
        "Comparison",
        "Change of each measure from the first package to the second, in percent",
        make("p", "Grey: no difference that the spread allows to name.", "faint"),
        (colours) => ({
          type: "bar",
          data: {
            labels: rows.map((row) =>
              text(row)
                .filter((part) => part !== null)
                .map(short)
                .join(", "),
            ),
            datasets: [
              {
                label: "change",
                data: rows.map(({ change }) => Math.max(-100, Math.min(400, change * 100))),
                backgroundColor: rows.map(({ verdict }) => colours[verdict] ?? colours.faint),
              },
            ],
          },
          options: {
            ...options(colours, { x: { ticks: { callback: (value) => `${value} %` } }, y: {} }),
            indexAxis: "y",
          },
        }),
        4 + rows.length * 1.5,
      );
    }
    const words = {
      better: "better",
      worse: "worse",
      same: "the same",
      unclear: "no difference that the spread allows to name",
    };
    addTable(
      "Comparison of the medians",
      ["measure", "case", "in flight", labels[0], labels[1], "change", "verdict"],
      comparison.map((row) => [
        row.measure,
        row.case ?? "",
        row.concurrency ?? "",
        value(row.unit, row.first),
        value(row.unit, row.second),
        row.change === 0 ? "" : `${row.change > 0 ? "+" : ""}${(row.change * 100).toFixed(1)} %`,
        { text: words[row.verdict], kind: row.verdict },
      ]),
      3,
    );
  }

  function addOnce() {
    addTable(
      "Once for each install: median over the rounds, lowest to highest round",
      ["package", "admission", "compile", "first call", "cold start", "digest", "schedule"],
      subjects.map((subject, index) => [
        labels[index],
        spread(subject.admissionMs, ms),
        spread(subject.compileMs, ms),
        spread(subject.firstCallMs, ms),
        subject.coldStartMs === null ? "not measured" : spread(subject.coldStartMs, ms),
        subject.componentSha256.slice(0, 12),
        subject.scheduleId.slice(0, 24),
      ]),
      1,
    );
  }

  function addFigure(title, description, controls, configure, heightRem) {
    const figure = make("figure", "");
    const box = make("div", "", "plot");
    if (heightRem !== undefined) box.style.height = `${heightRem}rem`;
    const canvas = make("canvas", description);
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${description}. The table below has the numbers.`);
    box.append(canvas);
    figure.append(make("figcaption", title), ...(controls === null ? [] : [controls]), box);
    app.append(figure);
    let chart = null;
    drawings.push(() => {
      chart?.destroy();
      chart = new Chart(canvas, configure(palette()));
    });
  }

  function addTable(title, head, rows, firstNumber) {
    const section = make("details", "", "tables");
    section.open = rows.length <= 12;
    const table = make("table", "");
    const kind = (column) => (column >= firstNumber ? "number" : undefined);
    const headRow = make("tr", "");
    for (const [column, text] of head.entries()) {
      const cell = make("th", text, kind(column));
      cell.scope = "col";
      headRow.append(cell);
    }
    const [top, body] = [make("thead", ""), make("tbody", "")];
    top.append(headRow);
    for (const row of rows) {
      const line = make("tr", "");
      for (const [column, cell] of row.entries()) {
        const rich = typeof cell === "object" ? cell : { text: cell };
        line.append(make("td", String(rich.text), rich.kind ?? kind(column)));
      }
      body.append(line);
    }
    table.append(top, body);
    section.append(make("summary", title), table);
    app.append(section);
  }

  function make(tag, text, className) {
    const element = document.createElement(tag);
    element.textContent = text;
    if (className !== undefined) element.className = className;
    return element;
  }

  function palette() {
    const style = getComputedStyle(document.documentElement);
    const named = (name) => style.getPropertyValue(`--${name}`).trim();
    return {
      text: named("text"),
      faint: named("faint"),
      line: named("line"),
      better: named("better"),
      worse: named("worse"),
      subjects: [named("first"), named("second")],
    };
  }

  function options({ text, line }, scales) {
    const coloured = Object.fromEntries(
      Object.entries(scales).map(([axis, scale]) => [
        axis,
        {
          ...scale,
          grid: { color: line },
          border: { color: line },
          ticks: { color: text, ...scale.ticks },
          title: { color: text, ...scale.title },
        },
      ]),
    );
    return {
      animation: false,
      maintainAspectRatio: false,
      interaction: { mode: "nearest", intersect: false },
      plugins: {
        legend: {
          display: subjects.length > 1,
          // The edges of a band have no entry of their own.
          labels: { color: text, filter: ({ text: entry }) => labels.includes(entry) },
        },
      },
      scales: coloured,
    };
  }

  function spread({ median, min, max }, shown) {
    return `${shown(median)} (${shown(min)} to ${shown(max)})`;
  }

  function value(unit, number) {
    return { ms, "per-second": rate, fuel: count, bytes }[unit](number);
  }

  function ms(number) {
    if (number >= 1000) return `${(number / 1000).toFixed(2)} s`;
    return `${Number(number.toPrecision(3))} ms`;
  }

  function rate(number) {
    return number >= 100 ? count(Math.round(number)) : number.toFixed(1);
  }

  function count(number) {
    return number.toLocaleString("en");
  }

  function bytes(number) {
    if (number >= 1024 ** 2) return `${(number / 1024 ** 2).toFixed(1)} MiB`;
    return number >= 1024 ? `${(number / 1024).toFixed(1)} KiB` : `${number} B`;
  }

  function short(text) {
    return text.length > 40 ? `${text.slice(0, 39)}…` : text;
  }
})();
