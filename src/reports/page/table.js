/* ---- columns of the table of regions ---- */

function timeColumn(label, figure, description, isHidden) {
    return {label, units: "ns", scaleGroup: "sample", isHidden, description, value: (region) => region.time_ns[figure]};
}

function metricColumn(name, isHidden) {
    const metric = metrics[name];
    const units = metric.aggregation === "flag" ? "samples" : metric.units || "";
    return {label: metric.label || name, units, metric: name, isHidden,
        description: name + ": " + (metric.description || ""), value: (region) => figureOf(region, name, shownFigure(metric))};
}

/* Latencies, and what copies moved, as far as any region has them. Launching matters where even the shortest launch takes half
   as long as the region. */
function latencyColumns() {
    const matters = regions.some(({launch_latency_ns: launch, time_ns: time}) => launch && launch.min >= 0.5 * time.mean);
    return [
        {label: "Queued", units: "ns", scaleGroup: "latency", isHidden: true, value: (region) => (region.queue_latency_ns || {}).median,
            description: "Median time from the append to the execution of the list"},
        {label: "Launch", units: "ns", scaleGroup: "latency", isHidden: !matters, value: (region) => (region.launch_latency_ns || {}).median,
            description: "Median time from the submission by the host to the begin on the device"},
        {label: "Copied", units: "B/s", value: (region) => region.copied_bytes_per_second,
            description: "Bytes that copies and fills moved, a second of GPU time"},
    ].filter((column) => regions.some((region) => isNumber(column.value(region))));
}

/* A column: `value` returns a number in `units`, or a text where `isText`. Columns of a `scaleGroup` are written in one unit. */
function makeColumns() {
    const isChosen = new Set(doc.columns || []);
    return [
        {label: hasOwnTimes ? "Share" : "GPU time", kind: "share", value: (region) => region.share,
            description: hasOwnTimes ? "Own time as a share of all GPU time" : "Total GPU time, nested regions included"},
        {label: "Region", kind: "name", isText: true, value: (region) => region.name},
        {label: "Count", units: "", value: (region) => region.count, description: "Collected samples"},
        {label: "Lost", kind: "lost", units: "", isHidden: !hasLosses, value: (region) => (region.lost || 0) + (region.dropped || 0),
            description: "Samples lost or dropped: their data is missing or invalid, or they were not measured"},
        {label: "Total", units: "ns", scaleGroup: "all", value: (region) => region.time_ns.sum,
            description: "GPU time of all samples, nested regions included"},
        {label: "Own", units: "ns", scaleGroup: "all", isHidden: !hasNesting, value: (region) => region.own_ns,
            description: "GPU time outside of nested regions"},
        timeColumn("Mean", "mean", "Mean GPU time of a sample"),
        timeColumn("Median", "median", "Half of the samples take less"),
        timeColumn("p95", "p95", "95 % of the samples take less"),
        timeColumn("Min", "min", "The shortest sample", true),
        timeColumn("Max", "max", "The longest sample", true),
        timeColumn("Std dev", "stddev", "Standard deviation of the samples", true),
        ...latencyColumns(),
        {label: "What limits it", kind: "limit", isText: true, value: (region) => region.limit.what || ""},
        ...metricNames.map((name) => metricColumn(name, !isChosen.has(name))),
    ];
}

function scaleOfColumn(column) {
    const group = columns.filter((one) => one === column || (column.scaleGroup && one.scaleGroup === column.scaleGroup));
    return scaleFor(column.units, group.flatMap((one) => regions.map(one.value)));
}

const shownColumns = () => columns.filter((column) => !column.isHidden);

const columns = makeColumns();
const view = {sortBy: columns[0], isAscending: false, rowLimit: FIRST_ROWS, opened: new Set(), rows: [], fullBar: 1};

/* Writes a heading on at most two lines: a long name breaks at the underscore nearest to its middle. */
function fillHeading(node, label, unit) {
    const breaks = [...label.matchAll(/_/g)].map((match) => match.index + 1);
    const at = breaks.sort((a, b) => Math.abs(a - label.length / 2) - Math.abs(b - label.length / 2))[0];
    if (label.length > 12 && at) {
        node.append(label.slice(0, at));
        add(node, "br");
        label = label.slice(at);
    }
    node.append(label);
    if (unit) { add(node, "span", "unit", " " + unit); }
}

