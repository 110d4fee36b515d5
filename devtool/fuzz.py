# SPDX-License-Identifier: Apache-2.0
"""Long fuzzing, `./dev bench fuzz`: libFuzzer on every parser, each for a while.

What it learns is kept in the cache and is where the next run begins. An input that breaks a parser is kept beside
it, and the last line says how to run it again.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from devtool import apt, cmake, paths
from devtool.errors import DevError

# A parser that takes longer, or more memory, than this for one input of 64 KiB is broken too.
_BOUNDS = ("-timeout=5", "-rss_limit_mb=1024", "-max_len=65536")


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev bench fuzz", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="for each fuzzer (default 60)")
    parser.add_argument("fuzzers", nargs="*", help="such as policy_fuzz (default: all)")
    options = parser.parse_args(words)
    apt.ensure_installed([*apt.BUILD_PACKAGES, *apt.FUZZ_PACKAGES])
    built = cmake.build("fuzz", ["fuzzers"]) / "fuzzers"
    every = sorted(path.name for path in built.iterdir())
    unknown = set(options.fuzzers) - set(every)
    if unknown:
        raise DevError(f"no fuzzer {', '.join(sorted(unknown))}; there are {', '.join(every)}", 2)
    broken = [name for name in options.fuzzers or every if not _holds(built / name, options.seconds)]
    if broken:
        print(f"broken: {', '.join(broken)}; the input stands above, as does what it did", file=sys.stderr)
    return 1 if broken else 0


def _holds(fuzzer: Path, seconds: int) -> bool:
    folder = paths.cache_root() / "fuzz" / fuzzer.name
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    log = folder / "log"
    with log.open("wb") as out:
        status = subprocess.run([fuzzer, f"-max_total_time={seconds}", *_BOUNDS, "-print_final_stats=1",
                                 f"-artifact_prefix={folder}/", corpus], stdout=out, stderr=subprocess.STDOUT,
                                check=False).returncode
    text = log.read_text(errors="replace").splitlines()
    runs = next((line.split()[-1] for line in text if "number_of_executed_units" in line), "?")
    print(f"{fuzzer.name:24} {'holds' if status == 0 else 'BROKEN'} after {runs} inputs in {seconds} s", flush=True)
    if status != 0:
        print("\n".join(text[-40:]) + f"\nagain: {fuzzer} INPUT", file=sys.stderr, flush=True)
    return status == 0
