# SPDX-License-Identifier: Apache-2.0
"""Long fuzzing, `./dev bench fuzz`: libFuzzer on every parser, each for a while.

What a search has learnt is kept in the cache, and the next one goes on there. So is an input that broke a parser: it is
tried first from then on, and dropped when the parser takes it.
"""

import argparse
import shlex
import subprocess
import sys
from pathlib import Path

from devtool import apt, cmake, paths
from devtool.errors import DevError

# A parser that takes longer than this for 64 KiB, or asks for that much at once, is broken too.
_BOUNDS = ("-timeout=5", "-malloc_limit_mb=1024", "-max_len=65536")


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev bench fuzz", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="for each fuzzer (default 60)")
    parser.add_argument("fuzzers", nargs="*", help="such as policy_fuzz (default: all)")
    options = parser.parse_args(words)
    if options.seconds < 1:
        raise DevError(f"--seconds is {options.seconds}; it takes 1 or more", 2)
    apt.ensure_installed([*apt.BUILD_PACKAGES, *apt.FUZZ_PACKAGES])
    built = cmake.build("fuzz", ["fuzzers"]) / "fuzzers"
    every = sorted((built / "list").read_text().split())
    unknown = set(options.fuzzers) - set(every)
    if unknown:
        raise DevError(f"no fuzzer {', '.join(sorted(unknown))}; there are {', '.join(every)}", 2)
    broken = [name for name in options.fuzzers or every if not _holds(built / name, options.seconds)]
    if broken:
        print(f"broken: {', '.join(broken)}; see above", file=sys.stderr)
    return 1 if broken else 0


def _holds(fuzzer: Path, seconds: int) -> bool:
    folder = paths.cache_root() / "fuzz" / fuzzer.name
    corpus, found = folder / "corpus", folder / "found"
    for needed in (corpus, found):
        needed.mkdir(parents=True, exist_ok=True)
    for artifact in sorted(found.iterdir()):
        if _run([fuzzer, *_BOUNDS, artifact], 0, folder / "log") != 0:
            return _broken(fuzzer, artifact, folder / "log")
        artifact.unlink()
    status = _run([fuzzer, f"-max_total_time={seconds}", *_BOUNDS, "-print_final_stats=1", f"-artifact_prefix={found}/",
                   corpus, fuzzer.parent / "seeds" / fuzzer.name], seconds, folder / "log")
    if status != 0:
        return _broken(fuzzer, next(iter(sorted(found.iterdir())), None), folder / "log")
    text = (folder / "log").read_text(errors="replace").splitlines()
    runs = next(line.split()[-1] for line in text if "number_of_executed_units" in line)
    print(f"{fuzzer.name:20} holds: {runs} inputs in {seconds} s", flush=True)
    return True


def _run(command: list[str | Path], seconds: int, log: Path) -> int:
    """The exit status; one that goes on a minute longer than it should hangs in its own report, and is ended."""
    with log.open("wb") as out:
        try:
            return subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, check=False, timeout=seconds + 60).returncode
        except subprocess.TimeoutExpired:
            return 1


def _broken(fuzzer: Path, artifact: Path | None, log: Path) -> bool:
    print("\n".join(log.read_text(errors="replace").splitlines()[-40:]), file=sys.stderr)
    again = shlex.join([str(word) for word in [fuzzer, *_BOUNDS, *([artifact] if artifact else [])]])
    print(f"{fuzzer.name:20} BROKEN. Again: {again}", flush=True)
    return False
