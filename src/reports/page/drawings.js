/* ---- drawings ---- */

/* Returns ticks of a logarithmic axis: powers of ten and, where there is room, 2 and 5 times these; below a decade, equal steps. */
function ticksOf(low, high) {
    const ticks = [], decades = Math.log10(high / low);
    const size = Math.pow(10, Math.floor(Math.log10(high - low)));
    const step = size * ((high - low) / size < 2.5 ? 0.5 : (high - low) / size < 5 ? 1 : 2);
    for (let tick = Math.ceil(low / step) * step; decades < 1 && tick <= high; tick += step) { ticks.push(tick); }
    for (let power = Math.floor(Math.log10(low)); decades >= 1 && power <= Math.log10(high); power++) {
        ticks.push(...(decades < 2.5 ? [1, 2, 5] : [1]).map((digit) => digit * Math.pow(10, power)));
    }
    return ticks.filter((tick) => tick >= low && tick <= high);
}

/* Returns a function from a value to a coordinate on a logarithmic axis. */
const logAxis = (low, high, from, to) => (value) => from + (to - from) * Math.log(value / low) / Math.log(high / low);
const drawing = (parent, width, height, label) => addSvg(parent, "svg", {width, height, viewBox: "0 0 " + width + " " + height, role: "img", "aria-label": label});

function addHistogram(box, region) {
    const histogram = region.histogram || {}, all = histogram.counts || [], time = region.time_ns;
    const first = all.findIndex((count) => count > 0);
    if (first < 0 || !(histogram.first_ns > 0) || !(histogram.ratio > 1)) { return; }
    const last = all.findLastIndex((count) => count > 0), margin = Math.max(1, Math.ceil((11 - (last - first)) / 2));
    const low = histogram.first_ns * Math.pow(histogram.ratio, first - margin);
    const high = histogram.first_ns * Math.pow(histogram.ratio, last + 1 + margin), most = Math.max(...all);
    const left = 90, right = 620, bottom = 130, top = 34, x = logAxis(low, high, left, right);
    const svg = drawing(box, 640, 150, "Distribution of GPU time: minimum " + quantity(time.min, "ns") + ", median " +
        quantity(time.median, "ns") + ", 95th percentile " + quantity(time.p95, "ns") + ", maximum " + quantity(time.max, "ns"));
    const kept = all.reduce((sum, count) => sum + count, 0);
    addSvg(svg, "text", {x: left, y: 10, class: "muted"}, "GPU time of " + (kept < time.count ? COUNT.format(kept) + " of " : "") +
        plural(Math.max(kept, time.count || 0), "sample") + (kept < time.count ? ", chosen at random" : "") + ", logarithmic");
    addSvg(svg, "text", {x: left - 6, y: top + 8, "text-anchor": "end"}, plural(most, "sample"));
    all.forEach((count, index) => {
        const begin = histogram.first_ns * Math.pow(histogram.ratio, index), from = x(begin), to = x(begin * histogram.ratio);
        if (!(count > 0)) { return; }
        const height = Math.max(1, (bottom - top) * count / most);
        const bar = addSvg(svg, "rect", {x: from, y: bottom - height, width: Math.max(0.5, to - from - 1), height, class: "column"});
        addSvg(bar, "title", {}, plural(count, "sample") + " from " + quantity(begin, "ns") + " to " + quantity(begin * histogram.ratio, "ns"));
    });
    addSvg(svg, "path", {d: "M" + left + " " + bottom + "H" + right, class: "axis"});
    for (const tick of ticksOf(low, high)) {
        addSvg(svg, "path", {d: "M" + x(tick) + " " + bottom + "v4", class: "axis"});
        addSvg(svg, "text", {x: x(tick), y: bottom + 16, "text-anchor": "middle"}, quantity(tick, "ns"));
    }
    for (const [figure, text, anchor] of [["median", "median ", "end"], ["p95", "p95 ", "start"]]) {
        if (time[figure] >= low && time[figure] <= high) {
            const at = x(time[figure]);
            addSvg(svg, "path", {d: "M" + at + " " + (top - 12) + "V" + bottom, class: "marker"});
            addSvg(svg, "text", {x: at + (anchor === "end" ? -4 : 4), y: top - 4, "text-anchor": anchor}, text + quantity(time[figure], "ns"));
        }
    }
}