function showHeadings() {
    const row = byId("regions").tHead.rows[0];
    row.replaceChildren();
    for (const column of shownColumns()) {
        const isLeft = column.isText || column.kind === "share", kind = column.kind === "name" ? "pinned" : column.metric ? "metric" : "";
        const cell = add(row, "th", (isLeft ? "" : "number ") + kind), button = add(cell, "button");
        cell.scope = "col";
        button.type = "button";
        button.title = column.description || "";
        if (column.units !== undefined) { column.scale = column.scale || scaleOfColumn(column); }
        fillHeading(button, column.label, column.scale ? column.scale.unit : column.kind === "share" && hasOwnTimes ? "%" : "");
        button.addEventListener("click", () => {
            view.isAscending = view.sortBy === column ? !view.isAscending : Boolean(column.isText);
            view.sortBy = column;
            showRows();
        });
        column.heading = cell;
    }
}

/* ---- rows of the table of regions ---- */

const collator = new Intl.Collator("en", {numeric: true});

/* What is missing comes last in either order. */
function compare(a, b) {
    const column = view.sortBy, direction = view.isAscending ? 1 : -1;
    const isTree = column.kind === "share" && isNested();
    const left = isTree ? a.shareWithChildren : column.value(a), right = isTree ? b.shareWithChildren : column.value(b);
    if (column.isText) { return (left === "") - (right === "") || direction * collator.compare(left, right) || a.index - b.index; }
    return !isNumber(left) - !isNumber(right) || (isNumber(left) ? direction * (left - right) : 0) || a.index - b.index;
}

const isNested = () => hasNesting && byId("nested").checked;

/* Returns which regions pass the filter: each word is part of the name; none that follows a ! is. */
function filterRegions() {
    const words = byId("filter").value.toLowerCase().split(/\s+/).filter((word) => word && word !== "!");
    return regions.filter((region) => {
        const name = String(region.name).toLowerCase();
        return words.every((word) => word[0] === "!" ? !name.includes(word.slice(1)) : name.includes(word));
    });
}

/* Returns the rows in order: {region, depth, isContext}. Context rows are parents of regions that pass the filter. */
function orderRows(matching) {
    if (!isNested()) {
        return matching.sort(compare).map((region) => ({region, depth: 0}));
    }
    const matches = new Set(matching), kept = new Set(), rows = [];
    for (const region of matching) {
        for (let above = region; above && !kept.has(above); above = above.above) { kept.add(above); }
    }
    const pending = [];
    const push = (siblings, depth) => {
        const sorted = siblings.filter((region) => kept.has(region)).sort(compare);
        sorted.reverse().forEach((region) => pending.push({region, depth, isContext: !matches.has(region)}));
    };
    push(regions.filter((region) => !region.above), 0);
    while (pending.length) {
        const row = pending.pop();
        rows.push(row);
        push(row.region.children, row.depth + 1);
    }
    return rows;
}

const nameLength = () => window.innerWidth < 900 ? 30 : 56;

/* Shortens a long name: first by the arguments of a C++ signature, which say least, then in its middle, because names differ at both ends. */
function shortName(name, most) {
    const whole = Array.from(String(name).trim() || "(no name)");
    if (whole.length <= most) { return whole.join(""); }
    const letters = Array.from(whole.join("").replace(/^void /, "").replace(/\([^()]+\)$/, "(\u2026)"));
    const head = Math.floor(most * 0.6), tail = letters.length - (most - head - 1);
    return letters.length <= most ? letters.join("") : letters.slice(0, head).join("") + "\u2026" + letters.slice(tail).join("");
}

function addShare(row, region) {
    const cell = add(row, "td", "share");
    if (hasOwnTimes) { add(cell, "span", "number", isNumber(region.share) ? scaled(100 * region.share, SHARES) : MISSING); }
    const bar = add(cell, "span", "bar");
    const own = region.share || 0;
    add(bar, "i").style.width = 100 * own / view.fullBar + "%";
    if (isNested()) { add(bar, "i").style.width = 100 * (region.shareWithChildren - own) / view.fullBar + "%"; }
}

