/* Bars, distributions and the roofline, as SVG. */
/* ---- drawings ---- */

function drawing(parent, width, height, label) {
    const viewBox = `0 0 ${width} ${height}`;
    return addSvg(parent, "svg", {width, height, viewBox, role: "img", "aria-label": label});
}

/* Returns a function from a value to a coordinate on a logarithmic axis. */
function logAxis(low, high, from, to) {
    return (value) => from + (to - from) * Math.log(value / low) / Math.log(high / low);
}

/* Returns the step of an axis that is `length` long, for about 5 ticks. */
function stepOf(length) {
    const size = Math.pow(10, Math.floor(Math.log10(length)));
    if (length / size < 2.5) {
        return size / 2;
    }
    return length / size < 5 ? size : 2 * size;
}

/* Returns at most about `most` ticks of a logarithmic axis: powers of ten and, where there is room, 2 and 5 times
   these; below a decade, equal steps. */
function ticksOf(low, high, most) {
    const decades = Math.log10(high / low);
    const ticks = [];
    if (decades < 1) {
        const step = stepOf(high - low);
        for (let tick = Math.ceil(low / step) * step; tick <= high; tick += step) {
            ticks.push(tick);
        }
    } else {
        const digits = 3 * decades < most ? [1, 2, 5] : [1];
        const step = Math.ceil(decades / most);
        for (let power = step * Math.floor(Math.log10(low) / step); power <= Math.log10(high); power += step) {
            ticks.push(...digits.map((digit) => digit * Math.pow(10, power)));
        }
    }
    return ticks.filter((tick) => tick >= low && tick <= high);
}

/* ---- the distribution of a region's times ---- */

function addHistogram(box, region) {
    if (!region.histogram) {
        return;
    }
    const {first_ns: first, ratio, counts} = region.histogram;
    const margin = Math.max(1, Math.ceil((12 - counts.length) / 2));
    const beginOf = (index) => first * Math.pow(ratio, index);
    const low = beginOf(-margin);
    const high = beginOf(counts.length + margin);
    const width = Math.min(640, box.clientWidth);
    const plot = {left: 90, right: width - 20, top: 34, bottom: 130, low, high};
    plot.x = logAxis(low, high, plot.left, plot.right);
    const time = region.time_ns;
    const svg = drawing(box, width, 150,
        `Distribution of GPU time: minimum ${quantity(time.min, "ns")}, median ${quantity(time.median, "ns")}, ` +
        `95th percentile ${quantity(time.p95, "ns")}, maximum ${quantity(time.max, "ns")}`);
    const word = region.phase ? "entry" : "sample";
    addCaption(svg, plot, time, sumOf(counts, (count) => count), word);
    addColumns(svg, plot, counts, beginOf, word);
    addTimeAxis(svg, plot);
    addMarker(svg, plot, "median", time.median, "end");
    addMarker(svg, plot, "p95", time.p95, "start");
}

/* If fewer samples are `kept` than there were, the drawing is of these. */
function addCaption(svg, plot, time, kept, word) {
    const samples = plural(Math.max(kept, time.count || 0), word);
    const text = kept < time.count ? `${COUNT.format(kept)} of ${samples}, chosen at random` : samples;
    addSvg(svg, "text", {x: plot.left, y: 10, class: "muted"}, `GPU time of ${text}, logarithmic`);
}

function addColumns(svg, plot, counts, beginOf, word) {
    const most = Math.max(...counts);
    addSvg(svg, "text", {x: plot.left - 6, y: plot.top + 8, "text-anchor": "end"}, plural(most, word));
    counts.forEach((count, index) => {
        if (!(count > 0)) {
            return;
        }
        const x = plot.x(beginOf(index));
        const width = Math.max(0.5, plot.x(beginOf(index + 1)) - x - 1);
        const height = Math.max(1, (plot.bottom - plot.top) * count / most);
        const column = addSvg(svg, "rect", {x, y: plot.bottom - height, width, height, class: "column"});
        const range = `from ${quantity(beginOf(index), "ns")} to ${quantity(beginOf(index + 1), "ns")}`;
        addSvg(column, "title", {}, `${plural(count, word)} ${range}`);
    });
}

