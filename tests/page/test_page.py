#!/usr/bin/env python3
"""Opens the page of src/reports/page in Debian's chromium, with the documents of sample.py.

Usage: test_page.py [DIRECTORY [TEST...]]     DIRECTORY: where pages, screenshots and printed pages go; default: build/page
library.html and library.json in DIRECTORY were written by the library (tests/test_page.c); `make test-page` does all.
Prints TAP, and as the last line the sum, `N passed, N failed`. Fails if chromium is not there: apt-get install chromium
"""
import functools
import itertools
import json
import math
import os
import re
import shutil
import sys
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src"))
import join
import sample
from chromium import Browser

HERE = os.path.dirname(os.path.abspath(__file__))
MISSING = "\u2013"
WIDTHS = (1920, 1280, 600)
WIDE = 3000 # all columns of a sample fit
UNITS = {"ns": 1, "\u00b5s": 1e3, "ms": 1e6, "s": 1e9, "%": 1, "GB/s": 1, "MHz": 1, "samples": 1}
LATENCIES = {"Queued": "queue_latency_ns", "Launch": "launch_latency_ns"}
PHASE_FIGURES = {"Host": ("host_ns", "ns"), "Host own": ("host_own_ns", "ns"), "Host wait": ("host_wait_ns", "ns"),
                 "Busy": ("busy_ns", "ns"), "Memory": ("peak_bytes", "bytes"), "Not freed": ("unfreed_bytes", "bytes"),
                 "Energy": ("joules", "J"), "Power": ("watts", "W"), "Throttled": ("throttled", "percent")}
PREFIXES = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
FIGURES = {"Mean": "mean", "Median": "median", "p95": "p95", "Min": "min", "Max": "max", "Std dev": "stddev"}

# What the table shows: headings as [text without the unit, unit, aria-sort], rows as {region, cells, open}.
READ_TABLE = """
(() => {
    const table = document.getElementById('regions');
    const unitOf = (cell) => (cell.querySelector('.unit') || {textContent: ''}).textContent.trim();
    return {
        headings: [...table.tHead.rows[0].cells].map((cell) => {
            const unit = unitOf(cell), text = cell.textContent.trim();
            return [unit ? text.slice(0, text.lastIndexOf(unit)).trim() : text, unit, cell.getAttribute('aria-sort')];
        }),
        rows: [...table.tBodies[0].querySelectorAll(':scope > tr[data-region]')].map((row) => ({
            region: Number(row.dataset.region), cells: [...row.cells].map((cell) => cell.textContent.trim()),
            context: row.classList.contains('context'), phase: row.classList.contains('phase'), open: row.querySelector('button').getAttribute('aria-expanded') === 'true'})),
    };
})()
"""

# A table without buttons: headings as [text, unit], rows as texts.
READ_PLAIN = """
(() => {
    const table = document.querySelector('%s');
    return {headings: [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim()),
            rows: [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) =>
                (cell.querySelector('summary') || cell).textContent.trim()))};
})()
"""

# The contrast of each text that is shown with what is behind it, where it is below 4.5 to 1.
READ_CONTRAST = """
(() => {
    const parse = (text) => text.match(/[0-9.]+/g).map(Number);
    const luminance = ([r, g, b]) => [r, g, b].map((v) => v / 255)
        .map((v) => v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4))
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const background = (node) => {
        for (; node; node = node.parentElement) {
            const colour = parse(getComputedStyle(node).backgroundColor);
            if (colour.length === 3 || colour[3] === 1) { return colour; }
        }
        return [255, 255, 255];
    };
    const poor = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let count = 0;
    while (walker.nextNode()) {
        const node = walker.currentNode.parentElement;
        if (!walker.currentNode.textContent.trim() || !node.checkVisibility() || ['SCRIPT', 'NOSCRIPT'].includes(node.tagName)) { continue; }
        const style = getComputedStyle(node), isSvg = node instanceof SVGElement;
        if (isSvg && node.tagName === 'title') { continue; }
        const a = luminance(parse(isSvg ? style.fill : style.color)), b = luminance(background(node));
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        count++;
        if (contrast < 4.5) { poor.push([contrast, walker.currentNode.textContent.trim().slice(0, 40)]); }
    }
    return {count, poor};
})()
"""


def factor_of(unit, units):
    """How large the unit of a heading is, in the units of the document."""
    if units in ("ns", "percent", "GBpS", "MHz", "samples"):
        return UNITS[unit]
    bare = {"bytes": "B"}.get(units, units)
    assert unit.endswith(bare), (unit, units)
    return PREFIXES[unit[:len(unit) - len(bare)].strip()]


def check_number(text, value, unit, units, context):
    """A text shows a value: in its unit, to half of the last digit that it has."""
    if value is None:
        assert text == MISSING, (text, value, context)
        return
    factor = factor_of(unit, units)
    if text.startswith("<"):
        assert 0 < abs(value) / factor < float(text[1:].replace(",", "")), (text, value, context)
        return
    assert re.fullmatch(r"-?[0-9]{1,3}(,[0-9]{3})*(\.[0-9]+)?", text), (text, context)
    decimals = len(text.partition(".")[2])
    shown = float(text.replace(",", ""))
    assert abs(shown - value / factor) <= 0.5001 * 10 ** -decimals + 1e-12 * abs(shown), (text, value / factor, context)


def check_quantity(text, value, units, context):
    """A text shows a value with its unit, to three digits."""
    if value is None:
        assert text == MISSING, (text, value, context)
        return
    number, _, unit = text.replace("\u00a0", " ").partition(" ")
    shown = float(number.replace(",", "")) * (factor_of(unit, units) if unit or units else 1)
    assert math.isclose(shown, value, rel_tol=0.0051, abs_tol=1e-9), (text, value, context)


def limit_of(region):
    """What limits a region, "" if that is not known."""
    what = region.get("limit", {}).get("what", "")
    return "" if what == "unknown" else what


def metric_names(made, names):
    """The order of the page: metrics of the columns, those that have means, others."""
    columns = [name for name in made["columns"] if name in made["metrics"]]
    return sorted(names, key=lambda name: (columns.index(name) if name in columns else len(columns),
                                           made["metrics"][name]["aggregation"] not in ("sum", "mean")))


def value_of(made, region, heading):
    """What the document says about a column of a region: the value, and its units."""
    time = region["time_ns"]
    if heading == "With inside":
        inside = {index for index, other in enumerate(made["regions"]) if is_inside(made, other, region)}
        return 100 * sum(made["regions"][index]["share"] or 0 for index in inside if made["regions"][index]["count"] and not made["regions"][index].get("phase")), "percent"
    if heading in ("Share", "Own share"):
        return (None if region["share"] is None or not region["count"] else 100 * region["share"]), "percent"
    if heading in FIGURES:
        return time[FIGURES[heading]], "ns"
    phase = region.get("phase")
    total = time["sum"] if not phase else region["total_ns"] if region["count"] else None
    known = {"Count": ((phase["entered"] or None) if phase else region["count"], ""), "Lost": (region["lost"] + region["dropped"], ""),
             "Total": (total, "ns"), "Own": (region["own_ns"], "ns")}
    if heading in PHASE_FIGURES:
        figure, units = PHASE_FIGURES[heading]
        value = (phase or {}).get(figure)
        return (100 * value if units == "percent" and value is not None else value), units
    if heading in known:
        return known[heading]
    if heading in LATENCIES:
        return region.get(LATENCIES[heading], {}).get("median"), "ns"
    if heading in ("Bandwidth of peak", "Compute of peak"):
        share = region.get("of_peak", {}).get(heading.split()[0].lower())
        return (None if share is None else 100 * share), "percent"
    if heading == "Copied":
        return region.get("copied_bytes_per_second"), "B/s"
    name = next(name for name, metric in made["metrics"].items() if heading in (name, metric.get("label")))
    metric = made["metrics"][name]
    figure = {"flag": "sum", "none": "max"}.get(metric["aggregation"], "mean")
    units = "samples" if metric["aggregation"] == "flag" else metric["units"]
    return region.get("metrics", {}).get(name, {}).get(figure), units


def is_inside(made, region, outer):
    """Whether a region is another, or inside of it."""
    seen = set()
    while region is not outer and region.get("parent") is not None and id(region) not in seen:
        seen.add(id(region))
        region = made["regions"][region["parent"]]
    return region is outer


def count_columns(made):
    """The number of columns that can be shown: those of latencies, copies and peaks only where a region has them."""
    known = [*((name, "median") for name in LATENCIES.values()), ("copied_bytes_per_second", None),
             ("of_peak", "bandwidth"), ("of_peak", "compute")]
    is_nested = any(region.get("parent") is not None for region in made["regions"])
    return 13 + is_nested + len(made["metrics"]) + sum(
        any((region.get(name, {}).get(figure) if figure else region.get(name)) is not None for region in made["regions"])
        for name, figure in known)


@functools.lru_cache(maxsize=None)
def text_of_sample(name):
    return json.dumps(sample.SAMPLES[name]())


def sample_of(name):
    return json.loads(text_of_sample(name))


