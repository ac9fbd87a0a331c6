#!/usr/bin/env python3
"""Reads a trace in Perfetto's own format with Google's library for Protocol Buffers, and compares it with the trace of
the same run in the Trace Event format, field by field.

Usage: check_perfetto.py PFTRACE TRACE     compares
       check_perfetto.py --joined PFTRACE PFTRACE...   joins files of several processes: nothing of them may cross

The messages are declared below, by the numbers that Perfetto publishes. A field that is not declared is an error, and so
is a number that its sequence of packets has not declared. Prints what was compared.
"""
import collections
import decimal
import json
import sys
import zlib

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

# Each field: number, name, type; a message by its name, * repeated.
MESSAGES = """
Trace: 1 packet *TracePacket
TracePacket: 6 clock_snapshot ClockSnapshot, 8 timestamp uint64, 10 sequence uint32, 11 track_event TrackEvent,
    12 interned_data InternedData, 13 flags uint32, 50 compressed bytes, 52 counter_event GpuCounterEvent, 53 stage_event GpuRenderStageEvent,
    58 clock uint32, 59 defaults Defaults, 60 track_descriptor TrackDescriptor, 87 is_first bool
Defaults: 11 track_event TrackEventDefaults, 58 clock uint32
TrackEventDefaults: 11 track uint64
ClockSnapshot: 1 clocks *Clock, 2 primary int32
Clock: 1 id uint32, 2 timestamp uint64, 3 is_incremental bool
TrackDescriptor: 1 uuid uint64, 2 name string, 3 process Process, 4 thread Thread, 5 parent uint64, 11 ordering int32,
    12 rank int32
Process: 1 pid int32, 6 name string
Thread: 1 pid int32, 2 tid int64, 5 name string
TrackEvent: 3 categories *uint64, 4 arguments *Annotation, 9 type int32, 10 name uint64, 11 track uint64,
    47 flows *fixed64, 48 ending_flows *fixed64, 3000 correlation Correlation
Correlation: 1 submitted *uint64
Annotation: 1 name uint64, 2 bool bool, 3 uint uint64, 4 int int64, 5 double double, 17 text uint64
GpuRenderStageEvent: 1 event_id uint64, 2 duration uint64, 5 context uint64, 11 gpu int32, 13 queue uint64, 14 stage uint64,
    19 kernel uint64, 20 name uint64, 21 launch Launch
Launch: 1 groups Extent, 2 group_size Extent, 3 arguments *LaunchArgument
Extent: 1 x uint32, 2 y uint32, 3 z uint32
LaunchArgument: 1 name uint64, 2 plain_name string, 3 int int64, 4 uint uint64, 5 double double, 6 plain_text string,
    7 text uint64
GpuCounterEvent: 2 counters *Counter, 4 descriptor uint64
Counter: 1 id uint32, 2 int int64, 3 double double
InternedData: 1 categories *Name, 2 event_names *Name, 3 argument_names *Name, 23 contexts *Context,
    24 specifications *Specification, 29 texts *Text, 47 counters *DescribedCounters, 1000 kernels *Kernel,
    1001 launch_argument_names *Name
Name: 1 iid uint64, 2 name string
Text: 1 iid uint64, 2 name bytes
Context: 1 iid uint64, 2 pid int32
Specification: 1 iid uint64, 2 name string, 4 category int32
Kernel: 1 iid uint64, 2 name string, 3 demangled string, 5 arguments *LaunchArgument
DescribedCounters: 1 iid uint64, 2 descriptor CounterDescriptor, 3 gpu int32
CounterDescriptor: 1 specs *CounterSpec, 6 groups *CounterGroup
CounterSpec: 1 id uint32, 2 name string, 7 numerators *int32, 8 denominators *int32, 10 groups *int32, 11 direction int32
CounterGroup: 1 id uint32, 2 name string, 4 counters *uint32
"""
UNITS = {(37, 0): "%", (19, 0): "ns", (20, 0): "us", (7, 0): "bytes", (10, 22): "GB/s", (0, 22): "/s", (15, 0): "MHz",
         (29, 0): "W", (34, 0): "degrees C"}
CLEARED, NEEDS_STATE = 1, 2
MONOTONIC, BOOT, OF_SEQUENCE = 3, 6, 64
BEGIN, END, INSTANT = 1, 2, 3
COMPUTE = 2
FORWARDS = 2

