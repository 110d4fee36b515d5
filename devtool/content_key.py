# SPDX-License-Identifier: Apache-2.0
"""Keys that name a result by what went into it."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path


def key_of(parts: Iterable[str | bytes | Path]) -> str:
    """16 hex digits over strings and over the contents of files and folders.

    A Path counts by content and file mode, and by the names below it when it is a folder; where it
    lies does not count. Order of the parts counts. Neighbouring parts cannot run into each other.
    """
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, Path):
            for name, file in _files_below(part):
                _add(digest, b"file", name.encode())
                _add(digest, b"mode", b"x" if os.access(file, os.X_OK) else b"-")
                _add(digest, b"data", file.read_bytes())
        else:
            _add(digest, b"text", part if isinstance(part, bytes) else part.encode())
    return digest.hexdigest()[:16]


def _add(digest, kind: bytes, data: bytes) -> None:
    digest.update(b"%s %d " % (kind, len(data)))
    digest.update(data)


def _files_below(path: Path) -> list[tuple[str, Path]]:
    if path.is_file():
        return [("", path)]
    if not path.is_dir():
        raise FileNotFoundError(f"{path}: an input of a build stage does not exist")
    files = (f for f in path.rglob("*") if f.is_file() and "__pycache__" not in f.parts)
    return sorted((str(f.relative_to(path)), f) for f in files)
