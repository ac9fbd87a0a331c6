#!/usr/bin/env python3
"""Reads all reports that a fuzz target has kept in a directory, with Python's csv, json and html modules, the rules
of OpenMetrics and, where it is there, Google's library for Protocol Buffers. Those of one run must agree, and have the regions that the program itself knows.

Usage: read_back.py DIRECTORY [--hostile]

With --hostile, which is for figures of any kind, only the form of the reports is checked, and the names. Likewise where
two names are the same once their invalid bytes are replaced.
"""
import contextlib
import csv
import io
import json
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.dont_write_bytecode = True

import check_openmetrics
import check_report
import check_trace

try:
    import check_perfetto
except ImportError:  # Python lacks Debian's package python3-protobuf
    check_perfetto = None


def same_figures(one, other):
    return one.keys() == other.keys() and all(
        len(figures) == len(other[key]) and all(map(check_report.same, figures, other[key]))
        for key, figures in one.items())


def no_repetition(pairs):
    assert len({key for key, _ in pairs}) == len(pairs), pairs
    return dict(pairs)


def read(path, number, is_hostile):
    def report(suffix):
        return os.path.join(path, f"{number}.{suffix}")

    with open(report("names"), encoding="ascii") as file:
        names = [check_report.text_of(bytes.fromhex(line)) for line in file]
    with open(report("json"), encoding="utf-8") as file:
        document = json.load(file, parse_constant=check_report.no_constant, object_pairs_hook=no_repetition)
    assert [check_report.text_of(region["name"].encode()) for region in document["regions"]] == names, names
    with open(report("table.txt"), encoding="utf-8") as file:
        for letter in file.read():
            assert letter == "\n" or letter >= " " and not "\x7f" <= letter <= "\x9f", repr(letter)
    with open(report("csv"), encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file, strict=True))
        assert all(None not in line and None not in line.values() for line in lines)
    found = {check_report.text_of(line["region"].encode()) for line in lines if line["region"]}
    measured = {name for name, region in zip(names, document["regions"]) if region["time_ns"]["count"]}
    assert measured <= found and (is_hostile or found <= {*names, *check_report.names_of_paths(document)}), (
        found, measured, names)
    page = check_report.Page()
    with open(report("html"), encoding="utf-8") as file:
        page.feed(file.read())
    page.close()
    assert page.scripts == 2 and "<" not in page.texts["data"]
    data = json.loads(page.texts["data"], parse_constant=check_report.no_constant, object_pairs_hook=no_repetition)
    assert [region["name"] for region in data["regions"]] == [region["name"] for region in document["regions"]]
    check_openmetrics.parse(report("prom"))
    if os.path.getsize(report("trace.json")): # there is none without a timeline
        with open(report("trace.json"), encoding="utf-8") as file:
            json.load(file, parse_constant=check_report.no_constant, object_pairs_hook=no_repetition)
    perfetto = b""
    if check_perfetto and os.path.getsize(report("pftrace")):  # there is none without a timeline
        with open(report("pftrace"), "rb") as file:
            perfetto = file.read()
        check_perfetto.decode(perfetto)
    if is_hostile or len(set(names)) < len(names):
        return
    if perfetto:
        check_perfetto.Perfetto(perfetto)
    check_report.check_folded(report("folded"), report("json"))
    if os.path.getsize(report("trace.json")):
        with contextlib.redirect_stdout(io.StringIO()):
            check_trace.main(report("trace.json"), -math.inf, math.inf)
    reports = [check_report.read_csv(report("csv")), check_report.read_json(report("json")), check_report.read_html(report("html"))]
    figures = [{key: one for key, one in found.items() if key[0] in measured} for found, _ in reports]
    assert same_figures(figures[0], figures[1]) and same_figures(figures[1], figures[2])


def main(path, *options):
    numbers = sorted(int(name.split(".")[0]) for name in os.listdir(path) if name.endswith(".names"))
    assert numbers, f"there are no reports in {path}"
    for number in numbers:
        try:
            read(path, number, "--hostile" in options)
        except Exception:
            print(f"the reports {path}/{number}.* cannot be read", file=sys.stderr)
            raise
    print(f"read back: {len(numbers)} sets of reports")


main(*sys.argv[1:])
