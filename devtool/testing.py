# SPDX-License-Identifier: Apache-2.0
"""./dev test: the parts, what each one runs, and the summary at the end."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from devtool import apt, checks, cmake, paths
from devtool.errors import DevError
from devtool.progress import clock
from e2e.cluster import kernels, up
from e2e.cluster.api_only import KUBECONFIG_VARIABLE, api_server


_PYTHON_TEST_FOLDERS = ("devtool", "e2e/cluster", "kernel", "kernel/bench", "kernel/selftests")


@dataclass(frozen=True)
class Part:
    """run raises DevError when something does not hold; needs: there is nothing to run while this path is missing.

    takes_arguments: words after the part on the command line go to run.
    """

    name: str
    summary: str
    run: Callable[..., None]
    needs: Path = paths.REPO
    takes_arguments: bool = False


def _unit() -> None:
    apt.ensure_installed(apt.BUILD_PACKAGES)
    for folder in _PYTHON_TEST_FOLDERS:
        _run(["/usr/bin/python3", "-B", "-m", "unittest", "discover", "--buffer", "-s", folder, "-p", "*_test.py",
              *(["-t", "."] if (paths.REPO / folder / "__init__.py").exists() else [])],
             f"the Python unit tests of {folder}")
    folder = cmake.build("release")
    _ctest(folder)


def _asan() -> None:
    _ctest(cmake.build("asan"), env={"UBSAN_OPTIONS": "print_stacktrace=1"})


def _tsan() -> None:
    """Only tests labelled `threads`: the others have one thread, and a sanitized build of all is slow."""
    names = cmake.test_names(cmake.configure("tsan"), "threads")
    if names:
        _ctest(cmake.build("tsan", names), labels=["threads"])


def _kernel() -> None:
    apt.ensure_installed(apt.BUILD_PACKAGES + apt.CLUSTER_PACKAGES)
    _run(["/usr/bin/python3", paths.REPO / "kernel/selftests/run.py", "--kernel", kernels.patched().image],
         "the kernel selftests")


def _e2e(pytest_arguments: Sequence[str] = ()) -> None:
    apt.ensure_installed(apt.TEST_PACKAGES)
    environment = up.bring_up().environment()
    _run(["/usr/bin/python3", "-B", "-m", "pytest", "-p", "no:cacheprovider", "--durations=10", "-ra",
          paths.REPO / "e2e/tests", *pytest_arguments], "the e2e tests", environment)


PARTS = (
    Part("lint", "format, clang-tidy, shellcheck, pyflakes, SPDX lines, chart", checks.run_all),
    Part("unit", "unit tests of ./dev and of the C++ code, a real API server beside them", _unit),
    Part("asan", "the same C++ tests under AddressSanitizer and UBSan", _asan),
    Part("tsan", "the tests labelled `threads` under ThreadSanitizer", _tsan),
    Part("kernel", "selftests of the kernel series in a virtual machine", _kernel,
         paths.REPO / "kernel/series/7.3/series"),
    Part("e2e", "the product on the real cluster", _e2e, paths.REPO / "charts", takes_arguments=True),
)


def run_parts(name: str | None, arguments: Sequence[str] = ()) -> int:
    """Runs one part or all, goes on after a failure, prints a summary; the exit status counts failures.

    arguments go to the one part that is named, if it takes any.
    """
    chosen = [p for p in PARTS if name in (None, p.name)]
    if arguments and not (name and chosen[0].takes_arguments):
        raise DevError(f"only {', '.join(p.name for p in PARTS if p.takes_arguments)} takes arguments")
    results = [(part, *_timed(part, arguments)) for part in chosen]
    print("\n  part     result      time")
    for part, result, seconds in results:
        print(f"  {part.name:8} {result:10} {clock(seconds):>8}   {part.summary}")
    return sum(result == "FAILED" for _, result, _ in results)


def _timed(part: Part, arguments: Sequence[str]) -> tuple[str, float]:
    print(f"\n=== {part.name}: {part.summary}", flush=True)
    start = time.monotonic()
    result = "ok"
    if not part.needs.exists():
        print(f"nothing to run: {part.needs.relative_to(paths.REPO)} does not exist")
        result = "nothing"
    else:
        try:
            part.run(*([arguments] if part.takes_arguments else []))
        except DevError as e:
            print(f"{part.name}: {e}", file=sys.stderr, flush=True)
            result = "FAILED"
    return result, time.monotonic() - start


def _ctest(folder: Path, labels: Sequence[str] = (), env: dict[str, str] | None = None) -> None:
    crds = paths.REPO / "crds"
    has_crds = any(crds.glob("*.yaml"))
    needs_api = bool(cmake.test_names(folder, *labels, "apiserver"))
    with api_server(crds if has_crds else None) if needs_api else nullcontext() as kubeconfig:
        api = {KUBECONFIG_VARIABLE: str(kubeconfig)} if kubeconfig else {}
        _run(["ctest", "--test-dir", folder, "--output-on-failure", "--no-tests=error", f"-j{cmake.jobs()}",
              *cmake.with_labels(labels)],
             f"ctest in {folder}", {**api, **(env or {})})


def _run(command: Sequence[str | Path], what: str, env: dict[str, str] | None = None) -> None:
    status = subprocess.run([str(c) for c in command], cwd=paths.REPO, env={**os.environ, **(env or {})},
                            check=False).returncode
    if status != 0:
        raise DevError(f"{what} failed with status {status}")