class Page:
    """A browser with one of the samples."""

    def __init__(self, browser, directory):
        self.browser, self.directory = browser, directory
        self.made = None

    def show(self, name, width=1400, height=900, scheme="light", media="", change=None):
        self.made = sample_of(name)
        if change:
            change(self.made)
        path = os.path.join(self.directory, name + ".html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(sample.page_of(self.made))
        self.browser.look(width, height, scheme, media)
        self.browser.open(path)
        assert not self.browser.problems, self.browser.problems
        loaded = [url for url in self.browser.requests if not url.startswith("data:")]
        assert loaded == ["file://" + os.path.abspath(path)], loaded
        return self.made

    def show_library(self, width=1400, scheme="light", name="library"):
        """Shows a page that the library wrote, and reads its JSON of the same figures."""
        with open(os.path.join(self.directory, name + ".json"), encoding="utf-8") as file:
            self.made = json.load(file)
        path = os.path.join(self.directory, name + ".html")
        self.browser.look(width, 900, scheme)
        self.browser.open(path)
        assert not self.browser.problems, self.browser.problems
        loaded = [url for url in self.browser.requests if not url.startswith("data:")]
        assert loaded == ["file://" + os.path.abspath(path)], loaded
        return self.made

    def run(self, expression):
        value = self.browser.run(expression)
        assert not self.browser.problems, self.browser.problems
        return value

    def table(self):
        return self.run(READ_TABLE)

    def text(self, selector):
        return self.run(f"document.querySelector({json.dumps(selector)}).textContent").replace("\u00a0", " ")

    def count(self, selector):
        return self.run(f"document.querySelectorAll({json.dumps(selector)}).length")

    def press(self, *keys):
        for key in keys:
            self.browser.key(key)

    def focused(self):
        return self.run("document.activeElement.id || document.activeElement.textContent")

    def tab_to(self, text):
        """Forwards alone: before the first and behind the last element, the focus leaves the page for the browser."""
        passed = []
        for _ in range(200):
            self.browser.key("Tab")
            passed.append(self.focused())
            if passed[-1].startswith(text):
                return
        raise AssertionError(f"the Tab key does not reach {text}, but {[name[:20] for name in passed]}")

    def check_figures(self):
        shown = self.table()
        assert shown["rows"]
        for row in shown["rows"]:
            region = self.made["regions"][row["region"]]
            for (heading, unit, _), text in zip(shown["headings"], row["cells"], strict=True):
                if heading == "Region":
                    name = text.removesuffix(" !")
                    parts = ".*".join(map(re.escape, name.split("\u2026")))
                    assert len(name) <= 56 and re.fullmatch("(void )?" + parts, region["name"]), text
                elif heading == "What limits it":
                    assert text == (limit_of(region) or MISSING), (text, region["limit"])
                else:
                    check_number(text, *((v, unit, u) for v, u in [value_of(self.made, region, heading)]).__next__(),
                                 (region["name"], heading))
        return shown


def test_source(page):
    """The source fits into string literals of C, loads nothing, and never makes HTML of data."""
    del page
    lines = join.page_lines()
    text = "\n".join(lines)
    assert lines.count("@DATA@") == 1 and text.count("@DATA@") == 1
    assert max(map(len, lines)) < 200
    assert "\t" not in text and "\r" not in text and all(line == line.rstrip() for line in lines)
    assert "??" not in text, "a trigraph of C"
    assert set(re.findall(r"https?://[^\"' ]*", text)) == {"http://www.w3.org/2000/svg"}
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "fetch(", "XMLHttp", "import("):
        assert word not in text, word


def test_style(page):
    """The browser knows each selector, property and value of the style, and each class and id is of some element."""
    page.show("none")
    texts = {}
    for name in os.listdir(os.path.join(join.SOURCES, "reports/page")):
        with open(os.path.join(join.SOURCES, "reports/page", name), encoding="ascii") as file:
            texts[name] = file.read()
    style = re.sub(r"/\*.*?\*/", "", texts["page.css"], flags=re.DOTALL)
    rules = [rule for rule in re.findall(r"([^{};]+)\{([^{}]*)\}", style) if not rule[0].strip().startswith("@")]
    declarations = [part.strip().split(":", 1) for _, block in rules for part in block.split(";") if part.strip()]
    known = page.run("(" + json.dumps(declarations) + ").map(([name, value]) => "
                     "CSS.supports(name.trim(), value.replace('!important', '').trim()))")
    assert len(known) > 200 and all(known), [pair for pair, is_known in zip(declarations, known) if not is_known]
    selectors = ", ".join(selector for selector, _ in rules)
    page.run(f"document.querySelector({json.dumps(selectors)})")
    elements = "".join(text for name, text in texts.items() if name.endswith((".html", ".js")))
    for sign, name in re.findall(r"([.#])([a-z][a-z-]*)", selectors):
        assert re.search(rf'id="{name}"' if sign == "#" else rf'"(?:[a-z ]* )?{name}[ "]', elements), sign + name


def test_renders(page):
    """Each document renders without an error, wide and narrow, light and dark, and loads nothing else."""
    for name in sample.SAMPLES:
        for width in WIDTHS:
            for scheme in ("light", "dark"):
                page.show(name, width, scheme=scheme)
                page.browser.screenshot(os.path.join(page.directory, f"{name}-{width}-{scheme}.png"))


def test_figures(page):
    """The figures of the table equal those of the document, in one unit for all times of a kind."""
    for name in ("ten", "many", "bare"):
        page.show(name)
        shown = page.check_figures()
        units = {heading: unit for heading, unit, _ in shown["headings"]}
        assert units["Mean"] == units["Median"] == units["p95"] and units.get("Own", units["Total"]) == units["Total"]
        for column in range(len(shown["headings"])):
            decimals = {len(row["cells"][column].partition(".")[2]) for row in shown["rows"]
                        if re.fullmatch(r"[0-9,.]+", row["cells"][column])}
            assert len(decimals) <= 1 or shown["headings"][column][0] == "Region", shown["headings"][column]


def test_library(page):
    """What the library writes renders, and its figures equal those of the library's JSON."""
    for width in WIDTHS:
        for scheme in ("light", "dark"):
            page.show_library(width, scheme)
            page.run("document.querySelector('tr[data-region=\"0\"]').click()")
            page.browser.screenshot(os.path.join(page.directory, f"library-{width}-{scheme}.png"))
    made = page.show_library(WIDE)
    shown = page.check_figures()
    assert len(shown["rows"]) == len(made["regions"]) == 5
    headings = [heading for heading, _, _ in shown["headings"]]
    for name in made["columns"]:
        assert made["metrics"][name].get("label", name) in headings, (name, headings)
    page.run("document.querySelectorAll('#choice input').forEach((box) => { if (!box.checked) { box.click(); } })")
    assert len(page.check_figures()["headings"]) == count_columns(made)
    head = page.text("header")
    device = made["device"]
    for text in (device["name"], device["driver_version"], device["uuid"], device["pci"], f"{device['core_clock_mhz']:,} MHz",
                 made["program"], made["opened"].replace("T", " ").replace("Z", " UTC"), "Chosen"):
        assert text and text in head, (text, head)
    assert made["notes"][-1].startswith("zetools kept threads busy for ")
    assert made["notes"][:-1] == ["1 sample is lost: report lost. The device flagged the data as unusable."]
    assert page.text("#notes ul").startswith(made["notes"][0] + "zetools kept threads busy for ")
    assert "121 samples" in page.text("#timeline") or "120 samples" in page.text("#timeline"), page.text("#timeline")


def test_details_of_library(page):
    """The details have all figures of a region, the reason of its limit, and the distribution of what was kept."""
    made = page.show_library()
    for index, region in enumerate(made["regions"]):
        page.run(f"document.querySelector('tr[data-region=\"{index}\"]').click()")
        text = page.text(".detail")
        assert region["limit"]["why"] in text, (region["limit"], text)
        shown = page.run(READ_PLAIN % ".detail table")
        measured = [name for name, stats in region["metrics"].items() if stats["count"]]
        assert [row[0] for row in shown["rows"]] == ["GPU time", *metric_names(made, measured)]
        for row in shown["rows"]:
            stats, metric = region["metrics"].get(row[0], region["time_ns"]), made["metrics"].get(row[0], {"units": "ns", "aggregation": "sum"})
            for figure, cell in zip(("mean", "stddev", "min", "median", "p95", "max"), row[3:9]):
                check_number(cell, stats[figure], row[1], metric["units"], (region["name"], row[0], figure))
        if region["count"]:
            assert f"GPU time of 16 of {region['count']} samples, chosen at random" in text, text
            assert "While it runs: " in text
        page.run(f"document.querySelector('tr[data-region=\"{index}\"]').click()")


def test_all_columns(page):
    """Every column can be shown, and its figures equal those of the document."""
    page.show("ten")
    page.run("document.querySelectorAll('#choice input').forEach((box) => { if (!box.checked) { box.click(); } })")
    shown = page.check_figures()
    assert len(shown["headings"]) == count_columns(page.made), shown["headings"]
    assert count_columns(page.made) == 17 + len(page.made["metrics"])


def test_heading(page):
    """The heading has device, program and date, the sum of the times, and what limits them."""
    made = page.show("ten")
    head = page.text("header")
    for text in (made["program"], made["device"]["name"], made["device"]["driver_version"], made["device"]["uuid"],
                 made["device"]["pci"], "2,850 MHz", "19.2 MHz", "2026-11-22 03:21:00 UTC", "2026-11-22 03:18:30 UTC", made["zetools"], "MetricsComputeBasic"):
        assert text in head, text
    summary = page.text("#summary")
    total, rest = re.match(r"(.*) of GPU time in (.*)", summary).groups()
    check_quantity(total, sum(region["own_ns"] for region in made["regions"]), "ns", "summary")
    assert rest.startswith(f"10 regions, {made['counts']['collected']:,} samples."), summary
    shares = {}
    for region in made["regions"]:
        shares[limit_of(region)] = shares.get(limit_of(region), 0) + region["share"]
    assert shares.pop("") > 0 and "unknown" not in summary
    for what, share in shares.items():
        assert f"{what} {100 * share:.1f} %" in summary or share < 0.0005, (what, share, summary)
    page.show("none", change=lambda made: made.update(availability="[TIMES_BY_CHOICE] zt_open: no metric groups are requested."))
    assert "MetricsNo metric groups are requested." in page.text("#facts"), page.text("#facts")
    made = page.show("many")
    assert any(region["share"] > 0.0005 and not limit_of(region) for region in made["regions"])
    assert "Limits, by share: " in page.text("#summary") and not re.search("not known [0-9]", page.text("#summary")), page.text("#summary")


