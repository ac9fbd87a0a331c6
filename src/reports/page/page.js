/* The sections of the page but for the table of regions: heading, hot spots, kernels, calls; and the start. */
/* ---- heading ---- */

const readable = (date) => date.replace("T", " ").replace("Z", " UTC");

/* Shows a part of the page, with a link to it at the top. */
function addLink(id, text) {
    byId(id).hidden = false;
    const link = add(byId("notes").parentElement.querySelector("nav"), "a", "", text);
    link.href = `#${id}`;
}

/* Returns the groups of the metrics, or why there are none. */
function metricsText() {
    const [, availability, explanation] = doc.availability.match(/^\[(\w+)\] (.*)/);
    if (availability === "AVAILABLE") {
        return [...new Set(Object.values(metrics).map((metric) => metric.group).filter(Boolean))].join(", ");
    }
    return capital(explanation.replace(/^zt_\w+: /, ""));
}

function showHeading() {
    const {device} = doc;
    const facts = [
        ["Device", device.name],
        ["Driver", device.driver_version],
        ["PCI", device.pci],
        ["UUID", device.uuid],
        ["Core clock", isNumber(device.core_clock_mhz) ? `${COUNT.format(device.core_clock_mhz)} MHz` : ""],
        ["Timer", isNumber(device.timer_hz) ? quantity(device.timer_hz, "Hz") : ""],
        ["Date", readable(doc.date)],
        ["Measured from", readable(doc.opened)],
        ["zetools", doc.zetools],
        ["Metrics", metricsText()],
    ];
    document.title = `${doc.program || "Program"}: GPU profile`;
    byId("program").textContent = doc.program || "GPU profile";
    for (const [term, fact] of facts) {
        if (fact) {
            const pair = add(byId("facts"), "div");
            add(pair, "dt", "", term);
            add(pair, "dd", "", fact);
        }
    }
    showSummary();
    showNotes();
    if (regions.length) {
        addLink("regions", "Regions");
    }
}

/* Answers in a sentence each: where the time goes, and what limits it there. */
function showSummary() {
    const summary = byId("summary");
    if (regions.length === 0) {
        summary.textContent = "No region was measured.";
        return;
    }
    const samples = plural(doc.counts.collected, "sample");
    add(summary, "strong", "", `${quantity(doc.gpu_time_ns, "ns")} of GPU time`);
    const around = phases.length ? ` and ${plural(phases.length, "phase")}` : "";
    summary.append(` in ${plural(measured.length, "region")}${around}, ${samples}. `, headline(), limitsText());
}

/* Returns the region with the largest own time: its share, its time, and what limits it. */
function headline() {
    const timed = measured.filter((region) => region.ownShare > 0);
    if (timed.length === 0) {
        return "";
    }
    const largest = timed.reduce((most, region) => region.ownShare > most.ownShare ? region : most);
    const limit = largest.limit.what ? `; what limits it: ${largest.limit.what}` : unknownLimit(largest.of_peak || {});
    const time = isNumber(largest.own_ns) ? quantity(largest.own_ns, "ns") : "estimated";
    const own = `${percent(largest.ownShare)} (${time})`;
    return `The largest own time is that of ${shortName(largest.name, nameLength())}: ${own}${limit}. `;
}

/* Returns that the limit of a region is not known, and the shares of peaks that are. */
function unknownLimit({bandwidth, compute}) {
    const texts = [[bandwidth, "the peak bandwidth"], [compute, "peak compute"]]
        .filter(([share]) => isNumber(share)).map(([share, peak]) => `${percent(share)} of ${peak}`);
    return `; what limits it is not known${texts.length ? `, at ${texts.join(" and ")}` : ""}`;
}

/* Returns what limits all regions. Regions of which that is not known are left out. */
function limitsText() {
    const shares = new Map();
    for (const {limit, share} of measured) {
        if (limit.what && isNumber(share)) {
            shares.set(limit.what, (shares.get(limit.what) || 0) + share);
        }
    }
    if (shares.size === 0) {
        return "";
    }
    const largest = [...shares].sort((a, b) => b[1] - a[1]).slice(0, 5);
    const texts = largest.map(([what, share]) => `${what}\u00a0${percent(share)}`);
    return `Limits, by share: ${texts.join(", ")}.`;
}

