# SPDX-License-Identifier: Apache-2.0
"""The verbs of ./dev: their arguments, their help, and which module does the work."""

import argparse
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from devtool import paths
from devtool.errors import DevError


@dataclass(frozen=True)
class Verb:
    """arguments: adds to the parser; run: returns the exit status; hidden ones are for tests and tools."""

    name: str
    summary: str
    example: str
    run: Callable[[argparse.Namespace], int]
    arguments: Callable[[argparse.ArgumentParser], None] = lambda parser: None
    hidden: bool = False


def _apiserver(args: argparse.Namespace) -> int:
    from e2e.cluster.api_only import run_with_api_server
    return run_with_api_server(_without_dashes(args.command), paths.REPO / "crds" if args.crds else None)


def _apiserver_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--crds", action="store_true", help="apply the manifests of crds/ first")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="runs with RECLAIM_TEST_KUBECONFIG set")


def _test(args: argparse.Namespace) -> int:
    from devtool.testing import run_parts
    return run_parts(args.part)


def _test_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("part", nargs="?", choices=("lint", "unit", "asan", "tsan", "kernel", "e2e"))


def _check(args: argparse.Namespace) -> int:
    from devtool.checks import run_all
    run_all()
    return 0


VERBS = (
    Verb("test", "run the tests, one part or all; prints a summary, fails when any part fails",
         "./dev test unit", _test, _test_arguments),
    Verb("check", "format, clang-tidy, shellcheck, pyflakes, SPDX lines, chart lint", "./dev check", _check),
    Verb("apiserver", "a throwaway etcd and kube-apiserver around one command (or until Ctrl-C)",
         "./dev apiserver --crds -- ctest --test-dir BUILD", _apiserver, _apiserver_arguments, hidden=True),
)


def main(argv: Sequence[str]) -> int:
    signal.signal(signal.SIGTERM, _raise_exit)
    args = _parser().parse_args(argv)
    try:
        return args.run(args)
    except DevError as e:
        print(f"\n./dev {args.verb}: {e}", file=sys.stderr)
        return e.exit_code
    except KeyboardInterrupt:
        print(f"\n./dev {args.verb}: interrupted. What is finished stays; the same command goes on from there.",
              file=sys.stderr)
        return 130


def _raise_exit(number: int, _frame) -> None:
    """So that `finally` blocks stop what was started."""
    raise SystemExit(128 + number)


def _without_dashes(words: list[str]) -> list[str]:
    return words[1:] if words[:1] == ["--"] else words


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev", formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb in VERBS:
        sub = verbs.add_parser(verb.name, description=f"{verb.summary}\n\nExample: {verb.example}",
                               formatter_class=argparse.RawDescriptionHelpFormatter)
        verb.arguments(sub)
        sub.set_defaults(run=verb.run)
    return parser
