# SPDX-License-Identifier: Apache-2.0
"""etcd, kube-apiserver, kube-controller-manager and kube-scheduler as processes of the host."""

import ssl
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from devtool import apt, go_programs
from devtool.process import Daemon, wait_for
from devtool.stage import Stage, ensure
from e2e.cluster import layout
from e2e.cluster.pki import Certificate, Pki


def etcd_stage() -> Stage:
    return apt.unpacked("etcd", ["etcd-server"], 10)


def certificates(nodes: Sequence[layout.Node], loopbacks: Sequence[str]) -> list[Certificate]:
    """Every certificate of the cluster but the authority's own."""
    api_names = ["127.0.0.1", "localhost", layout.HOST_IN_GUEST, layout.API_SERVICE_IP, "kubernetes",
                 "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"]
    made = [
        Certificate("etcd", "etcd", servers=["127.0.0.1", "localhost"]),
        Certificate("apiserver-etcd-client", "kube-apiserver"),
        Certificate("apiserver", "kube-apiserver", servers=api_names),
        Certificate("apiserver-kubelet-client", "kube-apiserver-kubelet-client"),
        Certificate("admin", "admin", ["system:masters"]),
        Certificate("controller-manager", "system:kube-controller-manager"),
        Certificate("scheduler", "system:kube-scheduler"),
        Certificate("controller-manager-serving", "kube-controller-manager", servers=["127.0.0.1", "localhost"]),
        Certificate("scheduler-serving", "kube-scheduler", servers=["127.0.0.1", "localhost"]),
        Certificate("kube-proxy", "system:kube-proxy"),
        Certificate("coredns", "coredns"),
    ]
    for node, loopback in zip(nodes, loopbacks, strict=True):
        made.append(Certificate(node.cert_name, f"system:node:{node.name}", ["system:nodes"]))
        made.append(Certificate(f"{node.cert_name}-serving", f"system:node:{node.name}", ["system:nodes"],
                                servers=[node.name, node.internal_ip, loopback]))
    return made