function addTimeAxis(svg, plot) {
    addSvg(svg, "path", {d: `M${plot.left} ${plot.bottom}H${plot.right}`, class: "axis"});
    for (const tick of ticksOf(plot.low, plot.high, (plot.right - plot.left) / 65)) {
        const x = plot.x(tick);
        addSvg(svg, "path", {d: `M${x} ${plot.bottom}v4`, class: "axis"});
        addSvg(svg, "text", {x, y: plot.bottom + 16, "text-anchor": "middle"}, quantity(tick, "ns"));
    }
}

/* Marks a time, with its name on the left (anchor "end") or on the right ("start"). */
function addMarker(svg, plot, name, time, anchor) {
    if (time >= plot.low && time <= plot.high) {
        const at = plot.x(time);
        const x = anchor === "end" ? at - 4 : at + 4;
        addSvg(svg, "path", {d: `M${at} ${plot.top - 12}V${plot.bottom}`, class: "marker"});
        addSvg(svg, "text", {x, y: plot.top - 4, "text-anchor": anchor}, `${name} ${quantity(time, "ns")}`);
    }
}

/* ---- roofline ---- */

const ROOFLINE_POINTS = 150;
const ROOFLINE_NAMES = 12;

/* Draws what regions do a second: operations where the program has stated them, else instructions of any width, which
   no peak of operations holds for. */
function showRoofline() {
    const peaks = doc.peaks || {bytes_per_second: null, operations_per_second: null};
    const kind = regions.some((region) => region.operations > 0) ? "operations" : "instructions";
    const bytes = peaks.bytes_per_second || Infinity;
    const most = kind === "operations" && peaks.operations_per_second || Infinity;
    const roofs = {
        kind, bytes, most,
        unit: kind === "operations" ? "op/s" : "instr/s",
        at: (intensity) => Math.min(most, intensity * bytes), /* what a region can reach; Infinity: not known */
    };
    const inOrder = measured.slice().sort((a, b) => (b.share || 0) - (a.share || 0));
    const points = inOrder.filter((region) => region.bytes > 0 && region[kind] > 0).slice(0, ROOFLINE_POINTS)
        .map((region) => ({region, intensity: region[kind] / region.bytes, rate: region[kind]}));
    if (points.length === 0) {
        return;
    }
    addLink("roofline", "Roofline");
    add(byId("roofline"), "p", "muted", rooflineText(roofs, peaks.source));
    const plot = plotOf(points, roofs);
    const svg = drawing(byId("roofline"), plot.width, 345,
        `Roofline of ${plural(points.length, "region")}; the figures are in the details of each region`);
    addGrid(svg, plot, roofs);
    addPoints(svg, plot, roofs, points, addRoofs(svg, plot, roofs));
    addUndrawn(inOrder, points, kind);
}

function rooflineText({kind, unit, bytes, most}, source) {
    const peaks = [[bytes, "B/s"], [most, unit]].filter(([peak]) => isNumber(peak));
    const texts = [
        `${capital(kind)} a second against ${kind} a byte of memory traffic, while each region runs.`,
        "Larger points have a larger share of GPU time.",
    ];
    if (peaks.length) {
        texts.push(`Peak, ${source}: ${peaks.map(([peak, units]) => quantity(peak, units)).join(", ")}.`);
    }
    if (!isNumber(bytes)) {
        texts.push("The peak of the memory traffic is not known: zt_set_peaks or ZT_PEAKS states it.");
    }
    if (kind === "instructions") {
        texts.push("Instructions are those of the vector and matrix engines, each of which does several operations: " +
            "zt_set_operations states how many of these a region does.");
    } else if (!isNumber(most)) {
        texts.push("The peak of operations is not known: zt_set_peaks or ZT_PEAKS states it.");
    }
    return texts.join(" ");
}