function showNotes() {
    const list = byId("notes").querySelector("ul");
    for (const note of doc.notes) {
        add(list, "li", "", note);
    }
    byId("notes").hidden = list.childElementCount === 0;
}

/* ---- hot spots ---- */

const HOT_KERNELS = 20;

/* Returns the kind of stall with most samples, and their share: "SbidStall 62 %". */
function mainStall(kinds, row) {
    let most = 0;
    let name = "";
    row.kinds.forEach((samples, kind) => {
        if (samples > most && kinds[kind] !== "Active") {
            most = samples;
            name = kinds[kind];
        }
    });
    return most > 0 ? `${name} ${percent(most / row.samples)}` : "";
}

/* Adds a table of source lines or instructions. Lines without samples show where the others are. */
function addHotTable(parent, kernel, kinds, heading, rows, labelOf) {
    const body = addTable(parent, [["Share of kernel", "", "%"], ["Samples", "number"], ["Active", "number", "%"],
        ["Main stall"], [heading, "number"], ["Source"]]);
    const most = Math.max(1, ...rows.map((row) => row.samples));
    const active = kinds.indexOf("Active");
    for (const row of rows) {
        const line = add(body, "tr", row.samples ? "" : "context");
        const share = add(line, "td", "share");
        const samples = add(line, "td", "number", "");
        const activity = add(line, "td", "number", "");
        const stall = add(line, "td", "", "");
        if (row.samples) {
            add(share, "span", "number", scaled(100 * row.samples / kernel.samples, SHARES));
            add(add(share, "span", "bar"), "i").style.width = `${100 * row.samples / most}%`;
            samples.textContent = COUNT.format(row.samples);
            stall.textContent = mainStall(kinds, row);
        }
        if (row.samples && active >= 0) {
            activity.textContent = scaled(100 * row.kinds[active] / row.samples, SHARES);
        }
        add(line, "td", "number code", labelOf(row));
        add(line, "td", "code source", row.text || "");
    }
}

/* Adds the source of a kernel and, where that is not known, its instructions. */
function addHotKernel(parent, kernel, kinds, isOpen) {
    const details = add(parent, "details");
    const summary = add(details, "summary");
    details.open = isOpen;
    add(summary, "span", "name", shortName(kernel.name, nameLength())).title = kernel.name;
    summary.append(` ${percent(kernel.share)} of the samples`);
    const weight = (source) => sumOf(source.lines, (line) => line.samples);
    for (const source of kernel.sources.slice().sort((a, b) => weight(b) - weight(a))) {
        add(details, "h3", "", source.file);
        addHotTable(details, kernel, kinds, "Line", source.lines, (row) => String(row.line));
    }
    const unknown = kernel.instructions.filter((row) => !row.file);
    if (unknown.length) {
        const offsetOf = (row) => `+0x${row.offset.toString(16)}`;
        addHotTable(details, kernel, kinds, "Instruction", unknown, offsetOf);
    }
}

function showHotspots() {
    const spots = doc.hotspots;
    const part = byId("hotspots");
    if (!spots || spots.kernels.length === 0) {
        return;
    }
    const hot = spots.kernels;
    const samples = plural(spots.counts.matched, "sample");
    const period = quantity(spots.period_ns, "ns");
    const most = hot.length > HOT_KERNELS ? ", of which these have most" : "";
    addLink("hotspots", "Hot spots");
    add(part, "p", "muted",
        `${samples} of instructions, taken every ${period}, in ${plural(hot.length, "kernel")}${most}. ` +
        "An active sample executes the instruction, the others wait at it.");
    hot.slice(0, HOT_KERNELS).forEach((kernel, index) => addHotKernel(part, kernel, spots.kinds, index === 0));
}

