# SPDX-License-Identifier: Apache-2.0
"""The images of the cluster: our two programs, the sandbox of each pod, and busybox for test pods."""

from dataclasses import dataclass
from pathlib import Path

from devtool import cmake, oci, paths
from devtool.content_key import key_of
from devtool.process import run
from devtool.progress import Progress
from devtool.stage import Report, Stage, ensure

PAUSE = "localhost/pause:1"
BUSYBOX = "localhost/busybox:1"
PROGRAMS_SECONDS = 280  # that our programs usually take from nothing, on 2 cores
_PAUSE_SOURCE = Path(__file__).parent / "guest" / "pause.c"
_PROGRAMS = {"reclaim-operator": "operator/reclaim-operator", "reclaim-node-agent": "node-agent/reclaim-node-agent"}


@dataclass(frozen=True)
class ProductImages:
    """References with tag, and for each the OCI tar file."""

    operator: str
    agent: str
    files: dict[str, Path]


def product(build_folder: Path) -> ProductImages:
    """Images of the programs in a CMake build folder."""
    references, files = {}, {}
    for name, path in _PROGRAMS.items():
        stage, reference = oci.program_stage(name, build_folder / path)
        files[reference] = ensure(stage) / oci.IMAGE_FILE
        references[name] = reference
    return ProductImages(references["reclaim-operator"], references["reclaim-node-agent"], files)


def build_product() -> ProductImages:
    """Compiles the two programs and packs them."""
    with Progress("programs", PROGRAMS_SECONDS) as progress:
        folder = cmake.build("release", list(_PROGRAMS), progress.report)
    return product(folder)


def has_programs() -> bool:
    """Whether they were built before, so that only what has changed is left to compile."""
    return all((paths.cmake_build("release") / program).exists() for program in _PROGRAMS.values())


def basic() -> dict[str, Path]:
    """Images that every node has, whatever is installed."""
    return {PAUSE: ensure(_pause_stage()) / oci.IMAGE_FILE, BUSYBOX: ensure(_busybox_stage()) / oci.IMAGE_FILE}


def _pause_stage() -> Stage:
    def build(out: Path, report: Report) -> None:
        program = out / "pause"
        run(["gcc", "-static", "-O2", "-s", "-Wall", "-Wextra", "-Werror", "-o", program, _PAUSE_SOURCE])
        oci.write(oci.Image("localhost/pause", ["/pause"], {"/pause": program}, tag="1"), out / oci.IMAGE_FILE)

    return Stage("image-pause", 1, key_of([_PAUSE_SOURCE, Path(oci.__file__)]), build)


def _busybox_stage() -> Stage:
    busybox = Path("/usr/bin/busybox")

    def build(out: Path, report: Report) -> None:
        applets = [a for a in run([busybox, "--list"]).split() if a != "busybox"]
        oci.write(oci.Image("localhost/busybox", ["/bin/sh"], {"/bin/busybox": busybox},
                            links={f"/bin/{a}": "/bin/busybox" for a in applets}, tag="1"), out / oci.IMAGE_FILE)

    return Stage("image-busybox", 1, key_of([busybox, Path(oci.__file__)]), build)
