# SPDX-License-Identifier: Apache-2.0
"""What the tests see of the cluster: the API server, root shells on the nodes, Prometheus, and the parts to stop and start.

Everything goes through `./dev`, the interface that a person uses too.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kubernetes import client, config

REPOSITORY = Path(__file__).resolve().parents[2]
GROUP = "kswapd.dev"
VERSION = "v1alpha1"
NAMESPACE = "reclaim-system"


def dev(*arguments: str, timeout: float = 120, check: bool = True) -> str:
    """Standard output of `./dev ARGUMENTS`; its standard error is in the exception when it fails."""
    done = subprocess.run(
        [str(REPOSITORY / "dev"), *arguments], capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL
    )
    if check and done.returncode != 0:
        raise RuntimeError(f"./dev {' '.join(arguments)} exited {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


@dataclass(frozen=True)
class Cluster:
    """patched: nodes with our kernel; stock: nodes with Debian's."""

    patched: list[str]
    stock: list[str]
    kubeconfig: str

    @staticmethod
    def discover() -> "Cluster":
        state = json.loads(dev("status", "--json"))
        return Cluster(
            patched=[node["name"] for node in state["nodes"] if not node["stock"]],
            stock=[node["name"] for node in state["nodes"] if node["stock"]],
            kubeconfig=state["kubeconfig"],
        )

    @property
    def nodes(self) -> list[str]:
        return self.patched + self.stock

    def node(self, name: str, command: str, timeout: float = 60) -> str:
        """Runs a command line as root inside the VM."""
        return dev("node", name, command, timeout=timeout).strip()

    def promql(self, expression: str) -> list[dict[str, Any]]:
        """Result of an instant query, as Prometheus' HTTP API gives it."""
        return json.loads(dev("promql", "--json", expression))

    @property
    def token_signing_key(self) -> bytes:
        """The key, in PEM, with which the API server signs the tokens of service accounts."""
        return (Path(self.kubeconfig).parent / "service-account.key").read_bytes()

    def part(self, action: str, name: str) -> None:
        """Stops or starts one part of the control plane: action is `stop` or `start`."""
        dev("part", action, name)

    def kswapd_threads(self, node: str) -> list[str]:
        """Names of the kernel threads whose name begins with kswapd, sorted."""
        return sorted(self.node(node, "cat /proc/[0-9]*/comm 2>/dev/null | grep ^kswapd").split())

    def read(self, node: str, path: str) -> str:
        return self.node(node, f"cat {path}")


class Api:
    """The objects the tests touch, through the official client."""

    def __init__(self, kubeconfig: str) -> None:
        config.load_kube_config(kubeconfig)
        self.custom = client.CustomObjectsApi()
        self.core = client.CoreV1Api()
        self.apps = client.AppsV1Api()

    def apply_policy(self, name: str, spec: dict[str, Any]) -> None:
        """Creates the policy, or replaces its spec."""
        body = {"apiVersion": f"{GROUP}/{VERSION}", "kind": "ReclaimPolicy", "metadata": {"name": name}, "spec": spec}
        try:
            found = self.custom.get_cluster_custom_object(GROUP, VERSION, "reclaimpolicies", name)
        except client.ApiException as error:
            if error.status != 404:
                raise
            self.custom.create_cluster_custom_object(GROUP, VERSION, "reclaimpolicies", body)
            return
        body["metadata"]["resourceVersion"] = found["metadata"]["resourceVersion"]
        self.custom.replace_cluster_custom_object(GROUP, VERSION, "reclaimpolicies", name, body)

    def delete_policy(self, name: str) -> None:
        try:
            self.custom.delete_cluster_custom_object(GROUP, VERSION, "reclaimpolicies", name)
        except client.ApiException as error:
            if error.status != 404:
                raise

    def policies(self) -> list[dict[str, Any]]:
        return self.custom.list_cluster_custom_object(GROUP, VERSION, "reclaimpolicies")["items"]

    def policy(self, name: str) -> dict[str, Any]:
        return self.custom.get_cluster_custom_object(GROUP, VERSION, "reclaimpolicies", name)

    def node_reclaim(self, name: str) -> dict[str, Any]:
        """The status of a NodeReclaim; {} while it has none."""
        return self.custom.get_cluster_custom_object(GROUP, VERSION, "nodereclaims", name).get("status", {})

    def scale_operator(self, replicas: int) -> None:
        self.apps.patch_namespaced_deployment_scale("reclaim-operator", NAMESPACE, {"spec": {"replicas": replicas}})

    def agent_pod(self, node: str) -> client.V1Pod:
        return self._pod("agent", node)

    def operator_pod(self) -> client.V1Pod:
        return self._pod("operator", None)

    def pods(self, component: str) -> list[client.V1Pod]:
        """Those of "agent" or "operator", with those that are ending."""
        return self.core.list_namespaced_pod(NAMESPACE, label_selector=f"app.kubernetes.io/component={component}").items

    def _pod(self, component: str, node: str | None) -> client.V1Pod:
        alive = [p for p in self.pods(component) if p.metadata.deletion_timestamp is None and (node is None or p.spec.node_name == node)]
        assert len(alive) == 1, f"expected one {component} pod on {node}, found {[p.metadata.name for p in alive]}"
        return alive[0]


def condition(status: dict[str, Any], kind: str) -> dict[str, Any]:
    """The condition of this type; {} when there is none."""
    return next((c for c in status.get("conditions", []) if c["type"] == kind), {})


def setting(status: dict[str, Any], name: str, numa_node: int | None = None) -> dict[str, Any]:
    """The setting of this name (and NUMA node); {} when there is none."""
    return next(
        (s for s in status.get("settings", []) if s["name"] == name and (numa_node is None or s.get("numaNode", 0) == numa_node)), {}
    )