Slice = collections.namedtuple("Slice", "track name category begin end arguments")
Instant = collections.namedtuple("Instant", "track name category time arguments")
Region = collections.namedtuple("Region", "track name begin end arguments")
Device = collections.namedtuple("Device", "name pid queues")


def declare():
    """Returns the class of the message Trace."""
    file = descriptor_pb2.FileDescriptorProto(name="perfetto.proto", package="perfetto", syntax="proto2")
    scalar = descriptor_pb2.FieldDescriptorProto
    for text in MESSAGES.strip().replace("\n    ", " ").splitlines():
        name, fields = text.split(": ")
        message = file.message_type.add(name=name)
        for field in fields.split(", "):
            number, field_name, kind = field.split()
            repeated, kind = kind.startswith("*"), kind.lstrip("*")
            made = message.field.add(name=field_name, number=int(number),
                                     label=scalar.LABEL_REPEATED if repeated else scalar.LABEL_OPTIONAL)
            if kind[0].isupper():
                made.type, made.type_name = scalar.TYPE_MESSAGE, ".perfetto." + kind
            else:
                made.type = getattr(scalar, "TYPE_" + kind.upper())
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("perfetto.Trace"))


def refuse_unknown(message):
    """A field that is not declared is an error, and so is a text that is not UTF-8."""
    assert len(message.UnknownFields()) == 0, message
    for field, value in message.ListFields():
        for one in value if field.label == field.LABEL_REPEATED else [value]:
            if field.type == field.TYPE_MESSAGE:
                refuse_unknown(one)


def time_of(microseconds):
    return int(decimal.Decimal(microseconds) * 1000)


class Sequence:
    """Packets with one number: their clock, their track, and what they have interned."""

    def __init__(self, packet):
        assert packet.is_first and packet.flags == CLEARED, packet
        clocks = {clock.id: clock for clock in packet.clock_snapshot.clocks}
        assert set(clocks) - {BOOT} == {MONOTONIC, OF_SEQUENCE} and packet.clock_snapshot.primary == MONOTONIC
        self.is_first = BOOT in clocks
        assert clocks[OF_SEQUENCE].timestamp == 0 and not clocks[MONOTONIC].is_incremental
        assert clocks[OF_SEQUENCE].is_incremental and packet.defaults.clock == OF_SEQUENCE
        self.now = clocks[MONOTONIC].timestamp
        self.track = packet.defaults.track_event.track
        self.interned = collections.defaultdict(dict)

    def intern(self, data):
        for field, entries in data.ListFields():
            for entry in entries:
                assert entry.iid and entry.iid not in self.interned[field.name], entry
                self.interned[field.name][entry.iid] = entry

    def time(self, packet):
        if packet.HasField("clock"):
            assert packet.clock == MONOTONIC
            return packet.timestamp
        self.now += packet.timestamp
        return self.now

    def argument(self, argument, names):
        name = self.interned[names][argument.name].name
        fields = {field.name: value for field, value in argument.ListFields() if field.name != "name"}
        assert len(fields) == 1, argument
        kind, value = fields.popitem()
        return name, self.interned["texts"][value].name.decode() if kind == "text" else value

    def arguments(self, arguments, names):
        found = dict(self.argument(argument, names) for argument in arguments)
        assert len(found) == len(arguments), arguments
        return found


def label_of(spec):
    unit = UNITS.get((sum(spec.numerators), sum(spec.denominators)))
    return f"{spec.name} [{unit}]" if unit else spec.name


def extent(message):
    return f"{message.x} x {message.y} x {message.z}"


def volume(message):
    return message.x * message.y * message.z


def decode(data):
    made = declare()
    trace = made()
    trace.ParseFromString(data)
    packets = []
    for packet in trace.packet:
        assert [field.name for field, _ in packet.ListFields()] == ["compressed"], packet
        assert len(packet.compressed) < 512 << 10
        part = made()
        part.ParseFromString(zlib.decompress(packet.compressed))
        refuse_unknown(part)
        packets += part.packet
    refuse_unknown(trace)
    return packets


