# SPDX-License-Identifier: Apache-2.0
import os
import tempfile
import unittest
from pathlib import Path

from devtool.source_tree import sync


class SyncTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source, self.target = Path(folder.name, "a"), Path(folder.name, "b")
        (self.source / "kube").mkdir(parents=True)
        (self.source / "kube/x.cc").write_text("int x;\n")
        (self.source / "link").symlink_to("kube/x.cc")
        self.files = [Path("kube/x.cc"), Path("link")]
        sync(self.source, self.files, self.target)

    def test_copies_files_and_links(self) -> None:
        self.assertEqual((self.target / "kube/x.cc").read_text(), "int x;\n")
        self.assertTrue((self.target / "link").is_symlink())

    def test_keeps_the_time_of_what_did_not_change(self) -> None:
        os.utime(self.target / "kube/x.cc", (1, 1))
        sync(self.source, self.files, self.target)
        self.assertEqual((self.target / "kube/x.cc").stat().st_mtime, 1)

    def test_follows_a_change_and_removes_what_is_gone(self) -> None:
        (self.source / "kube/x.cc").unlink()
        (self.source / "y.cc").write_text("int y;\n")
        sync(self.source, [Path("y.cc")], self.target)
        self.assertEqual(sorted(p.relative_to(self.target) for p in self.target.rglob("*")), [Path("y.cc")])


if __name__ == "__main__":
    unittest.main()
