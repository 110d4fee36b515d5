#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Builds the node kernel: kernel source + series/ + config/node.config -> bzImage.

As a program the last line printed is the path of the bzImage:

    kernel/build.py --cache DIR --tarball linux-source-7.3_*.deb [--jobs N]
    KERNEL_SRC=~/linux kernel/build.py --cache DIR

The result is keyed by content (source, series, configuration, compiler), so an
unchanged kernel costs nothing. Everything lives in DIR/kernel:

    images/KEY/bzImage        results
    SOURCE-ID/source          the unpacked tarball; absent for a given tree
    SOURCE-ID/tree            the source with the series applied; files that the
                              series does not touch are hard links
    SOURCE-ID/build           objects, kept, so that a changed patch recompiles
                              only what depends on the files it changes
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
SERIES = HERE / "series" / "7.3"
CONFIG = HERE / "config" / "node.config"

# Same inputs, same image: nothing of the machine or the day goes in.
REPRODUCIBLE = {
    "KBUILD_BUILD_TIMESTAMP": "2026-01-01",
    "KBUILD_BUILD_USER": "reclaim-operator",
    "KBUILD_BUILD_HOST": "localhost",
    "LC_ALL": "C",
}

# No Rust in this kernel. Asked for its version, a rustc of rustup writes into the home folder, and the answer into the configuration.
MAKE = ("make", "RUSTC=false")

# Left behind by builds inside a given tree; with them `make O=` refuses to run.
BUILD_RESIDUE = (
    re.compile(r"(^|/)\.git(/|$)"),
    re.compile(r"^\.config$"),
    re.compile(r"^include/(config|generated)(/|$)"),
    re.compile(r"^arch/[^/]+/include/generated(/|$)"),
    re.compile(r"\.(o|a|cmd|ko|mod)$"),
)

Report = Callable[[str], None]


class BuildError(Exception):
    """The kernel could not be built; the message says which step and why."""


def read_series(directory: Path) -> list[Path]:
    """The patches that directory/series names, in order. '#' starts a comment."""
    names = []
    for line in (directory / "series").read_text().splitlines():
        name = line.split("#", 1)[0].strip()
        if name:
            names.append(name)
    patches = [directory / name for name in names]
    missing = [patch.name for patch in patches if not patch.is_file()]
    if missing:
        raise BuildError(f"{directory}/series names files that do not exist: {', '.join(missing)}")
    return patches


def touched_files(patches: list[Path]) -> set[str]:
    """Paths, relative to the kernel tree, of every file that the patches change."""
    header = re.compile(r"^(?:---|\+\+\+) [ab]/(\S+)", re.MULTILINE)
    return {path for patch in patches for path in header.findall(patch.read_text())}


def build_key(source_id: str, patches: list[Path], config: bytes, compiler: str) -> str:
    """Names the image that these inputs give. File names of patches do not count, their order does."""
    digest = hashlib.sha256()
    for part in (source_id.encode(), config, compiler.encode(), *(p.read_bytes() for p in patches)):
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()[:16]


def walk_files(root: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Every file and symbolic link below root as (relative path, lstat), without build residue."""
    pending = [""]
    while pending:
        directory = pending.pop()
        for entry in os.scandir(root / directory):
            relative = f"{directory}/{entry.name}" if directory else entry.name
            if any(pattern.search(relative) for pattern in BUILD_RESIDUE):
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append(relative)
            else:
                yield relative, entry.stat(follow_symlinks=False)


def file_id(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def tree_id(tree: Path) -> str:
    """Identity of a given tree by names, sizes and times; contents would take a minute to read."""
    digest = hashlib.sha256()
    for relative, stat in sorted(walk_files(tree)):
        digest.update(f"{relative}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def run(command: list[str], what: str, **options) -> str:
    """Runs a command; its output, or a BuildError with the end of it."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", **options)
    if done.returncode:
        tail = "\n".join(done.stdout.splitlines()[-30:])
        raise BuildError(f"{what}: `{' '.join(command)}` ended with {done.returncode}:\n{tail}")
    return done.stdout


