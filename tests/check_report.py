#!/usr/bin/env python3
"""Reads a report of zetools.h back with Python's own csv and json modules, and compares it with what the program
itself was told by zt_get_stats.

Usage: check_report.py csv|json REPORT EXPECTED

EXPECTED has a line for each metric of each region: the name of the region in hexadecimal, those of the group and
the metric ("" and "GPU time" for the time), the count, and sum, mean, stddev, min, max, median and p95 as hexadecimal floats or
nan, with tabs between.
"""
import collections
import csv
import json
import math
import re
import sys

FIGURES = ["sum", "mean", "stddev", "min", "max", "median", "p95"]


def text_of(name):
    """What stands for a name of any bytes in a report, however many marks stand for a run of invalid ones."""
    return re.sub("\ufffd+", "\ufffd", name.decode("utf-8", errors="replace"))


def read_expected(path):
    expected = {}
    with open(path, encoding="ascii") as file:
        for line in file:
            region, group, metric, count, *figures = line.rstrip("\n").split("\t")
            key = text_of(bytes.fromhex(region)), group, metric
            assert key not in expected, key
            expected[key] = [int(count)] + [float.fromhex(figure) for figure in figures]
    return expected


def number(field):
    return math.nan if field in ("", None) else float(field)


def check_counts(counts, causes):
    rest = counts["collected"] + counts["lost"] + counts["dropped"] + counts["in flight"]
    assert counts["begun"] == rest, counts
    assert sum(causes.values()) == counts["lost"] + counts["dropped"], causes


def read_csv(path):
    found, counts, causes, regions = {}, {}, {}, collections.Counter()
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, strict=True))
    head = rows[0]
    assert head[0] == "region" and head[1] == "metric", head
    for row in rows[1:]:
        assert len(row) == len(head), row
        line = dict(zip(head, row))
        assert line["metric"], row
        if line["component"] == "profiler":
            assert all(math.isnan(number(line[figure])) for figure in FIGURES), row
            if line["region"]:
                regions[line["metric"]] += int(line["count"])
            elif ": " in line["metric"]:
                causes[line["metric"]] = int(line["count"])
            elif line["metric"] == "availability":
                assert line["group"], row
            else:
                counts[line["metric"]] = int(line["count"])
            continue
        assert line["region"], row
        key = text_of(line["region"].encode()), line["group"], line["metric"]
        assert key not in found, key
        found[key] = [int(line["count"])] + [number(line[figure]) for figure in FIGURES]
    check_counts(counts, causes)
    assert regions["lost"] == counts["lost"] and regions["dropped"] <= counts["dropped"], (regions, counts)
    return found


def figures_of(stats):
    assert set(stats) == {"count", *FIGURES}, stats
    return [stats["count"]] + [number(stats[figure]) for figure in FIGURES]


def no_constant(name):
    raise ValueError(f"{name} is not JSON")


def read_json(path):
    found = {}
    with open(path, encoding="utf-8") as file:
        report = json.load(file, parse_constant=no_constant)
    counts = {name.replace("_", " "): count for name, count in report["counts"].items()}
    check_counts(counts, report["causes"])
    assert sum(region["count"] for region in report["regions"]) == counts["collected"]
    for region in report["regions"]:
        name = text_of(region["name"].encode())
        assert len(region["metrics"]) == len(report["metrics"])
        found[name, "", "GPU time"] = figures_of(region["time_ns"])
        for metric, stats in zip(report["metrics"], region["metrics"]):
            key = name, metric["group"], metric["name"]
            assert key not in found, key
            found[key] = figures_of(stats)
    return found


def same(got, wanted):
    return got == wanted or (math.isnan(got) and math.isnan(wanted))


def main():
    kind, report, expected = sys.argv[1:]
    wanted = read_expected(expected)
    found = {"csv": read_csv, "json": read_json}[kind](report)
    assert found.keys() == wanted.keys(), found.keys() ^ wanted.keys()
    for key, figures in wanted.items():
        assert len(figures) == len(found[key]), key
        for name, got, figure in zip(["count"] + FIGURES, found[key], figures):
            assert same(got, figure), f"{key} {name}: {got}, not {figure}"


main()
