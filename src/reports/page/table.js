/* The table of regions: its columns, rows, details, and how it is sorted and filtered. */
/* ---- columns of the table of regions ---- */

/* The most rows in the document at a time, so that 5,000 regions are as fast as 10. */
const MOST_ROWS = 200;

function timeColumn(label, figure, description, isHidden) {
    return {
        label, units: "ns", scaleGroup: "sample", isHidden, description,
        value: (region) => region.time_ns[figure],
    };
}

/* Returns the GPU time of all samples. That of entries does not include those that are incomplete. */
function totalOf(region) {
    if (region.phase) {
        return region.count > 0 ? region.total_ns : null;
    }
    return region.time_ns.sum;
}

function metricColumn(name, isHidden) {
    const metric = metrics[name];
    return {
        label: metric.label || name,
        units: metric.aggregation === "flag" ? "samples" : metric.units,
        metric: name,
        isHidden,
        description: `${name}: ${metric.description}`,
        value: (region) => figureOf(region, name, shownFigure(metric)),
    };
}

/* Latencies, and what copies moved, as far as any region has them. Launching matters where even the shortest launch
   takes half as long as the region. */
function latencyColumns() {
    const isSlow = ({launch_latency_ns: launch, time_ns: time}) => launch && launch.min >= 0.5 * time.mean;
    return [
        {
            label: "Queued", units: "ns", scaleGroup: "latency", isHidden: true,
            description: "Median time from the append to the execution of the list",
            value: (region) => (region.queue_latency_ns || {}).median,
        },
        {
            label: "Launch", units: "ns", scaleGroup: "latency", isHidden: !regions.some(isSlow),
            description: "Median time from the submission by the host to the begin on the device",
            value: (region) => (region.launch_latency_ns || {}).median,
        },
        {
            label: "Copied", units: "B/s",
            description: "Bytes that copies and fills moved, a second of GPU time",
            value: (region) => region.copied_bytes_per_second,
        },
    ].filter((column) => regions.some((region) => isNumber(column.value(region))));
}

/* What regions reach of what the device can do, as far as that is known of any. */
function peakColumns() {
    const column = (label, member, description) => ({
        label, units: "percent", description, kind: "peak",
        value: ({of_peak: shares}) => shares && isNumber(shares[member]) ? 100 * shares[member] : null,
    });
    return [
        column("Bandwidth of peak", "bandwidth", "Memory traffic as a share of the peak bandwidth"),
        column("Compute of peak", "compute",
            "Operations as a share of the peak, or the share of the time in which a pipe executes, if that is more"),
    ].filter((one) => regions.some((region) => isNumber(one.value(region))));
}

/* What phases have alone: times of the host, memory, and what was read of the whole device meanwhile. */
function phaseColumns() {
    const column = (label, units, value, description, isHidden) => ({
        label, units, isHidden, description,
        scaleGroup: units === "ns" ? "host" : undefined,
        value: ({phase}) => phase ? value(phase) : null,
    });
    const throttled = column("Throttled", "percent",
        (phase) => isNumber(phase.throttled) ? 100 * phase.throttled : null,
        "Share of the time in which the clock was throttled; the details of a phase have the reasons");
    const wasThrottled = regions.some((region) => throttled.value(region) > 0);
    return [
        column("Host", "ns", (phase) => phase.host_ns, "Host time of a phase"),
        column("Host own", "ns", (phase) => phase.host_own_ns,
            "Host time of a phase outside of the phases inside", true),
        column("Host wait", "ns", (phase) => phase.host_wait_ns,
            "Host time of a phase in calls that wait for the device", true),
        column("Busy", "ns", (phase) => phase.busy_ns, "Time in which at least one sample of a phase ran", true),
        column("Memory", "bytes", (phase) => phase.peak_bytes,
            "The most memory of the device that was in use while a phase was open"),
        column("Not freed", "bytes", (phase) => phase.unfreed_bytes,
            "Memory that was allocated in a phase and is not freed", true),
        column("Energy", "J", (phase) => phase.joules, "Energy of the device during a phase"),
        column("Power", "W", (phase) => phase.watts, "Mean power of the device during a phase"),
        ...wasThrottled ? [throttled] : [],
    ].filter((one) => regions.some((region) => isNumber(one.value(region))));
}