def test_headline(page):
    """The heading names the region with the largest own time: its share, its time, and what limits it, if that is known."""
    def forget(made):
        for region in made["regions"]:
            region["limit"]["what"] = "unknown"

    for change in (None, forget):
        made = page.show("ten", change=change)
        largest = max(made["regions"], key=lambda region: region["share"] or 0)
        limit = limit_of(largest)
        summary = page.text("#summary")
        found = re.search(r"The largest own time is that of (.*): ([0-9.]+) % \((.*)\)(.*?)\. ", summary)
        assert found, summary
        name, share, time, rest = found.groups()
        assert name == largest["name"] and share == f"{100 * largest['share']:.1f}", summary
        check_quantity(time, largest["own_ns"], "ns", summary)
        assert rest == (f"; what limits it: {limit}" if limit else "; what limits it is not known"), summary
        assert bool(limit) == ("Limits, by share: " in summary) == (change is None), summary


def test_losses(page):
    """What is missing stands at the top; where nothing is, nothing stands there."""
    made = page.show("ten")
    assert page.run("document.getElementById('notes').checkVisibility()")
    assert page.run("[...document.querySelectorAll('#notes li')].map((item) => item.textContent)") == made["notes"]
    page.show("many")
    assert not page.run("document.getElementById('notes').checkVisibility()")
    assert "Lost" not in [heading for heading, _, _ in page.table()["headings"]]
    made = page.show("none")
    assert page.text("#summary") == "No region was measured." and made["notes"][0] in page.text("#notes")
    assert not page.run("document.getElementById('regions').checkVisibility()")


def test_nesting(page):
    """Nested regions follow their parents; flat, regions are sorted by their own share alone."""
    made = page.show("ten")
    regions = made["regions"]

    def inclusive(index):
        return regions[index]["share"] + sum(inclusive(child) for child, one in enumerate(regions) if one["parent"] == index)

    def walk(parent):
        siblings = [index for index, region in enumerate(regions) if region["parent"] == parent]
        return [row for index in sorted(siblings, key=inclusive, reverse=True) for row in [index] + walk(index)]

    assert [row["region"] for row in page.table()["rows"]] == walk(None)
    bars = page.run("[...document.querySelectorAll('#regions .share .bar')].map((bar) => [...bar.children].map((part) => parseFloat(part.style.width)))")
    full = max(map(inclusive, range(10)))
    for (own, nested), index in zip(bars, walk(None), strict=True):
        assert math.isclose(own, 100 * regions[index]["share"] / full, rel_tol=1e-3, abs_tol=1e-3), (own, index)
        assert math.isclose(own + nested, 100 * inclusive(index) / full, rel_tol=1e-3, abs_tol=1e-3), (nested, index)
    page.run("document.getElementById('nested').click()")
    flat = sorted(range(10), key=lambda index: -regions[index]["share"])
    assert [row["region"] for row in page.table()["rows"]] == flat
    page.run("document.getElementById('nested').click()")
    page.press("/")
    page.browser.type("gemm")
    rows = page.table()["rows"]
    assert [(row["region"], row["context"]) for row in rows] == [(0, True), (1, True), (3, False)], rows


def test_nesting_of_library(page):
    """What the library writes of nested regions, with own times that are not known."""
    for width in WIDTHS:
        page.show_library(width, name="nested")
        page.browser.screenshot(os.path.join(page.directory, f"nested-{width}.png"))
    made = page.show_library(name="nested")
    shown = page.check_figures()
    regions = {region["name"]: region for region in made["regions"]}
    order = [made["regions"][row["region"]]["name"] for row in shown["rows"]]
    for name, inner in (("step", ["forward", "gemm", "relu", "update"]), ("lost once", ["lost inside"])):
        at = order.index(name)
        assert sorted(order[at + 1:at + 1 + len(inner)]) == inner, order
    assert regions["lost once"]["own_ns"] is None and regions["lost once"]["share"] > 0, regions["lost once"]
    assert regions["forward"]["parent"] == made["regions"].index(regions["step"])
    assert math.isclose(sum(region["share"] for region in made["regions"]), 1, rel_tol=1e-9)
    check_quantity(page.text("#summary").split(" of GPU time")[0], made["gpu_time_ns"], "ns", "summary")
    page.run(f"document.querySelector('tr[data-region=\"{made['regions'].index(regions['lost once'])}\"]').click()")
    assert "Its own time is not known" in page.text("#regions"), page.text("#regions")
    assert "own time of 1 region is not known" in page.text("#notes"), page.text("#notes")


def rows_of_paths(made):
    """The rows of a document in which a region is on several paths: its paths, each with figures of its own."""
    several = {path["region"] for path in made["paths"] if sum(other["region"] == path["region"] for other in made["paths"]) > 1}
    return [{**made["regions"][path["region"]], **(path if path["region"] in several else {}), "parent": path["parent"]}
            for path in made["paths"]]


def test_phases_of_library(page):
    """Phases are rows around the regions inside, with entries and host time. Sums and strong bars are those of regions."""
    for width in WIDTHS:
        for scheme in ("light", "dark"):
            page.show_library(width, scheme, name="phases")
            page.browser.screenshot(os.path.join(page.directory, f"phases-{width}-{scheme}.png"))
            page.run("document.querySelector('tr.phase').click()")
            page.browser.screenshot(os.path.join(page.directory, f"phase-details-{width}-{scheme}.png"))
            assert page.run(READ_CONTRAST)["poor"] == []
            weights = page.run("[...document.querySelectorAll('#regions tr[data-region]')].map((row) => "
                               "[row.className, getComputedStyle(row.querySelector('button')).fontWeight])")
            assert all((weight == "600") == name.startswith("phase") for name, weight in weights), weights
    made = page.show_library(name="phases")
    rows = made["regions"] = rows_of_paths(made)

    def own(index):
        return 0 if "phase" in rows[index] or not rows[index]["count"] else rows[index]["share"]

    def inclusive(index):
        return own(index) + sum(inclusive(child) for child, one in enumerate(rows) if one["parent"] == index)

    def walk(parent):
        siblings = [index for index, row in enumerate(rows) if row["parent"] == parent]
        return [row for index in sorted(siblings, key=inclusive, reverse=True) for row in [index] + walk(index)]

    page.run("document.querySelectorAll('#choice input').forEach((box) => { if (!box.checked) { box.click(); } })")
    shown = page.check_figures()
    headings = [heading for heading, _, _ in shown["headings"]]
    assert all(heading in headings for heading in ("Host", "Host own", "Busy")), headings
    assert [row["region"] for row in shown["rows"]] == walk(None)
    names = [rows[row["region"]]["name"] for row in shown["rows"]]
    phases = [index for index, row in enumerate(shown["rows"]) if row["phase"]]
    assert sorted(names[index] for index in phases) == ["assemble", "output", "solve", "step", "sweep", "write"], names
    counts = dict(zip([names[index] for index in phases], [shown["rows"][index]["cells"][headings.index("Count")] for index in phases]))
    assert counts == {"step": "30", "assemble": "30", "solve": "30", "sweep": "90", "output": "3", "write": "3"}, counts
    bars = page.run("[...document.querySelectorAll('#regions .share .bar')].map((bar) => [...bar.children].map((part) => parseFloat(part.style.width)))")
    full = max(map(inclusive, range(len(rows))))
    for (strong, faint), index in zip(bars, walk(None), strict=True):
        assert math.isclose(strong, 100 * own(index) / full, rel_tol=1e-3, abs_tol=1e-3), (strong, rows[index]["name"])
        assert math.isclose(strong + faint, 100 * inclusive(index) / full, rel_tol=1e-3, abs_tol=1e-3), (faint, rows[index]["name"])
    for index, row in enumerate(rows):
        assert "phase" not in row or math.isclose(row["share"] or 0, inclusive(index), rel_tol=1e-6, abs_tol=1e-9), row["name"]
    measured = [region for region in made["regions"] if "phase" not in region]
    assert math.isclose(sum(region["share"] or 0 for region in measured), 1, rel_tol=1e-9)
    summary = page.text("#summary")
    check_quantity(summary.split(" of GPU time")[0], made["gpu_time_ns"], "ns", "summary")
    assert f"in {len(measured)} regions and 6 phases, " in summary, summary
    assert page.text("#shown") == f"{len(made['regions'])} rows", page.text("#shown")
    for what, share in re.findall(r"([a-z][a-z -]*) ([0-9.]+) %", summary.split("Limits, by share:")[-1]):
        assert float(share) <= 100.05, (what, summary)
    assert "Bold rows are phases" in page.text("#legend"), page.text("#legend")
    page.run(f"document.querySelectorAll('tr[data-region]')[{names.index('output')}].click()")
    text = page.text(".detail")
    output = next(region for region in made["regions"] if region["name"] == "output")
    assert output["phase"]["incomplete"] == 1 and output["phase"]["busy_ns"] is None, output["phase"]
    for part in ("Entered 3 times: ", " on the host, of which ", "2 samples in no other region.", "leave out 1 entry with", "GPU time of 2 entries", "GPU time of an entry"):
        assert part in text, (part, text)
    page.run("document.getElementById('nested').click()")
    flat = [row["region"] for row in page.table()["rows"]]
    assert flat == sorted(range(len(rows)), key=lambda index: -rows[index]["share"] if rows[index]["count"] else 1), flat


