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
    """arguments  adds to the parser
    run        returns the exit status
    hidden     for tests and tools, not in the overview
    raw        everything after the verb goes on as it is, options too: args.words
    """

    name: str
    summary: str
    example: str
    run: Callable[[argparse.Namespace], int]
    arguments: Callable[[argparse.ArgumentParser], None] = lambda parser: None
    hidden: bool = False
    raw: bool = False


def _up(args: argparse.Namespace) -> int:
    from e2e.cluster import up
    if args.existing:
        up.install_into_existing()
    else:
        up.bring_up(args.nodes, args.stock_nodes, args.bare)
    return 0


def _up_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--nodes", type=int, metavar="N", help="nodes with our kernel (1)")
    parser.add_argument("--stock-nodes", type=int, metavar="N", help="nodes with Debian's kernel (1)")
    parser.add_argument("--bare", action="store_true", help="the cluster alone, the product not installed")
    parser.add_argument("--existing", action="store_true", help="install into the cluster of $KUBECONFIG instead")


def _down(args: argparse.Namespace) -> int:
    import shutil
    from e2e.cluster.cluster import Cluster
    cluster = Cluster.remembered()
    if cluster:
        cluster.stop()
    print("The cluster is gone; what was built stays." if cluster else "There was no cluster.")
    if args.purge:
        shutil.rmtree(paths.cache_root(), ignore_errors=False)
        print(f"{paths.cache_root()} is gone too.")
    return 0


def _down_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--purge", action="store_true", help="remove the cache as well: the next up builds everything")


def _status(args: argparse.Namespace) -> int:
    import json
    from e2e.cluster import screen
    from e2e.cluster.cluster import Cluster
    cluster = Cluster.current()
    if args.json:
        print(json.dumps(screen.as_json(cluster), indent=1))
        return 0
    running = screen.parts(cluster)
    dead = [name for name, alive in running.items() if not alive]
    print("Running  " + " ".join(name for name, alive in running.items() if alive))
    if dead:
        print(f"ENDED    {' '.join(dead)}   (./dev logs {dead[0]}; ./dev up starts it again)")
    screen.show(cluster)
    return 1 if dead else 0


def _json_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="for programs")


def _with_kubeconfig(program: str) -> Callable[[argparse.Namespace], int]:
    def run(args: argparse.Namespace) -> int:
        import os
        from devtool import go_programs
        from e2e.cluster.cluster import Cluster
        environment = {**os.environ, **Cluster.current().environment()}
        binary = go_programs.binary(program)
        sys.stdout.flush()
        os.execve(binary, [program, *args.words], environment)
    return run


def _node(args: argparse.Namespace) -> int:
    from e2e.cluster.cluster import Cluster
    cluster = Cluster.current()
    if len(args.words) < 2:
        raise DevError("which node, and which command? Nodes: " + " ".join(n.name for n in cluster.plan.nodes), 2)
    return cluster.vm(args.words[0]).call(args.words[1:])


def _promql(args: argparse.Namespace) -> int:
    import json
    from e2e.cluster import prometheus
    from e2e.cluster.cluster import Cluster
    result = prometheus.query(Cluster.current().plan, args.expression)
    if args.json:
        print(json.dumps(result))
    else:
        for sample in result:
            labels = ", ".join(f'{k}="{v}"' for k, v in sample["metric"].items() if k != "__name__")
            print(f"{sample['metric'].get('__name__', '')}{{{labels}}} {sample.get('value', [0, sample.get('values')])[1]}")
    return 0


def _promql_arguments(parser: argparse.ArgumentParser) -> None:
    _json_argument(parser)
    parser.add_argument("expression")


def _logs(args: argparse.Namespace) -> int:
    from e2e.cluster import screen
    from e2e.cluster.cluster import Cluster
    print(screen.log_of(Cluster.current(), args.part, args.lines), end="")
    return 0


def _logs_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", "--lines", type=int, default=50)
    parser.add_argument("part", nargs="?", default="", help="operator, agent, a program of the host, a node's console, or NODE/SERVICE")


def _part(args: argparse.Namespace) -> int:
    from e2e.cluster.cluster import Cluster
    Cluster.current().control_plane.part(args.action, args.name)
    return 0


def _part_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("stop", "start"))
    parser.add_argument("name", choices=("etcd", "apiserver", "controller-manager", "scheduler"))


def _build(args: argparse.Namespace) -> int:
    from e2e.cluster.images import build_product
    for reference, file in build_product().files.items():
        print(f"{reference}\n  {file}")
    return 0


def _apiserver(args: argparse.Namespace) -> int:
    from e2e.cluster.api_only import run_with_api_server
    return run_with_api_server(_without_dashes(args.command), paths.REPO / "crds" if args.crds else None)