/* Adds the metrics of streams that were sampled while the region ran. */
function addStreamed(box, region) {
    const names = Object.keys(region.streamed || {});
    if (names.length === 0) { return; }
    const body = addTable(box, [["Streamed metric"], ["Rows", "number"], ["Mean", "number"], ["Peak", "number"], ["Unit"], ["Component"]]);
    for (const name of names) {
        const streamed = region.streamed[name], metric = ownProperty(doc.streamed, name) || {};
        const row = add(body, "tr"), scale = scaleFor(metric.units || "", [streamed.mean, streamed.peak]);
        add(row, "th", "name", name).scope = "row";
        add(row, "td", "number", COUNT.format(streamed.rows || 0));
        for (const figure of [streamed.mean, streamed.peak]) { add(row, "td", "number", scaled(figure, scale)); }
        for (const fact of [scale.unit, metric.component]) { add(row, "td", "", fact || ""); }
    }
}

/* Draws what regions do a second: operations where the program has stated them, else instructions of any width, which no peak of
   operations holds for. */
function showRoofline() {
    const peaks = doc.peaks || {}, kind = regions.some((region) => region.operations > 0) ? "operations" : "instructions";
    const bytes = peaks.bytes_per_second, most = kind === "operations" ? peaks.operations_per_second : null;
    const rate = kind === "operations" ? "op/s" : "instr/s";
    const points = regions.filter((region) => region.bytes > 0 && region[kind] > 0)
        .sort((a, b) => (b.share || 0) - (a.share || 0)).slice(0, ROOFLINE_POINTS);
    if ((!(bytes > 0) && !(most > 0)) || points.length === 0) { return; }
    const intensities = points.map((region) => region[kind] / region.bytes), rates = points.map((region) => region[kind]);
    if (bytes > 0 && most > 0) { intensities.push(most / bytes); }
    const lowX = Math.min(...intensities) / 3, highX = Math.max(...intensities) * 5;
    const width = window.innerWidth < 900 ? 640 : 960, top = 10, bottom = 300, left = 80, right = width - 20;
    const lowY = Math.min(...rates, bytes > 0 ? lowX * bytes : Infinity) / 2, highY = Math.max(...rates, most || 0) * 3;
    const x = logAxis(lowX, highX, left, right), y = logAxis(lowY, highY, bottom, top);
    addLink("roofline", "Roofline");
    const roofs = [bytes > 0 ? quantity(bytes, "B/s") : "", most > 0 ? quantity(most, rate) : ""].filter(Boolean).join(", ");
    add(byId("roofline"), "p", "muted", capital(kind) + " a second against " + kind + " a byte of memory traffic, while each region runs. Larger " +
        "points have a larger share of GPU time. Peak, " + (peaks.source || "of unknown source") + ": " + roofs + "." +
        (kind === "operations" ? "" : " Instructions are those of the vector and matrix engines, each of which does several operations: " +
            "zt_set_operations states how many of these a region does."));
    const svg = drawing(byId("roofline"), width, 345, "Roofline of " + plural(points.length, "region") + "; the figures are in the details of each region");
    for (const tick of ticksOf(lowX, highX)) {
        addSvg(svg, "path", {d: "M" + x(tick) + " " + top + "V" + bottom, class: "grid"});
        addSvg(svg, "text", {x: x(tick), y: bottom + 15, "text-anchor": "middle"}, quantity(tick, ""));
    }
    for (const tick of ticksOf(lowY, highY)) {
        addSvg(svg, "path", {d: "M" + left + " " + y(tick) + "H" + right, class: "grid"});
        addSvg(svg, "text", {x: left - 6, y: y(tick) + 4, "text-anchor": "end"}, quantity(tick, rate));
    }
    addSvg(svg, "text", {x: right, y: bottom + 32, "text-anchor": "end", class: "muted"}, kind + " a byte");
    addSvg(svg, "path", {d: "M" + left + " " + top + "V" + bottom + "H" + right, class: "axis"});
    const ridge = bytes > 0 ? Math.min(highX, (most > 0 ? most : highY) / bytes) : lowX;
    if (bytes > 0) {
        addSvg(svg, "path", {d: "M" + x(lowX) + " " + y(lowX * bytes) + "L" + x(ridge) + " " + y(ridge * bytes), class: "roof"});
        addSvg(svg, "text", {x: x(lowX) + 8, y: y(lowX * bytes) + 14}, quantity(bytes, "B/s"));
    }
    if (most > 0) {
        addSvg(svg, "path", {d: "M" + x(ridge) + " " + y(most) + "H" + right, class: "roof"});
        addSvg(svg, "text", {x: right, y: y(most) - 5, "text-anchor": "end"}, quantity(most, rate));
    }
    addPoints(svg, points, kind, rate, x, y, width * 2 / 3);
}

