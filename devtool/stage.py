# SPDX-License-Identifier: Apache-2.0
"""Build stages: work whose result is named by its inputs, done once, resumable after any interruption."""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from devtool import paths
from devtool.progress import Progress

Report = Callable[[str], None]


@dataclass(frozen=True)
class Stage:
    """name           folder under results/, also what the user sees
    usual_seconds  on 2 cores with nothing cached
    key            content key of all inputs (content_key.key_of)
    build          fills an empty folder with the result; may report progress
    """

    name: str
    usual_seconds: float
    key: str
    build: Callable[[Path, Report], None]

    @property
    def result(self) -> Path:
        return paths.results() / self.name / self.key

    def is_done(self) -> bool:
        return self.result.is_dir()


def ensure(stage: Stage) -> Path:
    """The stage's result folder, built now if it is not there.

    Built beside its final place and renamed, so a folder under its final name is always complete.
    Two ./dev at once build it once: the second waits for the first.
    """
    if stage.is_done():
        return stage.result
    with lock(stage.name):
        if stage.is_done():
            return stage.result
        partial = stage.result.with_name(stage.key + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        start = time.monotonic()
        with Progress(stage.name, stage.usual_seconds) as progress:
            stage.build(partial, progress.report)
        partial.rename(stage.result)
        _remember_time(stage.name, time.monotonic() - start)
        _forget_old(stage.result, keep=3)
    return stage.result


def times() -> dict[str, float]:
    """Seconds that each stage took when it was last built on this machine."""
    file = paths.cache_root() / "stage-times.json"
    return json.loads(file.read_text()) if file.exists() else {}


def _remember_time(name: str, seconds: float) -> None:
    file = paths.cache_root() / "stage-times.json"
    temporary = file.with_name(f"stage-times.{os.getpid()}")
    temporary.write_text(json.dumps({**times(), name: round(seconds, 1)}, indent=1, sort_keys=True))
    temporary.replace(file)


def _forget_old(newest: Path, keep: int) -> None:
    """Old results of one stage go, so that a day of rebuilding does not fill the disk."""
    others = [d for d in newest.parent.iterdir() if d.is_dir() and d != newest]
    for old in sorted(others, key=lambda d: d.stat().st_mtime, reverse=True)[keep - 1:]:
        shutil.rmtree(old)


@contextmanager
def lock(name: str):
    """Held by one ./dev at a time; a second one waits."""
    folder = paths.cache_root() / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / name).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