class Perfetto:
    """What a file contains: events by their tracks, whose names are as in the Trace Event format."""

    def __init__(self, data):
        self.processes, self.programs, self.threads, self.devices, self.tracks = {}, {}, {}, {}, {}
        self.slices, self.instants, self.regions = [], [], []
        self.counters, self.region_counters = collections.defaultdict(list), collections.defaultdict(list)
        self.groups, self.kernels, self.gpus, self.event_ids = {}, {}, set(), {}
        self.flow_ids = collections.defaultdict(lambda: [None, None])
        self.sequences, self.open, self.submissions = {}, collections.defaultdict(list), []
        self.unplaced = []
        for packet in decode(data):
            if packet.is_first:
                assert packet.sequence not in self.sequences, packet
                self.sequences[packet.sequence] = Sequence(packet)
            elif packet.HasField("track_descriptor"):
                assert [field.name for field, _ in packet.ListFields()] == ["track_descriptor"], packet
                self.read_track(packet.track_descriptor)
            else:
                assert packet.flags == NEEDS_STATE, packet
                self.read(self.sequences[packet.sequence], packet)
        self.place_regions()
        assert not any(self.open.values()), self.open
        assert any(sequence.is_first for sequence in self.sequences.values())
        by_calls = [(source, self.event_ids[event]) for source, event in self.submissions]
        self.flows = collections.Counter(by_calls + [tuple(ends) for ends in self.flow_ids.values()])

    def read(self, sequence, packet):
        sequence.intern(packet.interned_data)
        if packet.HasField("track_event"):
            self.read_event(sequence, sequence.time(packet), packet.track_event)
        elif packet.HasField("stage_event"):
            self.read_region(sequence, sequence.time(packet), packet.stage_event)
        elif packet.HasField("counter_event"):
            self.read_counters(sequence, sequence.time(packet), packet.counter_event)
        else:
            assert packet.HasField("interned_data"), packet

    def read_track(self, track):
        assert track.uuid and track.uuid not in self.tracks, track
        if track.HasField("process"):
            self.tracks[track.uuid] = "program"
            self.processes[track.process.pid] = track.process.name
            self.programs[track.uuid] = track.process.pid
        elif track.HasField("thread"):
            assert not track.HasField("parent") and track.thread.pid in self.processes
            self.tracks[track.uuid] = f"thread {track.thread.tid}"
            self.threads[track.thread.tid] = track.thread.name
        elif track.HasField("rank"):
            assert track.parent in self.devices
            device = self.devices[track.parent]
            self.tracks[track.uuid] = f"{device.name}/{track.rank}: {track.name}"
            device.queues[track.name].append((track.rank, self.tracks[track.uuid]))
        else:
            assert self.tracks[track.parent] == "program"
            self.tracks[track.uuid] = track.name
            self.devices[track.uuid] = Device(track.name, self.programs[track.parent], collections.defaultdict(list))

    def place_regions(self):
        """The number of a GPU is not that of a track: GPUs of a process are in the order of its devices."""
        gpus = collections.defaultdict(set)
        for pid, gpu, *_ in self.unplaced:
            gpus[pid].add(gpu)
        for pid, gpu, queue, number, event, region in self.unplaced:
            devices = [device for _, device in sorted(self.devices.items()) if device.pid == pid]
            device = devices[0] if len(devices) == 1 else dict(zip(sorted(gpus[pid]), devices, strict=True))[gpu]
            tracks = device.queues[queue]
            track = tracks[0][1] if len(tracks) == 1 else dict(tracks)[number]
            self.event_ids[event] = track, region.begin
            self.regions.append(region._replace(track=track))

    def read_event(self, sequence, time, event):
        uuid = event.track if event.HasField("track") else sequence.track
        around = self.open[uuid]
        if event.type == END:
            around.pop().append(time)
            return
        name, category = sequence.interned["event_names"][event.name].name, sequence.interned["categories"]
        made = [self.tracks[uuid], name, category[event.categories[0]].name, time,
                sequence.arguments(event.arguments, "argument_names")]
        for ids, end in ((event.flows, 0), (event.ending_flows, 1)):
            for flow in ids:
                assert self.flow_ids[flow][end] is None, event
                self.flow_ids[flow][end] = made[0], time
        self.submissions += [((made[0], time), submitted) for submitted in event.correlation.submitted]
        if event.type == INSTANT:
            self.instants.append(Instant(*made))
        else:
            assert event.type == BEGIN, event
            assert all(one[3] <= time for one in around), (around, event)
            around.append(made)
            self.slices.append(made)

    def read_region(self, sequence, time, event):
        queue = sequence.interned["specifications"][event.queue]
        stage = sequence.interned["specifications"][event.stage]
        name = sequence.interned["event_names"][event.name].name
        arguments = sequence.arguments(event.launch.arguments, "launch_argument_names")
        context = sequence.interned["contexts"][event.context]
        assert event.event_id not in self.event_ids and context.pid in self.processes, event
        self.gpus.add(event.gpu)
        self.event_ids[event.event_id] = None
        for extent_name, field in (("groups", "groups"), ("group size", "group_size")):
            if event.launch.HasField(field):
                arguments[extent_name] = extent(getattr(event.launch, field))
        if event.HasField("kernel"):
            kernel = sequence.interned["kernels"][event.kernel]
            facts = {one.plain_name: one.plain_text or one.uint for one in kernel.arguments}
            assert stage.category == COMPUTE and name == (kernel.demangled or kernel.name), event
            assert facts["grid_size"] == volume(event.launch.groups)
            assert facts["process_name"] == self.processes[facts["process_id"]]
            if event.launch.HasField("group_size"):
                assert facts["workgroup_size"] == volume(event.launch.group_size)
                assert facts["thread_count"] == facts["grid_size"] * facts["workgroup_size"]
            self.kernels[name] = facts
        region = Region(None, name, time, time + event.duration, arguments)
        self.unplaced.append((context.pid, event.gpu, queue.name, event.queue - 5, event.event_id, region))

    def read_counters(self, sequence, time, event):
        described = sequence.interned["counters"][event.descriptor]
        specs = {spec.id: spec for spec in described.descriptor.specs}
        group = described.descriptor.groups[0]
        assert list(group.counters) == list(specs), group
        self.gpus.add(described.gpu)
        for counter in event.counters:
            spec = specs[counter.id]
            assert spec.direction == FORWARDS and len(spec.groups) == 1, spec
            value = counter.int if counter.HasField("int") else counter.double
            label, of_regions = label_of(spec), group.name == "regions"
            assert label.startswith("region ") or not of_regions, label
            self.groups[label] = group.name
            found = self.region_counters if of_regions else self.counters
            found[label[len("region "):] if of_regions else label].append((time, value))


