# SPDX-License-Identifier: GPL-2.0
"""Tests of build.py that need no kernel: python3 -m unittest kernel/build_test.py"""

from __future__ import annotations

import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import build  # noqa: E402  (the path above must come first)

PATCH = """\
From: reclaim-operator developers <dev@kswapd.dev>
Subject: [PATCH] change one file, add one, remove one

--- a/mm/vmscan.c
+++ b/mm/vmscan.c
@@ -1,2 +1,2 @@
 int a;
-int b;
+int bb;
--- /dev/null
+++ b/mm/new.c
@@ -0,0 +1 @@
+int n;
--- a/mm/old.c
+++ /dev/null
@@ -1 +0,0 @@
-int o;
"""


class BuildTest(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name)
        self.source, self.tree = self.root / "source", self.root / "tree"
        for name, text in {"Makefile": "all:\n", "mm/vmscan.c": "int a;\nint b;\n", "mm/old.c": "int o;\n",
                           "mm/slab.c": "int s;\n"}.items():
            (self.source / name).parent.mkdir(parents=True, exist_ok=True)
            (self.source / name).write_text(text)
        self.series = self.root / "series"
        self.series.mkdir()
        self.write_series(PATCH)

    def write_series(self, patch: str) -> None:
        (self.series / "0001.patch").write_text(patch)
        (self.series / "series").write_text("# comment\n0001.patch  # why\n\n")

    def sync(self) -> int:
        patches = build.read_series(self.series)
        return build.sync_tree(self.source, self.tree, build.patched_files(self.source, patches))

    def tree_state(self) -> dict[str, int]:
        return {path: stat.st_mtime_ns for path, stat in build.walk_files(self.tree)}


class SeriesTest(BuildTest):
    def test_comments_and_empty_lines_are_skipped(self) -> None:
        self.assertEqual([path.name for path in build.read_series(self.series)], ["0001.patch"])

    def test_a_missing_patch_is_named(self) -> None:
        (self.series / "series").write_text("0002-none.patch\n")
        with self.assertRaisesRegex(build.BuildError, "0002-none.patch"):
            build.read_series(self.series)

    def test_touched_files_include_added_and_removed_ones(self) -> None:
        self.assertEqual(build.touched_files([self.series / "0001.patch"]),
                         {"mm/vmscan.c", "mm/new.c", "mm/old.c"})

    def test_a_patch_that_does_not_apply_is_named(self) -> None:
        self.write_series(PATCH.replace(" int a;", " int z;"))
        with self.assertRaisesRegex(build.BuildError, "0001.patch does not apply"):
            self.sync()


class KeyTest(BuildTest):
    def key(self, source: str = "id", config: bytes = b"A=y", compiler: str = "12") -> str:
        return build.build_key(source, build.read_series(self.series), config, compiler)

    def test_same_inputs_give_the_same_key(self) -> None:
        self.assertEqual(self.key(), self.key())

    def test_each_input_counts(self) -> None:
        keys = {self.key(), self.key(source="other"), self.key(config=b"A=n"), self.key(compiler="13")}
        self.write_series(PATCH.replace("int bb;", "int cc;"))
        keys.add(self.key())
        self.assertEqual(len(keys), 5)

    def test_tree_id_changes_with_a_file_but_not_with_build_residue(self) -> None:
        before = build.tree_id(self.source)
        for residue in (".config", "include/generated/autoconf.h", "mm/vmscan.o", ".git/HEAD"):
            (self.source / residue).parent.mkdir(parents=True, exist_ok=True)
            (self.source / residue).write_text("x")
        self.assertEqual(build.tree_id(self.source), before)
        (self.source / "mm/slab.c").write_text("int changed;\n")
        self.assertNotEqual(build.tree_id(self.source), before)


class SyncTest(BuildTest):
    def test_tree_is_source_with_the_series_applied(self) -> None:
        self.sync()
        self.assertEqual((self.tree / "mm/vmscan.c").read_text(), "int a;\nint bb;\n")
        self.assertEqual((self.tree / "mm/new.c").read_text(), "int n;\n")
        self.assertEqual((self.tree / "mm/slab.c").read_text(), "int s;\n")
        self.assertFalse((self.tree / "mm/old.c").exists())

    def test_the_source_is_never_written_to(self) -> None:
        before = {path: (self.source / path).read_bytes() for path, _ in build.walk_files(self.source)}
        self.sync()
        self.write_series(PATCH.replace("int bb;", "int cc;"))
        self.sync()
        after = {path: (self.source / path).read_bytes() for path, _ in build.walk_files(self.source)}
        self.assertEqual(before, after)

    def test_a_second_sync_changes_nothing(self) -> None:
        self.sync()
        before = self.tree_state()
        self.assertEqual(self.sync(), 0)
        self.assertEqual(self.tree_state(), before)

    def test_a_changed_patch_touches_only_its_file(self) -> None:
        self.sync()
        before = self.tree_state()
        self.write_series(PATCH.replace("int bb;", "int cc;"))
        self.assertEqual(self.sync(), 1)
        after = self.tree_state()
        self.assertEqual({path for path in after if after[path] != before.get(path)}, {"mm/vmscan.c"})

    def test_files_of_a_dropped_patch_return_to_the_source(self) -> None:
        self.sync()
        (self.series / "series").write_text("")
        self.assertEqual(self.sync(), 3)
        self.assertEqual((self.tree / "mm/vmscan.c").read_text(), "int a;\nint b;\n")
        self.assertEqual((self.tree / "mm/old.c").read_text(), "int o;\n")
        self.assertFalse((self.tree / "mm/new.c").exists())

    def test_a_change_of_the_source_arrives(self) -> None:
        self.sync()
        changed = self.source / "mm/slab.c"
        changed.unlink()
        changed.write_text("int longer;\n")
        os.utime(changed, ns=(1, 1))
        self.assertEqual(self.sync(), 1)
        self.assertEqual((self.tree / "mm/slab.c").read_text(), "int longer;\n")


class ConfigTest(unittest.TestCase):
    def test_parse_config(self) -> None:
        text = 'CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C="x y"\n# a comment\n'
        self.assertEqual(build.parse_config(text), {"CONFIG_A": "y", "CONFIG_B": "n", "CONFIG_C": '"x y"'})


if __name__ == "__main__":
    unittest.main()
