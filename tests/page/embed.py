#!/usr/bin/env python3
"""Writes page.html into a C file, as string literals of a line each, between `zt__page[] = {` and `};`.

Usage: embed.py FILE            replaces the lines
       embed.py --check FILE    exits with 1 if they differ from page.html
"""
import os
import re
import sys


def literal(line):
    return '    "' + line.replace("\\", "\\\\").replace('"', '\\"') + '",\n'


def main():
    path = sys.argv[-1]
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "page.html"), encoding="ascii") as file:
        page = "".join(map(literal, file.read().splitlines()))
    with open(path, encoding="utf-8") as file:
        text = file.read()
    match = re.search(r"(?m)^.*\bzt__page\[\] = \{\n((?:.*\n)*?)\};\n", text)
    if not match:
        sys.exit(f"{path} has no zt__page[] = {{ ... }};")
    if sys.argv[1] == "--check":
        sys.exit(0 if match[1] == page else f"{path} holds another page than page.html: tests/page/embed.py {path}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text[:match.start(1)] + page + text[match.end(1):])


if __name__ == "__main__":
    main()
