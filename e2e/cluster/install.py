# SPDX-License-Identifier: Apache-2.0
"""Installs the product with helm, as a user would, and shows that a policy arrives."""

import json
from collections.abc import Callable
from pathlib import Path

from devtool import go_programs, paths
from devtool.errors import DevError
from devtool.process import run, wait_for
from devtool.progress import Progress
from e2e.cluster.images import ProductImages

CHART = paths.REPO / "charts" / "reclaim-operator"
NAMESPACE = "reclaim-system"
RELEASE = "reclaim"
SAMPLE = Path(__file__).parent / "sample-policy.yaml"

Kubectl = Callable[..., str]


def helm_upgrade(environment: dict[str, str], images: ProductImages, settings: dict[str, str]) -> None:
    """helm upgrade --install with our images; returns when the operator and 9 of 10 agents are ready (agent.maxUnavailable)."""
    values = {**image_values("operator", images.operator), **image_values("agent", images.agent), **settings}
    sets = [word for name, value in values.items() for word in ("--set", f"{name}={value}")]
    with Progress("helm install and pods", 40):
        run([go_programs.binary("helm"), "upgrade", "--install", RELEASE, CHART, "--namespace", NAMESPACE,
             "--create-namespace", "--wait", "--timeout", "15m", *sets], env=environment)


def wait_for_every_agent(kubectl: Kubectl) -> None:
    with Progress("agents", 5):
        kubectl("-n", NAMESPACE, "rollout", "status", "daemonset/reclaim-node-agent", "--timeout=3m")


def image_values(part: str, reference: str) -> dict[str, str]:
    repository, tag = reference.rsplit(":", 1)
    return {f"{part}.image.repository": repository, f"{part}.image.tag": tag}


def apply_sample_policy(kubectl: Kubectl) -> None:
    """Applies the sample unless there is a policy already, and waits until its nodes have reported."""
    if json.loads(kubectl("get", "reclaimpolicies", "-o", "json"))["items"]:
        return
    with Progress("sample policy", 10) as progress:
        kubectl("apply", "-f", SAMPLE)

        def arrived() -> bool:
            status = json.loads(kubectl("get", "reclaimpolicies", "sample", "-o", "json")).get("status", {})
            nodes = status.get("nodes", {})
            progress.report(f"{nodes.get('updated', 0)} of {nodes.get('matched', 0)} nodes")
            if nodes.get("matched", 0) > 0 and nodes.get("updated", 0) == nodes["matched"]:
                return True
            raise DevError(f"nodes {json.dumps(nodes)}, the worst {json.dumps(status.get('worst', []))}; ./dev logs agent tells more")

        wait_for("the sample policy to reach its nodes", arrived, timeout=300, every=1)
