# SPDX-License-Identifier: Apache-2.0
"""Builds the Go programs of the cluster from the modules in e2e/cluster/programs/."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from devtool import apt, paths
from devtool.content_key import key_of
from devtool.errors import DevError
from devtool.process import run
from devtool.stage import Report, Stage, ensure

MODULES = paths.REPO / "e2e" / "cluster" / "programs"
KUBERNETES_VERSION = "v1.36.3"
CONTAINERD_VERSION = "v2.4.2"
HELM_VERSION = "v3.22.0"

_KUBERNETES_LDFLAGS = (f"-s -w -X k8s.io/component-base/version.gitVersion={KUBERNETES_VERSION} "
                       "-X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36")


@dataclass(frozen=True)
class GoProgram:
    """module: folder under programs/; package: import path of its main package."""

    module: str
    package: str
    ldflags: str
    usual_seconds: float
    tags: str = ""

    @property
    def name(self) -> str:
        return self.package.rsplit("/", 1)[-1]


def _kubernetes(name: str, usual_seconds: float) -> GoProgram:
    return GoProgram("kubernetes", f"k8s.io/kubernetes/cmd/{name}", _KUBERNETES_LDFLAGS, usual_seconds)


def _containerd(name: str, usual_seconds: float) -> GoProgram:
    return GoProgram("containerd", f"github.com/containerd/containerd/v2/cmd/{name}",
                     f"-s -w -X github.com/containerd/containerd/v2/version.Version={CONTAINERD_VERSION}",
                     usual_seconds, "no_btrfs no_devmapper no_zfs no_aufs netgo osusergo")


# In an order in which each shares as much as possible with those before it.
PROGRAMS = {p.name: p for p in (
    _kubernetes("kube-apiserver", 220),
    _kubernetes("kube-controller-manager", 55),
    _kubernetes("kube-scheduler", 10),
    _kubernetes("kubectl", 25),
    _kubernetes("kubelet", 60),
    _kubernetes("kube-proxy", 10),
    _containerd("containerd", 80),
    _containerd("containerd-shim-runc-v2", 5),
    _containerd("ctr", 10),
    GoProgram("helm", "helm.sh/helm/v3/cmd/helm",
              f"-s -w -X helm.sh/helm/v3/internal/version.version={HELM_VERSION}", 60),
    GoProgram("coredns", "github.com/coredns/coredns", "-s -w", 150),
)}


def stage(name: str) -> Stage:
    program = PROGRAMS[name]
    module = MODULES / program.module

    def build(out: Path, report: Report) -> None:
        go = toolchain(report)
        report("go build (modules come from the Go module proxy)")
        tags = ["-tags", program.tags] if program.tags else []
        # -mod=readonly is Go's default: a go.sum that does not fit is an error, never an edit.
        run([go, "build", "-trimpath", *tags, "-ldflags", program.ldflags, "-o", out / program.name,
             program.package], cwd=module, env=_environment(),
            log=paths.cache_root() / "logs" / f"go-{program.name}.log")

    key = key_of([module / "go.mod", module / "go.sum", program.package, program.ldflags, program.tags])
    return Stage(program.name, program.usual_seconds, key, build)


def binary(name: str) -> Path:
    """Path of the built program; builds it when it is not there."""
    return ensure(stage(name)) / name


def toolchain(report: Report) -> str:
    """A go command new enough for the modules: the one on PATH, else Debian's from trixie-backports."""
    wanted = max(_go_line(f) for f in MODULES.glob("*/go.mod"))
    found = shutil.which("go")
    if found and _version_of(found) >= wanted:
        return found
    report("Go toolchain from Debian")
    series = f"golang-{wanted[0]}.{wanted[1]}"
    root = ensure(apt.unpacked("go-toolchain", [f"{series}-go", f"{series}-src"], 40, "trixie-backports"))
    return str(root / "usr/lib" / f"go-{wanted[0]}.{wanted[1]}" / "bin" / "go")


def _environment() -> dict[str, str]:
    """Go's caches lie in ours, so that nothing is left elsewhere and --purge (hence modcacherw) removes them.

    Its telemetry would go to the configuration folder, from where only `go env -w` settings (GOENV) are wanted.
    """
    caches = paths.cache_root() / "go"
    settings = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "go" / "env"
    return {"CGO_ENABLED": "0", "GOCACHE": str(caches / "build"), "GOMODCACHE": str(caches / "modules"),
            "XDG_CONFIG_HOME": str(caches / "config"), "GOENV": os.environ.get("GOENV") or str(settings),
            "GOFLAGS": f"{os.environ.get('GOFLAGS', '')} -modcacherw".strip()}


def _go_line(mod: Path) -> tuple[int, ...]:
    match = re.search(r"^go (\d+(?:\.\d+)+)$", mod.read_text(), re.MULTILINE)
    if not match:
        raise DevError(f"{mod} has no go line")
    return tuple(int(x) for x in match[1].split("."))


def _version_of(go: str) -> tuple[int, ...]:
    text = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, check=False,
                          env={**os.environ, **_environment()}).stdout
    match = re.match(r"go(\d+(?:\.\d+)*)", text)
    return tuple(int(x) for x in match[1].split(".")) if match else (0,)
