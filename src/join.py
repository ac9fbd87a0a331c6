#!/usr/bin/env python3
"""Joins the parts in src/ into zetools.h, the one file that users copy.

src/join.py [--check | --floors]   compares instead, or prints the chapters of each floor in their order

zetools.h.in is the frame; join() replaces its lines @NAME. The folders in FLOORS are floors: a chapter (a .c, a .h or
both) uses its own floor and those before it. Within a floor the order follows from the #include lines, ties by name.
"""

import hashlib
import os
import re
import signal
import sys

SOURCES = os.path.dirname(os.path.abspath(__file__))
HEADER = os.path.join(os.path.dirname(SOURCES), "zetools.h")

FLOORS = "base metrics regions results streams modules debug tracer reports watch bench open".split()
# What users see, in the order in which they need it.
INTERFACE = "start results reports tracer streams bench hotspots ranks watch debug settings macros disabled".split()

WIDTH = 110
INCLUDE = re.compile(r'#include "([a-z_/]+)\.[ch]"$')
HASH = re.compile(r"/\* Joined from src/ by src/join\.py: ([0-9a-f]{16}) \*/\n$")


class Mistake(Exception):
    pass


def read(name):
    with open(os.path.join(SOURCES, name), encoding="utf-8") as file:
        return file.read()


def list_files(folder):
    return sorted(os.listdir(os.path.join(SOURCES, folder)))


def find_chapters():
    """Returns the chapters, as floor/name, with the files of each."""
    chapters = {}
    for floor in FLOORS:
        for file in list_files(floor):
            name, extension = os.path.splitext(file)
            if extension in (".h", ".c"):
                chapters.setdefault(f"{floor}/{name}", []).append(f"{floor}/{file}")
    for files in chapters.values():
        files.sort(reverse=True)  # the .h first
    return chapters


def find_uses(chapters):
    """Returns which chapters each chapter includes. An include of a later floor is a mistake."""
    uses = {}
    for chapter, files in chapters.items():
        uses[chapter] = set()
        for file in files:
            for number, line in enumerate(read(file).splitlines(), 1):
                included = INCLUDE.match(line)
                if not included or included[1] in (chapter, "zetools"):
                    continue
                if included[1] not in chapters:
                    raise Mistake(f"src/{file}:{number}: there is no {included[1]}")
                if FLOORS.index(included[1].split("/")[0]) > FLOORS.index(chapter.split("/")[0]):
                    raise Mistake(f"src/{file}:{number}: the include goes upward, to {included[1]}")
                uses[chapter].add(included[1])
    return uses


def order(uses):
    """Returns the chapters in an order in which each comes after those that it uses."""
    ordered = []
    for floor in FLOORS:
        left = sorted(chapter for chapter in uses if chapter.startswith(floor + "/"))
        while left:
            ready = [chapter for chapter in left if not any(used in left for used in uses[chapter])]
            if not ready:
                raise Mistake("these chapters include each other in a circle: " + ", ".join(left))
            ordered.append(ready[0])
            left.remove(ready[0])
    return ordered


def joint(name):
    return f"/* ==== {name} ".ljust(WIDTH - 3, "=") + " */"


def without_scaffold(name):
    """Returns a part without what only parts need that are compiled alone: includes, and declarations of variables,
    which are defined before their users here."""
    text = re.sub(r'^(#pragma once|#include ".*")\n', "", read(name), flags=re.M)
    text = re.sub(r"^extern [^;]*\bzt__[^;]*;\n", "", text, flags=re.M)
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"


def join_part(name):
    return f"{joint(name)}\n\n{without_scaffold(name)}"


def page_lines():
    """A line @NAME@ of page.html stands for the file of that name, and @DATA@ for what the report puts there."""
    lines = []
    for line in read("reports/page/page.html").splitlines():
        name = re.fullmatch(r"@([a-z]+\.(?:css|js))@", line)
        lines += read(f"reports/page/{name[1]}").splitlines() if name else [line]
    return lines


def join_page():
    """Returns the function that has the page that run.html is."""
    return f"""{joint("reports/page/")}

ZT__PRIVATE const char *const *zt__get_page(uint32_t *count) {{
#ifdef ZETOOLS_NO_PAGE
    *count = 0;
    return NULL;
#else
    /* clang-format off */
    static const char *const page[] = {{
{c_strings(page_lines())}
    }};
    /* clang-format on */
    *count = ZT__COUNT_OF(page);
    return page;
#endif
}}
"""


def c_strings(lines):
    """Returns strings of C, a line a literal. @DATA@ is one alone. The others are as long as C99 allows, 4,095 characters,
    because each string costs 32 bytes of a program for its address and relocation."""
    literals, size, last = [], 0, ""
    for line in lines:
        if len(line) > 4000 or not re.fullmatch(r"[ -~]*", line):
            raise Mistake("no literal of C holds this line of the page: " + line)
        if literals and (size + len(line) + 1 > 4000 or "@DATA@" in (line, last)):
            literals[-1] += ","
            size = 0
        # two question marks could be a trigraph
        literal = re.sub(r'["\\]|(?<=\?)\?', lambda match: "\\" + match[0], line)
        literals.append(f'        "{literal}\\n"')
        size += len(line) + 1
        last = line
    return "\n".join(literals) + ","


def join():
    chapters = find_chapters()
    floors = [file for chapter in order(find_uses(chapters)) for file in chapters[chapter] if file != "base/system.h"]
    places = {
        "manual": lambda: read("manual/manual.h"),
        "interface": lambda: "\n".join(join_part(f"interface/{name}.h") for name in INTERFACE),
        "system": lambda: join_part("base/system.h"),
        "floors": lambda: "\n".join(join_part(name) for name in floors),
        "page": join_page,
        "pages": lambda: "\n".join(read(f"manual/pages/{name}") for name in list_files("manual/pages")),
    }
    text = re.sub(r"^@(\w+)\n", lambda place: places[place[1]](), read("zetools.h.in"), flags=re.M)
    return text + f"/* Joined from src/ by src/join.py: {digest(text)} */\n"


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def check_header(text):
    """What was written into the joined header by hand would be lost."""
    mark = HASH.search(text)
    if not mark or digest(text[: mark.start()]) != mark[1]:
        raise Mistake("zetools.h was edited by hand. Make the change in src/, take the header back with "
                      "'git checkout zetools.h', and join again.")


def main(arguments):
    if arguments == ["--floors"]:
        ordered = order(find_uses(find_chapters()))
        for floor in FLOORS:
            print(f"{floor}: " + " ".join(c.split("/")[1] for c in ordered if c.startswith(floor + "/")))
    elif arguments in ([], ["--check"]):
        text, before = join(), None
        if os.path.exists(HEADER):
            before = read(HEADER)
            check_header(before)
        if arguments and text != before:
            raise Mistake("zetools.h is not what src/ joins to: run 'make header'")
        if text != before:
            with open(HEADER, "w", encoding="utf-8") as file:
                file.write(text)
    else:
        raise Mistake(__doc__.strip())


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as of any filter: its reader may have enough
    try:
        main(sys.argv[1:])
    except Mistake as mistake:
        sys.exit(f"join.py: {mistake}")
