# SPDX-License-Identifier: GPL-2.0
"""Boots the node kernel in QEMU with one static C program as init, and reads its console.

Used by selftests/run.py and bench/run.py. Emulation only (TCG): the results must
not depend on what the machine offers.
"""

from __future__ import annotations

import math
import os
import selectors
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


class GuestError(Exception):
    """The guest could not be built or did not do what it should; says what was awaited."""


@dataclass(frozen=True)
class NumaNode:
    """One NUMA node of the guest; cpus = 0 gives a node with memory only."""

    cpus: int
    memory_mib: int


def compile_static(source: Path, output: Path) -> None:
    """Compiles a guest program that needs no library at run time."""
    command = ["gcc", "-std=gnu11", "-O2", "-static", "-Wall", "-Wextra", "-Werror", "-o", str(output), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise GuestError(f"compiling {source.name}:\n{done.stderr}")


def cpio_entry(number: int, name: str, mode: int, data: bytes, device: tuple[int, int] = (0, 0)) -> bytes:
    """One member of a cpio archive in the format that the kernel unpacks (newc)."""
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
    return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)


def write_initramfs(path: Path, init: Path) -> None:
    """An initramfs with nothing but init, the console and the directories it mounts on."""
    members = [(name, 0o040755, b"", (0, 0)) for name in ("dev", "proc", "sys")]
    members += [("dev/console", 0o020600, b"", (5, 1)), ("init", 0o100755, init.read_bytes(), (0, 0)),
                ("TRAILER!!!", 0, b"", (0, 0))]
    path.write_bytes(b"".join(cpio_entry(number, *member) for number, member in enumerate(members, 1)))


def qemu_command(kernel: Path, initramfs: Path, nodes: list[NumaNode], append: str, arguments: list[str],
                 parallel: bool = True) -> list[str]:
    """The command line; arguments become argv[1:] of init.

    parallel: a host thread for each virtual CPU. Otherwise one thread emulates them in turn and goes on
    to the next whenever one waits in a loop: no CPU spins for a lock whose holder the host does not run.
    """
    numa: list[str] = []
    first = 0
    for index, node in enumerate(nodes):
        cpus = f",cpus={first}-{first + node.cpus - 1}" if node.cpus else ""
        first += node.cpus
        numa += ["-object", f"memory-backend-ram,id=m{index},size={node.memory_mib}M",
                 "-numa", f"node,nodeid={index},memdev=m{index}{cpus}"]
    cores = math.gcd(*(node.cpus for node in nodes))  # a socket lies within one NUMA node
    # The kernel distrusts an emulated TSC and would read a slow timer device instead, at every look at the clock.
    command_line = f"console=ttyS0 quiet loglevel=4 panic=-1 tsc=reliable {append} -- {' '.join(arguments)}"
    threads = "multi" if parallel else "single"
    # The guest must not outlive its reader, however that ends.
    return ["setpriv", "--pdeathsig", "KILL", "--", "qemu-system-x86_64",
            "-machine", "q35,usb=off,vmport=off", "-accel", f"tcg,thread={threads}", "-cpu", "max",
            "-smp", f"{first},sockets={first // cores},cores={cores}", "-m", f"{sum(node.memory_mib for node in nodes)}M", *numa,
            "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-serial", "stdio",
            "-kernel", str(kernel), "-initrd", str(initramfs), "-append", command_line]


def console_lines(command: list[str], timeout: float) -> Iterator[str]:
    """Runs the guest and yields its console line by line until it powers off.

    Raises GuestError when it has not done so after timeout seconds. The guest is
    gone when the iterator ends or is closed.
    """
    deadline = time.monotonic() + timeout
    tail: list[str] = []
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as guest:
        assert guest.stdout
        try:
            for line in lines_until(guest.stdout.fileno(), deadline):
                tail = [*tail[-19:], line]
                yield line
            if time.monotonic() >= deadline:
                raise GuestError(f"the guest did not power off within {timeout:.0f} s; its last lines:\n" + "\n".join(tail))
        finally:
            guest.kill()
    if guest.returncode not in (0, -9):
        raise GuestError(f"qemu ended with {guest.returncode}:\n" + "\n".join(tail))


def lines_until(descriptor: int, deadline: float) -> Iterator[str]:
    """Lines read from a descriptor until end of file or the deadline (time.monotonic())."""
    pending = b""
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0:
            if not selector.select(left):
                continue
            data = os.read(descriptor, 65536)
            if not data:
                break
            *lines, pending = (pending + data).split(b"\n")
            for line in lines:
                yield line.decode(errors="replace").rstrip("\r")
    if pending:
        yield pending.decode(errors="replace")
