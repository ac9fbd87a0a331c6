#!/usr/bin/env python3
"""Draws a part of a trace as Perfetto shows it: tests/picture_of_trace.py run.trace.json STEPS >trace.svg

The part is where so many steps, between the instants named "step", follow each other fastest, so that a busy machine
does not spoil the picture.
"""
import collections
import json
import sys
from html import escape

WIDTH, LEFT, RIGHT, MARGIN = 1000, 258, 14, 14
SPAN, COUNTER, PROCESS, PAD, LETTER = 21, 38, 25, 6, 6.9
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', 'DejaVu Sans', sans-serif"
COLOURS = ("#5b8ff9", "#61c9a8", "#f6bd60", "#e8879c", "#9d86e9", "#6fc3df", "#f49d6e", "#8bbf69")
COUNTERS = 5  # the most that are drawn
DEVICES = 1 << 22  # processes of devices have higher numbers than those of the system


def load(path):
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    return [e for e in events if e["ph"] == "M"], sorted((e for e in events if e["ph"] != "M"), key=lambda e: e["ts"])


def choose_part(events, steps):
    marks = [e["ts"] for e in events if e["ph"] == "i" and e["name"] == "step"]
    parts = [(end - begin, begin, end) for begin, end in zip(marks[1:], marks[1 + steps:])]  # the first warms up
    length, begin, end = min(parts)
    return begin - 0.04 * length, end + 0.02 * length


def colour_of(name, known={}):
    """One colour a name, and the same for a region and for appending it."""
    return known.setdefault(name.removeprefix("append "), COLOURS[len(known) % len(COLOURS)])


