# SPDX-License-Identifier: Apache-2.0
"""Kills, outages and reboots lose nothing."""

from __future__ import annotations

import pytest

from cluster import NAMESPACE, Api, Cluster, condition, dev, setting
from waiting import holds_for, wait_for

pytestmark = pytest.mark.usefixtures("clean")

SWAPPINESS = "/proc/sys/vm/swappiness"
AUTHORITY = "reclaim-operator-ca"


def restarts(pod) -> int:
    return sum(s.restart_count for s in pod.status.container_statuses or [])


def kill_program(cluster: Cluster, node: str, program: str) -> None:
    cluster.node(node, f"kill -9 $(pidof {program})")


def wait_swappiness(cluster: Cluster, node: str, value: int, timeout: float = 90) -> None:
    wait_for(f"swappiness {value} on {node}", lambda: cluster.read(node, SWAPPINESS) == str(value), timeout)


def test_a_second_agent_on_a_node_does_not_start(cluster: Cluster, api: Api) -> None:
    pod = api.agent_pod(cluster.patched[0]).metadata.name
    with pytest.raises(RuntimeError, match="another reclaim-node-agent works with /var/lib/reclaim-node-agent"):
        dev("kubectl", "-n", NAMESPACE, "exec", pod, "--", "/proc/1/exe", "--operator-address=localhost:1",
            "--operator-ca=/etc/reclaim/ca/ca.crt", "--token-file=/var/run/secrets/reclaim/token", "--host-proc=/host/proc",
            "--state-dir=/var/lib/reclaim-node-agent")


def test_keeps_values_when_the_agent_is_killed(cluster: Cluster, api: Api) -> None:
    node = cluster.patched[0]
    api.apply_policy("p", {"vm": {"swappiness": 41}, "kswapd": {"workers": 3}})
    wait_swappiness(cluster, node, 41)
    wait_for("three workers", lambda: len(cluster.kswapd_threads(node)) == 6, 60)
    before = restarts(api.agent_pod(node))

    kill_program(cluster, node, "reclaim-node-agent")
    assert cluster.read(node, SWAPPINESS) == "41"
    wait_for("the agent's container to be restarted", lambda: restarts(api.agent_pod(node)) > before, 90)
    assert cluster.read(node, SWAPPINESS) == "41"
    assert len(cluster.kswapd_threads(node)) == 6

    api.apply_policy("p", {"vm": {"swappiness": 42}})
    wait_swappiness(cluster, node, 42)


def test_agent_works_from_its_checkpoint_without_operator_and_api_server(cluster: Cluster, api: Api) -> None:
    node = cluster.patched[0]
    api.apply_policy("p", {"vm": {"swappiness": 43}})
    wait_swappiness(cluster, node, 43)
    operator_node = api.operator_pod().spec.node_name
    cluster.part("stop", "apiserver")
    try:
        kill_program(cluster, operator_node, "reclaim-operator")
        kill_program(cluster, node, "reclaim-node-agent")
        cluster.node(node, f"echo 90 > {SWAPPINESS}")
        # Only an agent that has read its checkpoint knows that 43 is wanted.
        wait_swappiness(cluster, node, 43, timeout=120)
    finally:
        cluster.part("start", "apiserver")
    api.apply_policy("p", {"vm": {"swappiness": 44}})
    wait_swappiness(cluster, node, 44, timeout=180)


def test_converges_when_the_operator_is_killed_during_a_change(cluster: Cluster, api: Api) -> None:
    api.apply_policy("p", {"vm": {"swappiness": 45}})
    for node in cluster.nodes:
        wait_swappiness(cluster, node, 45)
    operator_node = api.operator_pod().spec.node_name
    api.apply_policy("p", {"vm": {"swappiness": 46}})
    kill_program(cluster, operator_node, "reclaim-operator")
    for node in cluster.nodes:
        wait_swappiness(cluster, node, 46, timeout=180)
    for node in cluster.nodes:
        wait_for(
            f"{node} to report the new value",
            lambda n=node: setting(api.node_reclaim(n), "vm.swappiness").get("effective") == "46",
            timeout=90,
        )


def test_an_api_server_outage_loses_nothing_and_makes_no_hot_loop(cluster: Cluster, api: Api) -> None:
    node = cluster.patched[0]
    api.apply_policy("p", {"vm": {"swappiness": 47}})
    wait_swappiness(cluster, node, 47)
    requests = "sum(rest_client_requests_total)"

    def attempts() -> float:
        result = cluster.promql(requests)
        return float(result[0]["value"][1]) if result else -1.0

    wait_for("the operator's request counter", lambda: attempts() > 0, 90)
    before = attempts()
    cluster.part("stop", "apiserver")
    try:
        holds_for("the value during the outage", lambda: cluster.read(node, SWAPPINESS) == "47", 60, interval=5)
    finally:
        cluster.part("start", "apiserver")
    api.apply_policy("p", {"vm": {"swappiness": 48}})
    wait_swappiness(cluster, node, 48, timeout=180)
    wait_for("the operator's counter after the outage", lambda: attempts() > before, 90)
    # Three watches with back-off from 0.8 s to 30 s, and what their relists and status writes need.
    assert attempts() - before < 150


def test_a_reboot_brings_settings_back_and_starts_a_new_journal(cluster: Cluster, api: Api) -> None:
    node = cluster.patched[0]
    original = cluster.read(node, SWAPPINESS)
    api.apply_policy("p", {"vm": {"swappiness": 49}, "kswapd": {"workers": 2}})
    wait_swappiness(cluster, node, 49)
    boot = cluster.read(node, "/proc/sys/kernel/random/boot_id")
    cluster.node(node, "sync; reboot -f >/dev/null 2>&1 &")
    wait_for("a new boot id", lambda: cluster.read(node, "/proc/sys/kernel/random/boot_id") != boot, timeout=180, interval=2)
    wait_swappiness(cluster, node, 49, timeout=180)
    wait_for("two workers per NUMA node", lambda: len(cluster.kswapd_threads(node)) == 4, 120)

    # The original of this boot, not the value that the policy had written before it.
    wait_for("connected", lambda: condition(api.node_reclaim(node), "Connected").get("status") == "True", 120)
    api.delete_policy("p")
    wait_swappiness(cluster, node, int(original))


def test_an_agent_that_is_there_before_the_operator_starts_with_its_authority(cluster: Cluster, api: Api) -> None:
    """As on a first install: a pod that ran without the ConfigMap would see it only a minute or more later."""
    node = cluster.patched[0]
    api.scale_operator(0)
    try:
        wait_for("the operator to be gone", lambda: not api.pods("operator"), 90)
        old = api.agent_pod(node)
        api.core.delete_namespaced_config_map(AUTHORITY, NAMESPACE)
        api.core.delete_namespaced_pod(old.metadata.name, NAMESPACE)
        wait_for("a new agent pod", lambda: api.agent_pod(node).metadata.uid != old.metadata.uid, 60)
        holds_for("the pod waiting for the authority", lambda: api.agent_pod(node).status.phase == "Pending", 10)
    finally:
        api.scale_operator(1)
    wait_for("the ConfigMap", lambda: api.core.read_namespaced_config_map(AUTHORITY, NAMESPACE), 120)
    api.apply_policy("p", {"vm": {"swappiness": 50}})
    wait_swappiness(cluster, node, 50, timeout=120)


def test_cluster_of_the_tests_is_the_one_we_mean(cluster: Cluster, api: Api) -> None:
    assert {n.metadata.name for n in api.core.list_node().items} == set(cluster.nodes)
    assert api.operator_pod().metadata.namespace == NAMESPACE