def test_energy_and_memory(page):
    """Columns of what phases took and used are shown where a phase has them; the details name the reasons for throttling."""
    page.show("energy")
    page.browser.screenshot(os.path.join(page.directory, "energy.png"))
    shown = page.check_figures()
    headings = [heading for heading, _, _ in shown["headings"]]
    assert headings[4:11] == ["Own", "With inside", "Host", "Memory", "Energy", "Power", "Throttled"], headings
    page.run("document.querySelectorAll('#regions tr.phase').forEach((row) => row.click())")
    page.browser.screenshot(os.path.join(page.directory, "energy-details.png"))
    texts = page.run("[...document.querySelectorAll('.detail .pair > div:first-child')].map((node) => node.textContent)")
    step, assemble, output = [text.replace("\u00a0", " ") for text in texts]
    for part in ("The device took 41.5 J, 137 W. Its mean clock was 2,650 MHz. It was throttled for 12.5 % of the time: average power (10.0 %), temperature (5.0 %).",
                 "At most 2.15 GB of the device's memory were in use, 1.07 GB at the end. 7 allocations, of which 2 (3.15 MB) not freed."):
        assert part in step, (part, step)
    for part in ("The device took 82 W. Its mean clock was 2,850 MHz.", "1 allocation, all freed."):
        assert part in assemble, (part, assemble)
    assert "throttled" not in assemble, assemble
    for part in ("device", "throttled", "allocation"):
        assert part not in output, output
    page.run("document.querySelectorAll('#choice input').forEach((box) => { if (!box.checked) { box.click(); } })")
    assert "Not freed" in [heading for heading, _, _ in page.check_figures()["headings"]]
    page.show("energy", change=lambda made: [region.get("phase", {}).update(throttled=0) for region in made["regions"]])
    assert "Throttled" not in [heading for heading, _, _ in page.table()["headings"]]


def test_hostile(page):
    """No name becomes HTML or breaks the page."""
    made = page.show("hostile")
    assert page.text("title") == made["program"] + ": GPU profile"
    assert page.count("script") == 2 and page.count("img") == 0
    shown = page.table()
    assert sorted(row["region"] for row in shown["rows"]) == list(range(len(made["regions"])))
    page.run("document.querySelectorAll('#regions tr[data-region]').forEach((row) => row.click())")
    names = page.run("[...document.querySelectorAll('.detail h3')].map((node) => node.textContent)")
    assert sorted(names) == sorted(region["name"] for region in made["regions"])
    assert page.count("script") == 2 and page.count("img") == 0
    assert all(len(row["cells"][1]) <= 56 for row in shown["rows"])


def test_damaged(page):
    """Data that cannot be read is reported on the page."""
    path = os.path.join(page.directory, "damaged.html")
    with open(path, "w", encoding="utf-8") as file:
        file.write(sample.page_of({"regions": []}).replace('{"regions": []}', '{"regions": ['))
    page.browser.open(path)
    assert len(page.browser.problems) == 1, page.browser.problems
    page.browser.problems.clear()
    assert "cannot be read" in page.text("#summary")


def test_sort_by_keyboard(page):
    """Each heading is reached by the Tab key, and sorts up and down; what is missing comes last."""
    page.show("bare")
    page.press("/")
    for heading in ("Share", "Region", "Count", "Lost", "Total", "Mean", "Median", "p95", "What limits it"):
        page.tab_to(heading)
        directions = set()
        for _ in range(2):
            page.press("Enter")
            shown = page.table()
            column, direction = next((index, sort) for index, (text, _, sort) in enumerate(shown["headings"]) if sort)
            assert shown["headings"][column][0] == heading
            if heading in ("Region", "What limits it"):
                values = [row["cells"][column] for row in shown["rows"]]
            else:
                figures = [value_of(page.made, page.made["regions"][row["region"]], heading)[0] for row in shown["rows"]]
                values = [figure for figure in figures if figure is not None]
                assert None not in figures[:len(values)], figures
            assert values == sorted(values, reverse=direction == "descending"), (heading, direction, values)
            assert page.focused().startswith(heading)
            directions.add(direction)
        assert directions == {"ascending", "descending"}, (heading, directions)
    page.press("Tab")
    assert page.focused() == page.made["regions"][page.table()["rows"][0]["region"]]["name"]
    page.press("Tab")
    assert page.focused() not in [region["name"] for region in page.made["regions"]], "one row at a time is a stop of the Tab key"


def test_filter_by_keyboard(page):
    """The / key filters, Escape shows all, arrows move, Enter opens and closes."""
    made = page.show("many")
    page.press("/")
    assert page.focused() == "filter"
    page.browser.type("layer_49 !128")
    expected = {index for index, region in enumerate(made["regions"]) if "layer_49" in region["name"] and "128" not in region["name"]}
    assert {row["region"] for row in page.table()["rows"]} == expected and len(expected) > 10
    share = sum(made["regions"][index]["share"] for index in expected)
    assert f"{len(expected)} of 5,000 regions, {100 * share:.1f} % of GPU time" == page.text("#shown")
    page.press("ArrowDown", "ArrowDown", "Enter")
    rows = page.table()["rows"]
    assert [row["open"] for row in rows[:3]] == [False, True, False]
    assert page.text(".detail h3") == made["regions"][rows[1]["region"]]["name"]
    page.run("getSelection().selectAllChildren(document.querySelector('.detail h3'))")
    page.press("ArrowUp", "Enter")
    assert [row["open"] for row in page.table()["rows"][:3]] == [True, True, False]
    page.press("End", "Home", "ArrowDown", "Enter")
    assert [row["open"] for row in page.table()["rows"][:3]] == [True, False, False]
    page.press("/", "Escape")
    assert page.text("#shown") == "5,000 regions"
    page.browser.type("no such region")
    assert page.table()["rows"] == [] and page.text("#shown").startswith("0 of 5,000 regions")
    page.press("ArrowDown")
    assert page.focused() == "filter"


def test_description_by_keyboard(page):
    """The description of a metric opens by keyboard, in a region and in the list of all."""
    made = page.show("ten")
    page.press("/", "ArrowDown", "Enter")
    page.tab_to("XVE_STALL")
    page.press("Enter")
    texts = page.run("[...document.querySelectorAll('.detail details[open] p')].map((node) => node.innerText)")
    assert texts == [made["metrics"]["XVE_STALL"]["description"]], texts
    page.tab_to("What each of")
    page.press("Enter")
    rows = page.run(READ_PLAIN % "#metrics table")["rows"]
    assert rows[6] == ["XVE_STALL", made["metrics"]["XVE_STALL"]["description"] + "percent, mean, Vector Engine, ComputeBasic, pass 0"], rows[6]
    for row, (name, metric) in zip(rows, made["metrics"].items(), strict=True):
        assert row[0] == name and row[1].startswith(metric["description"]), row


def test_whole_descriptions(page):
    """The longest description is wrapped, and no element cuts it, in a region, in the list of all and of a kernel."""
    text = ("w" * 40 + " and so on ") * 5

    def change(made):
        for metric in made["metrics"].values():
            metric["description"] = text
        for kernel in made["kernels"]:
            kernel["advice"] = text

    for width in WIDTHS:
        page.show("ten", width, change=change)
        page.run("document.querySelector('#regions tr[data-region]').click()")
        page.run("document.querySelectorAll('details').forEach((node) => { node.open = true; })")
        cut = page.run("""(() => {
            const cut = [];
            const found = [...document.querySelectorAll('.detail details p, #metrics td, #kernels li')].filter((node) => node.textContent.includes('and so on'));
            for (const node of found) {
                const range = document.createRange();
                range.selectNodeContents(node);
                const box = range.getBoundingClientRect();
                for (let around = node; around; around = around.parentElement) {
                    const outer = around.getBoundingClientRect();
                    if (getComputedStyle(around).overflowX !== 'visible' && (box.right > outer.right + 1 || box.bottom > outer.bottom + 1)) {
                        cut.push(node.outerHTML.slice(0, 80));
                    }
                }
                if (box.right > innerWidth) {
                    cut.push('window: ' + node.outerHTML.slice(0, 80));
                }
            }
            return [found.length, cut]; })()""")
        assert cut[0] > 2 * len(page.made["metrics"]) - 5 and not cut[1], (width, cut)


def test_columns_by_keyboard(page):
    """A column is chosen by keyboard; Escape closes the choice."""
    page.show("ten")
    page.press("/")
    page.tab_to("Columns")
    page.press("Enter")
    for _ in range(9):
        page.press("Tab")
    page.press(" ")
    assert "Min" in [heading for heading, _, _ in page.table()["headings"]], page.table()["headings"]
    page.check_figures()
    page.press("Escape")
    assert page.focused() == "Columns" and not page.run("document.getElementById('choice').open")


