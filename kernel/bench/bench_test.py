# SPDX-License-Identifier: GPL-2.0
"""Tests of bench/run.py that boot nothing: python3 -m unittest kernel/bench/bench_test.py"""

from __future__ import annotations

import importlib.util
import sys
import unittest
from pathlib import Path

# Two programs below kernel/ are called run.py, so each is loaded by its path.
SPEC = importlib.util.spec_from_file_location("bench_run", Path(__file__).resolve().parent / "run.py")
assert SPEC and SPEC.loader
run = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = run
SPEC.loader.exec_module(run)

LINE = ("RESULT load=streams workers=4 effective=2 seconds=2.000 bytes=4000000 allocstall=7 steal_kswapd=1 "
        "scan_kswapd=2 steal_direct=3 over_high=0.0 reclaimed=0.0")


class RunTest(unittest.TestCase):
    def test_only_result_lines_are_results(self) -> None:
        self.assertIsNone(run.parse_result("# warm-up load=streams workers=1"))
        parsed = run.parse_result(LINE)
        assert parsed
        self.assertEqual((parsed["workers"], parsed["allocstall"], parsed["seconds"]), (4, 7, 2))

    def test_a_result_that_the_console_has_cut_is_shown(self) -> None:
        with self.assertRaisesRegex(run.guest.GuestError, "steal_di"):
            run.parse_result(LINE[:LINE.index("steal_direct") + len("steal_di")])

    def test_runs_are_interleaved_and_all_there(self) -> None:
        boots = run.schedule([1, 4], 10)
        self.assertEqual([len(boot) for boot in boots], [8, 8, 4])
        self.assertEqual(boots[0], [1, 4, 4, 1, 1, 4, 4, 1])
        self.assertEqual(sum(boot.count(4) for boot in boots), 10)

    def test_interval_of_ten_is_the_second_and_ninth_value(self) -> None:
        self.assertEqual(run.median_interval([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]), (5.5, 2, 9))

    def test_interval_of_few_is_their_range(self) -> None:
        self.assertEqual(run.median_interval([3, 1, 2]), (2, 1, 3))
        self.assertEqual(run.median_interval([3]), (3, 3, 3))

    def test_a_missed_goal_is_said(self) -> None:
        def shortage(workers: int, over: float) -> dict[str, float]:
            return {"workers": workers, "over_high": over, "reclaimed": 1, "host_load": 1}

        good = run.table({"shortage": [shortage(1, 100), shortage(4, 160)]}, [1, 4])
        bad = run.table({"shortage": [shortage(1, 100), shortage(4, 161)]}, [1, 4])
        self.assertIn("1.60 | at most 1.6 x | yes", good)
        self.assertIn("1.61 | at most 1.6 x | NO", bad)

    def test_a_load_that_was_too_small_meets_no_goal(self) -> None:
        def streams(workers: int, stalls: int) -> dict[str, float]:
            return {"workers": workers, "allocstall": stalls, "bytes": 1, "seconds": 1, "host_load": 1}

        self.assertIn("load too small", run.table({"streams": [streams(1, 300), streams(4, 0)]}, [1, 4]))
        self.assertIn("| yes |", run.table({"streams": [streams(1, 301), streams(4, 9)]}, [1, 4]))
        self.assertIn("| NO |", run.table({"streams": [streams(1, 301), streams(4, 10)]}, [1, 4]))


if __name__ == "__main__":
    unittest.main()
