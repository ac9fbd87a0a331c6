#!/usr/bin/env python3
"""Tests of src/join.py on copies of src/: what it joins, and what it refuses."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


class Join(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        shutil.copytree(os.path.join(TOP, "src"), self.path("src"), ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(os.path.join(TOP, "zetools.h"), self.path("zetools.h"))

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def change(self, name, old, new):
        text = self.read(name)
        self.assertIn(old, text)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text.replace(old, new, 1))

    def join(self, *arguments):
        """Returns the error of join.py, or "" if it has succeeded."""
        done = subprocess.run([sys.executable, self.path("src/join.py"), *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode != 0, done.stderr != "")
        self.output = done.stdout
        return done.stderr

    def test_the_committed_header_is_what_the_parts_join_to(self):
        self.assertEqual(self.join("--check"), "")

    def test_a_change_of_a_part_is_joined(self):
        self.change("src/base/numbers.c", "zt__is_nan(", "zt__is_not_a_number(")
        self.assertIn("run 'make header'", self.join("--check"))
        self.assertEqual(self.join(), "")
        self.assertIn("zt__is_not_a_number(", self.read("zetools.h"))
        self.assertEqual(self.join("--check"), "")

    def test_a_header_that_was_edited_by_hand_is_refused_and_kept(self):
        self.change("zetools.h", "zt__is_nan(", "zt__is_not_a_number(")
        edited = self.read("zetools.h")
        self.assertIn("edited by hand", self.join())
        self.assertIn("edited by hand", self.join("--check"))
        self.assertEqual(self.read("zetools.h"), edited)

    def test_an_include_that_goes_upward_is_refused(self):
        self.change("src/base/text.c", '#include "base/text.h"\n', '#include "base/text.h"\n#include "reports/facts.h"\n')
        self.assertRegex(self.join(), r"src/base/text\.c:\d+: the include goes upward, to reports/facts")

    def test_a_circle_is_refused(self):
        self.change("src/base/memory.h", "#pragma once\n", '#pragma once\n\n#include "base/map.h"\n')
        error = self.join()
        self.assertIn("in a circle", error)
        self.assertIn("base/memory", error)

    def test_an_include_of_nothing_is_refused(self):
        self.change("src/base/memory.h", "#pragma once\n", '#pragma once\n\n#include "base/nothing.h"\n')
        self.assertRegex(self.join(), r"src/base/memory\.h:\d+: there is no base/nothing")

    def test_a_line_of_the_page_that_no_literal_holds_is_refused(self):
        self.change("src/reports/page/page.js", "\n", "// \u2013\n")
        self.assertIn("no literal of C holds this line", self.join())

    def test_floors(self):
        self.assertEqual(self.join("--floors"), "")
        floors = dict(line.split(": ") for line in self.output.splitlines())
        self.assertEqual(list(floors)[0], "base")
        self.assertEqual(list(floors)[-1], "open")
        # A chapter comes after those that it uses.
        base = floors["base"].split()
        self.assertLess(base.index("memory"), base.index("map"))

    def test_a_reader_that_has_enough(self):
        process = subprocess.Popen([sys.executable, self.path("src/join.py"), "--floors"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.close()
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()
        process.wait()

    def test_each_joint_names_its_part_and_parts_follow_the_floors(self):
        joints = re.findall(r"^/\* ==== ([a-z_]+)/[a-z_]*(?:\.[ch]|/)? =+ \*/$", self.read("zetools.h"), flags=re.M)
        floors = list(dict.fromkeys(joints))
        self.assertEqual(floors[:2], ["interface", "base"])
        self.assertEqual(floors[-1], "open")
        self.assertEqual(joints[-1], "reports")  # the page, at the end
        self.assertEqual(len(floors), 13)


if __name__ == "__main__":
    unittest.main()
