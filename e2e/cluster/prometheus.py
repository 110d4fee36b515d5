# SPDX-License-Identifier: Apache-2.0
"""Prometheus as a process of the host: finds agents and operator through the API server, asks them through QEMU."""

import json
import urllib.parse
from pathlib import Path
from typing import Any

from devtool import apt
from devtool.errors import DevError
from devtool.process import Daemon, wait_for
from devtool.stage import Stage, ensure
from e2e.cluster import layout
from e2e.cluster.http import get

# app.kubernetes.io/component of the chart's pods -> the port of the node at which they are reached
_PORT_OF_COMPONENT = {"agent": layout.AGENT_METRICS_PORT, "operator": layout.OPERATOR_METRICS_PORT}


def stage() -> Stage:
    return apt.unpacked("prometheus", ["prometheus"], 10)


def url(plan: layout.Layout) -> str:
    return f"http://127.0.0.1:{plan.ports['prometheus']}"


def start(folder: Path, plan: layout.Layout) -> None:
    config = folder / "prometheus.yaml"
    config.write_text(config_text(plan, folder / "pki" / "prometheus.kubeconfig"))
    daemon = Daemon(folder / "run", "prometheus")
    daemon.start([ensure(stage()) / "usr/bin/prometheus", f"--config.file={config}",
                  f"--web.listen-address=127.0.0.1:{plan.ports['prometheus']}",
                  f"--storage.tsdb.path={folder / 'prometheus'}", "--storage.tsdb.retention.time=2d",
                  # Debian's templates and libraries lie where its package would have put them.
                  f"--web.console.templates={folder}", f"--web.console.libraries={folder}"])

    def ready() -> bool:
        daemon.check_alive()
        return "Ready" in get(url(plan) + "/-/ready")

    wait_for("Prometheus to be ready", ready, timeout=60)


def query(plan: layout.Layout, expression: str) -> list[dict[str, Any]]:
    """Result of an instant query, as the HTTP API gives it."""
    answer = get(f"{url(plan)}/api/v1/query?{urllib.parse.urlencode({'query': expression})}")
    data = json.loads(answer)
    if data["status"] != "success":
        raise DevError(f"Prometheus: {data.get('error', answer)}")
    result = data["data"]["result"]
    # A scalar has the form of one sample without labels.
    return [{"metric": {}, "value": result}] if data["data"]["resultType"] in ("scalar", "string") else result


def config_text(plan: layout.Layout, kubeconfig: Path) -> str:
    jobs = "".join(_job(component, port, plan, kubeconfig) for component, port in _PORT_OF_COMPONENT.items())
    return f"""global:
  scrape_interval: 5s
  scrape_timeout: 4s
scrape_configs:
{jobs}"""


def _job(component: str, port: int, plan: layout.Layout, kubeconfig: Path) -> str:
    """Pods of one component; the address of a target follows from the node on which the pod runs."""
    addresses = "".join(f"""
  - source_labels: [__meta_kubernetes_pod_node_name]
    regex: {node.name}
    target_label: __address__
    replacement: {plan.loopback(node)}:{port}""" for node in plan.nodes)
    return f"""- job_name: reclaim-{component}
  kubernetes_sd_configs:
  - role: pod
    kubeconfig_file: {kubeconfig}
    namespaces: {{names: [reclaim-system]}}
    selectors:
    - role: pod
      label: app.kubernetes.io/component={component}
  relabel_configs:
  - source_labels: [__meta_kubernetes_pod_phase]
    regex: Running
    action: keep
  - source_labels: [__meta_kubernetes_pod_container_port_name]
    regex: metrics
    action: keep{addresses}
  - source_labels: [__meta_kubernetes_pod_node_name]
    target_label: node
  - source_labels: [__meta_kubernetes_pod_name]
    target_label: pod
"""