def unpack(tarball: Path, destination: Path, report: Report) -> None:
    """Unpacks linux-source-*.tar.xz, or the Debian package that contains it, once."""
    if destination.is_dir():
        return
    report(f"unpacking {tarball.name} (about 30 s)")
    destination.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=destination.parent) as scratch:
        if tarball.suffix == ".deb":
            run(["dpkg-deb", "-x", str(tarball), f"{scratch}/deb"], "unpacking the package")
            found = sorted(Path(scratch, "deb/usr/src").glob("linux-source-*.tar.xz"))
            if len(found) != 1:
                raise BuildError(f"{tarball} has {len(found)} files usr/src/linux-source-*.tar.xz, expected one")
            tarball = found[0]
        tree = Path(scratch, "tree")
        tree.mkdir()
        run(["tar", "-xf", str(tarball), "-C", str(tree), "--strip-components=1"], "unpacking the source")
        tree.rename(destination)


def patched_files(source: Path, patches: list[Path]) -> dict[str, bytes | None]:
    """Contents of the files that the series touches, after the series; None = removed by it."""
    paths = touched_files(patches)
    with tempfile.TemporaryDirectory() as scratch:
        stage = Path(scratch)
        for path in paths:
            (stage / path).parent.mkdir(parents=True, exist_ok=True)
            if (source / path).is_file():
                shutil.copyfile(source / path, stage / path)
        for patch in patches:
            run(["patch", "-p1", "--fuzz=0", "--force", "--no-backup-if-mismatch", "--silent",
                 "-d", str(stage), "-i", str(patch)], f"{patch.name} does not apply")
        return {path: (stage / path).read_bytes() if (stage / path).is_file() else None for path in paths}


def sync_tree(source: Path, tree: Path, patched: dict[str, bytes | None]) -> int:
    """Makes tree = source with the patched files in place; returns the number of files changed.

    A file that is right already keeps its modification time, so make does not recompile
    what depends on it. Other files are hard links; none is ever written in place.
    """
    changed = 0
    present = dict(walk_files(tree)) if tree.is_dir() else {}
    for relative, stat in walk_files(source):
        there = present.pop(relative, None)
        if relative in patched:
            continue
        if there and (there.st_ino == stat.st_ino or
                      (there.st_size, there.st_mtime_ns) == (stat.st_size, stat.st_mtime_ns)):
            continue
        link_or_copy(source / relative, tree / relative)
        changed += 1
    for relative, content in patched.items():
        target = tree / relative
        present.pop(relative, None)
        old = target.read_bytes() if target.is_file() else None
        if content == old:
            continue
        changed += 1
        target.unlink(missing_ok=True)
        if content is not None:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    for relative in present:
        (tree / relative).unlink()
        changed += 1
    return changed


