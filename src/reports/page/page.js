/* ---- hot spots ---- */

const HOT_KERNELS = 20;

/* Returns the kind of stall with most samples, and their share: "SbidStall 62%". */
function mainStall(kinds, row) {
    const stalls = (row.kinds || []).map((samples, kind) => ({samples, name: kinds[kind]})).filter((stall) => stall.name !== "Active");
    const most = stalls.reduce((one, other) => (other.samples > one.samples ? other : one), {samples: 0});
    return most.samples > 0 ? most.name + " " + percent(most.samples / row.samples) : "";
}

/* Adds a table of source lines or instructions. Lines without samples show where the others are. */
function addHotTable(parent, kernel, kinds, heading, rows, labelOf) {
    const body = addTable(parent, [["Share of kernel", "", "%"], ["Samples", "number"], ["Active", "number", "%"], ["Main stall"], [heading, "number"], ["Source"]]);
    const most = Math.max(1, ...rows.map((row) => row.samples)), active = kinds.indexOf("Active");
    for (const row of rows) {
        const line = add(body, "tr", row.samples ? "" : "context"), share = add(line, "td", "share");
        if (row.samples) {
            add(share, "span", "number", scaled(100 * row.samples / kernel.samples, SHARES));
            add(add(share, "span", "bar"), "i").style.width = 100 * row.samples / most + "%";
        }
        add(line, "td", "number", row.samples ? COUNT.format(row.samples) : "");
        add(line, "td", "number", row.samples && active >= 0 ? scaled(100 * (row.kinds || [])[active] / row.samples, SHARES) : "");
        add(line, "td", "", row.samples ? mainStall(kinds, row) : "");
        add(line, "td", "number code", labelOf(row));
        add(line, "td", "code source", row.text || "");
    }
}

/* Adds the source of a kernel and, where that is not known, its instructions. */
function addHotKernel(parent, kernel, kinds, isOpen) {
    const details = add(parent, "details"), summary = add(details, "summary");
    const unknown = (kernel.instructions || []).filter((row) => !row.file);
    details.open = isOpen;
    add(summary, "span", "name", shortName(kernel.name, nameLength())).title = kernel.name;
    summary.append(" " + percent(kernel.share) + " of the samples");
    const linesOf = (source) => source.lines || [], weight = (source) => linesOf(source).reduce((sum, line) => sum + line.samples, 0);
    for (const source of (kernel.sources || []).slice().sort((one, other) => weight(other) - weight(one))) {
        add(details, "h3", "", source.file);
        addHotTable(details, kernel, kinds, "Line", linesOf(source), (row) => String(row.line));
    }
    if (unknown.length) { addHotTable(details, kernel, kinds, "Instruction", unknown, (row) => "+0x" + Number(row.offset || 0).toString(16)); }
}

function showHotspots() {
    const spots = doc.hotspots || {}, counts = spots.counts || {}, part = byId("hotspots");
    const kernels = (spots.kernels || []).filter((kernel) => kernel.samples > 0);
    if (kernels.length === 0) { return; }
    addLink("hotspots", "Hot spots");
    add(part, "p", "muted", plural(counts.matched || 0, "sample") + " of instructions" + (spots.period_ns > 0 ? ", taken every " + quantity(spots.period_ns, "ns") + "," : "") +
        " in " + plural(kernels.length, "kernel") + (kernels.length > HOT_KERNELS ? ", of which these have most. " : ". ") +
        "An active sample executes the instruction, the others wait at it.");
    kernels.slice(0, HOT_KERNELS).forEach((kernel, index) => addHotKernel(part, kernel, spots.kinds || [], index === 0));
}

/* ---- kernels, calls and metrics ---- */

/* What is not known is a dash. */
function countOrMissing(value) { return isNumber(value) ? COUNT.format(value) : MISSING; }

function sizesOf(sizes) {
    if (!Array.isArray(sizes)) { return MISSING; }
    const [x, y, z] = sizes;
    return z > 1 ? [x, y, z].join("x") : y > 1 ? [x, y].join("x") : String(x);
}

function showKernels() {
    if (kernels.length === 0) { return; }
    addLink("kernels", "Kernels");
    add(byId("kernels"), "p", "muted", "SLM is that of a work-group; private and spilled memory are those of a thread. " +
        "Occupancy is the share of the threads of a subslice that the work-groups of most launches can fill.");
    const figures = [["SIMD", "simd_width"], ["Registers", "registers"], ["SLM", "slm_bytes", "B"], ["Private", "private_bytes", "B"],
        ["Spill", "spill_bytes", "B"], ["Barriers", "barriers"], ["Arguments", "arguments"], ["Code", "code_bytes", "B"]];
    const body = addTable(byId("kernels"), [["Kernel"], ["Module"], ["Share", "number"], ["Launches", "number"],
        ...figures.map(([text, , unit]) => [text, "number", unit]), ["Group size"], ["Group count"], ["Occupancy", "number"], ["What to do"]]);
    const shareOf = (kernel) => (regions[kernel.region] || {}).share || 0;
    for (const kernel of kernels.slice().sort((a, b) => shareOf(b) - shareOf(a))) {
        const row = add(body, "tr"), shape = (kernel.shapes || [])[0] || {};
        add(row, "th", "name", kernel.name).scope = "row";
        add(row, "td", "code", String(kernel.module || MISSING).slice(0, 8));
        add(row, "td", "number", regions[kernel.region] ? percent(shareOf(kernel)) : MISSING);
        add(row, "td", "number", COUNT.format(kernel.launches || 0));
        figures.forEach(([, figure]) => add(row, "td", figure === "spill_bytes" && kernel[figure] > 0 ? "number mark" : "number",
            countOrMissing(kernel[figure])));
        add(row, "td", "", sizesOf(shape.group_size));
        add(row, "td", "", sizesOf(shape.group_count));
        add(row, "td", "number", isNumber(kernel.occupancy) ? percent(kernel.occupancy) : MISSING);
        add(row, "td", "description", kernel.advice || "");
    }
}

