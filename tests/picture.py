#!/usr/bin/env python3
"""Draws what a command prints as a picture of a terminal: make run-hang | tests/picture.py 'make run-hang' >picture.svg"""
import re
import sys
from html import escape

LETTER, LINE, MARGIN = 7.8, 18, 14
FONTS = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"

lines = ["$ " + sys.argv[1]] + [line.rstrip() for line in sys.stdin]
width = round(max(map(len, lines)) * LETTER + 2 * MARGIN)
height = len(lines) * LINE + 2 * MARGIN

print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">')
print('<rect width="100%" height="100%" rx="6" fill="#161b22"/>')
print(f'<g font-family="{FONTS}" font-size="13" fill="#e6edf3">')
for number, line in enumerate(lines):
    for words in re.finditer(r"\S+( \S+)*", line):
        x, y = MARGIN + words.start() * LETTER, MARGIN + number * LINE + 13
        length = len(words[0]) * LETTER
        print(f'<text x="{x:.1f}" y="{y}" textLength="{length:.1f}">{escape(words[0])}</text>')
print("</g>\n</svg>")