def test_bounded(page):
    """5,000 regions and 100,000 spans make a page of bounded size, and the rest is a key away."""
    made = page.show("many")
    assert page.count("#regions tr[data-region]") == 200
    assert page.count("*") < 6000, page.count("*")
    shown = {row["region"] for row in page.table()["rows"]}
    rest = sum(region["share"] for index, region in enumerate(made["regions"]) if index not in shown)
    assert page.text("#more span") == f"Rows 1 to 200 of 5,000; 4,800 more rows with {100 * rest:.1f} % of GPU time."
    page.run("document.querySelector('#more button:last-child').focus()")
    page.press("Enter")
    assert page.count("#regions tr[data-region]") == 200
    assert not shown & {row["region"] for row in page.table()["rows"]}
    assert page.text("#more span").startswith("Rows 201 to 400 of 5,000; ")
    for _ in range(30):
        page.run("document.querySelector('#more button:last-child').click()")
    assert page.text("#more span").startswith("Rows 4,801 to 5,000 of 5,000; ")
    page.run("document.querySelector('#more button').click()")
    assert page.text("#more span").startswith("Rows 4,601 to 4,800 of 5,000; ")
    page.check_figures()


def test_details(page):
    """The details of each region have all figures of the document, and why it is limited."""
    made = page.show("ten")
    for index, region in enumerate(made["regions"]):
        page.run(f"document.querySelector('tr[data-region=\"{index}\"]').click()")
        text, limit = page.text(".detail"), region["limit"]
        assert f"What limits it: {limit_of(region)}" in text and limit["why"] in text and limit["add"] in text
        shown = page.run(READ_PLAIN % ".detail table")
        assert shown["headings"] == ["Metric", "Unit", "Samples", "Mean", "Std dev", "Min", "Median", "p95", "Max", "Sum", "Component"]
        measured = [name for name, stats in region["metrics"].items() if stats["count"]]
        assert [row[0] for row in shown["rows"]] == ["GPU time", *metric_names(made, measured)]
        for row in shown["rows"]:
            stats, metric = region["metrics"].get(row[0], region["time_ns"]), made["metrics"].get(row[0], {"units": "ns", "aggregation": "sum"})
            for figure, cell in zip(("mean", "stddev", "min", "median", "p95", "max"), row[3:9]):
                check_number(cell, stats[figure], row[1], metric["units"], (region["name"], row[0], figure))
            assert row[2] == f"{stats['count']:,}"
            if metric["aggregation"] == "flag":
                assert row[9] == f"{stats['sum']} sample" + ("s" if stats["sum"] != 1 else ""), row
            else:
                check_quantity(row[9], stats["sum"], metric["units"], row)
        missing = set(made["metrics"]) - set(measured)
        assert all(name in text.partition("Not measured here: ")[2] for name in missing)
        bars = page.run("[...document.querySelectorAll('.detail rect.column title')].map((node) => node.textContent)")
        counts = [f"{count:,} sample{'s' if count != 1 else ''}" for count in region["histogram"]["counts"] if count]
        assert [bar.partition(" from ")[0] for bar in bars] == counts, (bars, counts)
        if "bytes" in region:
            rates = re.search(r"While it runs: (.*), (.*), (.*) op/B\.", text).groups()
            check_quantity(rates[0].removeprefix("memory traffic "), region["bytes"], "B/s", "rate")
            check_quantity(rates[1], region["operations"], "op/s", "rate")
            assert math.isclose(float(rates[2]), region["operations"] / region["bytes"], rel_tol=0.0051)
        page.run(f"document.querySelector('tr[data-region=\"{index}\"]').click()")
        assert page.count(".detail") == 0


def test_what_is_missing_in_a_region(page):
    """Passes that differ and samples that were not kept are stated."""
    def change(made):
        made["regions"][0]["differs"] = "missing+time"
        made["regions"][0]["histogram"]["counts"] = [5, 3]

    made = page.show("ten", change=change)
    page.run("document.querySelector('tr[data-region=\"0\"]').click()")
    assert "The passes differ: it is missing in some, its GPU time differs." in page.text(".detail")
    count = made["regions"][0]["time_ns"]["count"]
    assert f"GPU time of 8 of {count} samples, chosen at random, logarithmic" in page.text(".detail")


def test_times_alone(page):
    """Where samples have times alone, the GPU time of the others has a row of its own."""
    def change(made):
        first, second = made["regions"][0], made["regions"][1]
        for region in (first, second):
            region["with_metrics"] = region["count"]
        first["with_metrics"] = 3
        first["pass_time_ns"] = [dict(first["time_ns"], count=3, sum=4.5e6, mean=1.5e6)]

    page.show("ten", change=change)
    for index, expected in ((0, 1), (1, 0)):
        page.run(f"document.querySelector('tr[data-region=\"{index}\"]').click()")
        assert page.text(".detail").count("GPU time with metrics") == expected
        page.run(f"document.querySelector('tr[data-region=\"{index}\"]').click()")


def test_streamed(page):
    """The details of a region have the metrics of streams that were sampled while it ran."""
    def change(made):
        made["streamed"] = {"EuBusy": {"units": "percent", "component": "Vector Engine"}}
        made["regions"][1]["streamed"] = {"EuBusy": {"rows": 1234, "mean": 41.25, "peak": 97.5}}

    page.show("ten", change=change)
    page.run("document.querySelector('tr[data-region=\"1\"]').click()")
    shown = page.run(READ_PLAIN % ".detail .scroll:last-child table")
    assert shown["rows"] == [["EuBusy", "%", "1,234", "41.3", "97.5", "Vector Engine"]], shown


def test_bars_of_peaks(page):
    """A share of a peak has a bar, which is full at the peak. What is not known has none."""
    def change(made):
        for region, shares in zip(made["regions"], [{"bandwidth": 0.25, "compute": None}, {"bandwidth": 1.5, "compute": 0.5}, {}]):
            region["of_peak"] = {"xmx": None, "occupancy": None, **shares}
            region["name"] = f"peak {made['regions'].index(region)}"
    page.show("ten", 1920, change=change)
    bars = page.run("""Object.fromEntries([...document.querySelectorAll("#regions > tbody > tr[data-region]")].map((row) =>
        [row.querySelector(".name").textContent.trim(), [...row.querySelectorAll("td.number .bar i")].map((bar) => bar.style.width)]))""")
    assert bars["peak 0"] == ["25%"] and bars["peak 1"] == ["100%", "50%"] and bars["peak 2"] == [], bars


def test_roofline(page):
    """The roofline has a point for each region that has rates, and says where its peaks are from."""
    for name, source in (("ten", "measured: copy of 256 MB"), ("many", "given by ZT_PEAKS")):
        made = page.show(name)
        rated = sum(1 for region in made["regions"] if "bytes" in region)
        assert page.count("#roofline circle") == min(rated, 150)
        assert f"Peak, {source}: 456 GB/s, 14.6 Top/s." in page.text("#roofline")
        assert 5 <= page.count(".point-name") <= 12, page.count(".point-name")
        boxes = page.run("""[...document.querySelectorAll('#roofline text:not(.muted), #roofline circle')].map((node) =>
            Object.assign(node.getBoundingClientRect().toJSON(), {text: node.tagName === 'text' ? node.textContent : ''}))""")
        for one, other in itertools.combinations(boxes, 2):
            assert not (one["text"] or other["text"]) or (
                one["right"] <= other["left"] + 1 or other["right"] <= one["left"] + 1 or one["bottom"] <= other["top"] + 2 or
                other["bottom"] <= one["top"] + 2), (one, other)
    page.show("ten")
    page.run("document.querySelector('#roofline circle').dispatchEvent(new MouseEvent('click'))")
    largest = max((region for region in page.made["regions"] if "bytes" in region), key=lambda region: region["share"])
    assert page.text(".detail h3") == largest["name"]
    page.show("bare")
    assert not page.run("document.getElementById('roofline').checkVisibility()")


def test_roof_in_the_picture(page):
    """The roof goes from one end of the drawing to the other, and all points and names are in it, whatever the points are."""
    def rate(*rates, **peaks):
        def change(made):
            made["peaks"].update(peaks)
            for region in made["regions"]:
                region.pop("operations", None)
            for region, (size, operations) in zip(made["regions"], rates):
                region.update(bytes=size, operations=operations)
        return change

    both = {"bytes_per_second": 456e9, "operations_per_second": 14.6e12}
    cases = [([(4e11, 4e-3)], both), ([(1.0, 1e13)], both), ([(1e11, 1e10)], both), ([(1e3, 1e15), (1e15, 1e4)], both),
             ([(1e4, 1e6)], {**both, "operations_per_second": None}), ([(4e11, 1e3)], {**both, "bytes_per_second": None}),
             ([(9e12, 9e14)], both), ([(1e9, 1e9), (2e9, 3e9)], dict.fromkeys(both))]
    for width, (rates, peaks) in itertools.product(WIDTHS, cases):
        page.show("ten", width, change=rate(*rates, **peaks))
        roofs = sum(peak is not None for peak in peaks.values())
        assert page.count("#roofline .roof") == roofs and page.count("#roofline circle") == len(rates), (rates, peaks)
        left, right, top, bottom = page.run("""(() => {
            const axis = document.querySelector('#roofline .axis').getBBox();
            return [axis.x, axis.x + axis.width, axis.y, axis.y + axis.height]; })()""")
        boxes = page.run("""[...document.querySelectorAll('#roofline .roof')].map((node) => {
            const box = node.getBBox(); return [box.x, box.x + box.width, box.y, box.y + box.height]; })""")
        for box in boxes:
            assert left - 0.01 <= box[0] <= box[1] <= right + 0.01 and top <= box[2] <= box[3] <= bottom, (rates, peaks, box)
        assert not boxes or min(box[0] for box in boxes) < left + 0.01 and max(box[1] for box in boxes) > right - 0.01, (rates, peaks, boxes)
        points = page.run("[...document.querySelectorAll('#roofline circle')].map((node) => [node.cx, node.cy].map((one) => one.baseVal.value))")
        assert all(left < x < right and top < y < bottom for x, y in points), (rates, peaks, points)
        texts = page.run("""(() => {
            const all = document.querySelector('#roofline svg').getBoundingClientRect();
            return [...document.querySelectorAll('#roofline text')].map((node) => [node, node.getBoundingClientRect()])
                .filter(([, box]) => box.left < all.left || box.right > all.right || box.top < all.top || box.bottom > all.bottom)
                .map(([node]) => node.textContent); })()""")
        assert not texts, (rates, peaks, texts)
        for axis in ("middle", "end"):
            ticks = page.run(f"[...document.querySelectorAll('#roofline text[text-anchor={axis}]:not([class])')].map((node) => node.getBoundingClientRect().toJSON())")
            for one, other in itertools.combinations(ticks, 2):
                assert (one["right"] <= other["left"] or other["right"] <= one["left"] or one["bottom"] <= other["top"] + 2 or
                        other["bottom"] <= one["top"] + 2), (rates, peaks, axis, one, other)
        for peak, text in (("bytes_per_second", "The peak of the memory traffic is not known"), ("operations_per_second", "The peak of operations is not known")):
            assert (text in page.text("#roofline")) == (peaks[peak] is None), (peaks, page.text("#roofline"))