function showCalls() {
    if (calls.length === 0) { return; }
    addLink("calls", "Calls");
    const figures = [["Total", "sum"], ["Mean", "mean"], ["Median", "median"], ["p95", "p95"], ["Max", "max"]];
    const scaleOf = (some) => scaleFor("ns", some.flatMap(([, figure]) => calls.map((call) => ownProperty(call.time_ns, figure))));
    const total = scaleOf(figures.slice(0, 1)), others = scaleOf(figures.slice(1)), scales = [total, others, others, others, others];
    const body = addTable(byId("calls"), [["Call"], ["Count", "number"], ["Errors", "number"],
        ...figures.map(([text], index) => [text, "number", scales[index].unit])]);
    const sum = (call) => (call.time_ns || {}).sum || 0;
    for (const call of calls.slice().sort((a, b) => sum(b) - sum(a))) {
        const row = add(body, "tr");
        add(row, "th", "name", call.name).scope = "row";
        add(row, "td", "number", COUNT.format(call.count || 0));
        add(row, "td", call.errors ? "number mark" : "number", COUNT.format(call.errors || 0));
        figures.forEach(([, figure], index) => add(row, "td", "number", scaled(ownProperty(call.time_ns, figure), scales[index])));
    }
}

function showMetrics() {
    const names = Object.keys(metrics);
    if (names.length === 0) { return; }
    addLink("metrics", "Metrics");
    const details = add(byId("metrics"), "details");
    add(details, "summary", "", "What each of the " + plural(names.length, "metric") + " means");
    const texts = ["Metric", "Description", "Units", "Combined by", "Component", "Group"].map((text) => [text]);
    const body = addTable(details, [...texts, ["Pass", "number"]]);
    for (const name of names) {
        const metric = metrics[name], row = add(body, "tr");
        add(row, "th", "name", name).scope = "row";
        add(row, "td", "description", metric.description || MISSING);
        for (const fact of [metric.units, metric.aggregation, metric.component, metric.group]) { add(row, "td", "", fact || ""); }
        add(row, "td", "number", isNumber(metric.pass) ? metric.pass : MISSING);
    }
}

/* ---- keyboard and mouse ---- */

function showChoice() {
    for (const column of columns.filter((one) => one.kind !== "name" && one.kind !== "share")) {
        const label = add(byId("choice").lastElementChild, "label"), box = add(label, "input");
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

function listen() {
    const table = byId("regions"), filter = byId("filter");
    const buttons = () => [...table.querySelectorAll("tbody .name > button[aria-expanded]")];
    filter.addEventListener("input", () => {
        view.rowLimit = FIRST_ROWS;
        showRows();
    });
    byId("nested").addEventListener("change", showRows);
    byId("more").querySelector("button").addEventListener("click", () => {
        view.rowLimit += MORE_ROWS;
        showRows();
    });
    table.tBodies[0].addEventListener("click", (event) => {
        const row = event.target.closest("tr[data-region]");
        const isKey = event.detail === 0; /* a click of the mouse may be the end of selecting text instead */
        if (row && (isKey || !window.getSelection().toString())) { toggle(row); }
    });
    filter.addEventListener("keydown", (event) => {
        if (event.key === "ArrowDown" || event.key === "Enter") {
            event.preventDefault();
            focusRow(buttons()[0]);
        } else if (event.key === "Escape") {
            filter.value = "";
            showRows();
        }
    });
    table.tBodies[0].addEventListener("keydown", (event) => {
        const all = buttons(), at = all.indexOf(event.target);
        const targets = new Map([["ArrowDown", at + 1], ["ArrowUp", at - 1], ["Home", 0], ["End", all.length - 1]]);
        if (at >= 0 && targets.has(event.key)) {
            event.preventDefault();
            focusRow(all[targets.get(event.key)]);
        }
    });
    document.addEventListener("keydown", (event) => {
        if (event.key === "/" && event.target.tagName !== "INPUT" && !event.ctrlKey && !event.metaKey && !event.altKey) {
            event.preventDefault();
            filter.focus();
            filter.select();
        } else if (event.key === "Escape" && byId("choice").open) {
            byId("choice").open = false;
            byId("choice").firstElementChild.focus();
        }
    });
}

showHeading();
if (regions.length) {
    byId("nesting").hidden = !hasNesting;
    byId("nested").checked = regions.length <= FIRST_ROWS; /* many small children would hide the large regions */
    showChoice();
    showHeadings();
    showRows();
    showRoofline();
    showTimeline();
} else {
    document.querySelectorAll(".tools, #regions").forEach((node) => { node.hidden = true; });
}
showKernels();
showHotspots();
showCalls();
showMetrics();
listen();