class ControlPlane:
    """Runs the control plane of one cluster out of one state folder."""

    def __init__(self, folder: Path, plan: layout.Layout):
        self.folder = folder
        self.pki = Pki(folder / "pki")
        self._ports = plan.ports
        self._plan = plan
        self._run = folder / "run"
        self.server = f"https://127.0.0.1:{plan.ports['apiserver']}"

    @property
    def kubeconfig(self) -> Path:
        return self.pki.folder / "admin.kubeconfig"

    def make_certificates(self) -> None:
        nodes = self._plan.nodes
        self.pki.make_authority()
        self.pki.make_signing_pair("service-account")
        for certificate in certificates(nodes, [self._plan.loopback(n) for n in nodes]):
            self.pki.make(certificate)
        for name in ("admin", "controller-manager", "scheduler", "coredns"):
            self.pki.kubeconfig(name, self.server)

    def start_api(self) -> None:
        """etcd and the API server; returns when /readyz says ok."""
        etcd, api = Daemon(self._run, "etcd"), Daemon(self._run, "kube-apiserver")
        etcd.start(self._etcd_command())
        api.start([*self._with_node_names(), *self._apiserver_command()])

        def ready() -> bool:
            etcd.check_alive()
            api.check_alive()
            return self.get("/readyz") == "ok"

        wait_for("the API server to be ready", ready, timeout=90, every=0.1)

    def start_controllers(self) -> None:
        pki, ports = self.pki, self._ports
        Daemon(self._run, "kube-controller-manager").start([
            go_programs.binary("kube-controller-manager"), f"--kubeconfig={self._kubeconfig_of('controller-manager')}",
            "--bind-address=127.0.0.1", f"--secure-port={ports['controller-manager']}",
            *self._serving("controller-manager"),
            f"--service-account-private-key-file={pki.key('service-account')}", f"--root-ca-file={pki.ca}",
            "--use-service-account-credentials=true", "--leader-elect=false"])
        Daemon(self._run, "kube-scheduler").start([
            go_programs.binary("kube-scheduler"), f"--kubeconfig={self._kubeconfig_of('scheduler')}",
            "--bind-address=127.0.0.1", f"--secure-port={ports['scheduler']}",
            *self._serving("scheduler"), "--leader-elect=false"])

    def stop(self, grace: float = 3) -> None:
        """Clients first, the store last: an API server without etcd hangs while it ends."""
        for name in ("kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd"):
            Daemon(self._run, name).stop(grace)

    def part(self, action: str, name: str) -> None:
        """Stops or starts one program: etcd, apiserver, controller-manager, scheduler."""
        if action == "stop":
            Daemon(self._run, name if name == "etcd" else f"kube-{name}").stop(grace=3)
        elif name in ("etcd", "apiserver"):
            self.start_api()
        else:
            self.start_controllers()

    def get(self, path: str, timeout: float = 5) -> str:
        """GET as admin; OSError when the server is not there or refuses."""
        context = ssl.create_default_context(cafile=str(self.pki.ca))
        context.load_cert_chain(self.pki.crt("admin"), self.pki.key("admin"))
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
        with opener.open(self.server + path, timeout=timeout) as answer:
            return answer.read().decode()

    def _kubeconfig_of(self, name: str) -> Path:
        return self.pki.folder / f"{name}.kubeconfig"

    def _serving(self, name: str) -> list[str]:
        return [f"--tls-cert-file={self.pki.crt(f'{name}-serving')}",
                f"--tls-private-key-file={self.pki.key(f'{name}-serving')}"]

    def _with_node_names(self) -> list[str | Path]:
        """Runs a command where node names resolve to the loopback addresses at which QEMU forwards the kubelets.

        Only that one program sees them, in a mount namespace of its own; the machine's /etc/hosts
        stays as it is. Without nodes nothing is needed, and the command needs no root.
        """
        if not self._plan.nodes:
            return []
        return ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"', self._hosts_file()]

    def _hosts_file(self) -> Path:
        lines = ["127.0.0.1 localhost"]
        lines += [f"{self._plan.loopback(n)} {n.name}" for n in self._plan.nodes]
        path = self.folder / "apiserver-hosts"
        path.write_text("\n".join(lines) + "\n")
        return path

    def _etcd_command(self) -> list[str | Path]:
        pki, client, peer = self.pki, self._ports["etcd"], self._ports["etcd-peer"]
        own = [f"--{kind}{flag}={path}" for kind in ("", "peer-") for flag, path in (
            ("cert-file", pki.crt("etcd")), ("key-file", pki.key("etcd")), ("trusted-ca-file", pki.ca))]
        return [ensure(etcd_stage()) / "usr/bin/etcd", "--name=dev", f"--data-dir={self.folder / 'etcd'}",
                f"--listen-client-urls=https://127.0.0.1:{client}", f"--advertise-client-urls=https://127.0.0.1:{client}",
                f"--listen-peer-urls=https://127.0.0.1:{peer}", f"--initial-advertise-peer-urls=https://127.0.0.1:{peer}",
                f"--initial-cluster=dev=https://127.0.0.1:{peer}", "--client-cert-auth", "--peer-client-cert-auth",
                *own, "--logger=zap", "--log-level=warn",
                # A development cluster lives as long as the machine is up; an fsync for each write only costs.
                "--unsafe-no-fsync"]

    def _apiserver_command(self) -> list[str | Path]:
        pki = self.pki
        return [go_programs.binary("kube-apiserver"),
                f"--etcd-servers=https://127.0.0.1:{self._ports['etcd']}", f"--etcd-cafile={pki.ca}",
                f"--etcd-certfile={pki.crt('apiserver-etcd-client')}", f"--etcd-keyfile={pki.key('apiserver-etcd-client')}",
                "--bind-address=127.0.0.1", f"--secure-port={self._ports['apiserver']}",
                f"--advertise-address={layout.HOST_IN_GUEST}", f"--service-cluster-ip-range={layout.SERVICE_CIDR}",
                f"--tls-cert-file={pki.crt('apiserver')}", f"--tls-private-key-file={pki.key('apiserver')}",
                f"--client-ca-file={pki.ca}", "--anonymous-auth=false", "--authorization-mode=Node,RBAC",
                "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true",
                "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
                f"--service-account-key-file={pki.folder / 'service-account.pub'}",
                f"--service-account-signing-key-file={pki.key('service-account')}",
                f"--kubelet-client-certificate={pki.crt('apiserver-kubelet-client')}",
                f"--kubelet-client-key={pki.key('apiserver-kubelet-client')}",
                f"--kubelet-certificate-authority={pki.ca}", "--kubelet-preferred-address-types=Hostname",
                "--shutdown-delay-duration=0s"]