/* The share of a region and those inside it, by which nested rows are sorted. */
const withInside = {
    label: "With inside", units: "percent",
    description: "Own times of a region and of those inside it, as a share of the time in which any region ran",
    value: (region) => 100 * region.shareWithChildren,
};

/* How much longer a sample takes than in the run that this one is compared with. */
const change = {
    label: "Change", units: "percent",
    description: "Change of the mean GPU time since the earlier run",
    value: (region) => region.change ? region.change.percent : null,
};

/* A column: `value` returns a number in `units`, or a text where `isText`. Columns of a `scaleGroup` are written in one
   unit. */
function makeColumns() {
    const isChosen = new Set(doc.columns);
    return [
        {
            label: hasNesting ? "Own share" : "Share", kind: "share",
            description: "Own time as a share of the time in which any region ran",
            value: (region) => region.share,
        },
        {
            label: "Region", kind: "name", isText: true,
            value: (region) => region.name,
        },
        {
            label: "Count", units: "",
            description: phases.length ? "Collected samples; how often a phase was entered" : "Collected samples",
            value: (region) => region.phase ? region.phase.entered || null : region.count,
        },
        {
            label: "Lost", kind: "lost", units: "", isHidden: !hasLosses,
            description: "Samples lost or dropped: their data is missing or invalid, or they were not measured",
            value: (region) => (region.lost || 0) + (region.dropped || 0),
        },
        {
            label: "Total", units: "ns", scaleGroup: "all",
            description: "GPU time of all samples, nested regions included",
            value: totalOf,
        },
        {
            label: "Own", units: "ns", scaleGroup: "all", isHidden: !hasNesting,
            description: "GPU time outside of nested regions",
            value: (region) => region.own_ns,
        },
        ...hasNesting ? [withInside] : [],
        ...phaseColumns(),
        ...regions.some((region) => region.change) ? [change] : [],
        timeColumn("Mean", "mean", "Mean GPU time of a sample"),
        ...peakColumns(),
        timeColumn("Median", "median", "Half of the samples take less"),
        timeColumn("p95", "p95", "95 % of the samples take less"),
        timeColumn("Min", "min", "The shortest sample", true),
        timeColumn("Max", "max", "The longest sample", true),
        timeColumn("Std dev", "stddev", "Standard deviation of the samples", true),
        ...latencyColumns(),
        {
            label: "What limits it", kind: "limit", isText: true,
            value: (region) => region.limit.what || "",
        },
        ...metricNames.map((name) => metricColumn(name, !isChosen.has(name))),
    ];
}

const columns = makeColumns();
const view = {sortBy: columns[0], isAscending: false, firstRow: 0, opened: new Set(), rows: [], fullBar: 1};

const shownColumns = () => columns.filter((column) => !column.isHidden);

function scaleOfColumn(column) {
    const isAlike = (other) => other === column || (column.scaleGroup && other.scaleGroup === column.scaleGroup);
    return scaleFor(column.units, columns.filter(isAlike).flatMap((one) => regions.map(one.value)));
}

/* Writes a heading on at most two lines: a long name breaks at the underscore nearest to its middle. */
function fillHeading(node, label, unit) {
    const distance = (at) => Math.abs(at - label.length / 2);
    const breaks = [...label.matchAll(/_/g)].map((match) => match.index + 1);
    const [at] = breaks.sort((a, b) => distance(a) - distance(b));
    if (label.length > 12 && at) {
        node.append(label.slice(0, at));
        add(node, "br");
        node.append(label.slice(at));
    } else {
        node.append(label);
    }
    if (unit) {
        add(node, "span", "unit", ` ${unit}`);
    }
}

function classOfHeading(column) {
    if (column.kind === "name") {
        return "pinned";
    }
    if (column.kind === "share") {
        return "";
    }
    return (column.isText ? "" : "number ") + (column.metric ? "metric" : "");
}

function unitOfHeading(column) {
    if (column.kind === "share") {
        return "%";
    }
    return column.scale ? column.scale.unit : "";
}

