#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Memory and CPU of operator and agents on an idle cluster, from their own process metrics: `./dev bench footprint`."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from cluster import Cluster  # noqa: E402


def by_instance(cluster: Cluster, expression: str) -> dict[str, float]:
    """Value by "job node"."""
    return {
        f"{s['metric'].get('job', '')} {s['metric'].get('node', '')}".strip(): float(s["value"][1]) for s in cluster.promql(expression)
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench footprint", description=__doc__)
    parser.add_argument("--seconds", type=int, default=120, help="length of the window")
    options = parser.parse_args()
    cluster = Cluster.discover()

    before = by_instance(cluster, "process_cpu_seconds_total")
    began = time.monotonic()
    print(f"watching the idle cluster for {options.seconds} s", flush=True)
    time.sleep(options.seconds)
    after = by_instance(cluster, "process_cpu_seconds_total")
    elapsed = time.monotonic() - began
    memory = by_instance(cluster, "process_resident_memory_bytes")

    print(f"{'process':40} {'RSS MiB':>8} {'millicores':>11}")
    for name in sorted(memory):
        used = after.get(name, float("nan")) - before.get(name, float("nan"))
        print(f"{name:40} {memory[name] / (1 << 20):8.1f} {1000 * used / elapsed:11.1f}")
    print("CPU seconds of an emulated processor: several times those of hardware")
    return 0


if __name__ == "__main__":
    sys.exit(main())
