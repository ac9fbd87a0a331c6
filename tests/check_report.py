#!/usr/bin/env python3
"""Reads reports of zetools.h back with Python's own csv, json and html modules, and compares them with what the program
itself was told by zt_get_stats and others.

Usage: check_report.py DIRECTORY

The directory has run.csv, run.json, run.html and run.folded. The last is compared with run.json, and the others with
the file `expected`. That has a line for each set of figures of each region, with tabs between the fields: the name of
the region in hexadecimal; the group and the name of the metric ("" and "GPU time" for the time); "all" or the number of
a tile; "all", the number of a pass, or "stream"; the count; and sum, mean, stddev, min, max, median and p95 as
hexadecimal floats or nan.
A line whose first field is ":" states what else is in the report: a name, and its text in hexadecimal.
"""
import collections
import csv
import datetime
import html.parser
import json
import math
import re
import sys

FIGURES = ["sum", "mean", "stddev", "min", "max", "median", "p95"]


def text_of(name):
    """What stands for a name of any bytes in a report, however many marks stand for a run of invalid ones."""
    return re.sub("\ufffd+", "\ufffd", name.decode("utf-8", errors="replace"))


def read_expected(path):
    expected, facts = {}, {}
    with open(path, encoding="ascii") as file:
        for line in file:
            region, *fields = line.rstrip("\n").split("\t")
            if region == ":":
                facts[fields[0]] = text_of(bytes.fromhex(fields[1]))
                continue
            group, metric, tile, which, count, *figures = fields
            key = text_of(bytes.fromhex(region)), group, metric, tile, which
            assert key not in expected, key
            expected[key] = [int(count)] + [float.fromhex(figure) for figure in figures]
    return expected, facts


def number(field):
    return math.nan if field in ("", None) else float(field)


def check_dates(facts):
    """Measuring began before the report was written, and that was just now."""
    opened, date = (datetime.datetime.strptime(facts[name], "%Y-%m-%dT%H:%M:%S%z") for name in ("opened", "date"))
    now = datetime.datetime.now(datetime.timezone.utc)
    assert opened <= date <= now and now - date < datetime.timedelta(hours=1), facts


def check_shares(regions, gpu_time=None, busy=None):
    """`regions` has own times and shares. Those of known own times are exact. They make a whole, or more where regions
    ran at once."""
    if gpu_time is None and all(not math.isnan(own) for own, _ in regions):
        gpu_time = sum(own for own, _ in regions)
    if gpu_time:
        whole = sum(share for _, share in regions)
        assert math.isclose(whole, gpu_time / busy, rel_tol=1e-9) if busy else whole >= 1 - 1e-9, (regions, busy)
        for own, share in regions:
            assert 0 <= share and (math.isnan(own) or math.isclose(share, own / gpu_time * whole, rel_tol=1e-9)), regions


def check_counts(counts, causes):
    rest = counts["collected"] + counts["lost"] + counts["dropped"] + counts["in flight"]
    assert counts["begun"] == rest, counts
    assert sum(causes.values()) == counts["lost"] + counts["dropped"], causes