function showHeadings() {
    const head = byId("regions").tHead;
    head.replaceChildren();
    const row = add(head, "tr");
    for (const column of shownColumns()) {
        const cell = add(row, "th", classOfHeading(column));
        const button = add(cell, "button");
        cell.scope = "col";
        button.type = "button";
        button.title = column.description || "";
        if (column.units !== undefined) {
            column.scale = column.scale || scaleOfColumn(column);
        }
        fillHeading(button, column.label, unitOfHeading(column));
        button.addEventListener("click", () => {
            view.isAscending = view.sortBy === column ? !view.isAscending : Boolean(column.isText);
            view.sortBy = column;
            showRows();
        });
        column.heading = cell;
    }
}

/* Marks the column that the rows are sorted by. */
function markSorted() {
    for (const column of shownColumns()) {
        if (column === view.sortBy) {
            column.heading.setAttribute("aria-sort", view.isAscending ? "ascending" : "descending");
        } else {
            column.heading.removeAttribute("aria-sort");
        }
    }
}

/* ---- rows of the table of regions ---- */

const collator = new Intl.Collator("en", {numeric: true});

const isNested = () => hasNesting && byId("nested").checked;

/* Sorts by the share that the bars show, where the rows are sorted by a share. */
function sortByShare() {
    if (view.sortBy === columns[0] || view.sortBy === withInside) {
        view.sortBy = isNested() ? withInside : columns[0];
    }
}

/* What is missing comes last in either order. */
function compare(a, b) {
    const column = view.sortBy;
    const direction = view.isAscending ? 1 : -1;
    const left = column.value(a);
    const right = column.value(b);
    const isMissing = column.isText ? (value) => value === "" : (value) => !isNumber(value);
    const difference = column.isText ? collator.compare : (one, other) => one - other;
    if (isMissing(left) || isMissing(right)) {
        return isMissing(left) - isMissing(right) || a.index - b.index;
    }
    return direction * difference(left, right) || a.index - b.index;
}

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
    const matches = new Set(matching);
    const kept = new Set();
    for (const region of matching) {
        for (let above = region; above && !kept.has(above); above = above.above) {
            kept.add(above);
        }
    }
    const rows = [];
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

const nameLength = () => window.innerWidth < 900 ? Math.floor(window.innerWidth / 25) : 56;

/* Shortens a long name: first by the arguments of a C++ signature, which say least, then in its middle, because names
   differ at both ends. */
function shortName(name, most) {
    const whole = String(name).trim() || "(no name)";
    if (Array.from(whole).length <= most) {
        return whole;
    }
    const letters = Array.from(whole.replace(/^void /, "").replace(/\([^()]+\)$/, "(\u2026)"));
    if (letters.length <= most) {
        return letters.join("");
    }
    const head = Math.floor(most * 0.6);
    const tail = letters.length - (most - head - 1);
    return `${letters.slice(0, head).join("")}\u2026${letters.slice(tail).join("")}`;
}

function addShare(row, region) {
    const cell = add(row, "td", "share");
    add(cell, "span", "number", scaled(isNumber(region.share) ? 100 * region.share : null, SHARES));
    const bar = add(cell, "span", "bar");
    const inside = isNested() ? region.shareWithChildren - region.ownShare : (region.share || 0) - region.ownShare;
    add(bar, "i").style.width = `${100 * region.ownShare / view.fullBar}%`;
    if (isNested() || region.phase) {
        add(bar, "i").style.width = `${100 * inside / view.fullBar}%`;
    }
}

function addName(row, region, depth) {
    const cell = add(row, "th", "name pinned");
    const button = add(cell, "button", "", shortName(region.name, nameLength()));
    cell.scope = "row";
    cell.style.paddingLeft = `${0.55 + 1.1 * Math.min(depth, 12)}rem`;
    button.type = "button";
    button.title = region.name;
    button.tabIndex = -1;
    button.setAttribute("aria-expanded", view.opened.has(region));
    if (region.notes.length) {
        add(cell, "span", "mark", " !").title = region.notes.join(" ");
    }
}

