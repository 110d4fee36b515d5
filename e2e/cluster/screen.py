# SPDX-License-Identifier: Apache-2.0
"""What ./dev up ends with and ./dev status repeats: one screen that answers the first questions."""

from typing import Any

from devtool import paths
from devtool.errors import DevError
from devtool.process import tail
from e2e.cluster import install, prometheus
from e2e.cluster.cluster import Cluster


def show(cluster: Cluster, took: str = "") -> None:
    print()
    if took:
        print(f"The cluster is up ({took}).")
    if not parts(cluster).get("kube-apiserver"):
        print("The API server does not run, so there is no more to tell. ./dev up starts it again; what is in the cluster is kept.")
        return
    tables = {}
    for title, words in (
        ("Nodes", ["get", "nodes", "-L", "e2e.kswapd.dev/kernel"]),
        ("Policies", ["get", "reclaimpolicies"]),
        ("What each node runs", ["get", "nodereclaims"]),
        ("Pods", ["-n", "reclaim-system", "get", "pods", "-o", "wide"]),
    ):
        print(f"\n{title}")
        try:
            text = cluster.kubectl(*words)
        except DevError as e:
            text = str(e).splitlines()[-1]
        print("".join(f"  {line}\n" for line in text.splitlines()), end="")
        tables[title] = text
    first = cluster.plan.nodes[0].name
    print(f"""
Prometheus  {prometheus.url(cluster.plan)}
kubeconfig  {cluster.kubeconfig}

Try next
  {policy_to_try(tables["Policies"])}
  ./dev kubectl get nodereclaims -w
  ./dev node {first} 'ps | grep kswapd'          the workers, in the machine itself
  ./dev promql 'reclaim_kswapd_workers_effective'
  ./dev test e2e                                 ./dev down ends it all""")


def policy_to_try(policies: str) -> str:
    """policies: kubectl's table of them; empty when there is none, its complaint when the kind is unknown."""
    if any(line.split()[:1] == ["sample"] for line in policies.splitlines()):
        return "./dev kubectl edit reclaimpolicy sample        change it and watch it arrive"
    return f"./dev kubectl apply -f {install.SAMPLE.relative_to(paths.REPO)}"


def parts(cluster: Cluster) -> dict[str, bool]:
    """Every program of the cluster -> whether it runs."""
    return {d.name: d.pid() is not None for d in cluster.daemons()}


def as_json(cluster: Cluster) -> dict[str, Any]:
    """For programs: what the e2e tests need to know."""
    running = parts(cluster)
    return {
        "kubeconfig": str(cluster.kubeconfig),
        "prometheus": prometheus.url(cluster.plan),
        "nodes": [{"name": n.name, "stock": n.kernel == "stock", "internalIP": n.internal_ip,
                   "loopback": cluster.plan.loopback(n), "running": running.get(f"vm-{n.name}", False)}
                  for n in cluster.plan.nodes],
        "parts": running,
    }


def log_of(cluster: Cluster, part: str, lines: int) -> str:
    """The last lines of a part's log: a program of the host, a node's console, or NODE/SERVICE inside it."""
    if "/" in part:
        node, service = part.split("/", 1)
        return cluster.vm(node).output([f"tail -n {lines} /var/log/{service}.log"])
    known = {d.name: d.log for d in cluster.daemons()}
    known.update({n.name: cluster.vm(n.name).console for n in cluster.plan.nodes})
    for name in (part, f"kube-{part}"):
        if name in known:
            return tail(known[name], lines) + "\n"
    if part in ("operator", "agent"):
        return cluster.kubectl("-n", "reclaim-system", "logs", "--prefix", "--ignore-errors", f"--tail={lines}", "-l",
                               f"app.kubernetes.io/component={part}")
    unknown = f"no part is named {part}." if part else "which part?"
    raise DevError(f"{unknown} There are: operator, agent, {', '.join(sorted(known))}, and inside a node "
                   "NODE/kubelet, NODE/containerd, NODE/kube-proxy, NODE/dropbear")