def link_or_copy(origin: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    try:
        os.link(origin, target, follow_symlinks=False)
    except OSError:  # another file system, or one without links
        shutil.copy2(origin, target, follow_symlinks=False)


def parse_config(text: str) -> dict[str, str]:
    """CONFIG_ symbol -> value; 'n' for "is not set"."""
    values = {}
    for line in text.splitlines():
        if match := re.match(r"(CONFIG_\w+)=(.*)$", line.strip()):
            values[match[1]] = match[2]
        elif match := re.match(r"# (CONFIG_\w+) is not set$", line.strip()):
            values[match[1]] = "n"
    return values


def configure(tree: Path, build: Path, config: bytes) -> None:
    """Writes build/.config = tinyconfig + kvm_guest.config + config; every line must be in force."""
    make = [*MAKE, "-s", "-C", str(tree), f"O={build}"]
    env = {**os.environ, **REPRODUCIBLE}
    stamp = build / ".config.key"
    key = hashlib.sha256(config + (tree / "Makefile").read_bytes()).hexdigest()
    if stamp.is_file() and stamp.read_text() == key and (build / ".config").is_file():
        return
    build.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    (build / ".config").unlink(missing_ok=True)
    for target in ("tinyconfig", "kvm_guest.config"):
        run([*make, target], "configuring", env=env)
    with (build / ".config").open("ab") as file:
        file.write(config)
    run([*make, "olddefconfig"], "configuring", env=env)
    have = parse_config((build / ".config").read_text())
    wrong = [f"{symbol}: wanted {value}, the kernel has {have.get(symbol, 'n')}"
             for symbol, value in parse_config(config.decode()).items() if have.get(symbol, "n") != value]
    if wrong:
        raise BuildError("the kernel did not take these lines of the configuration:\n" + "\n".join(wrong))
    stamp.write_text(key)


def compile_image(tree: Path, build: Path, jobs: int, report: Report) -> Path:
    """Runs make; reports the number of files compiled every ten seconds. The log is build/build.log."""
    command = [*MAKE, "-C", str(tree), f"O={build}", f"-j{jobs}", "bzImage"]
    compiled, begin, reported = 0, time.monotonic(), time.monotonic()
    tail: list[str] = []
    with (build / "build.log").open("w") as log, subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            env={**os.environ, **REPRODUCIBLE}) as make:
        assert make.stdout
        for line in make.stdout:
            log.write(line)
            tail = [*tail[-29:], line]
            compiled += line.startswith(("  CC ", "  AS "))
            if time.monotonic() - reported >= 10:
                reported = time.monotonic()
                report(f"compiled {compiled} files in {reported - begin:.0f} s")
    if make.returncode:
        raise BuildError(f"make ended with {make.returncode}, see {build}/build.log:\n{''.join(tail)}")
    report(f"compiled {compiled} files in {time.monotonic() - begin:.0f} s, done")
    return build / "arch/x86/boot/bzImage"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One build at a time in a folder; a second one waits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def build_kernel(cache: Path, tarball: Path | None, source: Path | None, jobs: int, report: Report,
                 series: Path = SERIES, config: Path = CONFIG) -> Path:
    """Returns the path of the bzImage for these inputs, building it if it is not in the cache.

      cache    folder of builds; created
      tarball  linux-source-*.tar.xz or the Debian package with it; ignored if source is given
      source   a kernel tree, never written to
    Raises BuildError.
    """
    root = cache.absolute() / "kernel"
    if source:
        source = source.resolve()
        identity = tree_id(source)
        work = root / ("tree-" + hashlib.sha256(bytes(source)).hexdigest()[:12])
    elif tarball:
        identity = file_id(tarball)
        work = root / ("source-" + identity[:12])
    else:
        raise BuildError("no kernel source: give --tarball (Debian's linux-source-7.3), --source or KERNEL_SRC")

    patches = read_series(series)
    compiler = run(["gcc", "-dumpfullversion"], "asking the compiler for its version").strip()
    image = root / "images" / build_key(identity, patches, config.read_bytes(), compiler) / "bzImage"
    if image.is_file():
        report("up to date")
        return image

    with locked(work / "lock"):
        if not source:
            assert tarball
            source = work / "source"
            unpack(tarball, source, report)
        tree, build = work / "tree", work / "build"
        changed = sync_tree(source, tree, patched_files(source, patches))
        report(f"{len(patches)} patches applied, {changed} files changed since the last build")
        configure(tree, build, config.read_bytes())
        built = compile_image(tree, build, jobs, report)
        image.parent.mkdir(parents=True, exist_ok=True)
        partial = image.with_suffix(".partial")
        shutil.copyfile(built, partial)
        partial.rename(image)
    return image


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, required=True, help="folder of builds")
    parser.add_argument("--tarball", type=Path, help="linux-source-7.3 as .tar.xz or .deb")
    parser.add_argument("--source", type=Path, default=os.environ.get("KERNEL_SRC"),
                        help="a kernel tree (default: $KERNEL_SRC); it is not written to")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    try:
        image = build_kernel(options.cache, options.tarball, options.source, options.jobs,
                             lambda line: print(f"kernel: {line}", flush=True))
    except BuildError as error:
        print(f"kernel: {error}", file=sys.stderr)
        return 1
    print(image)
    return 0


if __name__ == "__main__":
    sys.exit(main())
