#!/usr/bin/env python3
"""Reads a trace of zetools.h with Python's json module, checks it, and says what is in it.

Usage: check_trace.py TRACE LOW HIGH

All times must be between LOW and HIGH, in nanoseconds. Tracks must be named, their spans in order and nested, flows
must come in pairs and begin and end within spans, and counters must change. Prints, sorted, a line for each kind of
thing:
    list 1: outer/inner x10                    regions by their track, within those around them
    thread 123: append outer/zeEventCreate x1  what a thread of the program has done, and its phases
    phases: step/solve x10                     phases on the device
    flow thread 123: append outer > outer x10  what has led to a region
    counter GPU_BUSY [%]                       a counter
    argument groups: 4 x 1 x 1 x10             a text that regions have as an argument
    mark step x3                               a marker
    missing lost: region (cause) x1            a sample that is missing, and why; the same for regions and rows
    gap x1                                     of a stream
"""
import collections
import json
import sys


def nanoseconds(microseconds):
    return microseconds * 1000


def end_of(span):
    return nanoseconds(span["ts"] + span["dur"])


def check_span(span, around):
    begin, end = nanoseconds(span["ts"]), end_of(span)
    assert begin <= end, span
    if around:
        assert nanoseconds(around[-1]["ts"]) <= begin + 1, (around[-1], span)
        assert end <= end_of(around[-1]) + 1, (around[-1], span)
    if span["cat"] == "call":
        assert not any(one["cat"] == "call" for one in around), span
    elif span["cat"] == "region":
        arguments = span["args"]
        time = arguments.get("GpuTime [ns]", arguments["GPU time [ns]"])
        assert end - begin <= time * 1.01 + 1000, span  # the query is around the time stamps


def paths_of(spans):
    """Each span of a track with its path: where it begins, those that have not ended are around it."""
    around = []
    for span in spans:
        while around and end_of(around[-1]) <= nanoseconds(span["ts"]) + 0.5:
            around.pop()
        check_span(span, around)
        around.append(span)
        yield span, "/".join(one["name"] for one in around)


def spans_at(spans, event):
    """The names of the spans of a track that contain an event, of those that are written before it."""
    return [span["name"] for span in spans[:event["after"]]
            if nanoseconds(span["ts"]) <= nanoseconds(event["ts"]) + 0.5 <= end_of(span) + 1]


def check_flows(flows, by_track, track_name, found):
    for parts in flows.values():
        assert [part["ph"] for part in parts] == ["s", "f"], parts
        begin, end = parts
        assert end["bp"] == "e" and begin["name"] == end["name"], parts
        sources = spans_at(by_track[begin["pid"], begin["tid"]], begin)
        targets = spans_at(by_track[end["pid"], end["tid"]], end)
        assert sources and targets, parts
        found[f"flow {track_name(begin)}: {sources[-1]} > {targets[-1]}"] += 1


def check_counters(counters):
    for name, values in counters.items():
        times = [time for time, _ in values]
        assert times == sorted(times), name
        same = [one for one, other in zip(values[:-1], values[1:-1]) if one[1] == other[1]]
        assert len(same) <= allowed_repetitions, (name, same)
        print("counter", name)


def read(events, low, high, found):
    by_track, flows, counters = collections.defaultdict(list), collections.defaultdict(list), {}
    for event in events:
        kind = event["ph"]
        assert low <= nanoseconds(event["ts"]) <= high, (low, event, high)
        if kind == "X":
            by_track[event["pid"], event["tid"]].append(event)
        elif kind in "sf":
            event["after"] = len(by_track[event["pid"], event["tid"]])
            flows[event["cat"], event["id"]].append(event)
        elif kind == "C":
            value = event["args"]["value"]
            assert isinstance(value, (int, float)), event
            counters.setdefault(event["name"], []).append((event["ts"], value))
        else:
            assert kind == "i" and event["s"] == ("t" if event["tid"] else "p"), event
            arguments = event["args"]
            if event["cat"] == "marker":
                found["mark " + event["name"]] += 1
            elif event["cat"] == "missing":
                cause = f" ({arguments['cause']})" if "cause" in arguments else ""
                found["missing " + event["name"] + cause] += arguments.get("samples", arguments.get("rows", 1))
            else:
                found[event["name"]] += 1
    return by_track, flows, counters


def main(path, low, high):
    global allowed_repetitions
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    assert trace["displayTimeUnit"] == "ns"
    names, found, processes = {}, collections.Counter(), set()
    for event in trace["traceEvents"]:
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name", "process_sort_index", "thread_sort_index"), event
            if event["name"].endswith("_name"):
                assert (event["name"], event["pid"], event["tid"]) not in names, event
                names[event["name"], event["pid"], event["tid"]] = event["args"]["name"]
    by_track, flows, counters = read([e for e in trace["traceEvents"] if e["ph"] != "M"], low, high, found)
    processes = {process for what, process, _ in names if what == "process_name"}
    program = min(processes)
    assert len(processes) == 2, processes
    assert {event["pid"] for event in trace["traceEvents"]} <= processes

    def track_name(event):
        name = names["thread_name", event["pid"], event["tid"]]
        return f"thread {event['tid']}" if event["pid"] == program else name

    for spans in by_track.values():
        assert [span["ts"] for span in spans] == sorted(span["ts"] for span in spans)
        for span, inside in paths_of(spans):
            if span["name"] == "gap" and span["cat"] == "missing":
                found["gap"] += 1
                continue
            found[track_name(span) + ": " + inside] += 1
            for name, value in span.get("args", {}).items():
                if isinstance(value, str):
                    found[f"argument {name}: {value}"] += 1
    check_flows(flows, by_track, track_name, found)
    allowed_repetitions = found["gap"] + found["gap before this"]
    check_counters(counters)
    for name, count in sorted(found.items()):
        print(f"{name} x{count}")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]))