def test_what_is_not_in_the_roofline(page):
    """Below the roofline stands which regions are not in it, by the reason."""
    def change(made):
        for region in made["regions"]:
            region.pop("operations", None)
        made["regions"][2].update(operations=1e12)
        made["regions"][3].update(bytes=0)
        made["regions"][4].update(count=0, lost=1, time_ns=sample.stats_of([]))

    made = page.show("ten", change=change)
    share = {index: made["regions"][index]["share"] for index in range(10)}
    items = [text.replace("\u00a0", " ") for text in page.run("[...document.querySelectorAll('#roofline li')].map((node) => node.textContent)")]

    def expected(reason, *indices):
        names = [made["regions"][index]["name"] for index in indices]
        others = f" and {len(names) - 3} other{'s' if len(names) > 4 else ''}" if len(names) > 3 else ""
        return (f"{len(names)} region{'s' if len(names) > 1 else ''} {reason}, {100 * sum(share[index] for index in indices):.1f} % of GPU time: "
                f"{', '.join(names[:3])}{others}.")

    share[4] = 0
    assert items == [
        expected("without memory traffic", 3), expected("whose operations the program does not state (zt_set_operations)", 7, 5, 6, 8),
        expected("whose memory traffic is not measured", 1, 0, 9), expected("without samples", 4)], items
    page.show("ten", change=lambda made: [region.update(operations=1e12, bytes=1e9) for region in made["regions"]])
    assert page.count("#roofline li") == 0 and "Not in the drawing" not in page.text("#roofline")


def test_roofline_of_library(page):
    """Without operations that the program states, there are the instructions that the device counts, and no peak for them."""
    made = page.show_library()
    assert page.count("#roofline circle") == 4 and page.count("#roofline .roof") == 1
    text = page.text("#roofline")
    assert "Instructions a second" in text and "Peak, reported by the driver: 51 GB/s." in text and "zt_set_operations" in text, text
    for region in made["regions"][:4]:
        titles = page.run("[...document.querySelectorAll('#roofline circle title')].map((node) => node.textContent)")
        title = next(title for title in titles if title.startswith(region["name"] + ": ")).replace("\u00a0", " ")
        rates = title.removeprefix(region["name"] + ": ").split(", ")
        check_quantity(rates[0], region["instructions"], "instr/s", "rate")
        check_quantity(rates[1].removesuffix(" of memory traffic"), region["bytes"], "B/s", "rate")
    page.browser.screenshot(os.path.join(page.directory, "library-instructions.png"))
    page.browser.open(os.path.join(page.directory, "operations.html"))
    assert page.count("#roofline circle") == 2 and page.count("#roofline .roof") == 2
    text = page.text("#roofline")
    assert "Operations a second" in text and "Peak, measured: copy of 256 MB: 7.2 GB/s, 2 Top/s." in text, text
    assert re.search(r"2 regions whose operations the program does not state \(zt_set_operations\), [0-9.]+ % of GPU time: (softmax, relu|relu, softmax)\.", text), text
    assert "1 region without samples, 0.0 % of GPU time: " in text, text


def covered(spans, begin, end):
    """How long at least one of the spans lasts from `begin` to `end`."""
    total, until = 0, begin
    for _, first, last in sorted(spans, key=lambda span: span[1]):
        total += max(0, min(last, end) - max(first, until))
        until = max(until, min(last, end))
    return total


def part_of_timeline(page):
    return page.run("[timeline.begin, timeline.end]")


def check_timeline(page, timeline):
    """The rows of the timeline are the phases, and then the queues in the order of their first spans. The figure of each is the
    share of the time that is shown in which its spans last."""
    begin, end = part_of_timeline(page)
    rows = page.run("[...document.querySelectorAll('.strip > .name')].map((node) => [node.title, node.parentNode.children[[...node.parentNode.children].indexOf(node) + 2].textContent])")
    names, counts = [], {}
    queues = sorted(timeline["queues"], key=lambda queue: queue["spans"][0][1])
    for queue in queues:
        counts[queue["kind"]] = counts.get(queue["kind"], 0) + 1
        names.append(queue["name"] or f"{queue['kind']} {counts[queue['kind']]}")
    spans = [queue["spans"] for queue in queues]
    if len(queues) > 12:
        rest = sorted(range(len(queues)), key=lambda at: -covered(spans[at], 0, timeline["span_ns"]))[12:]
        kept = [at for at in range(len(queues)) if at not in rest]
        names = [names[at] for at in kept] + [f"{len(rest)} others"]
        spans = [spans[at] for at in kept] + [[span for at in rest for span in spans[at]]]
    if timeline["phases"]:
        names, spans = ["phases", *names], [timeline["phases"], *spans]
    assert [name for name, _ in rows] == names, rows
    for (name, figure), some in zip(rows, spans, strict=True):
        check_number(figure.removesuffix("\u00a0%"), 100 * covered(some, begin, end) / (end - begin), "%", "percent", name)
    return rows


def test_timeline(page):
    """The rows of the timeline have the share of the time that their spans cover. There are at most 13, however many queues there are."""
    for name in ("ten", "many", "hostile"):
        timeline = page.show(name)["timeline"]
        spans = [span for queue in timeline["queues"] for span in queue["spans"]]
        total = 100 * covered(spans, 0, timeline["span_ns"]) / timeline["span_ns"]
        assert f"regions run for {total:.1f} % of it" in page.text("#timeline"), (total, page.text("#timeline"))
        assert len(check_timeline(page, timeline)) == min(13, len(timeline["queues"]))
        assert part_of_timeline(page) == [0, timeline["span_ns"]] and "The whole time is shown." in page.text("#timeline")
        page.run("zoom(0.01, 0.3)")
        check_timeline(page, timeline)
        assert page.count("#timeline *") < 1500, page.count("#timeline *")


def test_zoom(page):
    """Wheel, buttons, keys and mouse zoom and move the part that is shown. What is below the mouse stays there."""
    timeline = page.show("ten")["timeline"]
    whole = [0, timeline["span_ns"]]
    page.run("document.getElementById('timeline').scrollIntoView()")
    box = page.run("document.querySelector('.track').getBoundingClientRect().toJSON()")
    x, y = box["left"] + box["width"] / 4, box["top"] + 5

    def mouse(kind, **more):
        page.browser.call("Input.dispatchMouseEvent", type=kind, **{"x": x, "y": y, **more})

    def check(begin, end, message, pixels=0):
        shown = part_of_timeline(page)
        error = 1 + pixels * (end - begin) / box["width"]
        assert math.isclose(shown[0], begin, abs_tol=error) and math.isclose(shown[1], end, abs_tol=error), (message, shown, begin, end)
        check_timeline(page, timeline)

    mouse("mouseWheel", deltaX=0, deltaY=-120)
    shown = part_of_timeline(page)
    length = shown[1] - shown[0]
    assert length < whole[1] and math.isclose(shown[0] + length / 4, whole[1] / 4, abs_tol=whole[1] / box["width"]), shown
    check(*shown, "the wheel zooms in")
    scrolled = page.run("scrollY")
    mouse("mousePressed", button="left", buttons=1, clickCount=1)
    mouse("mouseMoved", button="left", buttons=1, x=x - 10)
    mouse("mouseMoved", button="left", buttons=1, x=x - 50)
    mouse("mouseReleased", button="left", x=x - 50)
    moved = 50 / box["width"] * length
    check(shown[0] + moved, shown[1] + moved, "the mouse moves the part", pixels=1)
    assert page.count(".detail") == 0, "a click that moved opens nothing"
    for _ in range(30):
        mouse("mouseWheel", deltaX=0, deltaY=120)
    assert part_of_timeline(page) == whole
    page.press("/")
    page.tab_to("+")
    page.press("Enter")
    check(whole[1] / 4, 3 * whole[1] / 4, "the button zooms in")
    page.tab_to("\u2212")
    page.press("Enter")
    check(*whole, "the button zooms out")
    assert page.run("[...document.querySelectorAll('.zoom button')].map((button) => button.disabled)") == [False, True, True]
    page.run("document.querySelector('.strip').focus()")
    page.press("+", "+", "+")
    check(7 * whole[1] / 16, 9 * whole[1] / 16, "the key zooms in")
    page.press("ArrowRight")
    check(7 * whole[1] / 16 + whole[1] / 40, 9 * whole[1] / 16 + whole[1] / 40, "the key moves the part")
    page.press("-", "ArrowLeft")
    for _ in range(20):
        page.press("ArrowLeft")
    check(0, whole[1] / 4, "the part does not begin before the first sample")
    assert f"{quantity_of(page, whole[1] / 4)} of {quantity_of(page, whole[1])} are shown." in page.text("#timeline")
    for _ in range(40):
        page.press("+")
    shortest = part_of_timeline(page)
    page.press("+")
    check(shortest[0], shortest[0] + 100, "the part is not shorter than clocks are exact, and stays where it is")
    assert part_of_timeline(page) == shortest
    assert page.run("document.querySelector('.zoom button').disabled")
    page.press("0")
    check(*whole, "the key shows the whole")
    assert page.run("scrollY") == scrolled or page.run("scrollY") > 0


