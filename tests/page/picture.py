#!/usr/bin/env python3
"""Takes a picture of a page in Debian's chromium: picture.py run.html page.png"""
import sys

from chromium import Browser

browser = Browser()
browser.look(1400, 1000)
browser.open(sys.argv[1])
browser.screenshot(sys.argv[2])
browser.close()
