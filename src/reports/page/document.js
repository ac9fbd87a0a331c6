"use strict";
/* Elements, numbers with their units, and the document that the page shows. */
/* Data reaches the page through textContent and setAttribute alone, never as HTML: names of regions may be any text. */

const MISSING = "\u2013";

const byId = (id) => document.getElementById(id);

function add(parent, tag, className, text) {
    const node = document.createElement(tag);
    if (className) {
        node.className = className;
    }
    if (text !== undefined) {
        node.textContent = text;
    }
    parent.appendChild(node);
    return node;
}

function addSvg(parent, tag, attributes, text) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) {
        node.setAttribute(name, value);
    }
    if (text !== undefined) {
        node.textContent = text;
    }
    parent.appendChild(node);
    return node;
}

/* ---- numbers and units ---- */

const isNumber = (value) => typeof value === "number" && isFinite(value);

const PREFIXES = [[1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"], [1e12, "T"], [1e15, "P"]];
const TIMES = [[1, "ns"], [1e3, "\u00b5s"], [1e6, "ms"], [1e9, "s"]];
/* Units that are written with a prefix, and units that are written as they are. */
const PREFIXED = new Map([["bytes", "B"], ["B/s", "B/s"], ["op/s", "op/s"], ["Hz", "Hz"], ["W", "W"],
    ["J", "J"]]);
const FIXED = new Map([["percent", "%"], ["%", "%"], ["kHz", "kHz"], ["MHz", "MHz"], ["GHz", "GHz"]]);

/* Returns the units that values in the units of a metric may be written in, from small to large: [size, unit]. */
function stepsOf(units) {
    const rate = /^([KMGT]?B)p[Ss]$/.exec(units); /* GBpS */
    if (rate) {
        return [[1, `${rate[1]}/s`]];
    }
    if (FIXED.has(units)) {
        return [[1, FIXED.get(units)]];
    }
    const time = TIMES.find(([, unit]) => unit === units.replace("us", "\u00b5s"));
    if (time) {
        return TIMES.map(([size, unit]) => [size / time[0], unit]);
    }
    const symbol = PREFIXED.get(units);
    return PREFIXES.map(([size, prefix]) => [size, symbol ? prefix + symbol : `${prefix} ${units}`.trim()]);
}

function formatter(decimals) {
    return new Intl.NumberFormat("en-US", {minimumFractionDigits: decimals, maximumFractionDigits: decimals});
}

const DIGITS = new Intl.NumberFormat("en-US", {maximumSignificantDigits: 3});
const COUNT = formatter(0);
const SHARES = {size: 1, smallest: 0.1, format: formatter(1)};

function decimalsFor(largest, unit) {
    if (unit === "%" || largest >= 1000) {
        return 1;
    }
    return largest >= 100 ? 2 : 3;
}

/* Chooses one unit and one number of decimals for all values of a column. */
function scaleFor(units, values) {
    let largest = 0;
    let areWhole = true;
    for (const value of values.filter(isNumber)) {
        largest = Math.max(largest, Math.abs(value));
        areWhole = areWhole && Number.isInteger(value);
    }
    const steps = stepsOf(units);
    const [size, unit] = steps.find((step) => largest / step[0] < 10000) || steps[steps.length - 1];
    const decimals = areWhole && size === 1 ? 0 : decimalsFor(largest / size, unit);
    return {size, unit, smallest: Math.pow(10, -decimals), format: formatter(decimals)};
}

function scaled(value, scale) {
    if (!isNumber(value)) {
        return MISSING;
    }
    const size = Math.abs(value / scale.size);
    if (size > 0 && size < scale.smallest / 2) {
        return `<${scale.format.format(scale.smallest)}`;
    }
    return scale.format.format(value / scale.size);
}

/* Returns a value in three digits with the unit that suits it, or that suits `other`, for sentences and axes. */
function quantity(value, units, other) {
    if (!isNumber(value)) {
        return MISSING;
    }
    const most = Math.abs(isNumber(other) ? other : value);
    const steps = stepsOf(units);
    const [size, unit] = steps.findLast((step) => most >= step[0] * 0.9995) || steps[0];
    const digits = Math.abs(value / size) >= 999.5 ? COUNT.format(value / size) : DIGITS.format(value / size);
    return unit ? `${digits}\u00a0${unit}` : digits;
}

const percent = (share) => isNumber(share) ? `${scaled(100 * share, SHARES)}\u00a0%` : MISSING;
const countOrMissing = (value) => isNumber(value) ? COUNT.format(value) : MISSING;
const several = (word) => word.endsWith("y") ? `${word.slice(0, -1)}ies` : `${word}s`;
const plural = (count, word) => `${COUNT.format(count)} ${count === 1 ? word : several(word)}`;
const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);
const sumOf = (list, valueOf) => list.reduce((sum, one) => sum + (valueOf(one) || 0), 0);

/* ---- the document ---- */

const doc = readDocument();
const metrics = doc.metrics;
const named = doc.regions; /* by name, as other parts of the document refer to them */
const regions = rowsByPath(named, doc.paths);
const kernels = doc.kernels || []; /* this and the next are missing if the library has no tracer */
const calls = doc.calls || [];

function readDocument() {
    try {
        return JSON.parse(byId("data").textContent, (key, value) => {
            if (value && value.shown) { /* a demangled name */
                value.name = value.shown;
            }
            return value;
        });
    } catch (error) {
        byId("summary").textContent = `The data of this page cannot be read: ${error.message}. Write the report again.`;
        throw error;
    }
}

/* Returns the rows of the table: regions or, if a region is on several paths, all paths. Then each of its paths has
   figures of its own, and `parent` is the index of a row. */
function rowsByPath(all, paths) {
    const counts = new Map();
    for (const {region} of paths) {
        counts.set(region, (counts.get(region) || 0) + 1);
    }
    const isSplit = (region) => counts.get(region) > 1;
    if (!paths.some(({region}) => isSplit(region))) {
        return all;
    }
    const rows = paths.map((path) =>
        ({...all[path.region], ...(isSplit(path.region) ? path : {}), parent: path.parent}));
    return withoutEmpty(rows)
        .concat(all.filter((_, index) => !counts.has(index)).map((region) => ({...region, parent: null})));
}

/* Leaves out paths on which nothing ran, such as that on which a list was recorded that is executed in phases. */
function withoutEmpty(rows) {
    const parents = new Set(rows.map((row) => row.parent));
    const places = new Map();
    const kept = rows.filter((row, index) => {
        const isKept = row.phase || row.count || row.lost || row.dropped || parents.has(index);
        if (isKept) {
            places.set(index, places.size);
        }
        return isKept;
    });
    return kept.map((row) => ({...row, parent: places.has(row.parent) ? places.get(row.parent) : null}));
}

/* What the document has of a metric in a region, in this order. */
const STATS = ["count", "sum", "mean", "stddev", "min", "max", "median", "p95"];

const figureOf = (region, name, figure) => region.metrics[name][STATS.indexOf(figure)];

/* Returns the names of the metrics of the columns, then of those that have means, then of the others. */
function orderMetrics() {
    const isChosen = new Set(doc.columns);
    const others = Object.keys(metrics).filter((name) => !isChosen.has(name));
    const hasMean = (name) => metrics[name].aggregation === "sum" || metrics[name].aggregation === "mean";
    return [...isChosen, ...others.filter(hasMean), ...others.filter((name) => !hasMean(name))];
}

const metricNames = orderMetrics();

/* Which figure of a metric the table shows, other than the mean. Of flags, it is in how many samples they were set. */
const SHOWN_FIGURES = new Map([["flag", "sum"], ["none", "max"]]);
const shownFigure = (metric) => SHOWN_FIGURES.get(metric.aggregation) || "mean";

/* Describes in sentences what the figures of a region leave open. */
function notesOf(region) {
    const notes = [];
    if (region.own_ns === null && isNumber(region.share) && !region.phase) {
        notes.push("Its own time is not known, because samples are missing or regions overlap. " +
            "Its share is estimated.");
    }
    if (region.differs && region.differs !== "no") {
        const texts = {
            missing: "it is missing in some",
            count: "its samples are not equally many",
            time: "its GPU time differs",
        };
        const ways = region.differs.split("+").map((way) => texts[way]).join(", ");
        notes.push(`The passes differ: ${ways}. Do not compare metrics of different passes.`);
    }
    return notes;
}

/* Completes the regions, and links them to their parents. `ownShare` adds up: the share of a phase is that of the
   regions inside. */
function linkRegions() {
    regions.forEach((region, index) => {
        region.index = index;
        region.limit.what = region.limit.what === "unknown" ? "" : region.limit.what;
        region.share = region.count > 0 ? region.share : null;
        region.ownShare = region.phase || !isNumber(region.share) ? 0 : region.share;
        region.notes = notesOf(region);
        region.children = [];
        region.shareWithChildren = 0;
    });
    for (const region of regions) {
        region.above = regions[region.parent] || null;
        if (region.above) {
            region.above.children.push(region);
        }
    }
    for (const region of regions) {
        for (let above = region; above; above = above.above) {
            above.shareWithChildren += region.ownShare;
        }
    }
}

linkRegions();
const measured = regions.filter((region) => !region.phase);
const phases = regions.filter((region) => region.phase);
const hasNesting = regions.some((region) => region.above);
const hasLosses = regions.some((region) => region.lost || region.dropped);