function addCell(row, region, column) {
    const value = column.value(region);
    const cell = add(row, "td", "number");
    const text = scaled(value, column.scale);
    if (column.kind === "peak" && isNumber(value)) {
        add(add(cell, "span", "bar"), "i").style.width = `${Math.min(100, value)}%`;
        add(cell, "span", "ofPeak", text);
    } else {
        cell.append(text);
    }
    if (column.kind === "lost") {
        cell.classList.add(value > 0 ? "mark" : "muted");
    }
}

function addRow(body, {region, depth, isContext}) {
    const row = add(body, "tr", (region.phase ? "phase " : "") + (isContext ? "context" : ""));
    row.dataset.region = region.index;
    for (const column of shownColumns()) {
        if (column.kind === "share") {
            addShare(row, region);
        } else if (column.kind === "name") {
            addName(row, region, depth);
        } else if (column.kind === "limit") {
            add(row, "td", "limit", region.limit.what || MISSING).title = region.limit.why;
        } else {
            addCell(row, region, column);
        }
    }
    if (view.opened.has(region)) {
        addDetails(row, region);
    }
}

const shareText = (some) => `${percent(sumOf(some, (region) => region.ownShare))} of GPU time`;

function legendText() {
    const texts = [`A full bar is ${percent(view.fullBar)} of all GPU time.`];
    if (isNested()) {
        texts.push("The strong part of a bar is the region's own time, the faint part that of regions inside it.");
    }
    if (phases.length) {
        texts.push("Bold rows are phases: their count is how often they were entered, their total the GPU time of " +
            "what was submitted in them; mean, median and p95 are of one entry.");
    }
    if (metricNames.length) {
        texts.push("Metrics are means of a sample; rates and shares are weighted by GPU time.");
    }
    return texts.join(" ");
}

function showRows() {
    const body = byId("regions").tBodies[0];
    const matching = filterRegions();
    const barOf = (region) => (isNested() ? region.shareWithChildren : region.share) || 0;
    markSorted();
    view.fullBar = Math.max(1e-9, ...regions.map(barOf));
    view.rows = orderRows(matching);
    body.replaceChildren();
    if (view.firstRow >= view.rows.length) {
        view.firstRow = 0;
    }
    const end = view.firstRow + MOST_ROWS;
    view.rows.slice(view.firstRow, end).forEach((row) => addRow(body, row));
    const first = body.querySelector("button");
    if (first) {
        first.tabIndex = 0;
    }
    const all = plural(regions.length, phases.length ? "row" : "region");
    byId("shown").textContent = matching.length === regions.length
        ? all : `${COUNT.format(matching.length)} of ${all}, ${shareText(matching)}`;
    byId("legend").textContent = legendText();
    showMore([...view.rows.slice(0, view.firstRow), ...view.rows.slice(end)].map((row) => row.region));
}

/* Hides columns, from the right, until the table fits the window: what limits a region last. The choice of columns has
   them. */
function fitColumns() {
    const table = byId("regions");
    const margin = table.getBoundingClientRect().left;
    const room = document.documentElement.clientWidth - 2 * margin;
    let width = table.scrollWidth;
    const shown = shownColumns().reverse();
    const isFree = (column) => !column.kind && column !== view.sortBy;
    for (const column of [...shown.filter(isFree), ...shown.filter((one) => one.kind === "limit")]) {
        if (width > room) {
            width -= column.heading.offsetWidth;
            column.isHidden = true;
        }
    }
    showHeadings();
    showRows();
}

/* Says which rows are in the table, and what share the hidden ones have. */
function showMore(hidden) {
    const [text, previous, next] = byId("more").children;
    const end = Math.min(view.firstRow + MOST_ROWS, view.rows.length);
    const numbers = [view.firstRow + 1, end, view.rows.length].map((number) => COUNT.format(number));
    const shown = `Rows ${numbers[0]} to ${numbers[1]} of ${numbers[2]}`;
    byId("more").hidden = hidden.length === 0;
    text.textContent = `${shown}; ${plural(hidden.length, "more row")} with ${shareText(hidden)}.`;
    previous.disabled = view.firstRow === 0;
    next.disabled = end === view.rows.length;
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
        byId("regions").querySelectorAll("tbody .name > button[tabindex='0']").forEach((other) => {
            other.tabIndex = -1;
        });
        button.tabIndex = 0;
        button.focus();
    }
}

