# SPDX-License-Identifier: Apache-2.0
"""Configures and builds the C++ parts, each flavour in its own folder of the cache."""

import json
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from devtool import apt, paths, source_tree
from devtool.errors import DevError
from devtool.process import tail
from devtool.stage import Report

# Line tables are all that a backtrace needs, and compile in half the time of full debug information.
FLAVOURS = {
    "release": ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -g1 -DNDEBUG"],
    "asan": ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0 -g1", "-DRECLAIM_SANITIZE=address"],
    "tsan": ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g1", "-DRECLAIM_SANITIZE=thread"],
    "fuzz": ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g1", "-DRECLAIM_SANITIZE=fuzzer",
             "-DCMAKE_CXX_COMPILER=clang++"],
}


def jobs() -> int:
    return os.cpu_count() or 2


def configure(flavour: str, report: Report | None = None) -> Path:
    """The configured build folder of a flavour, over the mirror of the checkout. Cheap when nothing has changed."""
    folder = paths.cmake_build(flavour)
    source = source_tree.mirror()
    apt.ensure_installed(apt.BUILD_PACKAGES)
    if not (folder / "build.ninja").exists():
        _step(["cmake", "-S", source, "-B", folder, "-G", "Ninja", *FLAVOURS[flavour],
               "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"], f"cmake-{flavour}", report)
    return folder


def build(flavour: str, targets: Sequence[str] = (), report: Report | None = None) -> Path:
    """Builds targets (all when none are named); returns the build folder.

    The output goes to the terminal; with report, how far it is goes there and the output into a log.
    """
    folder = configure(flavour, report)
    _step(["ninja", "-C", folder, f"-j{jobs()}", *targets], f"build-{flavour}", report)
    return folder


def test_names(folder: Path, *labels: str) -> list[str]:
    """Names of the tests of a build folder that have all of the labels; a test is named as its target."""
    listing = subprocess.run(["ctest", "--test-dir", folder, "--show-only=json-v1", *with_labels(labels)],
                             capture_output=True, text=True, check=True).stdout
    return [t["name"] for t in json.loads(listing)["tests"]]


def with_labels(labels: Sequence[str]) -> list[str]:
    """The arguments with which ctest selects the tests that have all of the labels."""
    return [argument for label in labels for argument in ("-L", f"^{label}$")]


def _step(command: Sequence[str | Path], name: str, report: Report | None) -> None:
    words = [str(word) for word in command]
    environment = {**os.environ, "CCACHE_DIR": str(paths.cache_root() / "ccache")}
    if report is None:
        status = subprocess.run(words, env=environment, check=False).returncode
        if status != 0:
            raise DevError(f"{name} failed (status {status}); its messages stand above")
        return
    log = paths.cache_root() / "logs" / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as out, subprocess.Popen(words, env=environment, text=True, errors="replace", stdin=subprocess.DEVNULL,
                                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as child:
        for line in child.stdout:
            out.write(line)
            if step := re.match(r"\[(\d+)/(\d+)\]", line):  # as ninja counts
                report(f"{step[1]} of {step[2]}")
    if child.returncode != 0:
        raise DevError(f"{name} failed (status {child.returncode}). The end of {log}:\n{tail(log)}")
