# SPDX-License-Identifier: Apache-2.0
"""Values are restored, corrected and, in mode Observe, left alone."""

from __future__ import annotations

import pytest

from cluster import Api, Cluster, condition, setting
from waiting import holds_for, wait_for

pytestmark = pytest.mark.usefixtures("clean")

SWAPPINESS = "/proc/sys/vm/swappiness"


def wait_value(cluster: Cluster, node: str, path: str, value: str, timeout: float = 60) -> None:
    wait_for(f"{path} of {node} to be {value}", lambda: cluster.read(node, path) == value, timeout)


def test_deleting_the_policy_brings_originals_back(cluster: Cluster, api: Api) -> None:
    node = cluster.patched[0]
    before = cluster.read(node, SWAPPINESS)
    assert before != "33"
    api.apply_policy("p", {"kswapd": {"workers": 2}, "vm": {"swappiness": 33}})
    wait_value(cluster, node, SWAPPINESS, "33")
    wait_for("two workers", lambda: len(cluster.kswapd_threads(node)) == 4, 60)

    api.delete_policy("p")
    wait_value(cluster, node, SWAPPINESS, before)
    wait_for("one worker per NUMA node", lambda: cluster.kswapd_threads(node) == ["kswapd0", "kswapd1"], 60)


def test_a_setting_that_leaves_the_spec_is_restored_alone(cluster: Cluster, api: Api) -> None:
    node = cluster.patched[0]
    before = cluster.read(node, "/proc/sys/vm/vfs_cache_pressure")
    api.apply_policy("p", {"vm": {"swappiness": 34, "vfsCachePressure": 150}})
    wait_value(cluster, node, "/proc/sys/vm/vfs_cache_pressure", "150")
    api.apply_policy("p", {"vm": {"swappiness": 34}})
    wait_value(cluster, node, "/proc/sys/vm/vfs_cache_pressure", before)
    assert cluster.read(node, SWAPPINESS) == "34"


def test_keep_leaves_the_value_when_the_policy_goes(cluster: Cluster, api: Api) -> None:
    node = cluster.patched[0]
    before = cluster.read(node, SWAPPINESS)
    api.apply_policy("p", {"deletion": "Keep", "vm": {"swappiness": 35}})
    wait_value(cluster, node, SWAPPINESS, "35")
    api.delete_policy("p")
    wait_for("no policy in force", lambda: "policy" not in api.node_reclaim(node), 60)
    holds_for("the kept value", lambda: cluster.read(node, SWAPPINESS) == "35", 5)
    cluster.node(node, f"echo {before} > {SWAPPINESS}")


def test_a_foreign_write_is_reported_and_corrected(cluster: Cluster, api: Api) -> None:
    node = cluster.patched[0]
    api.apply_policy("p", {"vm": {"swappiness": 36}})
    wait_value(cluster, node, SWAPPINESS, "36")
    wait_for("Applied", lambda: setting(api.node_reclaim(node), "vm.swappiness").get("reason") == "Applied", 60)

    cluster.node(node, f"echo 77 > {SWAPPINESS}")
    overridden = f'reclaim_setting_overridden_total{{node="{node}",setting="vm.swappiness"}}'
    wait_for("the foreign write to be reported", lambda: setting(api.node_reclaim(node), "vm.swappiness").get("reason") == "Overridden", 60)
    wait_value(cluster, node, SWAPPINESS, "36")
    wait_for("Prometheus to count it", lambda: any(float(s["value"][1]) >= 1 for s in cluster.promql(overridden)), 120)


def test_what_would_take_the_node_down_is_not_written(cluster: Cluster, api: Api) -> None:
    node = cluster.patched[0]
    path = "/proc/sys/vm/min_free_kbytes"
    before = cluster.read(node, path)
    api.apply_policy("p", {"watermarks": {"minFreeKbytes": 16777216}, "vm": {"swappiness": 38}})
    wait_for("Invalid", lambda: setting(api.node_reclaim(node), "watermarks.minFreeKbytes").get("reason") == "Invalid", 60)
    assert "more than a quarter of this machine's" in setting(api.node_reclaim(node), "watermarks.minFreeKbytes")["message"]
    wait_value(cluster, node, SWAPPINESS, "38")
    assert cluster.read(node, path) == before
    assert condition(api.node_reclaim(node), "Applied")["status"] == "False"


def test_observe_reports_and_writes_nothing(cluster: Cluster, api: Api) -> None:
    node = cluster.patched[0]
    before = cluster.read(node, SWAPPINESS)
    api.apply_policy("p", {"mode": "Observe", "vm": {"swappiness": 37}, "kswapd": {"workers": 3}})
    wait_for("Observed", lambda: setting(api.node_reclaim(node), "vm.swappiness").get("reason") == "Observed", 60)
    holds_for("the value", lambda: cluster.read(node, SWAPPINESS) == before, 3)
    assert cluster.kswapd_threads(node) == ["kswapd0", "kswapd1"]


def test_what_is_not_applied_yet_is_said(cluster: Cluster, api: Api) -> None:
    node = cluster.patched[0]
    api.apply_policy("p", {"lruGen": {"enabled": True}, "kswapd": {"auto": {"min": 1, "max": 4}}})

    def reasons() -> dict[str, str]:
        return {s["name"]: s.get("reason", "") for s in api.node_reclaim(node).get("settings", [])}

    wait_for(
        "NotImplemented for both fields",
        lambda: all(reasons().get(name) == "NotImplemented" for name in ("lruGen.enabled", "kswapd.auto")),
        60,
    )


def test_a_policy_that_asks_for_a_canary_is_held_and_says_so(cluster: Cluster, api: Api) -> None:
    node = cluster.patched[0]
    before = cluster.read(node, SWAPPINESS)
    assert before != "38"
    spec = {"vm": {"swappiness": 38}}
    api.apply_policy("p", spec | {"rollout": {"steps": [{"nodes": 1, "soak": "10m"}, {"nodes": "100%"}]}})

    def stalled() -> dict[str, str]:
        return condition(api.policy("p").get("status", {}), "Stalled")

    wait_for("Stalled, NotImplemented", lambda: (stalled().get("status"), stalled().get("reason")) == ("True", "NotImplemented"), 60)
    assert "remove spec.rollout.steps" in stalled()["message"]
    holds_for("the value", lambda: cluster.read(node, SWAPPINESS) == before, 3)
    api.apply_policy("p", spec)
    wait_value(cluster, node, SWAPPINESS, "38")


def test_a_rate_target_reclaims(cluster: Cluster, api: Api) -> None:
    node = cluster.patched[0]
    # Page cache to take: the file is larger than what one minute's rate asks for.
    cluster.node(node, "dd if=/dev/zero of=/root/filler bs=1M count=128 2>/dev/null; cat /root/filler > /dev/null")
    api.apply_policy(
        "p", {"proactiveReclaim": [{"name": "cache", "scope": {"numaNodes": [0, 1]}, "goal": {"rate": "2Mi/s"}, "swappiness": 0}]}
    )
    reclaimed = f'reclaim_target_reclaimed_bytes_total{{node="{node}",target="cache"}}'
    requested = f'reclaim_target_requested_bytes_total{{node="{node}",target="cache"}}'

    def total(expression: str) -> float:
        return sum(float(sample["value"][1]) for sample in cluster.promql(expression))

    wait_for("16 MiB to be requested", lambda: total(requested) >= 16 << 20, 120)
    wait_for("memory to be reclaimed", lambda: total(reclaimed) >= 4 << 20, 120)
    cluster.node(node, "rm -f /root/filler")
