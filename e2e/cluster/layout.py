# SPDX-License-Identifier: Apache-2.0
"""The plan of one cluster: its nodes, every address and every port, chosen once and remembered.

Three networks meet here:
  loopback of the host   control plane and Prometheus; each node has its own address 127.X.0.N, on
                         which QEMU forwards the kubelet, ssh and metrics ports of that VM
  10.0.2.0/24            QEMU user network, the same in every VM; 10.0.2.2 is the host's loopback
  172.30.0.0/24          the network between the VMs, carried by a multicast group on the host's loopback; a node's address
                         here is its InternalIP
"""

import dataclasses
import ipaddress
import json
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from devtool.errors import DevError

NODE_NETWORK_GROUP = "230.0.0.1"
HOST_IN_GUEST = "10.0.2.2"
GUEST_IN_USER_NETWORK = "10.0.2.15"
SERVICE_CIDR = "10.96.0.0/16"
API_SERVICE_IP = "10.96.0.1"
DNS_SERVICE_IP = "10.96.0.10"
POD_CIDR = "10.244.0.0/16"

KUBELET_PORT = 10250
SSH_PORT = 22
AGENT_METRICS_PORT = 9464
OPERATOR_METRICS_NODE_PORT = 30464
FORWARDED_PORTS = (KUBELET_PORT, SSH_PORT, AGENT_METRICS_PORT, OPERATOR_METRICS_NODE_PORT)

PORT_NAMES = ("etcd", "etcd-peer", "apiserver", "controller-manager", "scheduler", "dns", "dns-health",
              "prometheus", "node-network")
# Below Linux's range of ephemeral ports, so that no outgoing connection takes one between two runs.
PORTS_FROM = 26000
_PORTS_END = 32768


@dataclass(frozen=True)
class Node:
    """number  1.. and unique in the cluster; every address of the node follows from it
    kernel  "patched" (our series) or "stock" (Debian's own)"""

    name: str
    number: int
    kernel: str

    @property
    def internal_ip(self) -> str:
        return f"172.30.0.{10 + self.number}"

    @property
    def pod_cidr(self) -> str:
        return f"10.244.{self.number}.0/24"

    @property
    def mac_suffix(self) -> str:
        return f"{self.number:02x}"

    @property
    def cert_name(self) -> str:
        return f"node-{self.name}"


@dataclass(frozen=True)
class Layout:
    ports: dict[str, int]
    loopback_net: int  # X of 127.X.0.N
    nodes: tuple[Node, ...]

    def loopback(self, node: Node) -> str:
        return f"127.{self.loopback_net}.0.{10 + node.number}"

    def node(self, name: str) -> Node:
        for node in self.nodes:
            if node.name == name:
                return node
        raise DevError(f"there is no node {name}; this cluster has {', '.join(n.name for n in self.nodes)}")

    def save(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary = file.with_suffix(".tmp")
        temporary.write_text(json.dumps(dataclasses.asdict(self), indent=1))
        temporary.replace(file)


def load(file: Path) -> Layout | None:
    """The remembered plan, None when there is no cluster."""
    if not file.exists():
        return None
    data = json.loads(file.read_text())
    return Layout(data["ports"], data["loopback_net"], tuple(Node(**n) for n in data["nodes"]))


def make_nodes(patched: int, stock: int) -> tuple[Node, ...]:
    """node1..N run our kernel, stock1..M Debian's."""
    if patched < 0 or stock < 0 or not 1 <= patched + stock <= 100:
        raise DevError(f"{patched} nodes and {stock} stock nodes: together they must be 1 to 100")
    names = [(f"node{i}", "patched") for i in range(1, patched + 1)]
    names += [(f"stock{i}", "stock") for i in range(1, stock + 1)]
    return tuple(Node(name, number, kernel) for number, (name, kernel) in enumerate(names, start=1))


def taken(plan: Layout, can_bind: Callable[[str, int], bool] | None = None) -> list[str]:
    """ADDRESS:PORT of the plan's that someone else has now; meant for a plan of which nothing runs."""
    can_bind = can_bind or _can_bind
    wanted = [("127.0.0.1", port) for port in plan.ports.values()]
    wanted.append((NODE_NETWORK_GROUP, plan.ports["node-network"]))
    wanted += [(plan.loopback(node), port) for node in plan.nodes for port in FORWARDED_PORTS]
    return [f"{address}:{port}" for address, port in wanted if not can_bind(address, port)]


def choose(nodes: tuple[Node, ...], start: int = PORTS_FROM,
           can_bind: Callable[[str, int], bool] | None = None) -> Layout:
    """A plan whose ports are free now, looked for from `start` on. can_bind(address, port) is for tests."""
    can_bind = can_bind or _can_bind
    # One rule for all ports, though only node-network needs the group: two clusters in one would be one network.
    ports = choose_ports(PORT_NAMES, start, lambda port: can_bind("127.0.0.1", port) and can_bind(NODE_NETWORK_GROUP, port))
    for net in range(77, 127):
        layout = Layout(ports, net, nodes)
        if all(can_bind(layout.loopback(n), port) for n in nodes for port in FORWARDED_PORTS):
            return layout
    raise DevError("no loopback network 127.X.0.0/24 (X from 77 to 126) has the node ports free; "
                   f"ports {FORWARDED_PORTS} are in use on all of them (ss -ltun shows by whom)")


def choose_ports(names: Iterable[str], start: int, is_free: Callable[[int], bool]) -> dict[str, int]:
    """One free port for each name, ascending from `start`: the same ones each time if possible."""
    chosen: dict[str, int] = {}
    port = start
    for name in names:
        while port < _PORTS_END and not is_free(port):
            port += 1
        if port >= _PORTS_END:
            raise DevError(f"no free loopback port from {start} to {_PORTS_END - 1} for {name}")
        chosen[name] = port
        port += 1
    return chosen


def _can_bind(address: str, port: int) -> bool:
    """True when both TCP and UDP are free there (of a multicast group: UDP, which is all it has).

    SO_REUSEADDR, as servers use it: TIME_WAIT is no owner.
    """
    only_udp = ipaddress.ip_address(address).is_multicast
    for kind in (socket.SOCK_DGRAM,) if only_udp else (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(socket.AF_INET, kind) as probe:
            if kind == socket.SOCK_STREAM:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address, port))
            except OSError:
                return False
    return True
