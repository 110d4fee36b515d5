# SPDX-License-Identifier: Apache-2.0
"""Debian packages: installed on this machine, or only unpacked into the cache.

Installed are build tools and libraries without a service. Programs whose package would start a
service (etcd, prometheus), and packages of other Debian suites, are unpacked into the cache: the
machine's apt sources and services stay as they are.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from devtool import paths
from devtool.content_key import key_of
from devtool.errors import DevError
from devtool.process import run
from devtool.progress import Progress
from devtool.stage import Report, Stage

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"

BUILD_PACKAGES = (
    # C++ programs and their tests
    "g++ cmake ninja-build ccache pkg-config protobuf-compiler protobuf-compiler-grpc libgrpc++-dev "
    "libprotobuf-dev libabsl-dev libcpp-httplib-dev prometheus-cpp-dev libyaml-cpp-dev "
    "nlohmann-json3-dev libgtest-dev libgmock-dev libssl-dev openssl "
    # kernel
    "flex bison bc libelf-dev rsync zstd lz4 xz-utils cpio kmod make gcc patch"
).split()

CLUSTER_PACKAGES = (
    "qemu-system-x86 qemu-utils busybox-static runc containernetworking-plugins iptables nftables "
    "iproute2 conntrack mount util-linux e2fsprogs dropbear-bin ca-certificates"
).split()

CHECK_PACKAGES = "clang-format clang-tidy shellcheck python3-pyflakes python3-yaml".split()

FUZZ_PACKAGES = "clang libclang-rt-dev".split()

TEST_PACKAGES = "python3-pytest python3-kubernetes python3-yaml python3-jwt python3-cryptography python3-grpcio python3-protobuf".split()


def missing(packages: Sequence[str]) -> list[str]:
    query = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *packages],
                           capture_output=True, text=True, check=False)
    present = {line.split()[0] for line in query.stdout.splitlines() if line.endswith(" installed")}
    return [p for p in packages if p not in present]


def ensure_installed(packages: Sequence[str]) -> None:
    """Installs what is missing; asks nothing and needs root only when there is something to install."""
    wanted = missing(packages)
    if not wanted:
        return
    if os.geteuid() != 0:
        raise DevError("Debian packages are missing and only root can install them. Run:\n"
                       f"  sudo apt-get install --no-install-recommends {' '.join(wanted)}")
    log = paths.cache_root() / "logs" / "apt.log"
    env = {"DEBIAN_FRONTEND": "noninteractive"}
    with Progress(f"{len(wanted)} Debian packages", 5 + 1.5 * len(wanted)) as progress:
        progress.report("apt-get update")
        run(["apt-get", "update", "-q"], log=log, env=env)
        progress.report(f"installing {' '.join(wanted)[:60]}")
        run(["apt-get", "install", "-q", "-y", "--no-install-recommends", *wanted], log=log, env=env)


def unpacked(name: str, packages: Sequence[str], usual_seconds: float, suite: str = "") -> Stage:
    """A stage that downloads packages and unpacks them into a folder, as dpkg would into /.

    suite: empty for the suites of this machine, else a Debian suite such as "trixie-backports".
    """
    def build(out: Path, report: Report) -> None:
        download = out / ".deb"
        download.mkdir()
        _download(packages, suite, download, report)
        for deb in sorted(download.glob("*.deb")):
            report(f"unpacking {deb.name}")
            run(["dpkg-deb", "-x", deb, out])
        shutil.rmtree(download)

    return Stage(name, usual_seconds, key_of([suite, *packages]), build)


def downloaded(name: str, package: str, usual_seconds: float, suite: str = "") -> Stage:
    """As unpacked(), but the result holds the package itself, one .deb file."""
    def build(out: Path, report: Report) -> None:
        _download([package], suite, out, report)

    return Stage(name, usual_seconds, key_of([suite, package, "deb"]), build)


def _download(packages: Sequence[str], suite: str, folder: Path, report: Report) -> None:
    options = _private_apt(suite, report) if suite else []
    if not suite and subprocess.run(["apt-cache", "show", "--quiet=2", packages[0]],
                                    capture_output=True, check=False).returncode != 0:
        report("apt-get update")
        run(["apt-get", "update", "-q"], log=paths.cache_root() / "logs" / "apt.log")
    report(f"download of {' '.join(packages)[:60]}")
    # apt's unprivileged download user cannot write here; root downloads instead.
    run(["apt-get", "-q", "-o", "APT::Sandbox::User=root", *options, "download", *packages], cwd=folder)


def newest(pattern: str, suite: str, report: Report) -> str:
    """The newest package name of a suite that matches a regular expression of apt-cache."""
    names = run(["apt-cache", *_private_apt(suite, report), "pkgnames"]).split()
    found = [n for n in names if re.fullmatch(pattern, n)]
    if not found:
        raise DevError(f"suite {suite} has no package that matches {pattern}")
    return max(found, key=lambda n: [int(x) for x in re.findall(r"\d+", n)])


def _private_apt(suite: str, report: Report) -> list[str]:
    """apt options for another suite of the mirror that this machine uses, with own lists and cache."""
    folder = paths.cache_root() / "apt" / suite
    for sub in ("lists/partial", "cache/archives/partial", "empty"):
        (folder / sub).mkdir(parents=True, exist_ok=True)
    sources = folder / "sources.list"
    options = ["-o", f"Dir::Etc::sourcelist={sources}", "-o", f"Dir::Etc::sourceparts={folder}/empty",
               "-o", f"Dir::State::lists={folder}/lists", "-o", f"Dir::Cache={folder}/cache"]
    if not sources.exists():
        report(f"apt-get update of {suite}")
        pending = sources.with_suffix(".pending")
        pending.write_text(f"deb [signed-by={KEYRING}] {debian_mirror()} {suite} main\n")
        pending_options = [o.replace(str(sources), str(pending)) for o in options]
        run(["apt-get", "-q", "-o", "APT::Sandbox::User=root", *pending_options, "update"])
        pending.rename(sources)
    return options


def debian_mirror() -> str:
    """The mirror that this machine's own apt sources use for its Debian release."""
    listing = run(["apt-get", "indextargets", "--format",
                   "$(ORIGIN)|$(COMPONENT)|$(RELEASE)|$(REPO_URI)", "Created-By: Packages"])
    codename = _os_codename()
    return mirror_from_index_targets(listing, codename)


def mirror_from_index_targets(listing: str, codename: str) -> str:
    """Picks the mirror out of lines "origin|component|release|uri"; the main archive, not security."""
    for line in listing.splitlines():
        _origin, component, release, uri = line.split("|")
        if component == "main" and release == codename:
            return uri
    raise DevError(f"no apt source on this machine serves Debian {codename} main; "
                   "./dev needs one to find the mirror. Look at /etc/apt/sources.list.d/.")


def _os_codename() -> str:
    for line in Path("/etc/os-release").read_text().splitlines():
        if line.startswith("VERSION_CODENAME="):
            return line.split("=", 1)[1].strip('"')
    raise DevError("/etc/os-release names no VERSION_CODENAME; ./dev is made for Debian")