function addName(row, region, depth) {
    const cell = add(row, "th", "name pinned");
    const button = add(cell, "button", "", shortName(region.name, nameLength()));
    cell.scope = "row";
    cell.style.paddingLeft = 0.55 + 1.1 * Math.min(depth, 12) + "rem";
    button.type = "button";
    button.title = region.name;
    button.tabIndex = -1;
    button.setAttribute("aria-expanded", view.opened.has(region));
    if (region.notes.length) { add(cell, "span", "mark", " !").title = region.notes.join(" "); }
}

function addRow(body, {region, depth, isContext}) {
    const row = add(body, "tr", isContext ? "context" : "");
    row.dataset.region = region.index;
    for (const column of shownColumns()) {
        if (column.kind === "share") {
            addShare(row, region);
        } else if (column.kind === "name") {
            addName(row, region, depth);
        } else if (column.kind === "limit") {
            add(row, "td", "limit", region.limit.what || MISSING).title = region.limit.why || "";
        } else {
            const value = column.value(region), colour = column.kind !== "lost" ? "" : value > 0 ? " mark" : " muted";
            add(row, "td", "number" + colour, scaled(value, column.scale));
        }
    }
    if (view.opened.has(region)) { addDetails(row, region); }
}

function showRows() {
    const body = byId("regions").tBodies[0];
    const matching = filterRegions();
    const shareOf = (some) => percent(some.reduce((sum, region) => sum + (region.share || 0), 0)) + " of GPU time";
    for (const column of shownColumns()) {
        if (column === view.sortBy) {
            column.heading.setAttribute("aria-sort", view.isAscending ? "ascending" : "descending");
        } else {
            column.heading.removeAttribute("aria-sort");
        }
    }
    view.fullBar = Math.max(1e-9, ...regions.map((region) => (isNested() ? region.shareWithChildren : region.share) || 0));
    view.rows = orderRows(matching);
    body.replaceChildren();
    view.rows.slice(0, view.rowLimit).forEach((row) => addRow(body, row));
    const first = body.querySelector("button");
    if (first) { first.tabIndex = 0; }
    byId("shown").textContent = matching.length === regions.length ? plural(regions.length, "region")
        : COUNT.format(matching.length) + " of " + plural(regions.length, "region") + (hasOwnTimes ? ", " + shareOf(matching) : "");
    byId("legend").textContent = (hasOwnTimes ? "A full bar is " + percent(view.fullBar) + " of all GPU time. " :
        "A full bar is the GPU time of the longest region. ") +
        (isNested() ? "The strong part of a bar is the region's own time, the faint part that of regions inside it. " : "") +
        (columns.some((column) => column.metric) ? "Metrics are means of a sample; rates and shares are weighted by GPU time." : "");
    const hidden = view.rows.slice(view.rowLimit);
    byId("more").hidden = hidden.length === 0;
    byId("more").firstElementChild.textContent = plural(hidden.length, "more row") +
        (hasOwnTimes ? " with " + shareOf(hidden.map((row) => row.region)) : "") + ".";
}

/* Opens or closes the details of the region of a row. */
function toggle(row) {
    const region = regions[row.dataset.region];
    const isOpen = view.opened.has(region);
    if (isOpen) {
        view.opened.delete(region);
        row.nextElementSibling.remove();
    } else {
        view.opened.add(region);
        addDetails(row, region);
    }
    row.querySelector("button").setAttribute("aria-expanded", !isOpen);
}

/* Moves the keyboard to a row: one row at a time is a stop of the Tab key. */
function focusRow(button) {
    if (button) {
        byId("regions").querySelectorAll("tbody .name > button[tabindex='0']").forEach((other) => { other.tabIndex = -1; });
        button.tabIndex = 0;
        button.focus();
    }
}

/* Opens a region from elsewhere on the page. */
function reveal(region) {
    byId("filter").value = "";
    showRows();
    const position = view.rows.findIndex((row) => row.region === region);
    if (position >= view.rowLimit) {
        view.rowLimit = position + 1;
        showRows();
    }
    const row = byId("regions").querySelector("tr[data-region='" + region.index + "']");
    if (!view.opened.has(region)) { toggle(row); }
    focusRow(row.querySelector("button"));
}

/* ---- details of a region ---- */

const FIGURES = ["mean", "stddev", "min", "median", "p95", "max"];

