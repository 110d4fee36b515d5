# SPDX-License-Identifier: Apache-2.0
"""A throwaway API server (etcd and kube-apiserver, nothing else) for integration tests.

Each call has its own folder and ports, so several can run side by side.
"""

import os
import random
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from devtool import go_programs
from devtool.process import run
from e2e.cluster import layout
from e2e.cluster.control_plane import ControlPlane

KUBECONFIG_VARIABLE = "RECLAIM_TEST_KUBECONFIG"


@contextmanager
def api_server(crds: Path | None = None) -> Iterator[Path]:
    """Yields the path of an admin kubeconfig; `crds` is a folder of manifests to apply first."""
    folder = Path(tempfile.mkdtemp(prefix="reclaim-apiserver-"))
    # A random start, away from the cluster's own: two that start at once rarely look at the same port.
    plane = ControlPlane(folder, layout.choose((), start=random.randrange(20000, layout.PORTS_FROM - 100)))
    try:
        plane.make_certificates()
        plane.start_api()
        if crds is not None:
            _apply_crds(plane, crds)
        yield plane.kubeconfig
    finally:
        plane.stop(grace=0)  # nothing here is worth a goodbye
        shutil.rmtree(folder)


def run_with_api_server(command: Sequence[str], crds: Path | None) -> int:
    """Runs a command with RECLAIM_TEST_KUBECONFIG set and returns its exit status.

    Without a command it prints the variable and serves until SIGINT or SIGTERM.
    """
    with api_server(crds) as kubeconfig:
        if command:
            return subprocess.run(command, env={**os.environ, KUBECONFIG_VARIABLE: str(kubeconfig)},
                                  check=False).returncode
        print(f"export {KUBECONFIG_VARIABLE}={kubeconfig}", flush=True)
        signal.pause()
    return 0


def _apply_crds(plane: ControlPlane, crds: Path) -> None:
    kubectl = [go_programs.binary("kubectl"), "--kubeconfig", plane.kubeconfig]
    run([*kubectl, "apply", "--server-side", "-f", crds])
    # Unlike apply, wait descends into folders by itself: into crds/testdata.
    run([*kubectl, "wait", "--for=condition=Established", "--timeout=30s", "--recursive=false", "-f", crds])
