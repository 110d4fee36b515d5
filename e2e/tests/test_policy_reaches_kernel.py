# SPDX-License-Identifier: Apache-2.0
"""`kubectl apply` reaches the kernel, and status and Prometheus say so."""

from __future__ import annotations

import pytest

from cluster import Api, Cluster, condition, setting
from waiting import wait_for

pytestmark = pytest.mark.usefixtures("clean")

FOUR_WORKERS = {"kswapd": {"workers": 4}, "vm": {"swappiness": 45}, "watermarks": {"scaleFactor": 25}}


def applied(api: Api, node: str) -> dict:
    status = api.node_reclaim(node)
    return status if condition(status, "Applied").get("status") == "True" and "policy" in status else {}


def test_kernel_runs_the_desired_workers(cluster: Cluster, api: Api) -> None:
    node = cluster.patched[0]
    processors = int(cluster.node(node, "cat /sys/devices/system/node/node0/cpulist | tr ',-' ' '").split()[-1]) + 1
    assert processors >= 1
    api.apply_policy("four", FOUR_WORKERS)
    status = wait_for(f"{node} to report Applied", lambda: applied(api, node), timeout=90)

    assert status["policy"]["name"] == "four"
    assert status["workers"]["desired"] == "4"
    assert status["workers"]["effective"] == "4"
    expected = sorted(["kswapd0", "kswapd0:1", "kswapd0:2", "kswapd0:3", "kswapd1", "kswapd1:1", "kswapd1:2", "kswapd1:3"])
    assert cluster.kswapd_threads(node) == expected
    assert cluster.read(node, "/proc/sys/vm/swappiness") == "45"
    assert cluster.read(node, "/proc/sys/vm/watermark_scale_factor") == "25"


def test_prometheus_returns_the_desired_workers(cluster: Cluster, api: Api) -> None:
    node = cluster.patched[0]
    api.apply_policy("four", FOUR_WORKERS)

    def values(metric: str) -> dict[str, str]:
        return {sample["metric"]["numa_node"]: sample["value"][1] for sample in cluster.promql(f'{metric}{{node="{node}"}}')}

    for metric in ("reclaim_kswapd_workers_desired", "reclaim_kswapd_workers_effective"):
        wait_for(f"Prometheus to return 4 for {metric}", lambda m=metric: values(m) == {"0": "4", "1": "4"}, timeout=120)


def test_stock_kernel_names_the_missing_file_and_applies_the_rest(cluster: Cluster, api: Api) -> None:
    node = cluster.stock[0]
    api.apply_policy("four", FOUR_WORKERS)

    def unsupported() -> dict:
        status = api.node_reclaim(node)
        return status if condition(status, "Supported").get("status") == "False" else {}

    status = wait_for(f"{node} to report Supported=False", unsupported, timeout=90)
    assert "kswapd_threads" in condition(status, "Supported")["message"]
    assert setting(status, "kswapd.workers")["reason"] == "Unsupported"
    assert setting(status, "vm.swappiness")["effective"] == "45"
    assert cluster.read(node, "/proc/sys/vm/swappiness") == "45"


def test_policy_status_counts_nodes(cluster: Cluster, api: Api) -> None:
    api.apply_policy("four", FOUR_WORKERS)

    def counted() -> bool:
        nodes = api.policy("four").get("status", {}).get("nodes", {})
        return (
            nodes.get("matched") == len(cluster.nodes)
            and nodes.get("applied", 0) >= len(cluster.patched)
            and nodes.get("unsupported") == len(cluster.stock)
        )

    wait_for("the policy's counts to cover every node", counted, timeout=90)


def test_selector_and_priority_decide_per_node(cluster: Cluster, api: Api) -> None:
    node = cluster.patched[0]
    api.apply_policy("base", {"vm": {"swappiness": 50}})
    api.apply_policy(
        "special", {"priority": 10, "nodeSelector": {"matchLabels": {"kubernetes.io/hostname": node}}, "vm": {"swappiness": 20}}
    )
    for name, policy, swappiness in [(node, "special", "20"), (cluster.stock[0], "base", "50")]:
        wait_for(f"{policy} to win on {name}", lambda n=name, p=policy: api.node_reclaim(n).get("policy", {}).get("name") == p, 90)
        wait_for(f"swappiness {swappiness} on {name}", lambda n=name, s=swappiness: cluster.read(n, "/proc/sys/vm/swappiness") == s, 60)
