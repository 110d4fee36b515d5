# SPDX-License-Identifier: Apache-2.0
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from e2e.cluster import image_delivery, install


class Delivery(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "image.tar").write_text("archive")
        self.inventory = image_delivery.Inventory(self.root / "images.json")
        self.vm = mock.Mock()

    def deliver(self, *references: str) -> list[str]:
        return image_delivery.deliver(self.vm, self.inventory, {r: self.root / "image.tar" for r in references})

    def test_only_what_is_missing_and_only_once(self):
        self.inventory.add({"a:1"})
        self.assertEqual(self.deliver("a:1", "b:1"), ["b:1"])
        self.assertEqual(self.deliver("a:1", "b:1"), [])
        self.assertEqual(self.vm.output.call_count, 1)

    def test_a_failed_import_is_tried_again(self):
        self.vm.output.side_effect = [RuntimeError("no space left"), ""]
        with self.assertRaises(RuntimeError):
            self.deliver("a:1")
        self.assertEqual(self.deliver("a:1"), ["a:1"])


class ChartValues(unittest.TestCase):
    def test_tag_is_what_follows_the_last_colon(self):
        self.assertEqual(install.image_values("agent", "registry:5000/x/agent:abc"),
                         {"agent.image.repository": "registry:5000/x/agent", "agent.image.tag": "abc"})


if __name__ == "__main__":
    unittest.main()
