#!/usr/bin/env python3
"""Reads a trace of zetools.h with Python's json module, checks order, nesting and units, and says what is in it.

Usage: check_trace.py TRACE LOW HIGH

All times must be between LOW and HIGH, in nanoseconds. Prints, sorted, a line for each kind of thing:
    list 1: outer/inner x10      regions by their track, within those around them
    host thread 1: zeInit x1     calls by the thread that made them
    counter GPU_BUSY [percent]   a counter track
    mark step x3                 a marker
"""
import collections
import json
import sys


def nanoseconds(microseconds):
    return microseconds * 1000


def check_span(span, around):
    begin, end = nanoseconds(span["ts"]), nanoseconds(span["ts"] + span["dur"])
    assert begin <= end, span
    if around:
        assert nanoseconds(around[-1]["ts"]) <= begin + 1, (around[-1], span)
        assert end <= nanoseconds(around[-1]["ts"] + around[-1]["dur"]) + 1, (around[-1], span)
    if span["cat"] == "call":
        assert not around, span
        return
    arguments = span["args"]
    assert all(isinstance(value, (int, float)) for value in arguments.values()), span
    time = arguments.get("GpuTime [ns]", arguments["GPU time [ns]"])
    assert end - begin <= time * 1.01 + 1000, span  # the query is around the time stamps


def paths_of(spans):
    """The path of each span of a track: where it begins, those that have not ended are around it."""
    around = []
    for span in spans:
        while around and nanoseconds(around[-1]["ts"] + around[-1]["dur"]) <= nanoseconds(span["ts"]) + 0.5:
            around.pop()
        check_span(span, around)
        around.append(span)
        yield "/".join(one["name"] for one in around)


def main(path, low, high):
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    events = trace["traceEvents"]
    assert trace["displayTimeUnit"] == "ns"
    by_track, names, found = collections.defaultdict(list), {}, collections.Counter()
    counters = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "M":
            names[event["name"], event["tid"]] = event["args"]["name"]
            continue
        assert low <= nanoseconds(event["ts"]) <= high, (low, event, high)
        if event["ph"] == "X":
            by_track[event["tid"]].append(event)
        elif event["ph"] == "C":
            counters[event["name"]].append(event["ts"])
            assert isinstance(event["args"]["value"], (int, float)), event
        else:
            assert event["ph"] == "i" and event["s"] == "p", event
            found["mark " + event["name"]] += 1
    assert ("process_name", 0) in names
    for track, spans in by_track.items():
        assert [span["ts"] for span in spans] == sorted(span["ts"] for span in spans)
        for path in paths_of(spans):
            found[names["thread_name", track] + ": " + path] += 1
    for name, times in counters.items():
        assert times == sorted(times), name
        print("counter", name)
    for name, count in sorted(found.items()):
        print(f"{name} x{count}")


main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]))