/* Draws the points, small ones on top, and names those of the largest share where names do not overlap. */
function addPoints(svg, points, kind, rate, x, y, leftFrom) {
    const named = [];
    for (const region of points) {
        const at = {x: x(region[kind] / region.bytes), y: y(region[kind])}, radius = 3 + 9 * Math.sqrt(region.share || 0);
        const point = addSvg(svg, "circle", {cx: at.x, cy: at.y, r: radius, class: "point"});
        addSvg(point, "title", {}, region.name + ": " + quantity(region[kind], rate) + ", " + quantity(region.bytes, "B/s") + " of memory traffic" +
            (hasOwnTimes ? ", " + percent(region.share) + " of GPU time" : ""));
        point.addEventListener("click", () => reveal(region));
        const text = shortName(region.name, 42), width = 7 * text.length, isOnLeft = at.x > leftFrom;
        const left = isOnLeft ? at.x - radius - 3 - width : at.x + radius + 3;
        const isFree = named.every((other) => Math.abs(other.y - at.y) > 14 || other.left > left + width || other.left + other.width < left);
        if (named.length < 12 && isFree) { named.push({text, left, width, y: at.y, anchor: isOnLeft ? "end" : "start"}); }
    }
    for (const {text, left, width, y: middle, anchor} of named) {
        const from = anchor === "end" ? left + width : left;
        addSvg(svg, "text", {x: from, y: middle + 4, "text-anchor": anchor, class: "point-name"}, text);
    }
}

/* ---- timeline ---- */

const BINS = 1000;

/* Adds a span to the bins, each of which holds how much of it is covered. */
function cover(bins, from, to) {
    const last = Math.min(BINS - 1, Math.floor(to));
    for (let bin = Math.max(0, Math.floor(from)); bin <= last; bin++) { bins[bin] += Math.min(to, bin + 1) - Math.max(from, bin); }
}

/* Draws the bins in four shades, so that the size of the drawing does not depend on the number of spans. */
function drawBins(svg, bins, className) {
    for (let shade = 1; shade <= 4; shade++) {
        let path = "", from = -1;
        for (let bin = 0; bin <= BINS; bin++) {
            const isShade = bin < BINS && bins[bin] > 0 && Math.min(4, Math.ceil(4 * bins[bin])) === shade;
            if (isShade && from < 0) {
                from = bin;
            } else if (!isShade && from >= 0) {
                path += "M" + from + " 0H" + bin + "V1H" + from + "z";
                from = -1;
            }
        }
        if (path) { addSvg(svg, "path", {d: path, class: className, "fill-opacity": (shade + 1) / 5}); }
    }
}

