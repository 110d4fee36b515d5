# SPDX-License-Identifier: Apache-2.0
import socket
import tempfile
import unittest
from pathlib import Path

from devtool.errors import DevError
from e2e.cluster import layout


class Nodes(unittest.TestCase):
    def test_names_numbers_and_kernels(self):
        nodes = layout.make_nodes(2, 1)
        self.assertEqual([(n.name, n.number, n.kernel) for n in nodes],
                         [("node1", 1, "patched"), ("node2", 2, "patched"), ("stock1", 3, "stock")])

    def test_every_address_is_unique(self):
        nodes = layout.make_nodes(60, 40)
        for of in (lambda n: n.internal_ip, lambda n: n.pod_cidr, lambda n: n.mac_suffix):
            self.assertEqual(len({of(n) for n in nodes}), 100)

    def test_refuses_no_nodes_and_too_many(self):
        for patched, stock in ((0, 0), (-1, 2), (100, 1)):
            with self.assertRaises(DevError):
                layout.make_nodes(patched, stock)


class Ports(unittest.TestCase):
    def test_taken_ports_are_passed_over(self):
        taken = {26000, 26002}
        self.assertEqual(layout.choose_ports(["a", "b", "c"], 26000, lambda p: p not in taken),
                         {"a": 26001, "b": 26003, "c": 26004})

    def test_none_free_is_an_error(self):
        with self.assertRaisesRegex(DevError, "no free loopback port"):
            layout.choose_ports(["a"], 26000, lambda p: False)

    def test_a_loopback_network_is_taken_only_as_a_whole(self):
        nodes = layout.make_nodes(2, 0)
        plan = layout.choose(nodes, can_bind=lambda address, port: (address, port) != ("127.77.0.12", 10250))
        self.assertEqual([plan.loopback(n) for n in nodes], ["127.78.0.11", "127.78.0.12"])

    def test_ports_that_others_have_taken_since_are_named(self):
        plan = layout.choose(layout.make_nodes(1, 0), can_bind=lambda address, port: True)
        self.assertEqual(layout.taken(plan, lambda address, port: True), [])
        others = {("127.0.0.1", plan.ports["etcd-peer"]), ("127.77.0.11", 22)}
        self.assertEqual(layout.taken(plan, lambda address, port: (address, port) not in others),
                         [f"127.0.0.1:{plan.ports['etcd-peer']}", "127.77.0.11:22"])

    def test_a_group_that_other_machines_are_in_is_passed_over(self):
        first = layout.choose(layout.make_nodes(1, 0))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as QEMU has it
            other.bind((layout.NODE_NETWORK_GROUP, first.ports["node-network"]))
            second = layout.choose(layout.make_nodes(1, 0))
            self.assertNotIn(first.ports["node-network"], second.ports.values())
            self.assertIn(f"{layout.NODE_NETWORK_GROUP}:{first.ports['node-network']}", layout.taken(first))

    def test_plan_is_remembered(self):
        plan = layout.choose(layout.make_nodes(1, 1))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "sub" / "layout.json"
            self.assertIsNone(layout.load(file))
            plan.save(file)
            self.assertEqual(layout.load(file), plan)


if __name__ == "__main__":
    unittest.main()