/* Returns a logarithmic axis on which all values are, with a margin of `margin` pixels at both ends. */
function axisAround(values, from, to, margin) {
    const length = Math.abs(to - from);
    const [least, most] = [Math.min(...values) / 2, Math.max(...values) * 2];
    const more = Math.pow(most / least, margin / (length - 2 * margin));
    const [low, high] = [least / more, most * more];
    return {low, high, place: logAxis(low, high, from, to)};
}

/* Returns the axes, so long that the roof and all points are in the drawing, whatever the points are. */
function plotOf(points, roofs) {
    const width = Math.min(1100, byId("roofline").clientWidth);
    const plot = {width, left: 80, right: width - 20, top: 10, bottom: 300};
    const ridge = roofs.most / roofs.bytes; /* where the roofs meet */
    const finite = (values) => values.filter((value) => value > 0 && isNumber(value));
    plot.x = axisAround(finite([...points.map((point) => point.intensity), ridge]), plot.left, plot.right, 20);
    const ends = [roofs.at(plot.x.low), roofs.at(plot.x.high)];
    plot.y = axisAround(finite([...points.map((point) => point.rate), ...ends]), plot.bottom, plot.top, 20);
    return plot;
}

function addGrid(svg, plot, roofs) {
    const {left, right, top, bottom} = plot;
    let free = 0; /* the end of the last text, whose width is estimated */
    for (const tick of ticksOf(plot.x.low, plot.x.high, plot.width / 90)) {
        const [x, text] = [plot.x.place(tick), quantity(tick, "")];
        addSvg(svg, "path", {d: `M${x} ${top}V${bottom}`, class: "grid"});
        if (x - 3.5 * text.length > free) {
            addSvg(svg, "text", {x, y: bottom + 15, "text-anchor": "middle"}, text);
            free = x + 3.5 * text.length;
        }
    }
    for (const tick of ticksOf(plot.y.low, plot.y.high, 10)) {
        const y = plot.y.place(tick);
        addSvg(svg, "path", {d: `M${left} ${y}H${right}`, class: "grid"});
        addSvg(svg, "text", {x: left - 6, y: y + 4, "text-anchor": "end"}, quantity(tick, roofs.unit));
    }
    addSvg(svg, "text", {x: right, y: bottom + 32, "text-anchor": "end", class: "muted"}, `${roofs.kind} a byte`);
    addSvg(svg, "path", {d: `M${left} ${top}V${bottom}H${right}`, class: "axis"});
}

/* Returns where a text is. Its width is estimated. */
const boxOf = (text, left, top) => ({left, top, right: left + 6.5 * text.length, bottom: top + 14});

/* Draws the roof from end to end of the drawing: up to the ridge, that of the memory traffic. Returns the boxes of its
   texts. */
function addRoofs(svg, plot, {bytes, most, unit, at}) {
    const {low, high, place} = plot.x;
    const ridge = isNumber(bytes) ? Math.min(high, most / bytes) : low;
    const taken = [];
    if (isNumber(bytes)) {
        const [x, y] = [place(low), plot.y.place(at(low))];
        addSvg(svg, "path", {d: `M${x} ${y}L${place(ridge)} ${plot.y.place(at(ridge))}`, class: "roof"});
        addSvg(svg, "text", {x: x + 8, y: y + 14}, quantity(bytes, "B/s"));
        taken.push(boxOf(quantity(bytes, "B/s"), x + 8, y + 3));
    }
    if (isNumber(most)) {
        const y = plot.y.place(most);
        addSvg(svg, "path", {d: `M${place(ridge)} ${y}H${plot.right}`, class: "roof"});
        addSvg(svg, "text", {x: plot.right, y: y - 5, "text-anchor": "end"}, quantity(most, unit));
        taken.push(boxOf(quantity(most, unit), plot.right - 6.5 * quantity(most, unit).length, y - 16));
    }
    return taken;
}