def read_csv(path):
    found, facts, counts, causes, regions = {}, {}, {}, {}, collections.Counter()
    with open(path, encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file, strict=True))
    assert [line["metric"] for line in lines[:4]] == ["zetools", "program", "date", "opened"], lines[:4]
    owners = {(line["kind"], line["region"]) for line in lines}  # a phase and a region may have one name
    for line in lines:
        assert line["kind"] in ("profiler", "region", "phase", "path of region", "path of phase", "kernel", "hotspot", "call"), line
        assert line["kind"] != "profiler" or not line["region"], line
        if line["metric"] == "path of" and line["kind"].startswith("path"):
            assert (line["kind"].rpartition(" ")[2], line["text"]) in owners, line
        assert None not in line and None not in line.values(), line
        assert line["metric"], line
        if line["component"] == "profiler":
            assert all(math.isnan(number(line[figure])) for figure in FIGURES), line
            if line["aggregation"] == "none":
                prefix = "region " + line["region"] + ": " if line["region"] else ""
                assert line["count"] == "0", line
                facts[text_of((prefix + line["metric"]).encode())] = text_of(line["text"].encode())
            elif line["region"]:
                regions[line["metric"]] += int(line["count"])
            elif line["metric"].startswith(("lost: ", "dropped: ")):
                causes[line["metric"]] = int(line["count"])
            else:
                counts[line["metric"]] = int(line["count"])
            continue
        if line["kind"] == "profiler" and not line["metric"].startswith("overlap: "):
            continue  # tests/test_facts.c compares the other facts of the run
        assert bool(line["region"]) != line["metric"].startswith("overlap: ") and not line["text"], line
        key = text_of(line["region"].encode()), line["group"], line["metric"], line["tile"], line["pass"]
        assert key not in found, key
        found[key] = [int(line["count"])] + [number(line[figure]) for figure in FIGURES]
    paths = {text_of(line["region"].encode()) for line in lines if line["metric"] == "path of"}
    shares = {key[0]: found.pop(key)[1] / 100 for key in list(found) if key[2] == "share" and not key[1]}
    shares = {region: share for region, share in shares.items() if region not in paths}
    check_shares([(found[region, "", "own GPU time", "all", "all"][1], share) for region, share in shares.items()])
    check_counts(counts, causes)
    assert regions["lost"] == counts["lost"] and regions["dropped"] <= counts["dropped"], (regions, counts)
    return found, facts


def figures_of(stats):
    if isinstance(stats, list):
        assert len(stats) == 1 + len(FIGURES), stats
        return [stats[0]] + [number(figure) for figure in stats[1:]]
    assert set(stats) == {"count", *FIGURES}, stats
    return [stats["count"]] + [number(stats[figure]) for figure in FIGURES]


def no_constant(name):
    raise ValueError(f"{name} is not JSON")


def facts_of(report):
    """The facts of JSON, by the names that they have in CSV."""
    device = report["device"]
    facts = {name: report[name] for name in ("zetools", "program", "date", "opened", "availability")}
    facts.update({"device": device["name"], "driver version": device["driver_version"], "UUID": device["uuid"],
                  "PCI address": device["pci"]})
    for region in report["regions"]:
        facts["region " + region["name"] + ": limit"] = region["limit"]["what"]
        facts["region " + region["name"] + ": limit: reason"] = region["limit"]["why"]
    return {text_of(name.encode()): text_of(text.encode()) for name, text in facts.items()}


def check_histogram(region):
    """The kept samples are counted, and lie between the shortest and the longest of all."""
    histogram, time = region.get("histogram"), region["time_ns"]
    assert (histogram is not None) == (time["count"] > 0), region
    if histogram:
        end = histogram["first_ns"] * histogram["ratio"] ** len(histogram["counts"])
        assert 0 < sum(histogram["counts"]) <= time["count"] and len(histogram["counts"]) <= 24, histogram
        assert time["min"] * 0.999999 <= histogram["first_ns"] and end >= time["max"] * 0.999999, (histogram, time)


def check_paths(report):
    """The paths of a region have its samples. Its parent is the region around it on all of them."""
    for index, region in enumerate(report["regions"]):
        paths = [path for path in report["paths"] if path["region"] == index]
        assert sum(path["count"] for path in paths) == region["time_ns"]["count"], region
        parents = {None if path["parent"] is None else report["paths"][path["parent"]]["region"] for path in paths}
        assert region["parent"] == (parents.pop() if len(parents) == 1 else None), region
        own = sum(number(path["own_ns"]) for path in paths)
        assert same(own, number(region["own_ns"])) or math.isclose(own, region["own_ns"], rel_tol=1e-9), region


