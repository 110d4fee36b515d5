# SPDX-License-Identifier: Apache-2.0
"""./dev up: from nothing to the product running on a real cluster, in stages that are done once."""

import json
import os
import time
from collections.abc import Iterable
from typing import Any

from devtool import apt, go_programs, paths
from devtool.errors import DevError
from devtool.process import run
from devtool.progress import Progress, clock
from devtool.stage import Stage, ensure, lock, times
from e2e.cluster import control_plane, images, install, kernels, layout, prometheus, rootfs, screen
from e2e.cluster.cluster import Cluster
from e2e.cluster.kernels import Kernel


def bring_up(patched: int | None = None, stock: int | None = None, bare: bool = False) -> Cluster:
    """Returns the running cluster with the product installed; with bare, without the product.

    patched and stock are numbers of nodes; None = those of the remembered cluster, else one each.
    """
    rootfs.require_root()
    start = time.monotonic()
    with lock("cluster"):
        cluster = _plan(patched, stock)
        apt.ensure_installed([*apt.BUILD_PACKAGES, *apt.CLUSTER_PACKAGES])
        stages = [control_plane.etcd_stage(), prometheus.stage(), *(go_programs.stage(n) for n in go_programs.PROGRAMS)]
        kinds = {n.kernel for n in cluster.plan.nodes}
        _announce(stages, programs=not bare and not images.has_programs(),
                  kernel="patched" in kinds and not kernels.has_patched())
        product = None if bare else images.build_product()
        for stage in stages:
            ensure(stage)
        on_disk = {**images.basic(), **(product.files if product else {})}
        boot = _kernels(kinds)
        cluster.plan.save(cluster.folder / "layout.json")
        cluster.start_control_plane()
        cluster.start_nodes(lambda: ensure(rootfs.base_stage(on_disk.values())) / "base.img", boot, on_disk)
        if product:
            # Metrics come out on fixed ports of each node, where QEMU forwards them to Prometheus.
            install.helm_upgrade(cluster.environment(), product, {
                "agent.metrics.hostPort": str(layout.AGENT_METRICS_PORT)})
            install.wait_for_every_agent(cluster.kubectl)
            cluster.start_prometheus()
            install.apply_sample_policy(cluster.kubectl)
    screen.show(cluster, clock(time.monotonic() - start))
    return cluster


def install_into_existing() -> None:
    """./dev up --existing: builds and installs into the cluster of $KUBECONFIG.

    Precondition, checked before anything is changed there: its nodes have the two images. How they
    get them is that cluster's affair, so a refusal says where the archives are.
    """
    if not os.environ.get("KUBECONFIG"):
        raise DevError("--existing needs KUBECONFIG to name the cluster to install into", 2)
    environment = {"KUBECONFIG": os.environ["KUBECONFIG"]}
    product = images.build_product()
    nodes = json.loads(run([go_programs.binary("kubectl"), "get", "nodes", "-o", "json"], env=environment))["items"]
    lacking = nodes_lacking(nodes, product.files)
    if lacking:
        archives = "\n".join(f"  {reference}\n    {file}" for reference, file in product.files.items())
        raise DevError(f"these nodes do not have the images yet: {', '.join(lacking)}\n{archives}\n"
                       "Bring the archives to them, then run this again. On a node: ctr -n k8s.io images import FILE; "
                       "kind: kind load image-archive FILE; minikube: minikube image load FILE")
    install.helm_upgrade(environment, product, {})


def nodes_lacking(nodes: Iterable[dict[str, Any]], references: Iterable[str]) -> list[str]:
    """Names of Linux nodes whose status does not list all of the images."""
    wanted = set(references)
    return [node["metadata"]["name"] for node in nodes
            if node["status"].get("nodeInfo", {}).get("operatingSystem", "linux") == "linux"
            and wanted - {name for image in node["status"].get("images", []) for name in image.get("names", [])}]


def _plan(patched: int | None, stock: int | None) -> Cluster:
    remembered = Cluster.remembered()
    if remembered is None:
        nodes = layout.make_nodes(1 if patched is None else patched, 1 if stock is None else stock)
        return Cluster(paths.cluster_state(), layout.choose(nodes))
    have = [sum(n.kernel == kind for n in remembered.plan.nodes) for kind in ("patched", "stock")]
    if (patched not in (None, have[0])) or (stock not in (None, have[1])):
        raise DevError(f"the cluster has {have[0]} patched and {have[1]} stock nodes; for other numbers: ./dev down, then up")
    if not any(screen.parts(remembered).values()) and (taken := layout.taken(remembered.plan)):
        raise DevError(f"another program has {', '.join(taken)}, where the cluster was before it ended (ss -ltunp shows which). "
                       "End that program, or ./dev down and up for a new cluster with ports that are free")
    return remembered


def _announce(stages: Iterable[Stage], programs: bool, kernel: bool) -> None:
    """Says what is to be built for the first time, and how long all of it usually takes."""
    known = times()
    todo = {s.name: known.get(s.name, s.usual_seconds) for s in stages if not s.is_done()}
    if programs:
        todo = {"programs": images.PROGRAMS_SECONDS, **todo}
    if kernel:
        todo["patched kernel"] = kernels.PATCHED_SECONDS
    if todo:
        print(f"To build: {', '.join(todo)} (about {clock(sum(todo.values()))})", flush=True)


def _kernels(wanted: set[str]) -> dict[str, Kernel]:
    found = {}
    if "stock" in wanted:
        with Progress("stock kernel", 30) as progress:
            found["stock"] = kernels.stock(progress.report)
    if "patched" in wanted:
        found["patched"] = kernels.patched()
    return found
