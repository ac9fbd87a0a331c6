#!/usr/bin/env python3
"""Makes documents as the library writes them into run.html, for tests of the page.

Usage: sample.py NAME >run.html        NAME is one of those that `sample.py` alone lists
       sample.py --json NAME           the document alone
"""
import json
import math
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src"))
import join

# name, component, units, type, aggregation, range of the mean, description
METRICS = [
    ("GpuTime", "GPU", "ns", "event", "sum", (2e4, 9e5), "Time elapsed on the GPU during the measurement."),
    ("GpuCoreClocks", "GPU", "cycles", "event", "sum", (5e4, 2e6), "GPU core clocks elapsed during the measurement."),
    ("AvgGpuCoreFrequencyMHz", "GPU", "MHz", "event", "mean", (2400, 2850), "Average GPU core frequency."),
    ("ResultUncertainty", "GPU", "percent", "event", "mean", (0, 3), "Uncertainty of the result."),
    ("GPU_BUSY", "Front End", "percent", "duration", "mean", (60, 100), "Share of time in which the GPU is busy."),
    ("XVE_ACTIVE", "Vector Engine", "percent", "duration", "mean", (5, 92),
     "Share of time in which at least one pipe of a vector engine is active."),
    ("XVE_STALL", "Vector Engine", "percent", "duration", "mean", (3, 90),
     "Share of time in which a vector engine has threads loaded, and none of them issues an instruction."),
    ("XVE_THREADS_OCCUPANCY_ALL", "Vector Engine", "percent", "duration", "mean", (10, 99),
     "Share of the hardware thread slots of all vector engines that are occupied."),
    ("XVE_INST_EXECUTED_ALU0_ALL", "Vector Engine", "events", "event", "sum", (1e5, 8e7),
     "Instructions executed in the ALU0 pipe (floating point)."),
    ("XVE_INST_EXECUTED_SEND_ALL", "Vector Engine", "events", "event", "sum", (1e3, 4e6), "Send messages executed."),
    ("XVE_MULTIPLE_PIPE_ACTIVE", "Vector Engine", "percent", "duration", "mean", (1, 60),
     "Share of time in which at least two pipes are active."),
    ("SLM_BYTE_READ", "L1 Cache", "bytes", "event", "sum", (0, 5e8), "Bytes read from shared local memory."),
    ("SLM_BANK_CONFLICT_COUNT", "L1 Cache", "events", "event", "sum", (0, 9e5), "Bank conflicts in shared local memory."),
    ("LOAD_STORE_CACHE_HIT", "L1 Cache", "events", "event", "sum", (1e4, 1e7), "Hits in the load-store cache."),
    ("L3_HIT", "Device Cache", "events", "event", "sum", (1e3, 6e6), "Hits in the L3 cache."),
    ("L3_MISS", "Device Cache", "events", "event", "sum", (1e3, 2e6), "Misses in the L3 cache."),
    ("L3_STALL", "Device Cache", "percent", "duration", "mean", (0, 40), "Share of time in which the L3 cache is stalled."),
    ("GPU_MEMORY_BYTE_READ", "Memory", "bytes", "event", "sum", (1e6, 9e8), "Bytes read from device memory."),
    ("GPU_MEMORY_BYTE_READ_RATE", "Memory", "GBpS", "throughput", "mean", (10, 420), "Rate at which device memory is read."),
    ("GPU_MEMORY_BYTE_WRITE_RATE", "Memory", "GBpS", "throughput", "mean", (1, 180),
     "Rate at which device memory is written."),
    ("COMMAND_PARSER_COPY_ENGINE_BUSY", "Front End", "percent", "duration", "mean", (0, 20),
     "Share of time in which the copy engine is busy."),
    ("QueryBeginTime", "Report Meta Data", "ns", "timestamp", "none", (1e9, 9e9), "Time stamp of the begin of the query."),
    ("CoreFrequencyChanged", "Exception", "", "flag", "flag", (0, 1), "The core frequency changed during the measurement."),
]
COLUMNS = ["XVE_ACTIVE", "XVE_STALL", "XVE_THREADS_OCCUPANCY_ALL", "GPU_MEMORY_BYTE_READ_RATE",
           "GPU_MEMORY_BYTE_WRITE_RATE", "L3_HIT"]
