#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Measures what several kswapd workers per NUMA node give and cost.

    kernel/bench/run.py --kernel BZIMAGE --out DIR [--runs 10] [--workers 1 4] [--loads streams anon shortage]

Each load runs RUNS times for each number of workers, interleaved (1 4 4 1 1 4 ...)
in guests under TCG. Writes DIR/kernel.md (a table) and DIR/kernel.json (every run).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import guest  # noqa: E402  (the path above must come first)

RUNS_PER_BOOT = 4  # of each worker count; a fresh boot bounds what runs can leave to each other


@dataclass(frozen=True)
class Load:
    nodes: list[guest.NumaNode]
    append: str
    what: str
    seconds: float  # a generous bound for one run
    parallel: bool = False  # a host thread for each virtual CPU, see guest.qemu_command()


LOADS = {
    "streams": Load([guest.NumaNode(8, 1024)] * 2, "null_blk.nr_devices=64 null_blk.gb=128 transparent_hugepage=madvise",
                    "8 readahead() streams of 64 KiB, each over 8 null_blk devices in turn, 16 vCPUs in turns of 0.4 ms, "
                    "2 NUMA nodes of 1 GiB, watermark_scale_factor 100", 300),
    "anon": Load([guest.NumaNode(2, 1024)] * 2, "transparent_hugepage=madvise",
                 "2 x 1000 MB of half random anonymous data, 2 passes, swap on zram, 4 vCPUs in parallel, 2 NUMA nodes of 1 GiB, "
                 "watermark_scale_factor 100; a NUMA node of 2 CPUs has no more than 2 workers", 600, parallel=True),
    "shortage": Load([guest.NumaNode(8, 1024)] * 2, "null_blk.nr_devices=64 null_blk.gb=128 transparent_hugepage=never",
                     "one small shortage on one NUMA node, 20 times a run; made small: no watermark boost, no large folios, "
                     "lists of free pages on the CPUs at their smallest", 300),
}

Run = dict[str, float]


@dataclass(frozen=True)
class Goal:
    text: str
    met: Callable[[float, float], bool]  # medians with the fewest and the most workers
    judged: Callable[[float], bool] = lambda few: True  # whether the load was hard enough with the fewest


@dataclass(frozen=True)
class Measure:
    load: str
    name: str
    of: Callable[[Run], float]
    goal: Goal | None = None


def throughput(run: Run) -> float:
    return run["bytes"] / run["seconds"] / 1e6


MEASURES = [
    Measure("streams", "direct reclaims", lambda run: run["allocstall"],
            Goal("at most 3 % (where 1 worker gives > 300)", lambda few, many: many <= 0.03 * few, lambda few: few > 300)),
    Measure("streams", "throughput, MB/s", throughput),
    Measure("anon", "workers in effect", lambda run: run["effective"]),
    Measure("anon", "throughput, MB/s", throughput, Goal("at least 1.5 x (2 workers in effect)", lambda few, many: many >= 1.5 * few)),
    Measure("anon", "direct reclaims", lambda run: run["allocstall"],
            Goal("at most 5 % (2 workers in effect)", lambda few, many: many <= 0.05 * few)),
    Measure("anon", "pages stolen by kswapd", lambda run: run["steal_kswapd"]),
    Measure("shortage", "pages above the high watermark", lambda run: run["over_high"],
            Goal("at most 1.6 x", lambda few, many: many <= 1.6 * few)),
    Measure("shortage", "pages reclaimed", lambda run: run["reclaimed"]),
]

LIMITS = """\
What emulation cannot show. Virtual CPUs take turns: one host thread runs all of them for streams and shortage, and the host has fewer
CPUs than the guest for anon. What happens in one turn happens before any other CPU can answer. A kswapd that was woken
waits for its turn while the reader goes on, and the holder of a lock may have to wait for its turn while the others
wait for the lock. On hardware both take microseconds. So streams keeps turns short and watermarks apart, and anon has few
virtual CPUs; shortage has one task that allocates and sleeps in between, so its turns may be long. Direct reclaims and pages above
the watermark are meaningful as ratios. Throughput of page cache reads is not: workers take the time from the readers.
anon is 2 workers for each NUMA node against 1. With 8 virtual CPUs on 2 host CPUs 4 workers were slower than 1 (88 against
139 MB/s, two runs each): more of them, and the contention for the LRU lock, must be measured on hardware."""


def schedule(workers: list[int], runs: int) -> list[list[int]]:
    """Boots, each a list of worker counts, interleaved in alternating direction: 1 4 4 1 1 4 ..."""
    rounds = [workers if number % 2 == 0 else workers[::-1] for number in range(runs)]
    return [[count for line in rounds[at:at + RUNS_PER_BOOT] for count in line]
            for at in range(0, runs, RUNS_PER_BOOT)]


