/* The timeline: phases and queues as rows, of which a part of the time is shown. */
/* ---- rows ---- */

const MOST_QUEUES = 12; /* with a row of their own */
const MOST_LANES = 8; /* of a row: spans that are inside or beside each other */
const HUES = 5; /* regions with a colour of their own */

const timeline = {rows: [], hues: [], duration: 0, begin: 0, end: 0};

const spansOf = (list) => list.map(([index, begin, end]) => ({region: named[index], begin, end}));

/* Returns how long at least one of the spans lasts from `begin` to `end`. They are in the order of their begins. */
function coveredTime(spans, begin, end) {
    let covered = 0;
    let latest = begin;
    for (const span of spans) {
        const last = Math.min(span.end, end);
        covered += Math.max(0, last - Math.max(latest, span.begin));
        latest = Math.max(latest, last);
    }
    return covered;
}

/* Distributes spans to lanes: one that begins while others last is below all of these. */
function lanesOf(spans) {
    const lanes = [];
    for (const span of spans) {
        const below = lanes.findLastIndex((lane) => lane.end > span.begin) + 1;
        const at = Math.min(below, MOST_LANES - 1);
        lanes[at] = lanes[at] || {spans: [], end: 0};
        lanes[at].spans.push(span);
        lanes[at].end = Math.max(lanes[at].end, span.end);
    }
    return lanes;
}

const rowOf = (name, spans) => ({name, spans, lanes: lanesOf(spans)});
const sortByBegin = (spans) => spans.sort((a, b) => a.begin - b.begin || b.end - a.end);

/* Returns a row for each queue, in the order in which they were first used. Those that run least share one. */
function rowsOfQueues(queues) {
    const counts = new Map();
    const rows = queues.slice().sort((a, b) => a.spans[0][1] - b.spans[0][1]).map(({kind, name, device, spans}) => {
        const numbered = `${device || ""}${kind}`;
        counts.set(numbered, (counts.get(numbered) || 0) + 1);
        const own = name || `${kind} ${counts.get(numbered)}`;
        return rowOf(device ? `${device.split(":")[0]}, ${own}` : own, spansOf(spans));
    });
    const timeOf = (row) => coveredTime(row.spans, 0, timeline.duration);
    const others = rows.slice().sort((a, b) => timeOf(b) - timeOf(a)).slice(MOST_QUEUES);
    const kept = rows.filter((row) => !others.includes(row));
    if (others.length) {
        kept.push(rowOf(plural(others.length, "other"), sortByBegin(others.flatMap((row) => row.spans))));
    }
    return kept;
}

/* Returns the regions that run longest. Each has a colour of its own. */
function chooseHues(rows) {
    const times = new Map();
    for (const {region, begin, end} of rows.flatMap((row) => row.spans)) {
        times.set(region, (times.get(region) || 0) + end - begin);
    }
    return [...times.keys()].sort((a, b) => times.get(b) - times.get(a)).slice(0, HUES);
}

const hueOf = (region) => region.phase ? "phase" : timeline.hues.indexOf(region);

/* ---- drawing ---- */

const BINS = 1000;
const SHADES = 4;
const LEAST_WIDTH = 40; /* pixels of a span that is drawn with its name */

/* Adds a span to the bins: how much of each is covered, and by which colour most. */
function cover(bins, from, to, hue) {
    const last = Math.min(BINS - 1, Math.floor(to));
    for (let bin = Math.max(0, Math.floor(from)); bin <= last; bin++) {
        const part = Math.min(to, bin + 1) - Math.max(from, bin);
        bins.covered[bin] += part;
        if (part > bins.largest[bin]) {
            bins.largest[bin] = part;
            bins.hues[bin] = hue;
        }
    }
}

/* Draws the bins as a path for each colour and shade, so that the size of the drawing does not depend on the number of
   spans. */
function drawBins(svg, bins, lane) {
    const paths = new Map();
    let from = 0;
    const keyOf = (bin) => bins.covered[bin] > 0
        ? `${bins.hues[bin]} ${Math.min(SHADES, Math.ceil(SHADES * bins.covered[bin]))}` : "";
    for (let bin = 1; bin <= BINS; bin++) {
        const key = keyOf(from);
        if (bin === BINS || keyOf(bin) !== key) {
            paths.set(key, `${paths.get(key) || ""}M${from} ${lane}H${bin}v1H${from}z`);
            from = bin;
        }
    }
    paths.delete("");
    for (const [key, d] of paths) {
        const [hue, shade] = key.split(" ");
        addSvg(svg, "path", {d, "data-hue": hue, "fill-opacity": (Number(shade) + 1) / (SHADES + 1)});
    }
}

/* Draws a span with its name. */
function addSlice(track, span, from, to) {
    const slice = add(track, "span", "slice", span.region.name);
    slice.style.left = `${100 * from / BINS}%`;
    slice.style.width = `${100 * (to - from) / BINS}%`;
    slice.dataset.hue = hueOf(span.region);
    return slice;
}

