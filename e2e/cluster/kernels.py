# SPDX-License-Identifier: Apache-2.0
"""The two kernels that nodes boot: Debian's own as it is, and ours with the series applied."""

import importlib.util
import lzma
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from devtool import apt, cmake, paths
from devtool.content_key import key_of
from devtool.errors import DevError
from devtool.process import run
from devtool.progress import Progress
from devtool.stage import Report, Stage, ensure

PATCHED_SECONDS = 600  # that our kernel usually takes from nothing, on 2 cores
SUITE = "trixie-backports"
_STOCK_PATTERN = r"linux-binary-7\.3\.\d+\+deb13-cloud-amd64"
_SOURCE_PACKAGE = "linux-source-7.3"
_GUEST = Path(__file__).parent / "guest"

# What a node needs and the cloud kernel has as modules; dependencies come by themselves. (virtio_pci,
# ext4 and lz4 are built in, and the package has no modules.builtin from which modprobe could tell.)
_MODULES = (
    "virtio_blk virtio_net virtio_rng overlay zram zstd veth bridge br_netfilter dummy loop nf_tables "
    "nf_conntrack nf_conntrack_netlink nft_compat nft_chain_nat nft_ct nft_nat nft_masq nft_redir nft_reject "
    "nft_reject_ipv4 nft_reject_ipv6 nft_reject_inet nft_fib nft_fib_ipv4 nft_fib_ipv6 nft_fib_inet nft_numgen "
    "nft_limit nft_hash nft_log xt_tcpudp xt_nat xt_multiport xt_MASQUERADE xt_comment xt_conntrack xt_mark "
    "xt_addrtype xt_statistic null_blk "
).split()


@dataclass(frozen=True)
class Kernel:
    image: Path
    initrd: Path | None = None


def stock_packages_stage(report: Report) -> Stage:
    binary = apt.newest(_STOCK_PATTERN, SUITE, report)
    return apt.unpacked("stock-kernel-packages", [binary, binary.replace("linux-binary", "linux-modules")], 15, SUITE)


def stock_stage(packages: Path) -> Stage:
    """vmlinuz and an initial RAM disk with the modules of a node, from the unpacked packages."""
    def build(out: Path, report: Report) -> None:
        modules = _one(packages, "**/lib/modules/*")
        version = modules.name
        shutil.copy(modules / "vmlinuz", out / "vmlinuz")
        report("module dependencies")
        # depmod writes into the tree that it reads, so it gets a copy of its own.
        root = out / "root"
        shutil.copytree(modules, root / "lib/modules" / version, symlinks=True)
        run(["depmod", "-b", root, version])
        report("initial RAM disk")
        _write_initrd(root, version, out / "initrd", out / "initrd-root")
        shutil.rmtree(root)
        shutil.rmtree(out / "initrd-root")

    key = key_of([packages.name, " ".join(_MODULES), _GUEST / "initrd-init"])
    return Stage("stock-kernel", 20, key, build)


def stock(report: Report) -> Kernel:
    folder = ensure(stock_stage(ensure(stock_packages_stage(report))))
    return Kernel(folder / "vmlinuz", folder / "initrd")


def patched() -> Kernel:
    """Our kernel, built by kernel/build.py from Debian's source package or from the tree KERNEL_SRC."""
    source = os.environ.get("KERNEL_SRC")
    package = None if source else _one(ensure(source_stage()), "*.deb")
    builder = _builder()
    with Progress("patched kernel", PATCHED_SECONDS) as progress:
        try:
            image = builder.build_kernel(paths.cache_root(), package, Path(source) if source else None,
                                         cmake.jobs(), progress.report)
        except builder.BuildError as e:
            raise DevError(str(e)) from e
    return Kernel(image)


def has_patched() -> bool:
    """Whether a kernel of ours was built before, so that a change costs less than the first one."""
    return any((paths.cache_root() / "kernel" / "images").glob("*/bzImage"))


def source_stage() -> Stage:
    return apt.downloaded("kernel-source", _SOURCE_PACKAGE, 5, SUITE)


def _builder():
    path = paths.REPO / "kernel" / "build.py"
    spec = importlib.util.spec_from_file_location("kernel_build", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _one(root: Path, pattern: str) -> Path:
    found = sorted(root.glob(pattern))
    if len(found) != 1:
        raise DevError(f"expected one {pattern} below {root}, found {len(found)}: {[str(f) for f in found][:5]}")
    return found[0]


def _write_initrd(root: Path, version: str, out: Path, work: Path) -> None:
    for folder in ("bin", "modules", "proc", "dev", "new"):
        (work / folder).mkdir(parents=True)
    shutil.copy("/usr/bin/busybox", work / "bin/busybox")
    shutil.copy(_GUEST / "initrd-init", work / "init")
    (work / "init").chmod(0o755)
    order: list[str] = []
    for module in _MODULES:
        done = subprocess.run(["modprobe", "-d", root, "-S", version, "--show-depends", module],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise DevError(f"the stock kernel {version} has no module {module}: {done.stderr.strip()}")
        for path in insmod_paths(done.stdout):
            name = path.name.removesuffix(".xz")
            if name not in order:
                order.append(name)
                data = path.read_bytes()
                (work / "modules" / name).write_bytes(lzma.decompress(data) if path.suffix == ".xz" else data)
    (work / "modules/order").write_text("".join(f"{name}\n" for name in order))
    names = "\n".join(["."] + sorted(str(f.relative_to(work)) for f in work.rglob("*")))
    run(["sh", "-c", 'cd "$0" && cpio --quiet -o -H newc | lz4 -q -l -9 -c > "$1"', work, out], input_text=names)


def insmod_paths(show_depends: str) -> list[Path]:
    """Module files in load order out of `modprobe --show-depends`; built-in ones need no loading."""
    return [Path(m[1]) for m in re.finditer(r"^insmod (\S+)", show_depends, re.MULTILINE)]
