# SPDX-License-Identifier: Apache-2.0
"""Where things are: the repository, the cache outside of it, and the state of the running cluster."""

import os
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent


def cache_root() -> Path:
    """Everything ./dev makes lives here; `./dev down --purge` removes it."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "reclaim-operator"


def results() -> Path:
    """Finished stages: results/STAGE/KEY/. A folder that exists is complete."""
    return cache_root() / "results"


def cluster_state() -> Path:
    """The one running cluster: ports, certificates, disks, logs, process identities."""
    return cache_root() / "cluster"


def cmake_build(flavour: str) -> Path:
    """Incremental CMake build folders, one per flavour (release, asan, tsan, fuzz), shared by all checkouts."""
    return cache_root() / "build" / flavour