class TraceEvents:
    """The same of a file in the Trace Event format."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            events = json.load(file, parse_float=decimal.Decimal)["traceEvents"]
        names = {(e["name"], e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"].endswith("_name")}
        self.program, *devices = sorted(pid for what, pid, _ in names if what == "process_name")

        def track_of(event):
            if event["pid"] == self.program:
                return f"thread {event['tid']}"
            device = names["process_name", event["pid"], 0]
            return f"{device}/{event['tid']}: {names['thread_name', event['pid'], event['tid']]}" if event["tid"] else device

        self.processes = {self.program: names["process_name", self.program, 0]}
        self.devices = [names["process_name", device, 0] for device in devices]
        self.threads = {tid: name for (what, pid, tid), name in names.items()
                        if what == "thread_name" and pid == self.program}
        self.slices, self.instants, self.regions = [], [], []
        self.counters, ends = collections.defaultdict(list), collections.defaultdict(dict)
        for event in events:
            kind, time = event["ph"], time_of(event.get("ts", 0))
            if kind in "sf":
                ends[event["id"]][kind] = track_of(event), time
            elif kind == "C":
                self.counters[event["name"]].append((time, event["args"]["value"]))
            elif kind == "i":
                self.instants.append(Instant(track_of(event), event["name"], event["cat"], time, event["args"]))
            elif kind == "X":
                end, arguments = time + time_of(event["dur"]), event.get("args", {})
                if event["cat"] == "region":
                    self.regions.append(Region(track_of(event), event["name"], time, end, arguments))
                else:
                    self.slices.append(Slice(track_of(event), event["name"], event["cat"], time, end, arguments))
        self.flows = collections.Counter((flow["s"], flow["f"]) for flow in ends.values())


def same_number(exact, shown, digits):
    """Whether a number that the Trace Event format shows in so many digits, or exactly, is another."""
    return exact == shown or float(f"{exact:.{digits}g}") == float(shown)


def same_arguments(found, expected):
    return found.keys() == expected.keys() and all(
        same_number(value, expected[name], 6) if isinstance(value, (int, float)) and not isinstance(value, bool)
        else value == expected[name] for name, value in found.items())


def compare_events(found, expected):
    """Compares events in any order. What is open ends where each report does."""
    def key(event):
        end = event.end if hasattr(event, "end") and "open" not in event.arguments else 0
        return event[0], event[1], event.begin if hasattr(event, "begin") else event.time, -end

    found, expected = sorted(found, key=key), sorted(expected, key=key)
    assert [key(one) for one in found] == [key(other) for other in expected]
    for one, other in zip(found, expected):
        assert one[2:-2] == other[2:-2] or "open" in one.arguments, (one, other)
        assert same_arguments(one.arguments, other.arguments), (one, other)


def compare_metrics(perfetto, trace):
    """Metrics of regions are arguments in one format, and counters in the other. Each region has its own values; where none
    runs, shares and rates are 0."""
    values = collections.defaultdict(list)
    for label, samples in perfetto.region_counters.items():
        for time, value in samples:
            values[label, time].append(value)
        times = [time for time, _ in samples]
        assert times == sorted(times), label
        if label.endswith(("[%]", "/s]")):
            assert samples[-1] == (max(region.end for region in trace.regions), 0), label
    compared = 0
    for region in trace.regions:
        for label in perfetto.region_counters:
            if label in region.arguments:
                shown = region.arguments.pop(label)
                assert any(same_number(value, shown, 6) for value in values[label, region.begin]), (label, region)
                compared += 1
    return compared


def compare(perfetto, trace):
    assert perfetto.processes == trace.processes and perfetto.threads == trace.threads
    assert [device.name for device in perfetto.devices.values()] == trace.devices and len(perfetto.gpus) <= len(trace.devices)
    metrics = compare_metrics(perfetto, trace)
    compare_events([Slice(*one[:4], one[5], one[4]) for one in perfetto.slices], trace.slices)
    compare_events(perfetto.instants, trace.instants)
    compare_events(perfetto.regions, trace.regions)
    assert perfetto.flows == trace.flows
    assert perfetto.counters.keys() == trace.counters.keys(), (perfetto.counters.keys(), trace.counters.keys())
    for label, samples in perfetto.counters.items():
        expected = trace.counters[label]
        assert [time for time, _ in samples] == [time for time, _ in expected], label
        assert all(same_number(one[1], other[1], 5) for one, other in zip(samples, expected)), label
    print(f"slices {len(trace.slices)}\ninstants {len(trace.instants)}\nregions {len(trace.regions)}\n"
          f"metrics {metrics}\nflows {sum(trace.flows.values())}\n"
          f"counters {sum(len(samples) for samples in trace.counters.values())}")
    for label, group in sorted(perfetto.groups.items()):
        print(f"{label}: {group}")
    for name, facts in sorted(perfetto.kernels.items()):
        print(f"{name}: {facts.get('registers_per_thread')} registers, {facts.get('shared_mem_static')} bytes shared, "
              f"SIMD {facts.get('simd_width')}")


def check_joined(paths):
    parts = []
    for path in paths:
        with open(path, "rb") as file:
            parts.append(file.read())
    files = [Perfetto(part) for part in parts]
    joined = Perfetto(b"".join(parts))
    for name in ("sequences", "tracks", "event_ids", "flow_ids", "devices"):
        sets = [set(getattr(one, name)) for one in files]
        assert all(sets) or name == "flow_ids", name  # not all programs have phases
        assert len(set().union(*sets)) == sum(len(one) for one in sets), name
    assert len(joined.gpus) == sum(len(one.gpus) for one in files)
    for name in ("slices", "instants", "regions"):
        assert getattr(joined, name) == sum((getattr(one, name) for one in files), []), name
    assert joined.flows == sum((one.flows for one in files), collections.Counter())
    print(f"joined {len(files)}")


def main(*arguments):
    if arguments[0] == "--joined":
        check_joined(arguments[1:])
        return
    with open(arguments[0], "rb") as file:
        perfetto = Perfetto(file.read())
    compare(perfetto, TraceEvents(arguments[1]))


if __name__ == "__main__":
    main(*sys.argv[1:])
