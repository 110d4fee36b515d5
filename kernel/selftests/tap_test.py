# SPDX-License-Identifier: GPL-2.0
"""Tests of selftests/run.py that boot nothing: python3 -m unittest kernel/selftests/tap_test.py"""

from __future__ import annotations

import importlib.util
import sys
import unittest
from pathlib import Path

# Two programs below kernel/ are called run.py, so each is loaded by its path.
SPEC = importlib.util.spec_from_file_location("selftests_run", Path(__file__).resolve().parent / "run.py")
assert SPEC and SPEC.loader
run = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = run
SPEC.loader.exec_module(run)


class CheckTapTest(unittest.TestCase):
    def test_counts_what_passed(self) -> None:
        self.assertEqual(run.check_tap(["boot noise", "ok 1 - a", "ok 2 - b", "1..2"]), 2)

    def test_a_failed_test_fails_the_run(self) -> None:
        with self.assertRaisesRegex(run.TapError, "not ok 2 - b"):
            run.check_tap(["ok 1 - a", "not ok 2 - b", "1..2"])

    def test_a_guest_that_dies_early_fails_the_run(self) -> None:
        for lines in ([], ["ok 1 - a"], ["ok 1 - a", "1..2"], ["1..0"]):
            with self.assertRaisesRegex(run.TapError, "did not finish"):
                run.check_tap(lines)

    def test_bail_out_fails_the_run(self) -> None:
        with self.assertRaisesRegex(run.TapError, "cannot mount"):
            run.check_tap(["Bail out! cannot mount", "1..0"])


if __name__ == "__main__":
    unittest.main()