def _apiserver_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--crds", action="store_true", help="apply the manifests of crds/ first")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="runs with RECLAIM_TEST_KUBECONFIG set")


def _test(args: argparse.Namespace) -> int:
    from devtool.testing import run_parts
    return run_parts(args.part, args.words)


def _test_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("part", nargs="?", choices=("lint", "unit", "asan", "tsan", "kernel", "e2e"))
    parser.add_argument("words", nargs=argparse.REMAINDER, help="for e2e: arguments of pytest, such as -k NAME")


def _bench(args: argparse.Namespace) -> int:
    from devtool.bench import run_parts
    return run_parts(args.part, args.words)


def _bench_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("part", nargs="?", choices=("kernel", "latency", "fuzz", "footprint"))
    parser.add_argument("words", nargs=argparse.REMAINDER, help="arguments of the benchmark")


def _help(args: argparse.Namespace) -> int:
    for verb in VERBS:
        if verb.name == args.of and verb.raw:
            print(f"./dev {verb.name} …: {verb.summary}\n\nExample: {verb.example}")
            return 0
    if args.of:
        return main([args.of, "--help"])
    print(overview())
    return 0


def _help_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("of", nargs="?", metavar="VERB")


def _check(args: argparse.Namespace) -> int:
    from devtool.checks import run_all
    run_all()
    return 0


VERBS = (
    Verb("up", "bring up the cluster with the product on it; resumes what was interrupted, changes nothing that fits",
         "./dev up --nodes 2 --stock-nodes 0", _up, _up_arguments),
    Verb("down", "stop the cluster and forget it; builds stay", "./dev down --purge", _down, _down_arguments),
    Verb("status", "what runs, which policy is where, where Prometheus is", "./dev status", _status, _json_argument),
    Verb("kubectl", "kubectl as admin of the cluster", "./dev kubectl get nodereclaims", _with_kubeconfig("kubectl"),
         raw=True),
    Verb("helm", "helm as admin of the cluster", "./dev helm list -A", _with_kubeconfig("helm"), raw=True),
    Verb("node", "run a command as root inside a node; stdin, output and exit status are yours",
         "./dev node node1 'ps | grep kswapd'", _node, raw=True),
    Verb("promql", "an instant query to Prometheus", "./dev promql 'up'", _promql, _promql_arguments),
    Verb("logs", "the last lines of a part's log", "./dev logs -n 100 node1/kubelet", _logs, _logs_arguments),
    Verb("build", "compile the programs and pack their images", "./dev build", _build),
    Verb("part", "stop or start one program of the control plane, as the e2e tests do", "./dev part stop apiserver",
         _part, _part_arguments, hidden=True),
    Verb("test", "run the tests, one part or all; prints a summary, fails when any part fails",
         "./dev test unit", _test, _test_arguments),
    Verb("bench", "measure, one part or all: kernel, latency, footprint; fuzz when named", "./dev bench kernel --runs 3", _bench,
         _bench_arguments),
    Verb("check", "format, clang-tidy, shellcheck, pyflakes, SPDX lines, chart lint", "./dev check", _check),
    Verb("apiserver", "a throwaway etcd and kube-apiserver around one command (or until Ctrl-C)",
         "./dev apiserver --crds -- ctest --test-dir BUILD", _apiserver, _apiserver_arguments, hidden=True),
    Verb("help", "this overview, or one verb in full", "./dev help up", _help, _help_arguments),
)


def overview() -> str:
    lines = ["reclaim-operator: everything a person does here starts with ./dev", ""]
    for verb in VERBS:
        if not verb.hidden:
            lines += [f"  {verb.name:9} {verb.summary}", f"            {verb.example}"]
    return "\n".join([*lines, "", "./dev help VERB or ./dev VERB --help tells every option."])


def main(argv: Sequence[str]) -> int:
    signal.signal(signal.SIGTERM, _raise_exit)
    if not argv or argv[0] in ("-h", "--help"):
        print(overview())
        return 0 if argv else 2
    args = parse(argv)
    try:
        return args.run(args)
    except DevError as e:
        print(f"\n./dev {args.verb}: {e}", file=sys.stderr)
        return e.exit_code
    except BrokenPipeError:
        # `./dev … | head` has seen enough. Nothing may be flushed at exit any more.
        sys.stdout = None
        return 141
    except KeyboardInterrupt:
        print(f"\n./dev {args.verb}: interrupted. What is finished stays; the same command goes on from there.",
              file=sys.stderr)
        return 130


def parse(argv: Sequence[str]) -> argparse.Namespace:
    for verb in VERBS:
        if verb.raw and argv[0] == verb.name:
            return argparse.Namespace(verb=verb.name, run=verb.run, words=list(argv[1:]))
    return _parser().parse_args(argv)


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