/* Returns how long at least one of the spans lasts. */
function coveredTime(spans) {
    let covered = 0, end = -Infinity;
    for (const span of spans.slice().sort((a, b) => a[1] - b[1])) {
        covered += Math.max(0, span[2] - Math.max(end, span[1]));
        end = Math.max(end, span[2]);
    }
    return covered;
}

function addStrip(parent, name, title, spans, timeline, share) {
    const duration = timeline.end_ns - timeline.begin_ns, bins = new Float64Array(BINS), lost = new Float64Array(BINS);
    add(parent, "span", "name", name).title = title;
    const svg = addSvg(parent, "svg", {viewBox: "0 0 " + BINS + " 1", preserveAspectRatio: "none", role: "img",
        "aria-label": plural(spans.length, "sample")});
    for (const [, begin, end, isLost] of spans) {
        const from = BINS * (begin - timeline.begin_ns) / duration, to = BINS * (end - timeline.begin_ns) / duration;
        cover(isLost ? lost : bins, from, Math.max(to, from + 1e-6));
    }
    drawBins(svg, bins, "");
    drawBins(svg, lost, "lost");
    add(parent, "span", "number", percent(share));
}

/* Describes how kernels, copies and idle time share the time of the device. */
function overlapText() {
    const overlap = doc.overlap || {}, part = (time) => percent(time / overlap.span_ns);
    if (overlap.missing) { return " The idle time of the device is not known: " + plural(overlap.missing, "sample") + " missing."; }
    if (!(overlap.span_ns > 0) || !isNumber(overlap.busy_ns)) { return ""; }
    const copies = overlap.copy_ns > 0 ? ", copies " + part(overlap.copy_ns) + ", both at once " + part(overlap.both_ns) : "";
    const kernels = overlap.kernel_ns > 0 || copies ? " Kernels take " + part(overlap.kernel_ns) + copies + "." : "";
    return kernels + " In " + part(overlap.idle_ns) + ", nothing that is measured runs.";
}

function showTimeline() {
    const timeline = doc.timeline || {}, duration = timeline.end_ns - timeline.begin_ns;
    const spans = (timeline.spans || []).filter((span) => regions[span[0]] && isNumber(span[1]) && isNumber(span[2]))
        .map(([index, begin, end, lost]) => [index, Math.max(begin, timeline.begin_ns), Math.min(end, timeline.end_ns), lost])
        .filter(([, begin, end]) => begin <= end);
    if (!(duration > 0) || spans.length === 0) { return; }
    const byRegion = new Map();
    for (const span of spans) {
        const list = byRegion.get(span[0]) || [];
        list.push(span);
        byRegion.set(span[0], list);
    }
    const rows = [...byRegion].map(([index, list]) => ({region: regions[index], list, covered: coveredTime(list)}));
    rows.sort((a, b) => b.covered - a.covered);
    const others = rows.splice(TIMELINE_ROWS);
    const part = byId("timeline"), lost = spans.filter((span) => span[3]).length;
    addLink("timeline", "Timeline");
    const shown = timeline.samples > spans.length ? "The newest " + COUNT.format(spans.length) + " of " + plural(timeline.samples, "sample") + ","
        : plural(spans.length, "sample");
    add(part, "p", "muted", shown + " in " + quantity(duration, "ns") + "; regions run for " +
        percent(coveredTime(spans) / duration) + " of it. A row's figure is how much of the time its region runs." +
        (lost ? " " + COUNT.format(lost) + " lost, in the second colour." : "") + overlapText());
    const strip = add(part, "div", "strip");
    for (const row of rows) { addStrip(strip, shortName(row.region.name, nameLength()), row.region.name, row.list, timeline, row.covered / duration); }
    if (others.length) {
        const list = others.flatMap((row) => row.list);
        addStrip(strip, plural(others.length, "other region"), "", list, timeline, coveredTime(list) / duration);
    }
    add(strip, "span");
    const times = add(strip, "span", "times");
    for (let quarter = 0; quarter <= 4; quarter++) { add(times, "span", "", quantity(quarter * duration / 4, "ns", duration)); }
}

