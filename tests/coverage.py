#!/usr/bin/env python3
"""Prints how much of zetools.h test programs ran, by folder and part of src/.

Usage: coverage.py DIRECTORY

DIRECTORY has programs that gcc built with --coverage, and that have run, each with GCOV_PREFIX=DIRECTORY/data/PROGRAM:
what one of them loses, because it is killed while it writes, is not lost by the others. Writes DIRECTORY/uncovered.txt:
each line that no program ran, and each line with a branch that none took, unless tests/untaken.txt says why. Exits with 1
if fewer than 97 % of the lines ran, if fewer than 90 % of the branches were taken, or if tests/untaken.txt has a line that
zetools.h has not.

Every program has a copy of the library. A line is covered if any copy ran it. Copies built with other options or in
another language can have other branches on a line, or none, such as after calls in C++ alone: those of most copies
count. Branches that only exceptions of C++ take do not count.
"""
import collections
import glob
import json
import multiprocessing
import os
import re
import subprocess
import sys

HEADER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "zetools.h")

# Lines "FUNCTION | SOURCE LINE | why no test takes each of its branches".
UNTAKEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "untaken.txt")

LEAST_LINES, LEAST_BRANCHES = 0.97, 0.90


def read_counts(path):
    """What gcov reads of zetools.h in a .gcda file: a list of lines, or none. It wants the .gcno file beside it."""
    notes = path[:-len("gcda")] + "gcno"
    if not os.path.exists(notes):
        os.symlink("/" + re.sub(r".*/data/[^/]+/", "", notes), notes)
    text = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", path], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return [file["lines"] for document in text.splitlines() for file in json.loads(document)["files"]
            if os.path.realpath(file["file"]) == HEADER]


def reports(directory):
    """What gcov knows of zetools.h, a list of lines for each object file of each program."""
    paths = sorted(glob.glob(f"{directory}/**/*.gcda", recursive=True))
    with multiprocessing.Pool() as pool:
        for found in pool.imap(read_counts, paths):
            yield from found


def merge(all_reports):
    """Calls by line, whether each branch was taken, by line, and the functions of each line."""
    calls = collections.Counter()
    functions = collections.defaultdict(set)
    variants = collections.defaultdict(lambda: collections.defaultdict(list))
    for lines in all_reports:
        branches = collections.defaultdict(list)
        seen = collections.Counter()
        for line in lines:  # a line is listed once for each function that has it
            number = line["line_number"]
            seen[number] += line["count"]
            functions[number].add(line.get("function_name"))
            branches[number] += [branch["count"] > 0 for branch in line["branches"] if not branch["throw"]]
        calls.update(seen)
        for number in seen:
            variants[number][len(branches[number])].append(branches[number])
    taken = {}
    for number, by_length in variants.items():
        copies = max(by_length.values(), key=len)
        taken[number] = [any(column) for column in zip(*copies)]
    return calls, taken, functions


def parts(text):
    """(folder, part, first line, end) of each part, by the lines at which src/join.py has joined them."""
    joints = [(match[1], match[2], text.count("\n", 0, match.start()) + 1)
              for match in re.finditer(r"(?m)^/\* ==== (\w+)/([\w.]+) =+ \*/$", text)]
    ends = [first for _, _, first in joints[1:]] + [text.count("\n") + 1]
    return [(*joint, end) for joint, end in zip(joints, ends)]


def read_explained():
    """Pairs of function and source line of which tests/untaken.txt tells why branches are not taken."""
    with open(UNTAKEN, encoding="utf-8") as file:
        entries = [line.rstrip("\n").split(" | ", 1) for line in file if line.strip() and not line.startswith("#")]
    return {(function, rest.rpartition(" | ")[0]) for function, rest in entries}


def percent(part, whole):
    return f"{100 * part / whole:6.1f} %" if whole else "       -"


def main():
    directory = sys.argv[1]
    calls, taken, functions = merge(reports(directory))
    if not calls:
        sys.exit(f"{directory} has no program that ran and has zetools.h.")
    with open(HEADER, encoding="utf-8") as file:
        text = file.read()

    found = parts(text)
    rows = {}
    for folder, part, first, end in found:
        numbers = [number for number in calls if first <= number < end]
        branches = [branch for number in numbers for branch in taken.get(number, [])]
        row = [sum(calls[number] > 0 for number in numbers), len(numbers), sum(branches), len(branches)]
        for key in ("in all", ""), (folder, ""), (folder, part):
            rows[key] = [a + b for a, b in zip(rows.get(key, [0] * 4), row)]
    sums = rows.pop(("in all", ""))
    print(f"{'part':<28}{'lines':>7}{'run':>9}   {'branches':>8}{'taken':>9}")
    for (folder, part), row in [*rows.items(), (("in all", ""), sums)]:
        if row[1]:
            print(f"{'    ' + part if part else folder:<28}{row[1]:>7} {percent(row[0], row[1])}   {row[3]:>8} {percent(row[2], row[3])}")

    explained = read_explained()
    sources = [source.strip() for source in text.splitlines()]
    existing = {(function, sources[number - 1]) for number in functions for function in functions[number]}
    reasoned = unexplained = 0
    with open(f"{directory}/uncovered.txt", "w", encoding="utf-8") as file:
        for number, source in enumerate(sources, 1):
            branches = taken.get(number, [])
            has_run = calls.get(number, 1) > 0
            missing = branches.count(False)
            if has_run and not missing:
                continue
            if any((function, source) in explained for function in functions[number]):
                reasoned += missing
                continue
            unexplained += missing
            what = f"{missing} of {len(branches)} branches not taken" if has_run else "not run"
            file.write(f"zetools.h:{number}: {min(functions[number])}: {what}: {source}\n")
    print(f"Not taken: {reasoned} branches of which tests/untaken.txt says why, and {unexplained} others. These, and lines "
          f"that did not run: {directory}/uncovered.txt")
    stale = sorted(explained - existing)
    for function, source in stale:
        print(f"tests/untaken.txt: zetools.h has no such line any more: {function} | {source}")
    if stale:
        sys.exit(1)
    if sums[0] < LEAST_LINES * sums[1]:
        sys.exit(f"fewer than {LEAST_LINES:.0%} of the lines ran")
    if sums[2] < LEAST_BRANCHES * sums[3]:
        sys.exit(f"fewer than {LEAST_BRANCHES:.0%} of the branches were taken")


if __name__ == "__main__":
    main()
