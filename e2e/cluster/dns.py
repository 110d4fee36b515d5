# SPDX-License-Identifier: Apache-2.0
"""Cluster DNS: CoreDNS as a process of the host, behind the Service kube-dns."""

from pathlib import Path

from devtool import go_programs
from devtool.process import Daemon, wait_for
from e2e.cluster import layout
from e2e.cluster.http import get


def start(folder: Path, plan: layout.Layout) -> None:
    corefile = folder / "Corefile"
    corefile.write_text(corefile_text(plan, folder / "pki" / "coredns.kubeconfig"))
    daemon = Daemon(folder / "run", "coredns")
    daemon.start([go_programs.binary("coredns"), "-conf", corefile])

    def healthy() -> bool:
        daemon.check_alive()
        return get(f"http://127.0.0.1:{plan.ports['dns-health']}/health") == "OK"

    wait_for("CoreDNS to be healthy", healthy, timeout=60)


def corefile_text(plan: layout.Layout, kubeconfig: Path) -> str:
    """Answers for the cluster's names; every other name does not exist: a test cluster asks nobody outside."""
    return f"""cluster.local:{plan.ports['dns']} in-addr.arpa:{plan.ports['dns']} {{
    bind 127.0.0.1
    errors
    health 127.0.0.1:{plan.ports['dns-health']}
    kubernetes cluster.local in-addr.arpa {{
        kubeconfig {kubeconfig}
    }}
    cache 5
}}
.:{plan.ports['dns']} {{
    bind 127.0.0.1
    errors
    template ANY ANY {{
        rcode NXDOMAIN
    }}
}}
"""


def service_manifest(plan: layout.Layout) -> str:
    """kube-dns has no pods: its one endpoint is the host, as the VMs see it."""
    port = plan.ports["dns"]
    return f"""apiVersion: v1
kind: Service
metadata: {{name: kube-dns, namespace: kube-system}}
spec:
  clusterIP: {layout.DNS_SERVICE_IP}
  ports:
  - {{name: dns, port: 53, protocol: UDP, targetPort: {port}}}
  - {{name: dns-tcp, port: 53, protocol: TCP, targetPort: {port}}}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {{name: kube-dns-host, namespace: kube-system, labels: {{kubernetes.io/service-name: kube-dns}}}}
addressType: IPv4
endpoints:
- {{addresses: [{layout.HOST_IN_GUEST}], conditions: {{ready: true}}}}
ports:
- {{name: dns, port: {port}, protocol: UDP}}
- {{name: dns-tcp, port: {port}, protocol: TCP}}
"""
