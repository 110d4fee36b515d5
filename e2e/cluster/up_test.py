# SPDX-License-Identifier: Apache-2.0
import unittest
from typing import Any

from e2e.cluster import up


def node(name: str, *images: str, system: str = "linux") -> dict[str, Any]:
    return {"metadata": {"name": name},
            "status": {"nodeInfo": {"operatingSystem": system}, "images": [{"names": [i]} for i in images]}}


class Existing(unittest.TestCase):
    def test_every_linux_node_needs_every_image(self):
        nodes = [node("both", "a:1", "b:1"), node("one", "a:1"), node("old", "a:0", "b:1"), node("none"),
                 node("windows", system="windows")]
        self.assertEqual(up.nodes_lacking(nodes, ["a:1", "b:1"]), ["one", "old", "none"])


if __name__ == "__main__":
    unittest.main()