def check_folded(path, json_path):
    """Each line has the names on a path of the JSON, and its own time."""
    with open(json_path, encoding="utf-8") as file:
        report = json.load(file)
    stacks, expected = [], []
    for line in report["paths"]:
        name = report["regions"][line["region"]]["name"]
        frame = "".join(":" if letter == ";" else " " if letter < " " or "\x7f" <= letter <= "\x9f" else letter for letter in name)
        stacks.append(frame if line["parent"] is None else stacks[line["parent"]] + ";" + frame)
        inner = sum(other["total_ns"] for other in report["paths"] if other["parent"] == len(stacks) - 1)
        own = max(0, line["total_ns"] - inner) if line["own_ns"] is None else line["own_ns"]
        if own >= 0.5:
            expected.append((stacks[-1] + (";(estimate)" if line["own_ns"] is None else ""), own))
    with open(path, encoding="utf-8", newline="\n") as file:
        lines = [line.rstrip("\n").rpartition(" ") for line in file]
    assert [stack for stack, _, _ in lines] == [stack for stack, _ in expected], (lines, expected)
    for (_, _, value), (stack, own) in zip(lines, expected):
        assert re.fullmatch("[0-9]+", value) and abs(int(value) - own) <= 0.5, (stack, value, own)


OVERLAP = {"overlap: first begin to last end": "span_ns", "overlap: busy": "busy_ns", "overlap: kernels": "kernel_ns",
           "overlap: copies": "copy_ns", "overlap: kernels and copies at once": "both_ns", "overlap: idle": "idle_ns",
           "overlap: several at once": "at_once_ns"}


def add_overlap(overlap, found):
    """Busy and idle time are all of the time. What kernels and copies cover is not more than each of them, and both."""
    if not overlap or not overlap["samples"]:
        return
    for name, member in OVERLAP.items():
        if overlap[member] is not None:
            found["", "", name, "all", "all"] = [0, overlap[member]] + [math.nan] * 6
    if overlap["missing"]:
        assert overlap["idle_ns"] is None, overlap
    else:
        assert overlap["busy_ns"] + overlap["idle_ns"] == overlap["span_ns"], overlap
        assert overlap["kernel_ns"] + overlap["copy_ns"] - overlap["both_ns"] <= overlap["busy_ns"], overlap


def add_figures(report, name, region, found):
    """Of a region, or of one of several paths of a region."""
    assert region["metrics"].keys() == report["metrics"].keys()
    check_histogram(region)
    found[name, "", "GPU time", "all", "all"] = figures_of(region["time_ns"])
    for kind in ("own", "total"):
        sums = [region["time_ns"]["count"], number(region[kind + "_ns"])] + [math.nan] * 6
        found[name, "", kind + " GPU time", "all", "all"] = sums
    for kind in ("queue", "launch"):
        if kind + "_latency_ns" in region:
            found[name, "", kind + " latency", "all", "all"] = figures_of(region[kind + "_latency_ns"])
    if "copied_bytes" in region:
        found[name, "", "copied bytes", "all", "all"] = [region["count"], region["copied_bytes"]] + [math.nan] * 6
        mean = number(region["copied_bytes_per_second"])
        found[name, "", "copied bytes a second", "all", "all"] = [region["count"], math.nan, mean] + [math.nan] * 5
    for share, value in region.get("of_peak", {}).items():
        if value is not None:
            share = ("XMX" if share == "xmx" else share) + " of peak"
            found[name, "", share, "all", "all"] = [region["count"], math.nan, 100 * value] + [math.nan] * 5
    for index, stats in enumerate(region.get("pass_time_ns", [])):
        found[name, "", "GPU time", "all", str(index)] = figures_of(stats)
    for tile, metrics in [("all", region["metrics"]), *((str(i), tile) for i, tile in enumerate(region.get("tiles", [])))]:
        for key, stats in metrics.items():
            metric = report["metrics"][key]
            if metric["group"]: # others are derived
                found[name, metric["group"], metric["name"], tile, str(metric["pass"])] = figures_of(stats)
            else:
                assert figures_of(stats)[0] in (0, region["count"]), stats
    for key, stats in region.get("streamed", {}).items():
        metric = report["streamed"][key]
        found[name, metric["group"], metric["name"], "all", "stream"] = [
            stats["rows"], math.nan, *(number(stats[figure]) for figure in ("mean", "stddev", "min", "peak")),
            math.nan, math.nan]