/* ---- kernels, calls and metrics ---- */

/* Returns sizes as "128", "128x2" or "128x2x3". */
function sizesOf(sizes) {
    if (!sizes) {
        return MISSING;
    }
    const dimensions = sizes.findLastIndex((size) => size > 1) + 1;
    return sizes.slice(0, Math.max(1, dimensions)).join("x");
}

function showKernels() {
    if (kernels.length === 0) {
        return;
    }
    addLink("kernels", "Kernels");
    add(byId("kernels"), "p", "muted",
        "SLM is that of a work-group; private and spilled memory are those of a thread. " +
        "Occupancy is the share of the threads of a subslice that the work-groups of most launches can fill.");
    const figures = [
        ["SIMD", "simd_width"], ["Registers", "registers"], ["SLM", "slm_bytes", "B"],
        ["Private", "private_bytes", "B"], ["Spill", "spill_bytes", "B"], ["Barriers", "barriers"],
        ["Arguments", "arguments"], ["Code", "code_bytes", "B"],
    ];
    const body = addTable(byId("kernels"), [
        ["Kernel"], ["Module"], ["Share", "number"], ["Launches", "number"],
        ...figures.map(([text, , unit]) => [text, "number", unit]),
        ["Group size"], ["Group count"], ["Occupancy", "number"],
    ]);
    const shareOf = (kernel) => (named[kernel.region] || {}).share || 0;
    const inOrder = kernels.slice().sort((a, b) => shareOf(b) - shareOf(a));
    for (const kernel of inOrder) {
        const row = add(body, "tr");
        const shape = kernel.shapes[0] || {};
        add(row, "th", "name", kernel.name).scope = "row";
        add(row, "td", "code", kernel.module.slice(0, 8) || MISSING);
        add(row, "td", "number", named[kernel.region] ? percent(shareOf(kernel)) : MISSING);
        add(row, "td", "number", COUNT.format(kernel.launches));
        for (const [, figure] of figures) {
            const isBad = figure === "spill_bytes" && kernel[figure] > 0;
            add(row, "td", isBad ? "number mark" : "number", countOrMissing(kernel[figure]));
        }
        add(row, "td", "", sizesOf(shape.group_size));
        add(row, "td", "", sizesOf(shape.group_count));
        add(row, "td", "number", percent(kernel.occupancy));
    }
    const list = add(byId("kernels"), "ul");
    for (const {name, advice} of inOrder.filter((kernel) => kernel.advice)) {
        const item = add(list, "li");
        add(item, "span", "code", name);
        item.append(`: ${advice}`);
    }
}

function showCalls() {
    if (calls.length === 0) {
        return;
    }
    addLink("calls", "Calls");
    /* Totals are in one unit; the figures of a call have another one. */
    const scaleOf = (some) => scaleFor("ns", some.flatMap((one) => calls.map((call) => call.time_ns[one])));
    const total = scaleOf(["sum"]);
    const others = scaleOf(["mean", "median", "p95", "max"]);
    const figures = [
        ["Total", "sum", total], ["Mean", "mean", others], ["Median", "median", others], ["p95", "p95", others],
        ["Max", "max", others],
    ];
    const body = addTable(byId("calls"), [
        ["Call"], ["Count", "number"], ["Errors", "number"],
        ...figures.map(([text, , scale]) => [text, "number", scale.unit]),
    ]);
    for (const call of calls.slice().sort((a, b) => b.time_ns.sum - a.time_ns.sum)) {
        const row = add(body, "tr");
        add(row, "th", "name", call.name).scope = "row";
        add(row, "td", "number", COUNT.format(call.count));
        add(row, "td", call.errors ? "number mark" : "number", COUNT.format(call.errors));
        for (const [, figure, scale] of figures) {
            add(row, "td", "number", scaled(call.time_ns[figure], scale));
        }
    }
}