/* Draws what is shown of a row: wide spans with their names, all others in bins. */
function drawRow({track, figure, spans, lanes}) {
    const {begin, end} = timeline;
    const scale = BINS / (end - begin);
    const least = LEAST_WIDTH * BINS / track.clientWidth;
    track.replaceChildren();
    const svg = addSvg(track, "svg", {viewBox: `0 0 ${BINS} ${lanes.length}`, preserveAspectRatio: "none",
        "aria-hidden": "true"});
    lanes.forEach((lane, index) => {
        const bins = {covered: new Float64Array(BINS), largest: new Float64Array(BINS), hues: new Array(BINS)};
        for (const span of lane.spans.filter((one) => one.end >= begin && one.begin <= end)) {
            const from = Math.max(0, scale * (span.begin - begin));
            const to = Math.min(BINS, Math.max(scale * (span.end - begin), from + 1e-6));
            if (to - from >= least) {
                addSlice(track, span, from, to).style.top = `${100 * index / lanes.length}%`;
            } else {
                cover(bins, from, to, hueOf(span.region));
            }
        }
        drawBins(svg, bins, index);
    });
    figure.textContent = percent(coveredTime(spans, begin, end) / (end - begin));
}

/* Returns a time with as many decimals as the steps of an axis need. */
function timeText(time, step) {
    const [size, unit] = TIMES.findLast(([one]) => timeline.end >= one) || TIMES[0];
    const decimals = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9));
    return `${formatter(decimals).format(time / size)}\u00a0${unit}`;
}

/* Returns the step of an axis with at most `most` steps: 1, 2 or 5 times a power of ten. */
function timeStep(length, most) {
    const power = Math.pow(10, Math.floor(Math.log10(length / most)));
    return [1, 2, 5, 10].map((digit) => digit * power).find((step) => length / step <= most);
}

function drawTimes() {
    const times = byId("timeline").querySelector(".times");
    const length = timeline.end - timeline.begin;
    const stepOfWidth = (width) => timeStep(length, Math.max(1, times.clientWidth / width));
    const longest = timeText(timeline.end, stepOfWidth(60)).length;
    const step = stepOfWidth(Math.max(80, 8 * longest + 12));
    times.replaceChildren();
    for (let tick = Math.ceil(timeline.begin / step) * step; tick <= timeline.end; tick += step) {
        add(times, "span", "", timeText(tick, step)).style.left = `${100 * (tick - timeline.begin) / length}%`;
    }
}

/* ---- the part that is shown ---- */

const SHORTEST = 100; /* nanoseconds: clocks of devices are not finer */

/* Shows a part of the time, as far as there is any. Returns whether that is another part than before. */
function showPart(begin, end) {
    const {duration} = timeline;
    const length = Math.min(duration, end - begin);
    const from = Math.min(Math.max(0, begin), duration - length);
    const changes = from !== timeline.begin || from + length !== timeline.end;
    timeline.begin = from;
    timeline.end = from + length;
    if (changes) {
        drawTimeline();
    }
    return changes;
}

function drawTimeline() {
    const {begin, end, duration, rows} = timeline;
    const [zoomIn, zoomOut, whole] = byId("timeline").querySelectorAll(".zoom button");
    zoomIn.disabled = end - begin <= SHORTEST;
    zoomOut.disabled = end - begin >= duration;
    whole.disabled = zoomOut.disabled;
    byId("part").textContent = zoomOut.disabled ? "The whole time is shown."
        : `${quantity(end - begin, "ns")} of ${quantity(duration, "ns")} are shown.`;
    rows.forEach(drawRow);
    drawTimes();
}

/* Shows `factor` times as much as before. What is at `place`, from 0 to 1, stays there. */
function zoom(factor, place) {
    const before = timeline.end - timeline.begin;
    const length = Math.max(factor * before, SHORTEST);
    const begin = timeline.begin + place * (before - length);
    return showPart(begin, begin + length);
}

/* Moves the part by a share of its length. */
function pan(share) {
    const distance = share * (timeline.end - timeline.begin);
    return showPart(timeline.begin + distance, timeline.end + distance);
}

/* ---- keyboard and mouse ---- */

