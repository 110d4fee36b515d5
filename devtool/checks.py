# SPDX-License-Identifier: Apache-2.0
"""./dev check: what a reviewer should not have to look for."""

import concurrent.futures
import json
import re
import subprocess
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from devtool import apt, cmake, go_programs, paths
from devtool.content_key import key_of
from devtool.errors import DevError
from devtool.progress import Progress
from devtool.source_tree import mirror, tracked_files

CXX = (".cc", ".h")
MAX_PYTHON_LINE = 140
TIDY_SECONDS = 10  # that clang-tidy usually takes for one file, most of it for the headers of gRPC, protobuf and GoogleTest
CHART = paths.REPO / "charts" / "reclaim-operator"

# What carries no SPDX line: generated files, data (testdata/ too), and formats without comments.
_NO_SPDX_SUFFIXES = (".sum", ".json", ".md", ".patch", ".txt", ".png", ".svg", ".tpl", ".csv")
_NO_SPDX_NAMES = ("LICENSE", ".gitignore", ".helmignore", "NOTES.txt", "series")


def run_all() -> None:
    """Runs every check, prints what each one found; DevError when any found something."""
    apt.ensure_installed(apt.CHECK_PACKAGES)
    files = tracked_files()
    checks: list[tuple[str, Callable[[], list[str]]]] = [
        ("SPDX lines", lambda: [f"{f}: no SPDX line on top" for f in files if lacks_spdx(f)]),
        ("python", lambda: python_problems(files)),
        ("shellcheck", lambda: shell_problems(files)),
        ("clang-format", lambda: format_problems(files)),
        ("chart", chart_problems),
        ("clang-tidy", lambda: tidy_problems(files)),  # last: on a first run it takes longer than all others together
    ]
    failed = []
    for name, check in checks:
        problems = check()
        print(f"{name}: {'ok' if not problems else f'{len(problems)} found'}", flush=True)
        print("".join(f"  {p}\n" for p in problems), end="", flush=True)
        failed += [name] if problems else []
    if failed:
        raise DevError(f"to mend: {', '.join(failed)}")


def lacks_spdx(file: Path) -> bool:
    if file.suffix in _NO_SPDX_SUFFIXES or file.name in _NO_SPDX_NAMES or "testdata" in file.parts:
        return False
    head = (paths.REPO / file).read_bytes()[:400]
    return bool(head) and b"SPDX-License-Identifier: " not in head


def python_problems(files: Iterable[Path]) -> list[str]:
    sources = [f for f in files if f.suffix == ".py" or _first_line(f).endswith("python3")]
    done = _output(["/usr/bin/python3", "-m", "pyflakes", *sources])
    long_lines = [f"{f}:{n}: longer than {MAX_PYTHON_LINE}" for f in sources
                  for n, line in enumerate((paths.REPO / f).read_text().splitlines(), start=1) if len(line) > MAX_PYTHON_LINE]
    return done + long_lines


def shell_problems(files: Iterable[Path]) -> list[str]:
    scripts = [f for f in files if _first_line(f).split("/")[-1] in ("sh", "bash", "env bash", "busybox sh")]
    return _output(["shellcheck", "--format=gcc", *scripts]) if scripts else []


def format_problems(files: Iterable[Path]) -> list[str]:
    sources = [f for f in files if f.suffix in CXX]
    found = _output(["clang-format", "--dry-run", "-Werror", *sources]) if sources else []
    # One line for each place; the source excerpts that clang-format adds say no more.
    return [line for line in found if ": error: " in line or ": warning: " in line]


def chart_problems() -> list[str]:
    if not CHART.exists():
        return []
    helm = go_programs.binary("helm")
    lint = subprocess.run([helm, "lint", "--strict", CHART], capture_output=True, text=True, check=False)
    return [] if lint.returncode == 0 else (lint.stdout + lint.stderr).splitlines()


def tidy_problems(files: Iterable[Path]) -> list[str]:
    """clang-tidy on each of our .cc files; one found clean is looked at again when it, an include or the way of looking changes."""
    folder = cmake.build("release", ["proto"])  # the generated headers are all that clang-tidy needs of a build
    tree = mirror()
    clean = paths.cache_root() / "clang-tidy-clean"
    clean.mkdir(parents=True, exist_ok=True)
    commands = {entry["file"]: entry["command"] for entry in json.loads((folder / "compile_commands.json").read_text())}
    sources = [f for f in files if f.suffix == ".cc" and str(tree / f) in commands]
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True, check=True).stdout

    def stamp(source: Path) -> Path:
        how = [version, commands[str(tree / source)], *_for_tests(source)]
        return clean / key_of([str(source), *how, tree / ".clang-tidy", *sorted(include_closure(tree, tree / source))])

    stamps = {source: stamp(source) for source in sources}
    todo = [source for source in sources if not stamps[source].exists()]
    if not todo:
        return []

    def one(source: Path) -> list[str]:
        progress.report(str(source))
        problems = _output(["clang-tidy", "--quiet", *_for_tests(source), "-p", folder, tree / source])
        if not problems:
            stamps[source].touch()
        said = [problem for problem in problems if not re.search(r"^\d+ warnings? generated\.$", problem)]
        return [problem.replace(f"{tree}/", "") for problem in said or problems]

    with (Progress(f"clang-tidy on {len(todo)} files", len(todo) * TIDY_SECONDS / cmake.jobs()) as progress,
          concurrent.futures.ThreadPoolExecutor(cmake.jobs()) as pool):
        try:
            return [problem for found in pool.map(one, todo) for problem in found]
        except BaseException:
            pool.shutdown(cancel_futures=True)  # an interrupted check starts no further file
            raise


def _for_tests(source: Path) -> list[str]:
    """Tests run under sanitizers, which see more than the analyzer, and need not be fast; both together are most of the time."""
    return ["--checks=-clang-analyzer-*,-performance-*"] if source.stem.endswith("_test") else []


def include_closure(tree: Path, source: Path) -> set[Path]:
    """source and all files of the tree that it includes, directly or not; for a generated header, its .proto."""
    closure: set[Path] = set()
    todo = [source]
    while todo:
        file = todo.pop()
        if file in closure:
            continue
        closure.add(file)
        for name in re.findall(r'^#include "([^"]+)"', file.read_text(), re.MULTILINE):
            included = tree / "proto" / re.sub(r"(\.grpc)?\.pb\.h$", ".proto", name) if ".pb.h" in name else tree / name
            if included.is_file():
                todo.append(included)
    return closure


def _output(command: Sequence[str | Path]) -> list[str]:
    """The lines that a checker prints when it is not content; its status decides, not its chatter."""
    done = subprocess.run([str(c) for c in command], cwd=paths.REPO, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return []
    return (done.stdout + done.stderr).splitlines() or [f"{command[0]} ended with status {done.returncode}"]


def _first_line(file: Path) -> str:
    with (paths.REPO / file).open("rb") as opened:
        line = opened.readline(80)
    return line.decode(errors="replace").strip().removeprefix("#!") if line.startswith(b"#!") else ""