class Picture:
    def __init__(self, begin, end):
        self.begin, self.end, self.y, self.parts, self.late = begin, end, MARGIN, [], []

    def x(self, ts):
        share = (ts - self.begin) / (self.end - self.begin)
        return LEFT + max(0, min(1, share)) * (WIDTH - LEFT - RIGHT)

    def add(self, text, late=False):
        (self.late if late else self.parts).append(text)

    def text(self, x, y, text, more=""):
        self.add(f'<text x="{x:.1f}" y="{y:.1f}" {more}>{escape(text)}</text>')

    def label(self, y, name):
        if len(name) * LETTER > LEFT - MARGIN - 24:
            name, _, units = name.partition(" [")
            most = int((LEFT - MARGIN - 30) / LETTER) - len(units) - 3
            name = name[:most // 2] + "\u2026" + name[-(most // 2):] + (" [" + units if units else "")
        self.text(MARGIN + 14, y, name, 'fill="#3c4652"')

    def axis(self):
        unit = next(u for u in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100) if (self.end - self.begin) / 1000 / u <= 10)
        tick = 0
        while self.x(self.begin + tick * unit * 1000) < WIDTH - RIGHT - 40:
            x = self.x(self.begin + tick * unit * 1000)
            self.text(x + 4, self.y + 12, f"{tick * unit:g} ms", 'fill="#77818c" font-size="11"')
            self.add(f'<path d="M{x:.1f} {MARGIN}V{{bottom}}" stroke="#e3e7eb"/>')
            tick += 1
        self.y += 22

    def process(self, name):
        self.add(f'<rect x="{MARGIN}" y="{self.y}" width="{WIDTH - 2 * MARGIN}" height="{PROCESS - 4}" rx="4" '
                 'fill="#e8eef7"/>')
        self.text(MARGIN + 10, self.y + 15, name, 'fill="#20406b" font-weight="600"')
        self.y += PROCESS

    def line(self):
        self.add(f'<path d="M{MARGIN} {self.y - PAD / 2}H{WIDTH - MARGIN}" stroke="#eef1f4"/>')

    def track(self, name, spans, places):
        """Draws nested spans, and notes where they are."""
        around, deepest, top = [], 1, self.y
        self.label(top + 15, name)
        for span in spans:
            end = span["ts"] + span["dur"]
            while around and around[-1] <= span["ts"] + 0.0005:
                around.pop()
            left, right, y = self.x(span["ts"]), self.x(end), top + len(around) * SPAN
            around.append(end)
            deepest = max(deepest, len(around))
            width = max(right - left, 2.5)
            self.add(f'<rect x="{left:.1f}" y="{y}" width="{width:.1f}" height="{SPAN - 2}" rx="2" '
                     f'fill="{colour_of(span["name"])}" stroke="#fff" stroke-width="0.6"/>')
            if (len(span["name"]) + 2) * LETTER < width:
                self.text(left + 6, y + 14, span["name"], 'fill="#1b2530"')
            places[id(span)] = (left, y)
        self.y = top + deepest * SPAN + PAD
        self.line()

    def counter(self, name, values):
        top, bottom = self.y + 3, self.y + COUNTER - 3
        most = max(value for _, value in values) or 1
        points, y = [], bottom
        for ts, value in values:
            x, new = self.x(ts), bottom - value / most * (bottom - top)
            points += [f"{x:.1f},{y:.1f}", f"{x:.1f},{new:.1f}"]
            y = new
        left, right = self.x(values[0][0]), self.x(self.end)
        outline = " ".join(points + [f"{right:.1f},{y:.1f}"])
        self.label(self.y + 17, name)
        self.text(MARGIN + 14, self.y + 31, f"up to {most:.3g}", 'fill="#9aa3ad" font-size="11"')
        colour = colour_of(name)
        self.add(f'<polygon points="{left:.1f},{bottom} {outline} {right:.1f},{bottom}" fill="{colour}" '
                 'fill-opacity="0.28"/>')
        self.add(f'<polyline points="{outline}" fill="none" stroke="{colour}" stroke-width="1.3"/>')
        self.y += COUNTER + PAD
        self.line()

    def markers(self, name, instants, spans):
        self.label(self.y + 15, name)
        for span in spans:
            left, width = self.x(span["ts"]), max(self.x(span["ts"] + span["dur"]) - self.x(span["ts"]), 2.5)
            self.add(f'<rect x="{left:.1f}" y="{self.y}" width="{width:.1f}" height="{SPAN - 2}" rx="2" '
                     'fill="url(#gap)"/>')
        for instant in instants:
            x, missing = self.x(instant["ts"]), instant["cat"] == "missing"
            colour = "#c8372d" if missing else "#44546a"
            self.add(f'<path d="M{x:.1f} {self.y}v19M{x:.1f} {self.y}l9 5-9 5" fill="{colour}" stroke="{colour}"/>')
            if x < WIDTH - RIGHT - 60:
                self.text(x + 13, self.y + 12, instant["name"], f'fill="{colour}" font-size="11" stroke="#fff" '
                          'stroke-width="3" paint-order="stroke"')
        self.y += SPAN + PAD
        self.line()

    def arrow(self, start, end):
        (x, y), (to_x, to_y) = (start[0] + 1, start[1] + SPAN - 2), end
        middle = (y + to_y) / 2
        self.add(f'<path d="M{x:.1f} {y}C{x:.1f} {middle:.1f} {to_x + 1:.1f} {middle:.1f} {to_x + 1:.1f} {to_y - 1}" '
                 'fill="none" stroke="#2f3b48" stroke-width="0.9" stroke-opacity="0.75" marker-end="url(#head)"/>',
                 late=True)

    def write(self):
        height = self.y + MARGIN - PAD
        print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
              f'viewBox="0 0 {WIDTH} {height}">')
        print('<defs><marker id="head" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="5" markerHeight="5" '
              'orient="auto"><path d="M0 0L6 3L0 6Z" fill="#2f3b48"/></marker><pattern id="gap" width="6" height="6" '
              'patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" fill="#f3d9d6"/>'
              '<rect width="2" height="6" fill="#d98880"/></pattern></defs>')
        print(f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#fff" stroke="#d5dbe1"/>')
        print(f'<g font-family="{FONT}" font-size="12">')
        print("\n".join(self.parts + self.late).replace("{bottom}", str(height - MARGIN)))
        print("</g>\n</svg>")


def draw_tracks(picture, process, names, places_in_order, shown):
    by_track, instants = collections.defaultdict(list), collections.defaultdict(list)
    for event in shown:
        if event["pid"] == process and event["ph"] == "X":
            by_track[event["tid"]].append(event)
        elif event["pid"] == process and event["ph"] == "i":
            instants[event["tid"]].append(event)
    places = {}
    for track in sorted({*by_track, *instants}, key=lambda t: places_in_order.get((process, t), 0)):
        name = names.get(("thread_name", process, track), names["process_name", process, 0])
        if process < DEVICES:
            picture.track(f"{name} {track}", by_track[track], places)
        elif any(span["cat"] == "region" for span in by_track[track]):
            picture.track(name, by_track[track], places)
        else:
            picture.markers(name, instants[track], by_track[track])
    return places


def draw_counters(picture, events):
    series = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "C":
            series[event["name"]].append((event["ts"], event["args"]["value"]))
    drawn = 0
    for name, values in series.items():
        before = [value for ts, value in values if ts <= picture.begin]
        inside = [(picture.begin, before[-1])] if before else []
        inside += [(ts, value) for ts, value in values if picture.begin < ts < picture.end]
        if len({value for _, value in inside}) > 2 and drawn < COUNTERS:
            picture.counter(name, inside)
            drawn += 1


def main(path, steps):
    metadata, events = load(path)
    begin, end = choose_part(events, steps)
    names = {(e["name"], e["pid"], e["tid"]): e["args"]["name"] for e in metadata if "name" in e["args"]}
    order = {(e["pid"], e["tid"]): e["args"]["sort_index"] for e in metadata if e["name"] == "thread_sort_index"}
    shown = [e for e in events if begin <= e["ts"] + e.get("dur", 0) and e["ts"] <= end]
    picture, places = Picture(begin, end), {}
    picture.axis()
    for process in sorted({e["pid"] for e in metadata}):
        picture.process(names["process_name", process, 0])
        places.update(draw_tracks(picture, process, names, order, shown))
    draw_counters(picture, events)
    spans = {(e["pid"], e["tid"], e["ts"]): e for e in shown if e["ph"] == "X"}
    flows = collections.defaultdict(list)
    for event in events:
        if event["ph"] in "sf":
            flows[event["id"]].append(spans.get((event["pid"], event["tid"], event["ts"])))
    for ends in flows.values():
        if all(span and span["ts"] >= begin for span in ends):
            picture.arrow(*(places[id(span)] for span in ends))
    picture.write()


main(sys.argv[1], int(sys.argv[2]))
