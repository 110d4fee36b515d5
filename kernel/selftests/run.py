#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Boots a kernel in QEMU and tests the ABI of its kswapd workers; ends with 0 if all passes.

    kernel/selftests/run.py --kernel BZIMAGE

About two minutes. Prints the TAP lines of three boots: without a boot parameter,
with kswapd_threads=3 and with one that must be clamped.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import guest  # noqa: E402  (the path above must come first)

# As node_limit in kswapd_threads.c: 6 CPUs, 2 CPUs, memory only.
NODES = [guest.NumaNode(6, 384), guest.NumaNode(2, 256), guest.NumaNode(0, 256)]
NULL_BLK = "null_blk.nr_devices=1 null_blk.gb=64"
BOOTS = [
    (NULL_BLK, ["abi"]),
    ("kswapd_threads=3", ["boot", "3"]),
    ("kswapd_threads=99", ["boot", "99"]),
]


class TapError(Exception):
    """A test failed or the output is not what a finished TAP run looks like."""


def check_tap(lines: list[str]) -> int:
    """The number of tests passed. Raises TapError unless the plan is there, kept, and all is ok."""
    passed = sum(bool(re.match(r"ok \d+", line)) for line in lines)
    failed = [line for line in lines if line.startswith("not ok")]
    plans = [int(match[1]) for line in lines if (match := re.match(r"1\.\.(\d+)$", line))]
    if failed:
        raise TapError(f"{len(failed)} failed: {'; '.join(failed)}")
    if bail := [line for line in lines if line.startswith("Bail out!")]:
        raise TapError(bail[0])
    if not plans or plans[0] != passed or not passed:
        raise TapError(f"planned {plans or 'nothing'}, passed {passed}: the guest did not finish")
    return passed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", type=Path, required=True, help="bzImage, as build.py prints it")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for each boot")
    options = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as scratch:
        program, initramfs = Path(scratch, "init"), Path(scratch, "initramfs")
        guest.compile_static(HERE / "kswapd_threads.c", program)
        guest.write_initramfs(initramfs, program)
        for append, arguments in BOOTS:
            print(f"# boot: {append}", flush=True)
            lines = []
            try:
                command = guest.qemu_command(options.kernel, initramfs, NODES, append, arguments)
                for line in guest.console_lines(command, options.timeout):
                    print(line, flush=True)
                    lines.append(line)
                print(f"# {check_tap(lines)} passed", flush=True)
            except (TapError, guest.GuestError) as error:
                print(f"# FAILED: {error}", flush=True)
                failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