def quantity_of(page, value):
    return page.run(f"quantity({value}, 'ns')").replace("\u00a0", " ")


def test_ticks(page):
    """The times below the timeline are round, differ, do not overlap, and stand where they are, at each zoom and width."""
    for width in WIDTHS:
        made = page.show("ten", width)
        for _ in range(18):
            ticks = page.run("""[...document.querySelectorAll('.times span')].map((node) => {
                const box = node.getBoundingClientRect(), track = document.querySelector('.track').getBoundingClientRect();
                return [node.textContent, box.left, box.right, (box.left + box.right) / 2 - track.left, track.width]; })""")
            begin, end = part_of_timeline(page)
            assert 1 <= len(ticks) <= 24 and len({tick[0] for tick in ticks}) == len(ticks), ticks
            for text, _, _, x, room in ticks:
                number, unit = text.split("\u00a0")
                time = float(number.replace(",", "")) * UNITS[unit]
                assert math.isclose(begin + (end - begin) * x / room, time, abs_tol=(end - begin) * 2 / room + 0.1), (text, begin, end, x)
            for one, other in zip(ticks, ticks[1:]):
                assert one[2] + 5 < other[1], (width, ticks)
            page.run("zoom(0.5, 0.37)")
        assert made["timeline"]


def test_spans(page):
    """A span that is wide enough has its name in it, in the colour of its region; below the mouse, each has name and time."""
    made = page.show("ten")
    page.run("document.getElementById('timeline').scrollIntoView()")
    span = next(span for span in made["timeline"]["queues"][0]["spans"] if made["regions"][span[0]]["name"] == "conv2d_fwd_nhwc_f16")
    page.run(f"showPart({span[1]} - 1000, {span[2]} + 1000)")
    check_timeline(page, made["timeline"])
    slices = page.run("""[...document.querySelectorAll('.slice')].map((node) => {
        const box = node.getBoundingClientRect(); return [node.textContent, node.dataset.hue, box.left, box.top, box.right, box.bottom]; })""")
    names = [one[0] for one in slices]
    assert names == ["inference step", "forward", "conv2d_fwd_nhwc_f16"], names
    assert slices[0][3] < slices[1][3] < slices[2][3], slices
    hues = page.run("[...document.querySelectorAll('.hues span')].map((node) => [node.dataset.hue, node.textContent])")
    assert [slices[0][1], "inference step"] in hues and [slices[2][1], "conv2d_fwd_nhwc_f16"] in hues, hues
    assert len(hues) == 6 and hues[-1] == ["-1", "other regions"]
    x, y = (slices[2][2] + slices[2][4]) / 2, (slices[2][3] + slices[2][5]) / 2
    page.browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    name, time, begin = re.match(r"(.*): (.*), from (.*)", page.text("#span")).groups()
    assert name == "conv2d_fwd_nhwc_f16" and time == quantity_of(page, span[2] - span[1]), page.text("#span")
    check_number(begin.split()[0], span[1], "ms", "ns", begin)
    page.browser.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1)
    page.browser.call("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, button="left", clickCount=1)
    assert page.text(".detail h3") == "conv2d_fwd_nhwc_f16"


def test_timeline_of_library(page):
    """What the library writes of queues and phases: their spans are those of the regions, and phases are around what is inside."""
    made = page.show_library(name="phases")
    timeline = page.run("doc.timeline")
    check_timeline(page, timeline)
    queues = sorted((queue["kind"], queue["name"]) for queue in timeline["queues"])
    assert queues == [("list", "solver"), ("queue", "")], queues
    counts = {}
    for queue in timeline["queues"]:
        for index, _, _ in queue["spans"]:
            counts[index] = counts.get(index, 0) + 1
    for index, region in enumerate(made["regions"]):
        if "phase" not in region:
            assert counts.get(index, 0) == region["count"], (region["name"], counts)
    entries = {}
    for index, begin, end in timeline["phases"]:
        entries.setdefault(made["regions"][index]["name"], []).append((begin, end))
    assert {name: len(some) for name, some in entries.items()} == {"step": 30, "assemble": 30, "solve": 30, "sweep": 90, "output": 2}, entries
    for inner, outer in (("assemble", "step"), ("solve", "step"), ("sweep", "solve"), ("output", "step")):
        for begin, end in entries[inner]:
            assert sum(first <= begin and end <= last for first, last in entries[outer]) == 1, (inner, begin, end)
    spmv = next(index for index, region in enumerate(made["regions"]) if region["name"] == "spmv")
    for index, begin, end in (span for queue in timeline["queues"] for span in queue["spans"]):
        assert index != spmv or any(first <= begin and end <= last for first, last in entries["sweep"]), (begin, end)
    assert page.run("timeline.rows[0].lanes.length") == 3, "step, solve and sweep"


def test_kernels(page):
    """The figures of the kernels equal those of the document, those with the largest shares first."""
    made = page.show("ten")
    shown = page.run(READ_PLAIN % "#kernels table")
    kernels = {kernel["name"]: kernel for kernel in made["kernels"]}
    share = {name: made["regions"][kernel["region"]]["share"] if kernel["region"] is not None else 0
             for name, kernel in kernels.items()}
    assert [row[0] for row in shown["rows"]] == sorted(kernels, key=lambda name: -share[name])
    figures = ("simd_width", "registers", "slm_bytes", "private_bytes", "spill_bytes", "barriers", "arguments", "code_bytes")
    for row in shown["rows"]:
        kernel = kernels[row[0]]
        assert row[1] == (kernel["module"][:8] or row[1])
        assert row[3] == f"{kernel['launches']:,}"
        assert row[4:12] == ["\u2013" if kernel[figure] is None else f"{kernel[figure]:,}" for figure in figures], row
        assert row[12] == "16x16" and row[13] == ("64" if kernel["shapes"][0]["group_count"] else "\u2013")
        assert row[14].startswith("\u2013" if kernel["occupancy"] is None else f"{100 * kernel['occupancy']:.0f}"), row
    advice = [f"{row[0]}: {kernels[row[0]]['advice']}" for row in shown["rows"] if kernels[row[0]]["advice"]]
    assert page.run("[...document.querySelectorAll('#kernels li')].map((item) => item.textContent)") == advice and advice, advice


def test_overlap(page):
    """How kernels, copies and idle time share the time of the device, below the timeline; and that it is not known."""
    def change(made):
        made["overlap"].update(missing=3, busy_ns=None, kernel_ns=None, copy_ns=None, both_ns=None, idle_ns=None)

    def only_kernels(made):
        made["overlap"].update(copy_ns=0, both_ns=0)

    page.show("ten")
    expected = "Kernels take 61.0 %, copies 30.0 %, both at once 9.0 %. In 18.0 %, nothing that is measured runs."
    assert expected in page.text("#timeline"), page.text("#timeline")
    page.show("ten", change=only_kernels)
    assert "Kernels take 61.0 %. In 18.0 %," in page.text("#timeline"), page.text("#timeline")
    page.show("ten", change=change)
    assert "The idle time of the device is not known: 3 samples missing." in page.text("#timeline"), page.text("#timeline")


def test_calls(page):
    """The figures of the calls equal those of the document."""
    made = page.show("ten")
    shown = page.run(READ_PLAIN % "#calls table")
    calls = {call["name"]: call for call in made["calls"]}
    assert [row[0] for row in shown["rows"]] == sorted(calls, key=lambda name: -calls[name]["time_ns"]["sum"])
    for row in shown["rows"]:
        call = calls[row[0]]
        assert row[1:3] == [f"{call['count']:,}", f"{call['errors']:,}"]
        for heading, cell, figure in zip(shown["headings"][3:], row[3:], ("sum", "mean", "median", "p95", "max"), strict=True):
            check_number(cell, call["time_ns"][figure], heading.split()[1], "ns", row)


def test_hotspots(page):
    """Each line and instruction has its samples, their share of the kernel, what is active and the main stall."""
    page.show("ten")
    tables = page.run("""[...document.querySelectorAll('#hotspots table')].map((table) =>
        [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent)))""")
    assert tables == [[["16.7", "10", "100.0", "", "1010", "for (uint k = 0; k < n; k++)"], ["", "", "", "", "1011", "{"],
                       ["83.3", "50", "20.0", "SbidStall 80.0\u00a0%", "1012", "\tsum += a[k] * b[k];"]],
                      [["100.0", "20", "0.0", "SendStall 75.0\u00a0%", "+0x48", ""]]], tables
    assert "80 samples of instructions" in page.text("#hotspots") and page.text("#hotspots h3") == "/src/gemm.cl"


def test_numbers(page):
    """A number has three digits or more, a unit that suits it, and no exponent, whatever its size."""
    page.show("none")
    quantities = [
        (0, "ns", "0 ns"), (0.0995, "ns", "0.0995 ns"), (9.995, "ns", "10 ns"), (99.96, "ns", "100 ns"), (999.4, "ns", "999 ns"),
        (999.6, "ns", "1 \u00b5s"), (1000, "ns", "1 \u00b5s"), (2002e9, "ns", "2,002 s"), (59999e9, "ns", "59,999 s"),
        (999.6e9, "ns", "1,000 s"), (1e15, "ns", "1,000,000 s"), (-999.6, "ns", "-1 \u00b5s"), (1500, "us", "1.5 ms"), (0.25, "us", "250 ns"),
        (2.5, "ms", "2.5 ms"), (0.25, "s", "250 ms"), (2002, "s", "2,002 s"), (99.96, "percent", "100 %"), (9.995, "%", "10 %"),
        (999.6, "bytes", "1 kB"), (1e15, "bytes", "1 PB"), (2e18, "bytes", "2,000 PB"), (19.2e6, "Hz", "19.2 MHz"), (1e-7, "Hz", "0.0000001 Hz"),
        (2850, "MHz", "2,850 MHz"), (150, "W", "150 W"), (1500, "W", "1.5 kW"), (3277, "GBpS", "3,277 GB/s"), (12.5, "MBpS", "12.5 MB/s"),
        (1e6, "events", "1 M events"), (0.0001, "", "0.0001"), (1e-9, "", "0.000000001"), (None, "ns", "\u2013")]
    for value, units, text in quantities:
        shown = page.run(f"quantity({json.dumps(value)}, {json.dumps(units)})").replace("\u00a0", " ")
        assert shown == text, (value, units, shown, text)
    assert page.run("quantity(NaN, 'ns')") == page.run("quantity(Infinity, 'ns')") == MISSING
    assert page.run("quantity(0, 'ns', 1.5e6)") == "0\u00a0ms" and page.run("quantity(3e5, 'ns', 1.5e6)") == "0.3\u00a0ms"
    columns = [
        ("ns", [2002e9, 59999e9], "s", ["2,002.0", "59,999.0"]), ("us", [250, 1500], "\u00b5s", ["250", "1,500"]),
        ("ms", [0.25, 0.5], "\u00b5s", ["250.00", "500.00"]), ("percent", [0, 0.04, 99.96], "%", ["0.0", "<0.1", "100.0"]),
        ("%", [12.34], "%", ["12.3"]), ("W", [150.25], "W", ["150.25"]), ("GBpS", [3277, None], "GB/s", ["3,277", MISSING]),
        ("KBpS", [1.5], "KB/s", ["1.500"]), ("samples", [2, 0], "samples", ["2", "0"]), ("bytes", [-999.6], "B", ["-999.60"])]
    for units, values, unit, texts in columns:
        shown = page.run(f"(() => {{ const values = {json.dumps(values)}, scale = scaleFor({json.dumps(units)}, values);"
                         "return [scale.unit, ...values.map((value) => scaled(value, scale))]; })()")
        assert shown == [unit, *texts], (units, shown)


def test_units(page):
    """Each number stands beside its unit, and what was not measured is not shown."""
    def change(made):
        made["regions"][9].update(count=0, lost=1, share=0, time_ns=sample.stats_of([]))
        made["columns"].append("CoreFrequencyChanged")

    page.show("ten", WIDE, change=change)
    shown = page.table()
    row = next(row for row in shown["rows"] if row["region"] == 9)
    assert row["cells"][0] == MISSING and row["cells"][2] == "0", row
    assert ["CoreFrequencyChanged", "samples", None] in shown["headings"], shown["headings"]
    page.run("document.querySelector('tr[data-region=\"2\"]').click()")
    assert re.search(r"While it runs: memory traffic [0-9.]+ GB/s, [0-9.]+ Top/s, [0-9.]+ op/B\.", page.text(".detail")), page.text(".detail")
    assert re.fullmatch(r"[0-9,]+ samples", page.run("document.querySelectorAll('.detail svg > text')[1].textContent"))
    assert page.run(READ_PLAIN % "#hotspots table")["headings"][0] == "Share of kernel %"
    headings = page.run(READ_PLAIN % "#kernels table")["headings"]
    assert headings[6:9] == ["SLM B", "Private B", "Spill B"] and headings[11] == "Code B", headings
    times = page.run("[...document.querySelectorAll('.times span')].map((node) => node.textContent)")
    assert len(times) >= 4 and all(text.endswith("\u00a0ms") for text in times) and times[0] == "0\u00a0ms", times


def test_newest_samples(page):
    """Where the timeline has not all samples, the page says how many there were."""
    def change(made):
        made["timeline"]["samples"] = 1234567

    made = page.show("ten", change=change)
    spans = sum(len(queue["spans"]) for queue in made["timeline"]["queues"])
    assert f"The newest {spans} of 1,234,567 samples, in " in page.text("#timeline"), page.text("#timeline")
    page.show("ten")
    assert "newest" not in page.text("#timeline") and f"{spans} samples in " in page.text("#timeline")


def test_contrast(page):
    """All text has a contrast of at least 4.5 to 1, light, dark and printed."""
    for scheme, media in (("light", ""), ("dark", ""), ("dark", "print")):
        page.show("ten", scheme=scheme, media=media)
        page.run("document.querySelectorAll('#regions tr[data-region]').forEach((row, at) => { if (at % 3 === 0) { row.click(); } })")
        page.run("document.querySelectorAll('details').forEach((node) => { node.open = true; })")
        found = page.run(READ_CONTRAST)
        assert found["count"] > 300 and not found["poor"], (scheme, media, found)


def test_names_of_controls(page):
    """All that can be operated has a name that assistive technology reads."""
    page.show("ten")
    page.press("/", "ArrowDown", "Enter")
    nodes = page.browser.call("Accessibility.getFullAXTree")["nodes"]
    found = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]]
    roles = {role for role, _ in found}
    assert {"button", "searchbox", "checkbox", "link", "columnheader", "rowheader", "image"} <= roles, roles
    for role, name in found:
        if role in ("button", "searchbox", "checkbox", "link", "image", "DisclosureTriangle", "rowheader"):
            assert name.strip(), (role, name)