def parse_result(line: str) -> Run | None:
    """The numbers of a RESULT line of loads.c; None for any other line. GuestError when something else was printed into it."""
    if not line.startswith("RESULT "):
        return None
    try:
        fields = dict(field.split("=", 1) for field in line.split()[1:])
        return {key: float(value) for key, value in fields.items() if key != "load"}
    except ValueError as e:
        raise guest.GuestError(f"a result that cannot be read: {line!r}") from e


def median_interval(values: list[float]) -> tuple[float, float, float]:
    """Median and its distribution-free 95 % interval (order statistics, binomial); all values if there are < 6."""
    ordered = sorted(values)
    count = len(ordered)
    skip = 0  # order statistics left out on each side
    while 2 * sum(math.comb(count, below) for below in range(skip + 2)) / 2**count <= 0.05:
        skip += 1
    return statistics.median(ordered), ordered[skip], ordered[-1 - skip]


def run_load(name: str, kernel: Path, initramfs: Path, workers: list[int], runs: int) -> list[Run]:
    load = LOADS[name]
    results: list[Run] = []
    for boot in schedule(workers, runs):
        command = guest.qemu_command(kernel, initramfs, load.nodes, load.append, [name, *map(str, boot)],
                                     load.parallel)
        seen = 0
        for line in guest.console_lines(command, load.seconds * (len(boot) + 1)):
            if run := parse_result(line):
                seen += 1
                results.append(run | {"host_load": os.getloadavg()[0]})
                print(f"{name}: {run}", flush=True)
            elif line.strip():
                print(f"{name}: {line}", flush=True)
        if seen != len(boot):
            raise guest.GuestError(f"{name}: {len(boot)} runs wanted, {seen} results printed")
    return results


def table(results: dict[str, list[Run]], workers: list[int]) -> str:
    """Markdown: one line a measure, median [95 % interval] for each number of workers."""
    few, many = workers[0], workers[-1]
    lines = ["| load | measure | " + " | ".join(f"{count} worker{'s' * (count > 1)}" for count in workers) +
             f" | {many} : {few} | goal | met |", "|---" * (len(workers) + 5) + "|"]
    for measure in MEASURES:
        if measure.load not in results:
            continue
        cells, medians = [], {}
        for count in workers:
            values = [measure.of(run) for run in results[measure.load] if run["workers"] == count]
            medians[count], low, high = median_interval(values)
            cells.append(f"{medians[count]:.0f} [{low:.0f}, {high:.0f}]")
        ratio = f"{medians[many] / medians[few]:.2f}" if medians[few] else "-"
        lines.append(f"| {measure.load} | {measure.name} | " + " | ".join(cells) +
                     f" | {ratio} | {verdict(measure.goal, medians[few], medians[many])} |")
    return "\n".join(lines)


def verdict(goal: Goal | None, few: float, many: float) -> str:
    """The last two columns of a line."""
    if goal is None:
        return "none | -"
    if not goal.judged(few):
        return f"{goal.text} | load too small to say"
    return f"{goal.text} | {'yes' if goal.met(few, many) else 'NO'}"


def report(results: dict[str, list[Run]], workers: list[int], runs: int, kernel: Path) -> str:
    loads = "\n".join(f"- **{name}**: {LOADS[name].what}" for name in results)
    host = statistics.median([run["host_load"] for lines in results.values() for run in lines])
    return (f"# Several kswapd workers per NUMA node: {' against '.join(map(str, workers))}\n\n"
            f"{time.strftime('%Y-%m-%d')}, {kernel.parent.name}, QEMU TCG on {os.cpu_count()} host CPUs, median host load "
            f"{host:.1f}. {runs} interleaved runs for each number of workers; median and 95 % interval of it "
            f"(order statistics; the range when there are fewer than 6 runs).\n\n{table(results, workers)}\n\n{loads}\n\n{LIMITS}\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", type=Path, required=True, help="bzImage, as build.py prints it")
    parser.add_argument("--out", type=Path, required=True, help="folder for kernel.md and kernel.json")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--loads", nargs="+", choices=LOADS, default=list(LOADS))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    results: dict[str, list[Run]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        program, initramfs = Path(scratch, "init"), Path(scratch, "initramfs")
        guest.compile_static(HERE / "loads.c", program)
        guest.write_initramfs(initramfs, program)
        for name in options.loads:
            results[name] = run_load(name, options.kernel, initramfs, options.workers, options.runs)
            (options.out / "kernel.json").write_text(json.dumps(results, indent=1))
            (options.out / "kernel.md").write_text(report(results, options.workers, options.runs, options.kernel))
    print((options.out / "kernel.md").read_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
