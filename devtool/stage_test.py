# SPDX-License-Identifier: Apache-2.0
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from devtool.stage import Stage, ensure, times


class Ensure(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        patch = mock.patch.dict(os.environ, {"XDG_CACHE_HOME": folder.name})
        patch.start()
        self.addCleanup(patch.stop)
        self.builds = 0

    def stage(self, key: str, fail: type[BaseException] | None = None) -> Stage:
        def build(out: Path, report) -> None:
            self.builds += 1
            (out / "made").write_text(key)
            if fail:
                raise fail()
        return Stage("example", 1, key, build)

    def test_builds_once_for_each_key(self):
        for key in ("one", "one", "two", "two"):
            self.assertEqual((ensure(self.stage(key)) / "made").read_text(), key)
        self.assertEqual(self.builds, 2)
        self.assertIn("example", times())

    def test_interruption_leaves_no_result_and_the_next_run_starts_clean(self):
        with self.assertRaises(KeyboardInterrupt):
            ensure(self.stage("k", KeyboardInterrupt))
        self.assertFalse(self.stage("k").is_done())
        ensure(self.stage("k"))
        self.assertTrue(self.stage("k").is_done())
        self.assertEqual(self.builds, 2)

    def test_old_results_go_and_the_newest_three_stay(self):
        made = [self.stage(f"k{i}") for i in range(5)]
        for i, stage in enumerate(made):
            os.utime(ensure(stage), (i, i))
        self.assertEqual([s.key for s in made if s.is_done()], ["k2", "k3", "k4"])


if __name__ == "__main__":
    unittest.main()