/* Draws the points, small ones on top, and names those of the largest share where there is room beside the boxes that
   are taken. */
function addPoints(svg, plot, roofs, points, taken) {
    const boxes = points.map(({region, intensity, rate}) => {
        const [x, y] = [plot.x.place(intensity), plot.y.place(rate)];
        const radius = 3 + 9 * Math.sqrt(region.share || 0);
        const point = addSvg(svg, "circle", {cx: x, cy: y, r: radius, class: "point"});
        const texts = [quantity(rate, roofs.unit), `${quantity(region.bytes, "B/s")} of memory traffic`,
            `${percent(region.share)} of GPU time`];
        addSvg(point, "title", {}, `${region.name}: ${texts.join(", ")}`);
        point.addEventListener("click", () => reveal(region));
        return {left: x - radius, right: x + radius, top: y - radius, bottom: y + radius};
    });
    const names = [];
    points.forEach(({region}, index) => {
        const text = shortName(region.name, 42);
        const free = (place) => hasRoom(place, [...taken, ...boxes, ...names], plot);
        const place = names.length < ROOFLINE_NAMES && placesOfName(text, boxes[index]).find(free);
        if (place) {
            addSvg(svg, "text", {x: place.left, y: place.top + 11, class: "point-name"}, text);
            names.push(place);
        }
    });
}

/* Returns where the name of a point may stand: on its right, left, top or bottom. */
function placesOfName(text, point) {
    const {right: width, bottom: height} = boxOf(text, 0, 0);
    const [x, y] = [(point.left + point.right - width) / 2, (point.top + point.bottom - height) / 2];
    const beside = [[point.right + 3, y], [point.left - 3 - width, y]];
    const corners = [...beside, [x, point.top - 1 - height], [x, point.bottom + 1]];
    return corners.map(([left, top]) => boxOf(text, left, top));
}

/* Returns whether there is room for a box: it is in the drawing, and overlaps no other one. */
function hasRoom(box, taken, plot) {
    return box.left > plot.left && box.right < plot.width && box.top > plot.top && box.bottom < plot.bottom &&
        taken.every((other) => other.right <= box.left || box.right <= other.left || other.bottom <= box.top ||
            box.bottom <= other.top);
}

/* Returns why a region is no point of the roofline. */
function reasonOf(region, kind) {
    if (!(region.count > 0)) {
        return "without samples";
    }
    if (!isNumber(region.bytes)) {
        return "whose memory traffic is not measured";
    }
    if (region.bytes === 0) {
        return "without memory traffic";
    }
    if (kind === "operations") {
        return "whose operations the program does not state (zt_set_operations)";
    }
    return isNumber(region.instructions) ? "without such instructions" : "whose instructions are not measured";
}

/* Lists the regions that are not in the roofline, by the reason. */
function addUndrawn(inOrder, points, kind) {
    const isDrawn = new Set(points.map((point) => point.region));
    const byReason = new Map();
    for (const region of inOrder.filter((one) => !isDrawn.has(one))) {
        const isPoint = region.bytes > 0 && region[kind] > 0;
        const reason = isPoint ? `of less GPU time than the ${ROOFLINE_POINTS} points` : reasonOf(region, kind);
        byReason.set(reason, byReason.get(reason) || []);
        byReason.get(reason).push(region);
    }
    if (byReason.size) {
        add(byId("roofline"), "p", "muted", "Not in the drawing:");
    }
    const list = add(byId("roofline"), "ul", "muted");
    for (const [reason, some] of byReason) {
        const names = some.slice(0, 3).map((region) => shortName(region.name, nameLength()));
        const others = some.length > 3 ? ` and ${plural(some.length - 3, "other")}` : "";
        const share = shareText(some);
        add(list, "li", "", `${plural(some.length, "region")} ${reason}, ${share}: ${names.join(", ")}${others}.`);
    }
}
