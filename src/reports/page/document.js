"use strict";
/* Data reaches the page through textContent and setAttribute alone, never as HTML: names of regions may be any text. */

const MISSING = "\u2013";
const FIRST_ROWS = 100, MORE_ROWS = 500, ROOFLINE_POINTS = 150, TIMELINE_ROWS = 8; /* so that 5,000 regions are as fast as 10 */

const byId = (id) => document.getElementById(id);

function add(parent, tag, className, text) {
    const node = document.createElement(tag);
    if (className) { node.className = className; }
    if (text !== undefined) { node.textContent = text; }
    parent.appendChild(node);
    return node;
}

function addSvg(parent, tag, attributes, text) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const name in attributes) { node.setAttribute(name, attributes[name]); }
    if (text !== undefined) { node.textContent = text; }
    parent.appendChild(node);
    return node;
}

/* ---- numbers and units ---- */

const isNumber = (value) => typeof value === "number" && isFinite(value);

const PREFIXES = [[1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"], [1e12, "T"], [1e15, "P"]];
const TIMES = [[1, "ns"], [1e3, "\u00b5s"], [1e6, "ms"], [1e9, "s"]];
const SYMBOLS = new Map([["bytes", "B"], ["B/s", "B/s"], ["op/s", "op/s"], ["Hz", "Hz"], ["W", "W"]]); /* which prefixes precede */
const FIXED = new Map([["percent", "%"], ["%", "%"], ["kHz", "kHz"], ["MHz", "MHz"], ["GHz", "GHz"]]);

/* Returns the units that values in the units of a metric may be written in, from small to large: [size, unit]. */
function stepsOf(units) {
    const rate = /^([KMGT]?B)p[Ss]$/.exec(units), symbol = SYMBOLS.get(units); /* GBpS */
    if (FIXED.has(units) || rate) { return [[1, rate ? rate[1] + "/s" : FIXED.get(units)]]; }
    const time = TIMES.find(([, unit]) => unit === units.replace("us", "\u00b5s"));
    if (time) { return TIMES.map(([size, unit]) => [size / time[0], unit]); }
    return PREFIXES.map(([size, prefix]) => [size, symbol ? prefix + symbol : (prefix + " " + units).trim()]);
}

const formatter = (decimals) => new Intl.NumberFormat("en-US", {minimumFractionDigits: decimals, maximumFractionDigits: decimals});

const DIGITS = new Intl.NumberFormat("en-US", {maximumSignificantDigits: 3});
const COUNT = formatter(0), SHARES = {size: 1, smallest: 0.1, format: formatter(1)};

/* Chooses one unit and one number of decimals for all values of a column. */
function scaleFor(units, values) {
    let largest = 0, areWhole = true;
    for (const value of values) {
        if (isNumber(value)) {
            largest = Math.max(largest, Math.abs(value));
            areWhole = areWhole && Number.isInteger(value);
        }
    }
    const steps = stepsOf(units);
    const step = steps.find(([size]) => largest / size < 10000) || steps[steps.length - 1];
    const top = largest / step[0];
    let decimals = top >= 1000 ? 1 : top >= 100 ? 2 : 3;
    if (step[1] === "%") { decimals = 1; }
    if (areWhole && step[0] === 1) { decimals = 0; }
    return {size: step[0], unit: step[1], smallest: Math.pow(10, -decimals), format: formatter(decimals)};
}

function scaled(value, scale) {
    if (!isNumber(value)) { return MISSING; }
    const size = Math.abs(value / scale.size);
    if (size > 0 && size < scale.smallest / 2) { return "<" + scale.format.format(scale.smallest); }
    return scale.format.format(value / scale.size);
}

/* Returns a value in three digits with the unit that suits it, or that suits `other`, for sentences and axes. */
function quantity(value, units, other) {
    if (!isNumber(value)) { return MISSING; }
    const most = Math.abs(isNumber(other) ? other : value), steps = stepsOf(units);
    const [size, unit] = steps.findLast((step) => most >= step[0] * 0.9995) || steps[0];
    const digits = Math.abs(value / size) >= 999.5 ? COUNT.format(value / size) : DIGITS.format(value / size);
    return unit ? digits + "\u00a0" + unit : digits;
}

const percent = (share) => isNumber(share) ? scaled(100 * share, SHARES) + "\u00a0%" : MISSING;
const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);
const plural = (count, word) => COUNT.format(count) + " " + word + (count === 1 ? "" : "s");

/* ---- the document ---- */

const doc = readDocument();
const metrics = doc.metrics || {};
const regions = doc.regions || [];
const kernels = doc.kernels || [];
const calls = doc.calls || [];

function readDocument() {
    try {
        return JSON.parse(byId("data").textContent);
    } catch (error) {
        byId("summary").textContent = "The data of this page cannot be read: " + error.message + ". Write the report again.";
        throw error;
    }
}

const ownProperty = (object, name) => object && Object.hasOwn(object, name) ? object[name] : undefined;

const STATS = ["count", "sum", "mean", "stddev", "min", "max", "median", "p95"];

/* Returns one of STATS of a metric in a region. The document holds them as an object, or as an array in this order. */
function figureOf(region, name, figure) {
    const stats = ownProperty(region.metrics, name);
    return Array.isArray(stats) ? stats[STATS.indexOf(figure)] : ownProperty(stats, figure);
}

/* Returns the names of the metrics of the columns, then of those that have means, then of the others. */
function orderMetrics() {
    const chosen = (doc.columns || []).filter((name) => ownProperty(metrics, name)), isChosen = new Set(chosen);
    const others = Object.keys(metrics).filter((name) => !isChosen.has(name));
    const hasMean = (name) => metrics[name].aggregation === "sum" || metrics[name].aggregation === "mean";
    return [...isChosen, ...others.filter(hasMean), ...others.filter((name) => !hasMean(name))];
}

const metricNames = orderMetrics();

/* Returns which figure of a metric the table shows: of flags, it is in how many samples they were set. */
const shownFigure = (metric) => metric.aggregation === "flag" ? "sum" : metric.aggregation === "none" ? "max" : "mean";

/* Links regions to their parents. A chain of parents that ends nowhere is cut. */
function linkRegions() {
    regions.forEach((region, index) => {
        region.index = index;
        region.time_ns = region.time_ns || {};
        region.limit = region.limit || {};
        region.limit.what = region.limit.what === "unknown" ? "" : region.limit.what;
        region.share = region.count > 0 ? region.share : null;
        region.notes = notesOf(region);
        region.children = [];
        region.shareWithChildren = 0;
    });
    for (const region of regions) {
        let above = regions[region.parent], steps = 0;
        while (above && steps++ < regions.length) { above = regions[above.parent]; }
        region.above = above ? null : regions[region.parent] || null;
        if (region.above) { region.above.children.push(region); }
    }
    for (const region of regions) {
        for (let above = region; above; above = above.above) { above.shareWithChildren += isNumber(region.share) ? region.share : 0; }
    }
}

/* Describes in sentences what the figures of a region leave open. */
function notesOf(region) {
    const notes = [...(region.notes || [])];
    if (region.own_ns === null && isNumber(region.share)) {
        notes.push("Its own time is not known, because samples are missing or regions overlap. Its share is estimated.");
    }
    if (region.differs && region.differs !== "no") {
        const ways = {missing: "it is missing in some", count: "its samples are not equally many", time: "its GPU time differs"};
        notes.push("The passes differ: " + region.differs.split("+").map((way) => ways[way] || way).join(", ") +
            ". Do not compare metrics of different passes.");
    }
    return notes;
}

/* Without own times in the document, regions may be inside others: then a bar is a region's GPU time over that of all, which
   orders the rows, and no share or sum is shown. */
const hasOwnTimes = regions.some((region) => region.own_ns !== undefined);

function addShares() {
    const total = regions.reduce((sum, region) => sum + ((region.time_ns || {}).sum || 0), 0);
    for (const region of regions) {
        region.own_ns = (region.time_ns || {}).sum;
        region.share = total > 0 && isNumber(region.own_ns) ? region.own_ns / total : null;
    }
}

if (!hasOwnTimes) { addShares(); }
linkRegions();
const hasNesting = regions.some((region) => region.above);
const hasLosses = regions.some((region) => region.lost || region.dropped);

/* ---- heading ---- */

const readable = (date) => String(date || "").replace("T", " ").replace("Z", " UTC");

function showHeading() {
    const device = doc.device || {}, counts = doc.counts || {};
    const [, availability, explanation] = String(doc.availability || "").match(/^(\[\w+\])? ?(.*)/);
    const groups = [...new Set(Object.values(metrics).map((metric) => metric.group).filter(Boolean))];
    const facts = [
        ["Device", device.name], ["Driver", device.driver_version], ["PCI", device.pci], ["UUID", device.uuid],
        ["Core clock", isNumber(device.core_clock_mhz) ? COUNT.format(device.core_clock_mhz) + " MHz" : ""],
        ["Timer", isNumber(device.timer_hz) ? quantity(device.timer_hz, "Hz") : ""],
        ["Date", readable(doc.date)], ["Measured from", readable(doc.opened)],
        ["zetools", doc.zetools], ["Metrics", availability === "[AVAILABLE]" ? groups.join(", ") : capital(explanation.replace(/^zt_\w+: /, ""))],
    ];
    document.title = (doc.program || "Program") + ": GPU profile";
    byId("program").textContent = doc.program || "GPU profile";
    for (const [term, fact] of facts) {
        if (fact) {
            const pair = add(byId("facts"), "div");
            add(pair, "dt", "", term);
            add(pair, "dd", "", fact);
        }
    }
    showSummary(counts);
    showNotes();
    if (regions.length) { addLink("regions", "Regions"); }
}

/* Answers in a sentence each: where the time goes, and what limits it there. */
function showSummary(counts) {
    const summary = byId("summary");
    if (regions.length === 0) {
        summary.textContent = "No region was measured.";
        return;
    }
    if (hasOwnTimes) {
        const own = isNumber(doc.gpu_time_ns) ? doc.gpu_time_ns : regions.reduce((sum, region) => sum + (region.own_ns || 0), 0);
        add(summary, "strong", "", quantity(own, "ns") + " of GPU time");
        summary.append(" in ");
    }
    summary.append(plural(regions.length, "region") + ", " + plural(counts.collected || 0, "sample") + ". ");
    if (!hasOwnTimes) { return; }
    const shares = new Map();
    for (const region of regions) {
        if (region.limit.what && isNumber(region.share)) {
            shares.set(region.limit.what, (shares.get(region.limit.what) || 0) + region.share);
        }
    }
    const largest = [...shares].sort((a, b) => b[1] - a[1]).slice(0, 5);
    const unknown = regions.reduce((sum, region) => sum + (region.limit.what ? 0 : region.share || 0), 0);
    if (largest.length) {
        if (unknown >= 0.0005) { largest.push(["not known", unknown]); }
        summary.append("What limits it: " + largest.map(([what, share]) => what + "\u00a0" + percent(share)).join(", ") + ".");
    }
}

function showNotes() {
    const list = byId("notes").querySelector("ul");
    for (const note of doc.notes || []) { add(list, "li", "", note); }
    byId("notes").hidden = list.childElementCount === 0;
}

/* Shows a part of the page, with a link to it at the top. */
function addLink(id, text) {
    byId(id).hidden = false;
    const link = add(byId("notes").parentElement.querySelector("nav"), "a", "", text);
    link.href = "#" + id;
}

