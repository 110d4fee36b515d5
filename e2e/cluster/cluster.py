# SPDX-License-Identifier: Apache-2.0
"""The running cluster as one thing: start it, ask it, stop it."""

import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

from devtool import go_programs, paths
from devtool.errors import DevError
from devtool.process import Daemon, known_daemons, run, wait_for
from devtool.progress import Progress
from e2e.cluster import dns, image_delivery, layout, prometheus
from e2e.cluster.control_plane import ControlPlane
from e2e.cluster.kernels import Kernel
from e2e.cluster.vm import Vm

MANIFESTS = Path(__file__).parent / "manifests"


class Cluster:
    """Everything below one state folder. Methods may be repeated; what runs already stays as it is."""

    def __init__(self, folder: Path, plan: layout.Layout):
        self.folder = folder
        self.plan = plan
        self.control_plane = ControlPlane(folder, plan)

    @staticmethod
    def remembered() -> "Cluster | None":
        folder = paths.cluster_state()
        plan = layout.load(folder / "layout.json")
        return Cluster(folder, plan) if plan else None

    @staticmethod
    def current() -> "Cluster":
        """The cluster that ./dev up has made; a DevError with the way out when there is none."""
        found = Cluster.remembered()
        if found is None:
            raise DevError("there is no cluster. ./dev up makes one.")
        return found

    @property
    def kubeconfig(self) -> Path:
        return self.control_plane.kubeconfig

    def environment(self) -> dict[str, str]:
        """For kubectl and helm; their caches go where ours are."""
        return {"KUBECONFIG": str(self.kubeconfig), "KUBECACHEDIR": str(self.folder / "kubectl")}

    def vm(self, name: str) -> Vm:
        return Vm(self.folder, self.plan, self.plan.node(name))

    def daemons(self) -> list[Daemon]:
        return known_daemons(self.folder / "run")

    def kubectl(self, *words: str | Path, input_text: str | None = None) -> str:
        return run([go_programs.binary("kubectl"), *words], env=self.environment(), input_text=input_text)

    def start_control_plane(self) -> None:
        with Progress("control plane", 8) as progress:
            progress.report("certificates")
            self.control_plane.make_certificates()
            progress.report("etcd and kube-apiserver")
            self.control_plane.start_api()
            progress.report("controller-manager, scheduler, access rules, DNS")
            self.control_plane.start_controllers()
            self.kubectl("apply", "--server-side", "-f", MANIFESTS)
            self.kubectl("apply", "--server-side", "-f", "-", input_text=dns.service_manifest(self.plan))
            dns.start(self.folder, self.plan)

    def start_nodes(self, base: Callable[[], Path], kernels: Mapping[str, Kernel], images: Mapping[str, Path]) -> None:
        """Boots every node and waits until all are Ready.

        base     makes the disk that a new node starts from, and is asked only when there is a new node
        kernels  by Node.kernel
        images   those on the base disk; a node that is older gets what it lacks
        """
        for node in self.plan.nodes:
            if not self.vm(node.name).exists():
                self.vm(node.name).create(base(), self.control_plane.pki)
                self._inventory(node).add(set(images))
        with Progress(f"{len(self.plan.nodes)} nodes", 30) as progress:
            for node in self.plan.nodes:
                self.vm(node.name).start(kernels[node.kernel])
            wait_for("all nodes to be Ready", lambda: self._all_ready(progress), timeout=300, every=0.5)
        if all(set(images) <= self._inventory(node).known() for node in self.plan.nodes):
            return
        with Progress("images into running nodes", 20), ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda node: image_delivery.deliver(self.vm(node.name), self._inventory(node), images),
                          self.plan.nodes))

    def start_prometheus(self) -> None:
        with Progress("Prometheus", 3):
            prometheus.start(self.folder, self.plan)

    def ready_nodes(self) -> list[str]:
        """Our nodes that are Ready, in order."""
        items = json.loads(self.control_plane.get("/api/v1/nodes"))["items"]
        conditions = {i["metadata"]["name"]: i["status"].get("conditions", []) for i in items}
        return [n.name for n in self.plan.nodes
                if said_ready(conditions.get(n.name, []), since=self.vm(n.name).daemon.started_at())]

    def stop(self) -> None:
        """Stops everything and forgets the cluster; only processes that are provably ours are touched."""
        for node in self.plan.nodes:
            self.vm(node.name).daemon.stop(grace=2)
        for name in ("prometheus", "coredns"):
            Daemon(self.folder / "run", name).stop()
        self.control_plane.stop()
        shutil.rmtree(self.folder)

    def _all_ready(self, progress: Progress) -> bool:
        for node in self.plan.nodes:
            self.vm(node.name).daemon.check_alive()
        ready = self.ready_nodes()
        progress.report(f"Ready: {' '.join(ready) or 'none yet'}")
        return len(ready) == len(self.plan.nodes)

    def _inventory(self, node: layout.Node) -> image_delivery.Inventory:
        return image_delivery.Inventory(self.folder / "nodes" / node.name / "images.json")


def said_ready(conditions: Iterable[Mapping[str, str]], since: float) -> bool:
    """Whether a kubelet has said Ready after `since` (seconds since the epoch).

    For 40 s after its end a node still counts as Ready; a machine that ./dev starts anew within them has not said so yet.
    (A reboot inside the machine is not seen: its QEMU is the old one.)
    """
    return any(c["type"] == "Ready" and c["status"] == "True" and
               datetime.fromisoformat(c["lastHeartbeatTime"]).timestamp() >= since for c in conditions)
