#!/usr/bin/env python3
"""Lists what a part's .h declares although no other part uses it, and rooms that are too large.

Functions and variables that a chapter has for itself are static, so that the compiler finds those that nobody uses."""

import glob
import re
import sys

MOST_LINES = 1000

parts = {path: open(path, encoding="utf-8").read() for path in glob.glob("src/*/*.[ch]")}
words = {path: set(re.findall(r"\bzt__\w+", re.sub(r"/\*.*?\*/", "", text, flags=re.S))) for path, text in parts.items()}
found = [f"{path}: {text.count(chr(10))} lines" for path, text in parts.items() if text.count("\n") > MOST_LINES]
for path, text in parts.items():
    if path.endswith(".h"):
        declared = re.findall(r"^(?:ZT__PRIVATE|extern)\b[^;{]*?\b(zt__\w+)(?:\(|\[|;)", text, flags=re.M)
        own = (path, path[:-1] + "c")
        # linux.c and windows.c have what platform.h declares
        own += ("src/base/linux.c", "src/base/windows.c") if path == "src/base/platform.h" else ()
        for name in declared:
            # a macro of the .h may use it; the page is written by join.py
            is_used = len(re.findall(rf"\b{name}\b", text)) > 1 or name == "zt__get_page"
            if not is_used and not any(name in words[other] for other in parts if other not in own):
                found.append(f"{path}: {name}")
print("\n".join(sorted(found)))
sys.exit(1 if found else 0)