LIMITS = [  # what, why, metrics to add, and the means of those columns that are not left to chance
    ("memory bandwidth", "Probably memory bandwidth: the traffic is near the design bandwidth (88% of it).", "", (24, 71, 86, 260, 142)),
    ("latency", "Probably latency: threads wait, and too few are loaded to hide it (EU stall 71%, EU occupancy 31%).", "L3_STALL", (22, 71, 31, 60, 11)),
    ("compute", "Probably compute: the vector engines are busy (EU active 91%).", "", (91, 7, 88, 74, 22)),
    ("launch", "Probably launch: kernels take less time than their launches (time of a kernel 1.3 us).", "", (11, 36, 12, 21, 8)),
    ("unknown", "Not enough metrics: run again with config.groups or ZT_GROUPS 'Stalls', which has XVE_ACTIVE,XVE_STALL.", "XVE_ACTIVE,XVE_STALL", ()),
]
PEAK_BYTES, PEAK_OPERATIONS = 456e9, 14.6e12


FIGURES = ("count", "sum", "mean", "stddev", "min", "max", "median", "p95")


def stats_of(values, has_sum=True):
    """The statistics of samples, as the library defines them."""
    values = sorted(values)
    count = len(values)
    if count == 0:
        return {**dict.fromkeys(FIGURES), "count": 0}

    def quantile(share):
        position = share * (count - 1)
        below = int(position)
        above = min(below + 1, count - 1)
        return values[below] + (values[above] - values[below]) * (position - below)

    mean = sum(values) / count
    stddev = math.sqrt(sum((value - mean) ** 2 for value in values) / (count - 1)) if count > 1 else None
    return {"count": count, "sum": sum(values) if has_sum else None, "mean": mean, "stddev": stddev,
            "min": values[0], "max": values[-1], "median": quantile(0.5), "p95": quantile(0.95)}


def histogram_of(values, ratio=1.1892071150027210):
    first = 1000.0 * ratio ** math.floor(math.log(min(values) / 1000.0, ratio))
    counts = []
    for value in values:
        bucket = max(0, int(math.log(value / first, ratio)))
        counts += [0] * (bucket + 1 - len(counts))
        counts[bucket] += 1
    return {"first_ns": first, "ratio": ratio, "counts": counts}


def metric_stats(rng, aggregation, span, count, centre=None):
    low, high = span
    if centre is None:
        centre = rng.uniform(low, high)
    values = [min(high, max(low, rng.gauss(centre, (high - low) / 30))) for _ in range(min(count, 40))]
    stats = stats_of(values, aggregation == "sum")
    if aggregation == "flag":
        stats = dict.fromkeys(stats)
        stats["sum"] = rng.randrange(3)
    if aggregation == "none":
        stats.update(mean=None, stddev=None, median=None, p95=None)
    stats["count"] = count
    if aggregation == "sum":
        stats["sum"] = stats["mean"] * count
    return stats


