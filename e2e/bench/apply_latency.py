#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Time from `apply` to the value in the kernel of a node: `./dev bench latency [--changes N]`.

Each change replaces the policy's spec through the API server; a loop inside the VM prints the kernel's value whenever it
changes, and its line is timed here on arrival, so the figure holds everything: API server, watch, operator, stream, agent,
write and the way back of the line. The loop looks every 20 ms; that is the resolution.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from cluster import REPOSITORY, Api, Cluster, dev  # noqa: E402

# cat, because the shell reads byte by byte, and a sysctl gives its value to the first read alone.
WATCH = 'while v=$(cat /proc/sys/vm/swappiness); do [ "$v" = "$l" ] || { echo $v; l=$v; }; sleep 0.02; done'
POLICY = "latency"


class ValueWatch:
    """The kernel's swappiness on one node, with the host's monotonic time at which each value was seen."""

    def __init__(self, node: str) -> None:
        self._process = subprocess.Popen(
            [str(REPOSITORY / "dev"), "node", node, WATCH], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
        )
        self._seen: dict[str, float] = {}
        self._changed = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._changed:
                self._seen[line.strip()] = time.monotonic()
                self._changed.notify_all()

    def when(self, value: str, since: float, timeout: float) -> float:
        """When the value was first seen after `since`; AssertionError after `timeout` seconds."""
        with self._changed:
            arrived = self._changed.wait_for(lambda: self._seen.get(value, 0.0) > since, timeout)
            assert arrived, f"swappiness did not become {value} within {timeout:.0f} s; seen: {sorted(self._seen)}"
            return self._seen[value]

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(timeout=10)


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench latency", description=__doc__)
    parser.add_argument("--changes", type=int, default=20)
    parser.add_argument("--goal", type=float, default=2.0, help="seconds that p99 should stay under; only printed")
    options = parser.parse_args()

    cluster = Cluster.discover()
    api = Api(cluster.kubeconfig)
    node = cluster.patched[0]
    held_aside = api.policies()
    for policy in held_aside:
        api.delete_policy(policy["metadata"]["name"])
    watch = ValueWatch(node)
    seconds: list[float] = []
    try:
        for change in range(options.changes + 1):
            value = 100 + change % 50
            start = time.monotonic()
            api.apply_policy(POLICY, {"vm": {"swappiness": value}})
            took = watch.when(str(value), start, timeout=60) - start
            if change:  # the first one also creates the policy and warms the path
                seconds.append(took)
                print(f"change {change:2}: {took * 1000:6.0f} ms", flush=True)
    finally:
        watch.close()
        api.delete_policy(POLICY)
        for policy in held_aside:
            api.apply_policy(policy["metadata"]["name"], policy["spec"])

    p50, worst = statistics.median(seconds), max(seconds)
    p99 = sorted(seconds)[min(len(seconds) - 1, round(0.99 * (len(seconds) - 1)))]
    load = dev("node", node, "cut -d' ' -f1 /proc/loadavg").strip()
    print(f"apply to written value on {node}, {len(seconds)} changes: p50 {p50:.2f} s, p99 {p99:.2f} s, "
          f"max {worst:.2f} s; goal p99 < {options.goal} s")
    print(f"load of the node {load}; emulated machine, so read it as a bound, not as the figure of hardware")
    return 0


if __name__ == "__main__":
    sys.exit(main())
