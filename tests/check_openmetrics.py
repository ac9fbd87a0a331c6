#!/usr/bin/env python3
"""Reads OpenMetrics text of zetools.h by the rules of its specification, and compares it with what the program itself
was told.

Usage: check_openmetrics.py REPORT EXPECTED        compares
       check_openmetrics.py --prometheus REPORT    compares with what the parser of Prometheus's own client reads

EXPECTED has lines of fields with tabs between; names of regions are in hexadecimal, numbers hexadecimal floats or nan:

    gpu_time REGION COUNT SUM MIN MEDIAN P95 MAX   in nanoseconds; likewise queue_latency and launch_latency
    own      REGION NANOSECONDS
    lost     REGION LOST DROPPED
    metric   REGION GROUP NAME UNITS AGGREGATION PASS VALUE
    tile     the same, and TILE
    streamed the same, with "mean" or "peak" for PASS, and STREAM for TILE
    cause    lost|dropped CAUSE COUNT
    launches CAUSE UNMEASURED
    counts   COLLECTED IN_FLIGHT UNOBSERVED
    info     DEVICE AVAILABILITY
"""
import collections
import math
import re
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
META = re.compile(rf"# (TYPE|UNIT|HELP) ({NAME}) (.*)")
SAMPLE = re.compile(rf'({NAME})(?:\{{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\]|\\.)*",?)*)\}})? (\S+)')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')
NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?")
SUFFIXES = {"counter": ["_total"], "gauge": [""], "summary": ["", "_sum", "_count"],
            "histogram": ["_bucket", "_sum", "_count"]}
BOUNDS = [step * 10**decade / 1e6 for decade in range(8) for step in (1, 2, 5)] + [math.inf]
UNITS = {"ns": ("_seconds", 1e-9), "ms": ("_seconds", 1e-3), "%": ("_ratio", 0.01), "GHz": ("_hertz", 1e9), "W": ("_watts", 1),
         "KBpS": ("_bytes_per_second", 1e3), "percent": ("_ratio", 0.01), "MHz": ("_hertz", 1e6), "bytes": ("_bytes", 1),
         "cycles": ("_cycles", 1), "GBpS": ("_bytes_per_second", 1e9), "": ("", 1)}


def unescape(text):
    assert re.fullmatch(r'(?:[^"\\\n]|\\[\\n"])*', text), text
    return re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], text)


class Family:
    def __init__(self, name):
        self.name, self.type, self.unit, self.help, self.samples = name, None, "", None, {}


def parse(path):
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    assert text.endswith("\n# EOF\n"), text[-100:]
    families, family = {}, None
    for line in text[:-len("# EOF\n")].rstrip("\n").split("\n"):
        meta = META.fullmatch(line)
        if meta:
            kind, name, value = meta.groups()
            if family is None or family.name != name:
                assert name not in families, line  # the lines of a family are together
                family = families[name] = Family(name)
            assert not family.samples, line
            field = kind.lower()
            assert getattr(family, field) in (None, ""), line
            setattr(family, field, unescape(value))
            assert kind != "UNIT" or name.endswith("_" + value), line
            assert kind != "TYPE" or value in SUFFIXES, line
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample, line
        name, labels, value = sample.groups()
        assert family and NUMBER.fullmatch(value), line
        assert name in [family.name + suffix for suffix in SUFFIXES[family.type]], line
        names = [label for label, _ in LABEL.findall(labels or "")]
        assert len(set(names)) == len(names) and labels == (labels and ",".join(
            f'{a}="{b}"' for a, b in LABEL.findall(labels))), line
        key = name, frozenset((label, unescape(text)) for label, text in LABEL.findall(labels or ""))
        assert key not in family.samples, line
        assert family.type == "gauge" or float(value) >= 0, line
        family.samples[key] = float(value)
    for family in families.values():
        check_histogram(family)
        assert family.help, family.name
        assert family.samples, family.name
        for suffix in SUFFIXES[family.type]:
            assert not suffix or family.name + suffix not in families, family.name
    return families


def check_histogram(family):
    """Buckets have one set of bounds, and counts that do not fall; the last is the count of all."""
    buckets = collections.defaultdict(list)
    for (name, labels), value in family.samples.items():
        if family.type == "histogram" and name.endswith("_bucket"):
            bound = dict(labels)["le"]
            assert bound == "+Inf" or "." in bound or "e" in bound, bound
            buckets[frozenset(label for label in labels if label[0] != "le")].append((float(bound), value))
    for labels, counts in buckets.items():
        assert [bound for bound, _ in counts] == BOUNDS, counts
        assert all(before[1] <= after[1] for before, after in zip(counts, counts[1:])), counts
        assert counts[-1][1] == family.samples[family.name + "_count", labels] > 0, counts


def text_of(name):
    """An invalid byte is written as \\xFF, and a backslash before an x as \\x5C, so that names stay apart."""
    text = bytes.fromhex(name).replace(b"\\x", b"\\x5Cx").decode("utf-8", errors="backslashreplace")
    return re.sub(r"\\x([0-9a-f]{2})", lambda match: "\\x" + match[1].upper(), text)