function showMetrics() {
    const names = Object.keys(metrics);
    if (names.length === 0) {
        return;
    }
    addLink("metrics", "Metrics");
    const details = add(byId("metrics"), "details");
    add(details, "summary", "", `What each of the ${plural(names.length, "metric")} means`);
    add(details, "p", "muted", "Each has its units, how samples are combined, its component, group and pass.");
    const body = addTable(details, [["Metric"], ["Description"]]);
    for (const name of names) {
        const metric = metrics[name];
        const row = add(body, "tr");
        const combined = metric.aggregation === "none" ? "not combined" : metric.aggregation;
        const facts = [metric.units, combined, metric.component, metric.group, `pass ${metric.pass}`];
        add(row, "th", "name", name).scope = "row";
        const cell = add(row, "td", "description", metric.description);
        add(cell, "div", "muted", facts.filter(Boolean).join(", "));
    }
}

/* ---- keyboard and mouse ---- */

function showChoice() {
    for (const column of columns.filter((one) => one.kind !== "name" && one.kind !== "share")) {
        const label = add(byId("choice").lastElementChild, "label");
        const box = add(label, "input");
        box.type = "checkbox";
        box.checked = !column.isHidden;
        label.append(" ");
        add(label, "span", column.metric ? "code" : "", column.metric || column.label);
        box.addEventListener("change", () => {
            column.isHidden = !box.checked;
            showHeadings();
            showRows();
        });
    }
}

const rowButtons = () => [...byId("regions").querySelectorAll("tbody .name > button[aria-expanded]")];

function listenToFilter() {
    const filter = byId("filter");
    filter.addEventListener("input", () => {
        view.firstRow = 0;
        showRows();
    });
    filter.addEventListener("keydown", (event) => {
        if (event.key === "ArrowDown" || event.key === "Enter") {
            event.preventDefault();
            focusRow(rowButtons()[0]);
        } else if (event.key === "Escape") {
            filter.value = "";
            showRows();
        }
    });
    byId("nested").addEventListener("change", () => {
        sortByShare();
        showRows();
    });
}

function listenToTable() {
    const [body] = byId("regions").tBodies;
    body.addEventListener("click", (event) => {
        const row = event.target.closest("tr[data-region]");
        const isKey = event.detail === 0; /* a click of the mouse may be the end of selecting text instead */
        if (row && (isKey || !window.getSelection().toString())) {
            toggle(row);
        }
    });
    body.addEventListener("keydown", (event) => {
        const all = rowButtons();
        const at = all.indexOf(event.target);
        const targets = new Map([["ArrowDown", at + 1], ["ArrowUp", at - 1], ["Home", 0], ["End", all.length - 1]]);
        if (at >= 0 && targets.has(event.key)) {
            event.preventDefault();
            focusRow(all[targets.get(event.key)]);
        }
    });
    byId("more").querySelectorAll("button").forEach((button, index) => button.addEventListener("click", () => {
        view.firstRow += index ? MOST_ROWS : -MOST_ROWS;
        showRows();
    }));
}

function listenToKeys() {
    const filter = byId("filter");
    const choice = byId("choice");
    document.addEventListener("keydown", (event) => {
        const isCommand = event.ctrlKey || event.metaKey || event.altKey;
        if (event.key === "/" && event.target.tagName !== "INPUT" && !isCommand) {
            event.preventDefault();
            filter.focus();
            filter.select();
        } else if (event.key === "Escape" && choice.open) {
            choice.open = false;
            choice.firstElementChild.focus();
        }
    });
}

/* ---- the start ---- */

showHeading();
if (regions.length) {
    byId("nesting").hidden = !hasNesting;
    byId("nested").checked = regions.length <= MOST_ROWS; /* many small children would hide the large regions */
    sortByShare();
    showHeadings();
    showRows();
    fitColumns();
    showChoice();
    showRoofline();
    showTimeline();
    listenToFilter();
    listenToTable();
    listenToKeys();
} else {
    document.querySelectorAll(".tools, #regions").forEach((node) => {
        node.hidden = true;
    });
}
showKernels();
showHotspots();
showCalls();
showMetrics();
