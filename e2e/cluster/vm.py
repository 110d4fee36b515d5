# SPDX-License-Identifier: Apache-2.0
"""One node as a QEMU process: two NUMA nodes, two disks, two networks."""

import os
import subprocess
from pathlib import Path

from devtool.errors import DevError
from devtool.process import Daemon, run
from e2e.cluster import layout, rootfs
from e2e.cluster.kernels import Kernel
from e2e.cluster.pki import Pki

# A NUMA node has no more kswapd workers than processors, and the sample policy wants four on each.
PATCHED_CPUS = 8
STOCK_CPUS = 2
NUMA_NODE_MIB = 768
_APPEND = ("console=ttyS0 root=/dev/vda rw rootfstype=ext4 init=/sbin/init net.ifnames=0 quiet loglevel=4 panic=-1 "
           "mitigations=off")


class Vm:
    """The machine of one node; its disks and keys lie in folder/nodes/NAME, its process in folder/run."""

    def __init__(self, folder: Path, plan: layout.Layout, node: layout.Node):
        self.node = node
        self._plan = plan
        self._folder = folder / "nodes" / node.name
        self._ssh = folder / "ssh"
        self.console = folder / "run" / f"{node.name}.console"
        self.daemon = Daemon(folder / "run", f"vm-{node.name}")
        self._disk = self._folder / "disk.qcow2"

    def exists(self) -> bool:
        """Whether create() has been here, maybe in an earlier ./dev."""
        return self._disk.exists()

    def create(self, base: Path, pki: Pki) -> None:
        """Disks and keys. base is only read, and must stay as long as the node lives."""
        self._folder.mkdir(parents=True, exist_ok=True)
        make_keys(self._ssh / "user")
        keys = make_keys(self._ssh / "host-keys" / self.node.name)
        rootfs.write_node_archive(self._folder / "node.tar", self.node, self._plan, pki,
                                  host_key=keys / "key", user=self._ssh / "user" / "public")
        unfinished = self._disk.with_suffix(".new")
        run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", base, unfinished])
        unfinished.replace(self._disk)

    def start(self, kernel: Kernel) -> None:
        """Boots the node; one that runs is booted anew if its kernel or its machine is another one now."""
        command = qemu_command(self.node, self._plan, kernel, self._disk, self._folder / "node.tar", self.console)
        if self.daemon.pid() is not None and self.daemon.argv() != command:
            self.output(["sync"])
            self.daemon.stop()
        self.daemon.start(command)

    def command(self, words: list[str]) -> list[str | Path]:
        """The host's command line that runs words as root in the node; exit status and output are theirs."""
        return ["dbclient", "-i", self._ssh / "user" / "key", "-T",
                f"root@{self._plan.loopback(self.node)}", *words]

    def call(self, words: list[str]) -> int:
        """Runs words in the node with the caller's stdin, stdout and stderr."""
        return subprocess.run(self.command(words), env=self._environment(), check=False).returncode

    def output(self, words: list[str]) -> str:
        return run(self.command(words), env=self._environment())

    def _environment(self) -> dict[str, str]:
        """dbclient looks for known hosts below HOME; the user's own stay as they are."""
        home = self._ssh / "homes" / self.node.name
        known = home / ".ssh" / "known_hosts"
        if not known.exists():
            known.parent.mkdir(parents=True, exist_ok=True)
            kind, key, *_ = (self._ssh / "host-keys" / self.node.name / "public").read_text().split()
            known.write_text(f"{self._plan.loopback(self.node)} {kind} {key}\n")
        return {**os.environ, "HOME": str(home)}


def make_keys(folder: Path) -> Path:
    """An ed25519 key pair in dropbear's format, unless it is there: folder/key and folder/public."""
    if not (folder / "public").exists():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (folder / "key").unlink(missing_ok=True)
        printed = run(["dropbearkey", "-t", "ed25519", "-f", folder / "key"])
        public = [line for line in printed.splitlines() if line.startswith("ssh-ed25519 ")]
        if len(public) != 1:
            raise DevError(f"dropbearkey printed no public key: {printed}")
        (folder / "public").write_text(public[0] + "\n")
    return folder


def qemu_command(node: layout.Node, plan: layout.Layout, kernel: Kernel, disk: Path, archive: Path,
                 console: Path) -> list[str]:
    """The command line; pure, so that a test can look at it.

    TCG: the emulation that works everywhere. tb-size keeps QEMU's own memory small; cache=unsafe
    because a disk lives no longer than its cluster.
    """
    loopback = plan.loopback(node)
    cpus = PATCHED_CPUS if node.kernel == "patched" else STOCK_CPUS
    half = cpus // 2
    forwards = "".join(f",hostfwd=tcp:{loopback}:{port}-:{port}" for port in layout.FORWARDED_PORTS)
    initrd = ["-initrd", str(kernel.initrd)] if kernel.initrd else []
    return [
        "qemu-system-x86_64", "-name", f"reclaim-{node.name}", "-machine", "q35,usb=off,vmport=off",
        "-accel", "tcg,thread=multi,tb-size=256", "-cpu", "max", "-smp", str(cpus), "-m", f"{2 * NUMA_NODE_MIB}M",
        "-object", f"memory-backend-ram,id=m0,size={NUMA_NODE_MIB}M",
        "-object", f"memory-backend-ram,id=m1,size={NUMA_NODE_MIB}M",
        "-numa", f"node,nodeid=0,cpus=0-{half - 1},memdev=m0",
        "-numa", f"node,nodeid=1,cpus={half}-{cpus - 1},memdev=m1",
        "-nodefaults", "-no-user-config", "-display", "none",
        "-kernel", str(kernel.image), *initrd, "-append", _APPEND,
        "-drive", f"file={disk},if=none,id=disk,format=qcow2,cache=unsafe,aio=threads",
        "-device", "virtio-blk-pci,drive=disk",
        "-drive", f"file={archive},if=none,id=archive,format=raw,readonly=on",
        "-device", "virtio-blk-pci,drive=archive",
        "-netdev", f"user,id=host,restrict=off{forwards}",
        "-device", f"virtio-net-pci,netdev=host,romfile=,mac=52:54:00:0a:00:{node.mac_suffix}",
        "-netdev", f"socket,id=nodes,mcast={layout.NODE_NETWORK_GROUP}:{plan.ports['node-network']},localaddr=127.0.0.1",
        "-device", f"virtio-net-pci,netdev=nodes,romfile=,mac=52:54:00:ac:00:{node.mac_suffix}",
        "-device", "virtio-rng-pci", "-serial", f"file:{console}", "-monitor", "none",
    ]