def compare(families, expected_path):
    found = {}
    for family in families.values():
        found.update(family.samples)
    expected = collections.Counter()

    def expect(value, name, **labels):
        key = name, frozenset(labels.items())
        expected[key] += 1
        assert key in found, (key, sorted(map(str, found)))
        assert math.isclose(found[key], value, rel_tol=1e-12), (key, found[key], value)

    def expect_histogram(name, region, count, total):
        """Its buckets are checked by themselves: they are counted, not compared."""
        labels = frozenset({("region", region)})
        expect(count, name + "_count", region=region)
        if math.isfinite(total):
            expect(total * 1e-9, name + "_sum", region=region)
        expected.update(key for key in found if key[0] == name + "_bucket" and labels <= key[1])

    with open(expected_path, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    passes = len({fields[6] for fields in lines if fields[0] == "metric"})
    for kind, *fields in lines:
        if kind in ("gpu_time", "queue_latency", "launch_latency"):
            if int(fields[1]) == 0:
                continue
            region = text_of(fields[0])
            total, *quantiles = [float.fromhex(field) for field in fields[2:]]
            if kind == "gpu_time":
                expect_histogram("zetools_region_gpu_time_distribution_seconds", region, int(fields[1]), total)
            name = f"zetools_region_{kind}_seconds"
            expect(int(fields[1]), name + "_count", region=region)
            if math.isfinite(total):
                expect(total * 1e-9, name + "_sum", region=region)
            for quantile, value in zip(["0.0", "0.5", "0.95", "1.0"], quantiles):
                if math.isfinite(value):
                    expect(value * 1e-9, name, region=region, quantile=quantile)
        elif kind == "own":
            expect(float.fromhex(fields[1]) * 1e-9, "zetools_region_own_gpu_time_seconds_total",
                   region=text_of(fields[0]))
        elif kind == "of_peak":
            for share, value in zip(("bandwidth", "compute", "xmx", "occupancy"), map(float.fromhex, fields[1:])):
                if math.isfinite(value):
                    expect(value, f"zetools_region_{share}_ratio", region=text_of(fields[0]))
        elif kind == "pass":
            region = text_of(fields[0])
            labels = {"pass": fields[1]} if passes > 1 else {}
            expect(float.fromhex(fields[2]) * 1e-9, "zetools_region_pass_gpu_time_seconds_total", region=region, **labels)
        elif kind == "lost":
            region = text_of(fields[0])
            expect(int(fields[1]), "zetools_region_lost_samples_total", region=region)
            expect(int(fields[2]), "zetools_region_dropped_samples_total", region=region)
        elif kind in ("metric", "tile", "streamed"):
            region, group, metric, units, aggregation, number, value, *part = fields
            value = float.fromhex(value)
            if aggregation == "none" or math.isnan(value) or (kind == "streamed" and aggregation == "flag"):
                continue
            suffix, factor = UNITS.get(units, ("_" + units.lower(), 1)) if aggregation != "flag" else ("_samples", 1)
            suffix = re.sub("[^a-z0-9]+", "_", suffix)
            labels = {"region": text_of(region), "metric": metric, "group": group}
            if passes > 1 and kind != "streamed":
                labels["pass"] = number
            if part:
                labels["tile" if kind == "tile" else "stream"] = part[0]
            prefix = {"metric": "zetools_metric_", "tile": "zetools_tile_metric_", "streamed": f"zetools_streamed_{number}_"}[kind]
            ends = suffix + ("" if kind == "streamed" or aggregation == "mean" else "_total")
            names = [name for name, key in found if key == frozenset(labels.items()) and name.startswith(prefix)]
            assert len(names) == 1 and names[0].endswith(ends), (fields, names)
            expect(value * factor, names[0], **labels)
        elif kind == "cause":
            expect(int(fields[2]), f"zetools_{fields[0]}_samples_total", cause=fields[1])
        elif kind == "launches":
            expect(int(fields[1]), "zetools_unmeasured_launches_total", cause=fields[0])
        elif kind == "counts":
            expect(int(fields[0]), "zetools_collected_samples_total")
            expect(int(fields[1]), "zetools_in_flight_samples")
            expect(int(fields[2]), "zetools_unobserved_lists_total")
        elif kind == "info":
            name, labels = next(iter(families["zetools_info"].samples))
            labels = dict(labels)
            assert labels.pop("version") and labels == {"device": fields[0], "availability": fields[1]}, labels
            assert families["zetools_info"].type == "gauge" and re.fullmatch("[a-z_]+", fields[1]), fields
            expected[next(iter(families["zetools_info"].samples))] += 1
        elif kind == "call":
            expect(int(fields[1]), "zetools_call_seconds_count", call=fields[0])
            expect(int(fields[2]), "zetools_call_errors_total", call=fields[0])
            for key in found:
                if key[0].startswith("zetools_call_seconds") and ("call", fields[0]) in key[1]:
                    expected[key] += 1
    # These two go on while the report is written.
    own_time = {(name, frozenset()) for name in ("zetools_open_seconds", "zetools_library_busy_seconds_total")}
    assert own_time <= set(found) or not own_time & set(found)
    expected.update(own_time & set(found))
    unexpected = [key for key in found if key not in expected]
    assert not unexpected, unexpected


def compare_with_prometheus(families, path):
    from prometheus_client.openmetrics import parser

    with open(path, encoding="utf-8", newline="") as file:
        theirs = {family.name: family for family in parser.text_string_to_metric_families(file.read())}
    assert list(theirs) == list(families), (list(theirs), list(families))
    for name, family in families.items():
        read = theirs[name]
        assert (read.type, read.unit, read.documentation) == (family.type, family.unit, family.help), name
        samples = {(sample.name, frozenset(sample.labels.items())): sample.value for sample in read.samples}
        assert samples == family.samples, name


if __name__ == "__main__":
    if sys.argv[1] == "--prometheus":
        compare_with_prometheus(parse(sys.argv[2]), sys.argv[2])
    else:
        compare(parse(sys.argv[1]), sys.argv[2])