function listenToZoom(strip) {
    const actions = [() => zoom(0.5, 0.5), () => zoom(2, 0.5), () => showPart(0, timeline.duration)];
    const [zoomIn, zoomOut, whole] = actions;
    const keys = new Map([["+", zoomIn], ["=", zoomIn], ["-", zoomOut], ["0", whole],
        ["ArrowLeft", () => pan(-0.2)], ["ArrowRight", () => pan(0.2)]]);
    byId("timeline").querySelectorAll(".zoom button").forEach((button, index) => {
        button.addEventListener("click", actions[index]);
    });
    strip.addEventListener("keydown", (event) => {
        if (keys.has(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) {
            event.preventDefault();
            keys.get(event.key)();
        }
    });
    window.addEventListener("resize", drawTimeline);
}

/* Returns where the mouse is in the part that is shown, from 0 to 1. */
function placeOf(event) {
    const box = timeline.rows[0].track.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
}

/* Returns the span below the mouse, or undefined. One of less than two pixels is found beside it, too. */
function spanAt(event) {
    const row = timeline.rows.find((one) => one.track.contains(event.target));
    if (!row) {
        return undefined;
    }
    const box = row.track.getBoundingClientRect();
    const pixel = (timeline.end - timeline.begin) / box.width;
    const time = timeline.begin + pixel * (event.clientX - box.left);
    const lane = row.lanes[Math.floor(row.lanes.length * (event.clientY - box.top) / box.height)];
    return lane && lane.spans.find(({begin, end}) => begin - pixel <= time && time <= Math.max(end, begin + pixel));
}

function describeSpan(span) {
    byId("span").textContent = span
        ? `${span.region.name}: ${quantity(span.end - span.begin, "ns")}, from ${timeText(span.begin, SHORTEST / 100)}`
        : "";
}

/* The mouse zooms by its wheel, moves the part while a button is down, and opens the region of a span by a click. */
function listenToMouse(strip) {
    let last = null; /* where the button went down, or the part was moved to */
    let isMoved = false;
    strip.addEventListener("wheel", (event) => {
        const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
        const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 33 * event.deltaY : event.deltaY;
        const factor = Math.min(4, Math.max(0.25, Math.exp(pixels / 400)));
        if (isSideways ? pan(event.deltaX / 1000) : zoom(factor, placeOf(event))) {
            event.preventDefault(); /* else the page is scrolled */
        }
    }, {passive: false});
    strip.addEventListener("pointerdown", (event) => {
        last = event.clientX;
        isMoved = false;
    });
    strip.addEventListener("pointermove", (event) => {
        if (last === null || event.buttons === 0) {
            describeSpan(spanAt(event));
        } else if (isMoved || Math.abs(event.clientX - last) > 3) {
            strip.setPointerCapture(event.pointerId);
            pan((last - event.clientX) / timeline.rows[0].track.clientWidth);
            last = event.clientX;
            isMoved = true;
        }
    });
    strip.addEventListener("click", (event) => {
        const span = isMoved ? undefined : spanAt(event);
        last = null;
        if (span) {
            reveal(regions.find(({name, phase}) => name === span.region.name && !phase === !span.region.phase));
        }
    });
}

/* ---- the section ---- */

/* Describes how kernels, copies and idle time share the time of the device. */
function overlapText() {
    const {overlap} = doc;
    const part = (time) => percent(time / overlap.span_ns);
    if (overlap.missing) {
        return `The idle time of the device is not known: ${plural(overlap.missing, "sample")} missing.`;
    }
    const idle = `In ${part(overlap.idle_ns)}, nothing that is measured runs.`;
    const kernelTime = `Kernels take ${part(overlap.kernel_ns)}`;
    if (overlap.copy_ns > 0) {
        return `${kernelTime}, copies ${part(overlap.copy_ns)}, both at once ${part(overlap.both_ns)}. ${idle}`;
    }
    return overlap.kernel_ns > 0 ? `${kernelTime}. ${idle}` : idle;
}

function timelineText(spans, samples) {
    const {duration} = timeline;
    const shown = samples > spans.length
        ? `The newest ${COUNT.format(spans.length)} of ${plural(samples, "sample")},` : plural(spans.length, "sample");
    return [
        `${shown} in ${quantity(duration, "ns")}; regions run for ` +
            `${percent(coveredTime(spans, 0, duration) / duration)} of it.`,
        "A row's figure is how much of the time that is shown its spans cover.",
        overlapText(),
    ].join(" ");
}

function addRows(strip) {
    for (const row of timeline.rows) {
        add(strip, "span", "name", shortName(row.name, nameLength())).title = row.name;
        row.track = add(strip, "div", "track");
        row.track.style.height = `${1.3 * row.lanes.length}em`;
        row.track.style.setProperty("--lanes", row.lanes.length);
        row.figure = add(strip, "span", "number");
    }
    add(strip, "span");
    add(strip, "div", "times");
}

/* Names the colours, below the rows. */
function addHues(box) {
    timeline.hues.forEach((region, hue) => {
        add(box, "span", "name", shortName(region.name, nameLength())).dataset.hue = hue;
    });
    add(box, "span", "", "other regions").dataset.hue = -1;
}

function showTimeline() {
    if (!doc.timeline || doc.timeline.span_ns === 0) {
        return;
    }
    const section = byId("timeline");
    const phaseSpans = spansOf(doc.timeline.phases);
    timeline.duration = doc.timeline.span_ns;
    const queues = rowsOfQueues(doc.timeline.queues);
    timeline.rows = [...phaseSpans.length ? [rowOf("phases", phaseSpans)] : [], ...queues];
    timeline.hues = chooseHues(queues);
    addLink("timeline", "Timeline");
    const [text, strip, hues] = ["p", ".strip", ".hues"].map((selector) => section.querySelector(selector));
    const spans = sortByBegin(queues.flatMap((row) => row.spans));
    text.textContent = timelineText(spans, doc.timeline.samples);
    addRows(strip);
    addHues(hues);
    listenToZoom(strip);
    listenToMouse(strip);
    showPart(0, timeline.duration);
}