def names_of_paths(report):
    """As zt_find_path takes them: "a;b", and ";a" for a path that is inside no other."""
    names = []
    for path in report["paths"]:
        name = report["regions"][path["region"]]["name"]
        name = name.replace(";", ":")
        names.append(";" + name if path["parent"] is None else names[path["parent"]].removeprefix(";") + ";" + name)
    return [text_of(name.encode()) for name in names]


def figures_of_document(report):
    found = {}
    counts = {name.replace("_", " "): count for name, count in report["counts"].items()}
    check_counts(counts, report["causes"])
    assert sum(region["count"] for region in report["regions"]) == counts["collected"]
    assert set(report["columns"]) <= set(report["metrics"]), report["columns"]
    check_shares([(number(region["own_ns"]), number(region["share"])) for region in report["regions"]],
                 report["gpu_time_ns"], report["gpu_busy_ns"] or report["gpu_time_ns"])
    check_paths(report)
    for region in report["regions"]:
        add_figures(report, text_of(region["name"].encode()), region, found)
    for path, name in zip(report["paths"], names_of_paths(report)):
        several = sum(other["region"] == path["region"] for other in report["paths"]) > 1
        assert several == ("time_ns" in path), path
        if several and path["count"]:
            add_figures(report, name, path, found)
    add_overlap(report.get("overlap"), found)
    return found, facts_of(report)


def read_json(path):
    with open(path, encoding="utf-8") as file:
        report = json.load(file, parse_constant=no_constant)
    assert list(report)[:6] == ["zetools", "program", "date", "opened", "device", "availability"], list(report)
    assert "timeline" not in report
    return figures_of_document(report)


class Page(html.parser.HTMLParser):
    """Collects the contents of the elements with an id, and counts scripts."""

    def __init__(self):
        super().__init__()
        self.id, self.texts, self.scripts = None, collections.Counter(), 0

    def handle_starttag(self, tag, attributes):
        self.scripts += tag == "script"
        self.id = dict(attributes).get("id")

    def handle_data(self, data):
        if self.id:
            self.texts[self.id] = (self.texts[self.id] or "") + data


def read_html(path):
    page = Page()
    with open(path, encoding="utf-8") as file:
        page.feed(file.read())
    page.close()
    assert page.scripts == 2, page.scripts
    assert "<" not in page.texts["data"]
    return figures_of_document(json.loads(page.texts["data"], parse_constant=no_constant))


def same(got, wanted):
    return got == wanted or (math.isnan(got) and math.isnan(wanted))


def check(kind, report, expected):
    if kind == "folded":
        check_folded(report, expected)
        return
    wanted, wanted_facts = read_expected(expected)
    found, facts = {"csv": read_csv, "json": read_json, "html": read_html}[kind](report)
    assert found.keys() == wanted.keys(), found.keys() ^ wanted.keys()
    for key, figures in wanted.items():
        assert len(figures) == len(found[key]), key
        for name, got, figure in zip(["count"] + FIGURES, found[key], figures):
            assert same(got, figure), f"{key} {name}: {got}, not {figure}"
    check_dates(facts)
    for name, text in wanted_facts.items():
        assert facts[name] == text, (name, facts[name], text)


def main():
    directory = sys.argv[1]
    for kind in ["csv", "json", "html", "folded"]:
        report = f"{directory}/run.{kind}"
        try:
            check(kind, report, directory + ("/run.json" if kind == "folded" else "/expected"))
        except BaseException:
            print(f"{report} was not read back", file=sys.stderr)
            raise


if __name__ == "__main__":
    main()