/* Opens a region from elsewhere on the page. */
function reveal(region) {
    byId("filter").value = "";
    showRows();
    const position = view.rows.findIndex((row) => row.region === region);
    view.firstRow = position - position % MOST_ROWS;
    showRows();
    const row = byId("regions").querySelector(`tr[data-region='${region.index}']`);
    if (!view.opened.has(region)) {
        toggle(row);
    }
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
    const pair = add(box, "div", "pair");
    addFacts(add(pair, "div"), region);
    addHistogram(pair, region);
    addFigures(box, region);
    addStreamed(box, region);
}

/* Adds what limits a region, where it is nested, its notes, and what it does a second. */
function addFacts(box, region) {
    addLimit(add(box, "p", "", "What limits it: "), region.limit);
    if (region.above) {
        const path = [];
        for (let above = region.above; above; above = above.above) {
            path.unshift(above.name);
        }
        add(box, "p", "", `Inside ${path.join(" \u203a ")}.`);
    }
    for (const note of region.notes) {
        add(box, "p", "mark", note);
    }
    if (region.phase) {
        for (const text of [phaseText(region), powerText(region.phase), memoryText(region.phase)].filter(Boolean)) {
            add(box, "p", "", text);
        }
    }
    const rates = ratesOf(region);
    if (rates.length) {
        add(box, "p", "", `While it runs: ${rates.join(", ")}.`);
    }
}

function phaseText({phase, count}) {
    const own = phase.host_own_ns < phase.host_ns
        ? `, of which ${quantity(phase.host_own_ns, "ns")} outside of the phases inside` : "";
    const texts = [
        ...phase.entered
            ? [`Entered ${plural(phase.entered, "time")}: ${quantity(phase.host_ns, "ns")} on the host${own}.`] : [],
        `${plural(count, "sample")} in no other region${isNumber(phase.busy_ns)
            ? `; at least one ran for ${quantity(phase.busy_ns, "ns")}.` : "."}`,
    ];
    if (phase.incomplete) {
        texts.push(`Mean, median and p95 leave out ${plural(phase.incomplete, "entry")} with samples that are ` +
            "lost or dropped.");
    }
    return texts.join(" ");
}

/* Returns sentences about energy, clock and throttling of a phase. "" if nothing is known. */
function powerText(phase) {
    const took = [[phase.joules, "J"], [phase.watts, "W"]].filter(([value]) => isNumber(value));
    const reasons = Object.entries(phase.throttled_by).map(([name, share]) => `${name} (${percent(share)})`);
    return [
        took.length ? `The device took ${took.map(([value, unit]) => quantity(value, unit)).join(", ")}.` : "",
        isNumber(phase.mhz) ? `Its mean clock was ${quantity(phase.mhz, "MHz")}.` : "",
        phase.throttled > 0
            ? `It was throttled for ${percent(phase.throttled)} of the time: ${reasons.join(", ")}.` : "",
    ].filter(Boolean).join(" ");
}

/* Returns sentences about memory that was in use, and allocated, in a phase. "" if nothing is known. */
function memoryText(phase) {
    const texts = [];
    const bytes = (value) => quantity(value, "bytes");
    if (isNumber(phase.peak_bytes)) {
        texts.push(`At most ${bytes(phase.peak_bytes)} of the device's memory were in use, ` +
            `${bytes(phase.end_bytes)} at the end.`);
    }
    if (phase.allocations > 0) {
        const unfreed = `of which ${COUNT.format(phase.unfreed)} (${bytes(phase.unfreed_bytes)}) not freed`;
        texts.push(`${plural(phase.allocations, "allocation")}, ${phase.unfreed > 0 ? unfreed : "all freed"}.`);
    }
    return texts.join(" ");
}

function addLimit(text, limit) {
    if (limit.what) {
        add(text, "strong", "", limit.what);
        text.append(". ");
    }
    text.append(limit.why);
    if (limit.what && limit.add) {
        text.append(` To know more, add ${limit.add}.`);
    }
}

