# SPDX-License-Identifier: Apache-2.0
"""What nodes, DNS and Prometheus are told follows from the layout; these tests hold the two together."""
import json
import unittest
from pathlib import Path

from e2e.cluster import dns, kernels, layout, prometheus, rootfs, vm

NODES = layout.make_nodes(2, 1)
PLAN = layout.Layout({name: 26000 + i for i, name in enumerate(layout.PORT_NAMES)}, 77, NODES)


class Guest(unittest.TestCase):
    def test_routes_lead_to_every_other_node_and_not_to_itself(self):
        self.assertEqual(rootfs.routes_text(NODES[0], PLAN),
                         "10.244.2.0/24 172.30.0.12\n10.244.3.0/24 172.30.0.13\n")

    def test_pods_get_addresses_of_their_node(self):
        config = json.loads(rootfs.cni_config(NODES[1]))
        self.assertEqual(config["plugins"][0]["ipam"]["ranges"], [[{"subnet": "10.244.2.0/24"}]])

    def test_fixed_files_agree_with_the_layout(self):
        kubelet = (rootfs.GUEST / "etc/kubernetes/kubelet.yaml").read_text()
        self.assertIn(f"clusterDNS: [{layout.DNS_SERVICE_IP}]", kubelet)
        proxy = (rootfs.GUEST / "etc/kubernetes/kube-proxy.yaml").read_text()
        self.assertIn(f"clusterCIDR: {layout.POD_CIDR}\n", proxy)
        self.assertIn(f"nameserver {layout.DNS_SERVICE_IP}\n", (rootfs.GUEST / "etc/resolv.conf").read_text())


class Machine(unittest.TestCase):
    def command(self, node: layout.Node, initrd: Path | None = None) -> list[str]:
        return vm.qemu_command(node, PLAN, kernels.Kernel(Path("/k"), initrd), Path("/d"), Path("/a"), Path("/c"))

    def test_forwards_bind_the_nodes_own_loopback_address_only(self):
        [user] = [word for word in self.command(NODES[1]) if word.startswith("user,")]
        forwards = [part for part in user.split(",") if part.startswith("hostfwd=")]
        self.assertEqual(len(forwards), len(layout.FORWARDED_PORTS))
        self.assertTrue(all(f.startswith("hostfwd=tcp:127.77.0.12:") for f in forwards))

    def test_nodes_differ_in_their_hardware_addresses(self):
        macs = [word.split("mac=")[1] for node in NODES for word in self.command(node) if "mac=" in word]
        self.assertEqual(len(set(macs)), 2 * len(NODES))

    def test_initrd_only_when_the_kernel_has_one(self):
        self.assertNotIn("-initrd", self.command(NODES[0]))
        self.assertIn("-initrd", self.command(NODES[2], Path("/i")))


class Modules(unittest.TestCase):
    def test_load_order_without_builtins(self):
        text = "builtin virtio_ring\ninsmod /m/a.ko.xz \ninsmod /m/b.ko.xz option=1\n"
        self.assertEqual(kernels.insmod_paths(text), [Path("/m/a.ko.xz"), Path("/m/b.ko.xz")])


class Monitoring(unittest.TestCase):
    def test_each_node_is_reached_at_its_own_loopback_address(self):
        text = prometheus.config_text(PLAN)
        for node in NODES:
            self.assertIn(f'targets: ["{PLAN.loopback(node)}:{layout.AGENT_METRICS_PORT}"]\n'
                          f"    labels: {{node: {node.name}}}", text)

    def test_the_operators_node_port_is_the_one_that_is_forwarded(self):
        manifest = (Path(rootfs.__file__).parent / "manifests/operator-metrics.yaml").read_text()
        self.assertIn(f"nodePort: {layout.OPERATOR_METRICS_NODE_PORT}}}", manifest)
        self.assertIn(layout.OPERATOR_METRICS_NODE_PORT, layout.FORWARDED_PORTS)


class Dns(unittest.TestCase):
    def test_service_and_server_use_one_port(self):
        port = PLAN.ports["dns"]
        self.assertIn(f"targetPort: {port}", dns.service_manifest(PLAN))
        self.assertTrue(dns.corefile_text(PLAN, Path("/k")).startswith(f"cluster.local:{port} "))


if __name__ == "__main__":
    unittest.main()
