# SPDX-License-Identifier: Apache-2.0
"""Configures and builds the C++ parts, each flavour in its own folder of the cache."""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from devtool import apt, paths, source_tree
from devtool.errors import DevError

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


def configure(flavour: str) -> Path:
    """The configured build folder of a flavour, over the mirror of the checkout. Cheap when nothing has changed."""
    folder = paths.cmake_build(flavour)
    source = source_tree.mirror()
    apt.ensure_installed(apt.BUILD_PACKAGES)
    if not (folder / "build.ninja").exists():
        _step(["cmake", "-S", source, "-B", folder, "-G", "Ninja", *FLAVOURS[flavour],
               "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"], "cmake")
    return folder


def build(flavour: str, targets: Sequence[str] = ()) -> Path:
    """Builds targets (all when none are named), output on the terminal; returns the build folder."""
    folder = configure(flavour)
    _step(["ninja", "-C", folder, f"-j{jobs()}", *targets], "the build")
    return folder


def test_names(folder: Path, *labels: str) -> list[str]:
    """Names of the tests of a build folder that have all of the labels; a test is named as its target."""
    listing = subprocess.run(["ctest", "--test-dir", folder, "--show-only=json-v1", *with_labels(labels)],
                             capture_output=True, text=True, check=True).stdout
    return [t["name"] for t in json.loads(listing)["tests"]]


def with_labels(labels: Sequence[str]) -> list[str]:
    """The arguments with which ctest selects the tests that have all of the labels."""
    return [argument for label in labels for argument in ("-L", f"^{label}$")]


def _step(command: Sequence[str | Path], what: str) -> None:
    status = subprocess.run([str(c) for c in command], check=False).returncode
    if status != 0:
        raise DevError(f"{what} failed (status {status}); its messages stand above")
