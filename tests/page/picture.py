#!/usr/bin/env python3
"""Takes a picture of a part of a page in Debian's chromium.

picture.py [--open REGION] [--from SELECTOR] [--to SELECTOR] PAGE PICTURE [WIDTH]

The part begins at the first element and ends above the second; without them, at the begin and the end of the page.
"""
import argparse
import base64
import json

from chromium import Browser

parser = argparse.ArgumentParser()
parser.add_argument("--open", metavar="REGION", help="show the metrics of this region")
parser.add_argument("--from", dest="begin", metavar="SELECTOR")
parser.add_argument("--to", dest="end", metavar="SELECTOR")
parser.add_argument("page")
parser.add_argument("picture")
parser.add_argument("width", type=int, nargs="?", default=960)
arguments = parser.parse_args()

browser = Browser()


def top_of(selector):
    return browser.run(f"document.querySelector({json.dumps(selector)}).getBoundingClientRect().top + scrollY")


browser.look(arguments.width, 800)
browser.open(arguments.page)
if arguments.open:
    browser.run(f"document.querySelector('button[title={json.dumps(arguments.open)}]').click()")
begin = top_of(arguments.begin) if arguments.begin else 0
end = top_of(arguments.end) if arguments.end else browser.run("document.documentElement.scrollHeight")
clip = {"x": 0, "y": begin, "width": arguments.width, "height": end - begin, "scale": 1}
data = browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
with open(arguments.picture, "wb") as file:
    file.write(base64.b64decode(data))
browser.close()