def test_widths(page):
    """All but the table keeps to the window; the name stays where the table is scrolled; headings have two lines."""
    for name in ("ten", "hostile"):
        for width in WIDTHS:
            page.show(name, width)
            page.run("document.querySelector('#regions tr[data-region]').click()")
            right = page.run("Math.max(...[...document.querySelectorAll('.fixed, .detail')].map((node) => node.getBoundingClientRect().right))")
            assert right <= width, (name, width, right)
            wide = page.run("[...document.querySelectorAll('.fixed, .fixed *')].filter((node) => node.scrollWidth > innerWidth && !node.closest('.scroll, svg, .track')).map((node) => node.outerHTML)")
            assert not wide, (name, width, wide)
            assert page.run("document.documentElement.scrollWidth") <= width, (name, width, page.table()["headings"])
            page.run("scrollTo(100000, 0)")
            left = page.run("document.querySelector('#regions tbody .pinned').getBoundingClientRect().left")
            assert 0 <= left < width and page.run("scrollX") == 0, (left, page.run("scrollX"))
            lines = page.run("Math.max(...[...document.querySelectorAll('#regions > thead th')].map((cell) => cell.querySelector('button').getBoundingClientRect().height))")
            assert lines <= 33, lines
            heights = page.run("[...document.querySelectorAll('#regions tr[data-region]')].map((row) => row.getBoundingClientRect().height)")
            assert len(set(heights)) == 1 and heights[0] <= 24, heights


def test_print(page):
    """Printed, the page is light, without controls, and as wide as the paper."""
    page.show("ten", 1050, scheme="dark", media="print")
    assert page.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    for selector in ("nav", "#filter", "#choice"):
        assert not page.run(f"document.querySelector('{selector}').checkVisibility()"), selector
    assert page.run("document.getElementById('notes').checkVisibility()")
    page.browser.look(1050)
    page.browser.pdf(os.path.join(page.directory, "ten.pdf"))
    page.show("many")
    page.browser.pdf(os.path.join(page.directory, "many.pdf"))
    with open(os.path.join(page.directory, "many.pdf"), "rb") as file:
        pages = len(re.findall(rb"/Type\s*/Page\b", file.read()))
    assert 1 <= pages <= 8, pages


def main():
    directory = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..", "..", "build", "page")
    tests = [test for name, test in globals().items() if name.startswith("test_") and (not sys.argv[2:] or name in sys.argv[2:])]
    if not shutil.which("chromium"):
        print("Bail out! chromium is missing: the page cannot be tested. On Debian: apt-get install chromium")
        return 1
    os.makedirs(directory, exist_ok=True)
    failed = 0
    print(f"1..{len(tests)}")
    browser = Browser()
    try:
        for number, test in enumerate(tests, 1):
            try:
                test(Page(browser, directory))
                print(f"ok {number} - {test.__name__}", flush=True)
            except Exception:  # whatever it is, it is this test's
                failed += 1
                print(f"not ok {number} - {test.__name__}")
                print("".join("# " + line for line in traceback.format_exc().splitlines(True)), flush=True)
    finally:
        browser.close()
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