function addDetails(row, region) {
    const detailsRow = document.createElement("tr");
    detailsRow.className = "details";
    row.after(detailsRow);
    const cell = add(detailsRow, "td");
    cell.colSpan = row.cells.length + 1; /* and what fills the row */
    const box = add(cell, "div", "detail");
    add(box, "h3", "", region.name);
    const pair = add(box, "div", "pair"), facts = add(pair, "div");
    if (region.limit.why) {
        const text = add(facts, "p", "", "What limits it: ");
        if (region.limit.what) {
            add(text, "strong", "", region.limit.what);
            text.append(". ");
        }
        text.append(region.limit.why + (region.limit.what && region.limit.add ? " To know more, add " + region.limit.add + "." : ""));
    }
    if (region.above) {
        const path = [];
        for (let above = region.above; above; above = above.above) { path.unshift(above.name); }
        add(facts, "p", "", "Inside " + path.join(" \u203a ") + ".");
    }
    for (const note of region.notes) { add(facts, "p", "mark", note); }
    const traffic = isNumber(region.bytes) ? "memory traffic " + quantity(region.bytes, "B/s") : MISSING;
    const rates = [traffic, quantity(region.operations, "op/s"), quantity(region.instructions, "instr/s")].filter((text) => text !== MISSING);
    if (rates.length) {
        if (region.bytes > 0 && region.operations > 0) { rates.push(quantity(region.operations / region.bytes, "op/B")); }
        add(facts, "p", "", "While it runs: " + rates.join(", ") + ".");
    }
    addHistogram(pair, region);
    addFigures(box, region);
    addStreamed(box, region);
}

/* Adds a table with one row of headings, and returns its body. Headings are [text, class, unit]. */
function addTable(parent, headings) {
    const table = add(add(parent, "div", "scroll"), "table"), row = add(add(table, "thead"), "tr");
    for (const [text, className, unit] of headings) {
        const cell = add(row, "th", className);
        cell.scope = "col";
        fillHeading(cell, text, unit);
    }
    return add(table, "tbody");
}

function addFigures(box, region) {
    const numbers = ["Samples", "Mean", "Std dev", "Min", "Median", "p95", "Max"].map((text) => [text, "number"]);
    const body = addTable(box, [["Metric"], ...numbers, ["Unit"], ["Sum", "number"], ["Component"]]), missing = [];
    const time = {units: "ns", description: "Time from the begin to the end of the region on the device."};
    addFigureRow(body, "GPU time", time, (figure) => region.time_ns[figure]);
    const times = region.with_metrics < region.count ? region.pass_time_ns || [] : [];
    const withMetrics = {units: "ns", description: "GPU time of the samples that have metrics. The others have times alone."};
    times.forEach((ofPass, pass) => {
        const name = "GPU time with metrics" + (times.length > 1 ? ", pass " + pass : "");
        addFigureRow(body, name, withMetrics, (figure) => ofPass[figure]);
    });
    for (const name of metricNames) {
        if (figureOf(region, name, "count") > 0) {
            addFigureRow(body, name, metrics[name], (figure) => figureOf(region, name, figure));
        } else {
            missing.push(name);
        }
    }
    if (missing.length) { add(box, "p", "muted", "Not measured here: " + missing.join(", ") + "."); }
}

/* Figures of a row are in one unit; the sum has its own. */
function addFigureRow(body, name, metric, valueOf) {
    const row = add(body, "tr"), units = metric.units || "", sum = valueOf("sum"), count = valueOf("count");
    const scale = scaleFor(units, FIGURES.map(valueOf));
    addDescribed(add(row, "th", "name"), name, metric.description);
    add(row, "td", "number", isNumber(count) ? COUNT.format(count) : MISSING);
    for (const figure of FIGURES) { add(row, "td", "number", scaled(valueOf(figure), scale)); }
    add(row, "td", "unit", scale.unit);
    add(row, "td", "number", metric.aggregation === "flag" && isNumber(sum) ? plural(sum, "sample") : quantity(sum, units));
    add(row, "td", "muted", metric.component || "");
}

function addDescribed(cell, name, description) {
    cell.scope = "row";
    if (!description) {
        cell.textContent = name;
        return;
    }
    const details = add(cell, "details");
    add(details, "summary", "", name);
    add(details, "p", "", description);
}

