# SPDX-License-Identifier: Apache-2.0
"""Configures and builds the C++ parts, each flavour in its own folder of the cache."""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from devtool import apt, paths
from devtool.errors import DevError

FLAVOURS = {
    "release": ["-DCMAKE_BUILD_TYPE=RelWithDebInfo"],
    "asan": ["-DCMAKE_BUILD_TYPE=Debug", "-DRECLAIM_SANITIZE=address"],
    "tsan": ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DRECLAIM_SANITIZE=thread"],
}


def jobs() -> int:
    return os.cpu_count() or 2


def configure(flavour: str) -> Path:
    """The configured build folder of a flavour. Cheap when nothing has changed: Ninja would do it anyway."""
    folder = paths.cmake_build(flavour)
    apt.ensure_installed(apt.BUILD_PACKAGES)
    if not (folder / "build.ninja").exists():
        _step(["cmake", "-S", paths.REPO, "-B", folder, "-G", "Ninja", *FLAVOURS[flavour],
               "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"], "cmake")
    return folder


def build(flavour: str, targets: Sequence[str] = ()) -> Path:
    """Builds targets (all when none are named), output on the terminal; returns the build folder."""
    folder = configure(flavour)
    _step(["ninja", "-C", folder, f"-j{jobs()}", *targets], "the build")
    return folder


def test_names(folder: Path, label: str = "") -> list[str]:
    """Names of the tests of a build folder, all or those with one label; a test is named as its target."""
    select = ["-L", f"^{label}$"] if label else []
    listing = subprocess.run(["ctest", "--test-dir", folder, "--show-only=json-v1", *select],
                             capture_output=True, text=True, check=True).stdout
    return [t["name"] for t in json.loads(listing)["tests"]]


def _step(command: Sequence[str | Path], what: str) -> None:
    # Two checkouts share what ccache has compiled.
    env = {**os.environ, "CCACHE_BASEDIR": str(paths.REPO), "CCACHE_NOHASHDIR": "1"}
    status = subprocess.run([str(c) for c in command], env=env, check=False).returncode
    if status != 0:
        raise DevError(f"{what} failed (status {status}); its messages stand above")
