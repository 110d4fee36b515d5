# SPDX-License-Identifier: Apache-2.0
"""./dev bench: figures and what takes too long for a test; nothing here fails because a machine is slow."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from devtool import apt, fuzz, paths
from e2e.cluster import kernels, up

PARTS = {
    "kernel": "1 against 4 kswapd workers under three loads, in a virtual machine (about half an hour)",
    "latency": "from apply to the written value on a node, p50 and p99",
    "fuzz": "libFuzzer on every parser, a minute each (twelve in all); only when asked for",
    "footprint": "memory and CPU of operator and agents while nothing happens",
}


def run_parts(name: str | None, arguments: Sequence[str]) -> int:
    """Runs one part, or all that give figures; the exit status is that of the first that failed."""
    for part in [name] if name else [part for part in PARTS if part != "fuzz"]:
        print(f"\n=== {part}: {PARTS[part]}", flush=True)
        status = fuzz.main(list(arguments)) if part == "fuzz" else subprocess.run(
            [str(word) for word in [*_command(part), *arguments]], cwd=paths.REPO, check=False).returncode
        if status != 0:
            print(f"bench {part} ended with status {status}", file=sys.stderr)
            return status
    return 0


def _command(part: str) -> list[str | Path]:
    python = "/usr/bin/python3"
    if part == "kernel":
        apt.ensure_installed([*apt.BUILD_PACKAGES, *apt.CLUSTER_PACKAGES])
        return [python, paths.REPO / "kernel/bench/run.py", "--kernel", kernels.patched().image,
                "--out", paths.cache_root() / "bench"]
    up.bring_up()
    script = {"latency": "apply_latency.py", "footprint": "footprint.py"}[part]
    return [python, "-B", paths.REPO / "e2e/bench" / script]