def region_of(rng, name, parent, count, mean_ns, children=(), limit=None, names=None, has_rates=True):
    spread = rng.choice([0.05, 0.12, 0.3])
    times = [round(mean_ns * rng.lognormvariate(0, spread)) + 1 for _ in range(count)]
    own = sum(times)
    for child in children:
        times = [time + child // count for time in times]
    what, why, more, means = limit or rng.choice(LIMITS)
    centres = dict(zip(COLUMNS, means))
    metrics = {metric: metric_stats(rng, aggregation, span, count, centres.get(metric))
               for metric, _, _, _, aggregation, span, _ in METRICS if names is None or metric in names}
    if more and names is None:
        metrics.update((metric, stats_of([])) for metric in more.split(","))
    region = {"name": name, "parent": parent, "count": count, "lost": 0, "dropped": 0, "share": 0.0, "own_ns": own,
              "with_metrics": count if metrics else 0,
              "time_ns": stats_of(times), "limit": {"what": what, "why": why, "add": more},
              "histogram": histogram_of(times), "metrics": metrics}
    if has_rates:
        intensity = 2 ** rng.uniform(-3, 9)
        region["bytes"] = PEAK_BYTES * rng.uniform(0.05, 0.9) / max(1, intensity * PEAK_BYTES / PEAK_OPERATIONS)
        region["operations"] = region["bytes"] * intensity
    return region


def kernel_of(region, module, registers, spill):
    """A kernel, of a region or of none, of which some figures are not known."""
    occupancy = registers and 128 / registers
    return {"name": "kernel of " + str(region), "module": module, "region": region, "launches": 15512, "simd_width": 16,
            "registers": registers, "slm_bytes": 65536, "private_bytes": 0, "spill_bytes": spill, "barriers": None,
            "arguments": 9, "code_bytes": 20480, "profile_flags": 0,
            "required_group_size": None, "other_launches": 0, "occupancy": occupancy,
            "shapes": [{"group_size": [16, 16, 1], "group_count": [64, 1, 1] if region else None, "launches": 15512,
                        "groups_per_subslice": 4, "occupancy": occupancy, "waves": 0.8}],
            "advice": "It spills 4 KiB a thread in spite of the large register file: split it." if spill else ""}


def document(regions, **more):
    """A document of these regions, each of which is on one path."""
    own = sum(region["own_ns"] or 0 for region in regions)
    for region in regions:
        region["share"] = region["own_ns"] / own if own and region["own_ns"] is not None else None
    collected = sum(region["count"] for region in regions)
    lost = sum(region["lost"] for region in regions)
    dropped = sum(region["dropped"] for region in regions)
    made = {
        "zetools": "0.1.0", "program": "resnet50-inference --batch 32", "date": "2026-11-22T03:21:00Z",
        "opened": "2026-11-22T03:18:30Z",
        "device": {"name": "Intel(R) Arc(TM) B580 Graphics", "driver_version": "1.6.32567",
                   "uuid": "8680e20b-0000-0000-0300-000000000000", "pci": "0000:03:00.0", "core_clock_mhz": 2850,
                   "timer_hz": 19200000},
        "availability": "[AVAILABLE] metrics are measured.", "notes": [], "gpu_time_ns": own,
        "counts": {"begun": collected + lost + dropped, "collected": collected, "lost": lost, "dropped": dropped,
                   "in_flight": 0},
        "causes": {}, "columns": COLUMNS,
        "metrics": {name: {"group": "ComputeBasic", "component": component, "units": units, "type": kind,
                           "aggregation": aggregation, "pass": 0, "description": description}
                    for name, component, units, kind, aggregation, _, description in METRICS},
        "regions": regions,
        "paths": [{"region": index, **{name: region[name] for name in ("parent", "count", "lost", "dropped", "own_ns")}}
                  for index, region in enumerate(regions)],
    }
    made.update(more)
    return made


def set_timeline(made, queues, phases=()):
    """Queues are (kind, name, spans). The first span begins at 0."""
    spans = [span for _, _, some in queues for span in some]
    begin, end = min(span[1] for span in spans), max(span[2] for span in spans)

    def sort(some):
        return sorted(([index, first - begin, last - begin] for index, first, last in some), key=lambda span: (span[1], -span[2]))

    made["timeline"] = {"samples": len(spans), "span_ns": end - begin, "phases": sort(phases), "queues": [
        {"kind": kind, "name": name, "spans": sort(some)} for kind, name, some in queues]}


def add_timeline(made, rng, steps=60):
    """Steps, each of which runs the leaves one after the other inside of its parents, and copies on another queue."""
    regions = made["regions"]
    kernels, copies, now = [], [], 0
    for _ in range(steps):
        step_begin, inner = now, {}
        for index, region in enumerate(regions):
            if any(other["parent"] == index for other in regions):
                continue
            begin = now + rng.randrange(2000, 30000)
            now = begin + int(region["time_ns"]["median"])
            (copies if "copy" in region["name"] else kernels).append([index, begin, now])
            above = region["parent"]
            while above is not None:
                first = inner.get(above, [begin])[0]
                inner[above] = [first, now]
                above = regions[above]["parent"]
        kernels += [[index, first, last] for index, (first, last) in inner.items()]
        now = max(now, step_begin) + rng.randrange(50_000, 400_000)
    set_timeline(made, [("queue", "", kernels), ("list", "copies", copies)])


def add_latencies(made):
    """Latencies of some regions, of which that of the shortest one matters; and what copies moved."""
    regions = made["regions"]
    for index in (2, 5, 7, 8, 9):
        regions[index]["launch_latency_ns"] = stats_of([4200 + 10 * index, 5100, 7300])
    regions[2]["queue_latency_ns"] = stats_of([120_000, 340_000])
    for index, size in ((7, 1 << 24), (8, 1 << 20)):
        moved = size * regions[index]["count"]
        regions[index].update(copied_bytes=moved, copied_bytes_per_second=moved / regions[index]["time_ns"]["sum"] * 1e9)


def add_overlap(made):
    """How the samples of the timeline cover the time of the device."""
    span = made["timeline"]["span_ns"]
    made["overlap"] = {"samples": made["timeline"]["samples"], "missing": 0, "span_ns": span, "busy_ns": 0.82 * span,
                       "kernel_ns": 0.61 * span, "copy_ns": 0.3 * span, "both_ns": 0.09 * span, "idle_ns": 0.18 * span}


def ten():
    rng = random.Random(5)
    shape = [  # name, parent, count, mean of own time
        ("inference step", None, 500, 9_000), ("forward", 0, 500, 14_000), ("conv2d_fwd_nhwc_f16", 1, 4000, 148_000),
        ("gemm_tn<half, 256, 128, 32>", 1, 2500, 121_000), ("batch_norm", 1, 4000, 21_000), ("relu", 1, 4000, 5_800),
        ("softmax", 0, 500, 11_500), ("copy host to device", None, 500, 96_000), ("copy device to host", None, 500, 7_400),
        ("clear", None, 12, 2_300)]
    limits = [3, 3, 2, 2, 0, 0, 1, 0, 3, 4]
    totals, regions = [0] * len(shape), [None] * len(shape)
    for index in reversed(range(len(shape))):
        name, parent, count, mean = shape[index]
        region = region_of(rng, name, parent, count, mean, [totals[index]], LIMITS[limits[index]],
                           has_rates=index not in (0, 1, 9))
        regions[index] = region
        if parent is not None:
            totals[parent] += int(region["time_ns"]["sum"])
    regions[2].update(lost=11)
    regions[4].update(dropped=64)
    made = document(regions, causes={"report lost": 9, "overrun": 2, "no probe": 64, "no memory": 0},
                    notes=["5 samples are in flight. Call zt_collect when the work is done.",
                           "11 samples are lost: report lost. The device flagged the data as unusable.",
                           "64 samples are dropped: no probe. Raise config.max_probes, or call zt_collect more often."],
                    peaks={"bytes_per_second": PEAK_BYTES, "operations_per_second": PEAK_OPERATIONS, "source": "measured: copy of 256 MB"},
                    kernels=[kernel_of(0, "c0ffee0123456789", 128, 0), kernel_of(2, "00000000deadbeef", 256, 4096),
                             kernel_of(None, "", None, None)],
                    calls=[{"name": name, "count": count, "errors": errors,
                            "time_ns": stats_of([mean * rng.lognormvariate(0, 0.4) for _ in range(200)])}
                           for name, count, errors, mean in [
                               ("zeCommandListAppendLaunchKernel", 15512, 0, 2100),
                               ("zeCommandQueueExecuteCommandLists", 1000, 0, 18400),
                               ("zeEventHostSynchronize", 1000, 3, 912000), ("zeCommandListAppendMemoryCopy", 1000, 0, 3900)]])
    made["hotspots"] = hotspots()
    made["counts"]["in_flight"] = 5
    made["counts"]["begun"] += 5
    add_timeline(made, rng)
    add_overlap(made)
    add_latencies(made)
    return made


def hotspots():
    """Two kernels: one with its source, which has lines without samples, and one without."""
    spot = {"offset": 64, "samples": 30, "kinds": [6, 24, 0], "file": "/src/gemm.cl", "line": 1012}
    lines = [{"line": 1010, "text": "for (uint k = 0; k < n; k++)", "samples": 10, "kinds": [10, 0, 0]},
             {"line": 1011, "text": "{", "samples": 0},
             {"line": 1012, "text": "\tsum += a[k] * b[k];", "samples": 50, "kinds": [10, 40, 0]}]
    return {"group": "EuStallSampling", "period_ns": 50000, "kinds": ["Active", "SbidStall", "SendStall"],
            "counts": {"samples": 90, "matched": 80, "outside": 10, "ambiguous": 0, "no_room": 0, "discarded": 0, "drops": 0},
            "kernels": [{"name": "gemm", "size": 4096, "samples": 60, "share": 0.75, "instructions": [spot],
                         "sources": [{"file": "/src/gemm.cl", "lines": lines}]},
                        {"name": "tail", "size": 128, "samples": 20, "share": 0.25, "sources": [],
                         "instructions": [{"offset": 72, "samples": 20, "kinds": [0, 5, 15]}]}]}


def many():
    """5,000 regions, a few of which hold most of the time, with the metrics of the columns."""
    rng = random.Random(2)
    names = set(COLUMNS) | {"GpuTime", "GPU_BUSY"}
    regions = []
    for index in range(5000):
        parent = rng.randrange(50) if 50 <= index < 1000 else None
        name = f"void kernels::layer_{index:04d}<float, {2 ** rng.randrange(4, 9)}>(float const*, float*, unsigned int)"
        regions.append(region_of(rng, name, parent, rng.randrange(1, 30), 1e6 / (index % 997 + 1) + 900, names=names))
    made = document(regions, peaks={"bytes_per_second": PEAK_BYTES, "operations_per_second": PEAK_OPERATIONS,
                                    "source": "given by ZT_PEAKS"})
    queues = [("queue", "", []) for _ in range(20)]
    for index, begin in enumerate(sorted(rng.randrange(10_000_000_000) for _ in range(100_000))):
        queues[min(19, int(rng.expovariate(0.3)))][2].append([index % 5000, begin, begin + rng.randrange(1000, 80_000)])
    set_timeline(made, queues)
    add_overlap(made)
    return made


def none():
    return document([], notes=["15 copies ran and were not measured: set ZT_COPIES=1."], columns=[])


HOSTILE = [
    "</script><img src=x onerror=document.title='owned'>", "<!--<script>", "\"'&amp;&lt;b&gt;", "__proto__", "constructor",
    "", " ", "a\tb\nc\rd\u0001", "\u202egnp.exe\u202c", "\u2066isolate", "\u00fcml\u00e4ut \u4e2d\u6587 \U0001f600", "\ufffd\ufffd",
    "${name} {{name}} @DATA@", "javascript:alert(1)", "x" * 5000, "\\u003cb\\u003e",
    "std::enable_if<std::is_same<" + "std::vector<std::pair<int, std::basic_string<char> > >, " * 12 + "int>::value>::type f()",
]


def hostile():
    rng = random.Random(3)
    regions = [region_of(rng, name, None, 3, 50_000 + 1000 * index, names={"XVE_ACTIVE"}) for index, name in enumerate(HOSTILE)]
    regions[1]["parent"] = 2
    made = document(regions, program=HOSTILE[0], notes=[HOSTILE[0]], causes={HOSTILE[0]: 1}, columns=["__proto__", HOSTILE[0]])
    made["device"]["name"] = HOSTILE[0]
    made["counts"]["lost"] = 1
    metric = {"group": HOSTILE[0], "component": HOSTILE[0], "units": "constructor", "type": "", "aggregation": "mean",
              "pass": 0, "description": HOSTILE[0]}
    made["metrics"] = {"__proto__": metric, HOSTILE[0]: dict(metric, units=HOSTILE[0])}
    for region in regions:
        region["limit"] = dict.fromkeys(("what", "why", "add"), HOSTILE[0])
        region["metrics"] = {name: stats_of([1.5, 2.5]) for name in made["metrics"]}
    made["hotspots"] = {"kinds": [HOSTILE[0]], "counts": {"matched": 1}, "period_ns": 50000, "kernels": [
        {"name": HOSTILE[0], "samples": 1, "share": 1, "instructions": [{"offset": 0, "samples": 1, "kinds": [1]}],
         "sources": [{"file": HOSTILE[0], "lines": [{"line": 1, "text": HOSTILE[0], "samples": 1, "kinds": [1]}]}]}]}
    made["kernels"] = [dict(kernel_of(0, HOSTILE[0], 128, 0), name=HOSTILE[0], advice=HOSTILE[0])]
    made["calls"] = [{"name": HOSTILE[0], "count": 1, "errors": 0, "time_ns": stats_of([5.0])}]
    set_timeline(made, [("list", name, [[index, 0, 100 + index]]) for index, name in enumerate(HOSTILE)])
    add_overlap(made)
    return made


def bare():
    """Times only: no metrics, no latencies, no timeline; a region without samples; no tracer."""
    rng = random.Random(4)
    regions = [region_of(rng, f"step {index}", None, 4, 1000 + 3000 * index, names=set(), has_rates=False) for index in range(6)]
    for region in regions:
        region["limit"] = {"what": "unknown", "why": "Not known: no metrics are measured.", "add": ""}
    regions[1]["time_ns"] = stats_of([])
    regions[1].update(count=0, lost=4, own_ns=None)
    regions[2]["time_ns"]["stddev"] = None
    del regions[1]["histogram"]
    made = document(regions, columns=[], metrics={}, availability="[NOT_ENABLED] metrics are not enabled: set ZET_ENABLE_METRICS=1.",
                    notes=["Metrics are not enabled: set ZET_ENABLE_METRICS=1."])
    made["regions"][1]["share"] = None
    made["device"] = {**dict.fromkeys(("driver_version", "uuid", "pci"), ""), "name": "Device", "core_clock_mhz": None, "timer_hz": None}
    return made


def energy():
    """Phases with what the device took, throttling, and memory. Of some, nothing is known."""
    rng = random.Random(7)
    unknown = dict.fromkeys(("joules", "watts", "throttled", "mhz"), None)
    known = [  # name, parent, and figures that are known
        ("step", None, {"joules": 41.5, "watts": 137.25, "throttled": 0.125, "mhz": 2650.0, "allocations": 7, "unfreed": 2,
                        "throttled_by": {"average power": 0.1, "temperature": 0.05},
                        "unfreed_bytes": 3145728, "peak_bytes": 2147483648, "end_bytes": 1073741824}),
        ("assemble", 0, {"watts": 82.0, "throttled": 0, "mhz": 2850.0, "allocations": 1, "unfreed": 0, "unfreed_bytes": 0,
                         "peak_bytes": 1258291200, "end_bytes": 1073741824}),
        ("output", 0, {}),
    ]
    regions = []
    for name, parent, figures in known:
        region = region_of(rng, name, parent, 1, 300_000, has_rates=False)
        phase = {"entered": 1, "incomplete": 0, "host_ns": 302_000_000, "host_own_ns": 1_000_000, "busy_ns": None,
                 "throttled_by": {}}
        region.update(total_ns=region["time_ns"]["sum"], phase={**phase, **unknown, **figures})
        regions.append(region)
    regions.append(region_of(rng, "spmv", 1, 90, 200_000, has_rates=False))
    return document(regions)


SAMPLES = {"ten": ten, "many": many, "none": none, "hostile": hostile, "bare": bare, "energy": energy}


def page_of(made):
    """The page with a document in it, written as the library writes it: no text of the document ends the script."""
    no_stats = stats_of([])
    regions = [{**region, "metrics": {name: [region["metrics"].get(name, no_stats)[figure] for figure in FIGURES]
                                      for name in made["metrics"]}} for region in made["regions"]]
    text = json.dumps({**made, "regions": regions}, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    return "".join((text if line == "@DATA@" else line) + "\n" for line in join.page_lines())


def main():
    arguments = sys.argv[1:]
    if not arguments or arguments[-1] not in SAMPLES:
        sys.exit(f"{__doc__}\nNAME: {', '.join(SAMPLES)}")
    made = SAMPLES[arguments[-1]]()
    sys.stdout.reconfigure(encoding="utf-8")
    if arguments[0] == "--json":
        json.dump(made, sys.stdout, indent=1, ensure_ascii=False)
    else:
        sys.stdout.write(page_of(made))


if __name__ == "__main__":
    main()