function ratesOf(region) {
    const rates = [];
    if (isNumber(region.bytes)) {
        rates.push(`memory traffic ${quantity(region.bytes, "B/s")}`);
    }
    if (isNumber(region.operations)) {
        rates.push(quantity(region.operations, "op/s"));
    }
    if (isNumber(region.instructions)) {
        rates.push(quantity(region.instructions, "instr/s"));
    }
    if (region.bytes > 0 && region.operations > 0) {
        rates.push(quantity(region.operations / region.bytes, "op/B"));
    }
    return rates;
}

/* Adds a table with one row of headings, and returns its body. Headings are [text, class, unit]. */
function addTable(parent, headings) {
    const table = add(add(parent, "div", "scroll"), "table");
    const row = add(add(table, "thead"), "tr");
    for (const [text, className, unit] of headings) {
        const cell = add(row, "th", className);
        cell.scope = "col";
        fillHeading(cell, text, unit);
    }
    return add(table, "tbody");
}

function addFigures(box, region) {
    const numbers = ["Samples", "Mean", "Std dev", "Min", "Median", "p95", "Max"].map((text) => [text, "number"]);
    const body = addTable(box, [["Metric"], ["Unit"], ...numbers, ["Sum", "number"], ["Component"]]);
    const time = {
        units: "ns",
        component: "",
        description: region.phase
            ? "GPU time of what was submitted in one entry of the phase."
            : "Time from the begin to the end of the region on the device.",
    };
    addFigureRow(body, region.phase ? "GPU time of an entry" : "GPU time", time, (figure) => region.time_ns[figure]);
    const times = region.with_metrics < region.count ? region.pass_time_ns || [] : [];
    const withMetrics = {
        units: "ns",
        component: "",
        description: "GPU time of the samples that have metrics. The others have times alone.",
    };
    times.forEach((ofPass, pass) => {
        const name = `GPU time with metrics${times.length > 1 ? `, pass ${pass}` : ""}`;
        addFigureRow(body, name, withMetrics, (figure) => ofPass[figure]);
    });
    const isMeasured = (name) => figureOf(region, name, "count") > 0;
    for (const name of metricNames.filter(isMeasured)) {
        addFigureRow(body, name, metrics[name], (figure) => figureOf(region, name, figure));
    }
    const missing = metricNames.filter((name) => !isMeasured(name));
    if (missing.length) {
        add(box, "p", "muted", `Not measured here: ${missing.join(", ")}.`);
    }
}

/* Figures of a row are in one unit; the sum has its own. */
function addFigureRow(body, name, metric, valueOf) {
    const row = add(body, "tr");
    const {units} = metric;
    const sum = valueOf("sum");
    const scale = scaleFor(units, FIGURES.map(valueOf));
    const isFlag = metric.aggregation === "flag" && isNumber(sum);
    addDescribed(add(row, "th", "name"), name, metric.description);
    add(row, "td", "unit", scale.unit);
    add(row, "td", "number", countOrMissing(valueOf("count")));
    for (const figure of FIGURES) {
        add(row, "td", "number", scaled(valueOf(figure), scale));
    }
    add(row, "td", "number", isFlag ? plural(sum, "sample") : quantity(sum, units));
    add(row, "td", "muted", metric.component);
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

/* Adds the metrics of streams that were sampled while the region ran. */
function addStreamed(box, region) {
    const names = Object.keys(region.streamed || {});
    if (names.length === 0) {
        return;
    }
    const numbers = ["Rows", "Mean", "Peak"].map((text) => [text, "number"]);
    const body = addTable(box, [["Streamed metric"], ["Unit"], ...numbers, ["Component"]]);
    for (const name of names) {
        const streamed = region.streamed[name];
        const metric = doc.streamed[name];
        const row = add(body, "tr");
        const scale = scaleFor(metric.units, [streamed.mean, streamed.peak]);
        addDescribed(add(row, "th", "name"), name, metric.description);
        add(row, "td", "unit", scale.unit);
        add(row, "td", "number", COUNT.format(streamed.rows));
        add(row, "td", "number", scaled(streamed.mean, scale));
        add(row, "td", "number", scaled(streamed.peak, scale));
        add(row, "td", "muted", metric.component);
    }
}
