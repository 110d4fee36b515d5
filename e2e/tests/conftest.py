# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Iterator

import pytest

from cluster import NAMESPACE, Api, Cluster, condition, dev
from waiting import wait_for


@pytest.fixture(scope="session")
def cluster() -> Cluster:
    return Cluster.discover()


@pytest.fixture(scope="session")
def api(cluster: Cluster) -> Api:
    return Api(cluster.kubeconfig)


@pytest.fixture
def clean(cluster: Cluster, api: Api) -> Iterator[None]:
    """No policy before and after the test, and every node says so."""
    _remove_policies(cluster, api)
    yield
    _remove_policies(cluster, api)


def _remove_policies(cluster: Cluster, api: Api) -> None:
    for policy in api.policies():
        api.delete_policy(policy["metadata"]["name"])
    for node in cluster.nodes:
        wait_for(f"{node} to report that no policy is in force", lambda: _idle(api, node), timeout=120)


def _idle(api: Api, node: str) -> bool:
    status = api.node_reclaim(node)
    return "policy" not in status and condition(status, "Connected").get("status") == "True"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """A failed test comes with the logs of the programs it was about."""
    outcome = yield
    report = outcome.get_result()
    if report.when != "call" or not report.failed:
        return
    for title, arguments in {
        "nodereclaims": ["kubectl", "get", "nodereclaims", "-o", "yaml"],
        "pods": ["kubectl", "-n", NAMESPACE, "get", "pods", "-o", "wide"],
        "operator": ["kubectl", "-n", NAMESPACE, "logs", "-l", "app.kubernetes.io/component=operator", "--tail=60"],
        "agents": ["kubectl", "-n", NAMESPACE, "logs", "-l", "app.kubernetes.io/component=agent", "--tail=60", "--prefix"],
    }.items():
        report.sections.append((title, dev(*arguments, check=False)))
