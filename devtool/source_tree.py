# SPDX-License-Identifier: Apache-2.0
"""The files of the checkout, and a copy of them at a place that is the same for every checkout.

Compilers, ccache and Ninja all look at paths. Built from one mirrored place, a fresh clone with the
same content finds everything built.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from devtool import paths


def tracked_files() -> list[Path]:
    """Files that git tracks or would add, relative to the repository."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=paths.REPO,
                           capture_output=True, text=True, check=True).stdout.split("\0")
    return [Path(n) for n in sorted(set(names)) if n and (paths.REPO / n).is_file()]


def mirror() -> Path:
    """Brings the mirror of this checkout up to date and returns its folder."""
    folder = paths.cache_root() / "source"
    sync(paths.REPO, tracked_files(), folder)
    return folder


def sync(source: Path, files: Iterable[Path], target: Path) -> None:
    """Makes target hold exactly these files of source. A file of the same content keeps its time, so nothing is rebuilt for it."""
    wanted = set(files)
    for file in wanted:
        _copy_if_different(source / file, target / file)
    for folder, _, names in os.walk(target, topdown=False):
        for name in names:
            if (Path(folder) / name).relative_to(target) not in wanted:
                (Path(folder) / name).unlink()
        if not any(Path(folder).iterdir()) and Path(folder) != target:
            Path(folder).rmdir()


def _copy_if_different(source: Path, target: Path) -> None:
    if source.is_symlink():
        if not target.is_symlink() or target.readlink() != source.readlink():
            target.unlink(missing_ok=True)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(source.readlink())
        return
    if target.is_file() and not target.is_symlink() and target.read_bytes() == source.read_bytes():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    shutil.copyfile(source, target)
    target.chmod(source.stat().st_mode & 0o777)
