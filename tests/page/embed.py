#!/usr/bin/env python3
"""Writes the page of src/reports/page into a C file, as string literals of a line each, between `zt__page[] = {`
and `};`.

Usage: embed.py FILE            replaces the lines
       embed.py --check FILE    exits with 1 if they differ from the page
       embed.py --print         prints the page
"""
import os
import re
import sys

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "reports", "page")


def page_lines(folder):
    """Returns the lines of page.html. A line @NAME@ stands for the file of that name; @DATA@ stays."""
    lines = []
    with open(os.path.join(folder, "page.html"), encoding="ascii") as file:
        for line in file.read().splitlines():
            name = re.fullmatch(r"@([a-z]+\.(?:css|js))@", line)
            if name:
                with open(os.path.join(folder, name[1]), encoding="ascii") as part:
                    lines += part.read().splitlines()
            else:
                lines.append(line)
    return lines


def c_string(line):
    """Returns a literal of C99 and C++11 with the line and its end. \\? keeps two question marks from being a trigraph."""
    if not re.fullmatch(r"[ -~]{0,4000}", line):
        raise ValueError("no literal of C holds this line: " + line)
    return '"' + re.sub(r'["\\]|(?<=\?)\?', lambda match: "\\" + match[0], line) + '\\n"'


def page_strings(lines):
    """Returns the elements of an array of strings, a line a literal. @DATA@ is one alone. The others are as long as C99
    allows, 4,095 characters, because each element costs 32 bytes of a program for its address and relocation."""
    literals, size, last = [], 0, ""
    for line in lines:
        if literals and (size + len(line) + 1 > 4000 or "@DATA@" in (line, last)):
            literals[-1] += ","
            size = 0
        literals.append(c_string(line))
        size += len(line) + 1
        last = line
    return literals[:-1] + [literals[-1] + ","]


def main():
    path = sys.argv[-1]
    if path == "--print":
        print("\n".join(page_lines(FOLDER)))
        return
    page = "".join(f"        {literal}\n" for literal in page_strings(page_lines(FOLDER)))
    with open(path, encoding="utf-8") as file:
        text = file.read()
    match = re.search(r"(?m)^.*\bzt__page\[\] = \{\n((?:.*\n)*?) *\};\n", text)
    if not match:
        sys.exit(f"{path} has no zt__page[] = {{ ... }};")
    if sys.argv[1] == "--check":
        sys.exit(0 if match[1] == page else f"{path} holds another page than src/reports/page: tests/page/embed.py {path}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text[:match.start(1)] + page + text[match.end(1):])


if __name__ == "__main__":
    main()
