# SPDX-License-Identifier: Apache-2.0
"""Prometheus as a process of the host, which asks agents and operator through QEMU's port forwarding.

Targets are fixed, one agent for each node: Debian builds Prometheus without discovery through Kubernetes,
and the nodes of this cluster are known. The operator may run anywhere; its node port is the same on every node.
"""

import json
import urllib.error
import urllib.parse
from pathlib import Path
from typing import Any

from devtool import apt
from devtool.errors import DevError
from devtool.process import Daemon, wait_for
from devtool.stage import Stage, ensure
from e2e.cluster import layout
from e2e.cluster.http import get

def stage() -> Stage:
    return apt.unpacked("prometheus", ["prometheus"], 10)


def url(plan: layout.Layout) -> str:
    return f"http://127.0.0.1:{plan.ports['prometheus']}"


def start(folder: Path, plan: layout.Layout) -> None:
    config = folder / "prometheus.yaml"
    config.write_text(config_text(plan))
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
    try:
        answer = get(f"{url(plan)}/api/v1/query?{urllib.parse.urlencode({'query': expression})}")
    except urllib.error.HTTPError as e:
        raise DevError(f"Prometheus refuses {expression!r}: {json.load(e).get('error', e)}") from e
    except OSError as e:
        raise DevError(f"Prometheus does not answer at {url(plan)} ({e}); ./dev status shows what runs") from e
    data = json.loads(answer)
    result = data["data"]["result"]
    # A scalar has the form of one sample without labels.
    return [{"metric": {}, "value": result}] if data["data"]["resultType"] in ("scalar", "string") else result


def config_text(plan: layout.Layout) -> str:
    agents = "".join(f"""
  - targets: ["{plan.loopback(node)}:{layout.AGENT_METRICS_PORT}"]
    labels: {{node: {node.name}}}""" for node in plan.nodes)
    return f"""global:
  scrape_interval: 5s
  scrape_timeout: 4s
scrape_configs:
- job_name: reclaim-agent
  static_configs:{agents}
- job_name: reclaim-operator
  static_configs:
  - targets: ["{plan.loopback(plan.nodes[0])}:{layout.OPERATOR_METRICS_NODE_PORT}"]
"""
