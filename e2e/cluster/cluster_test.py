# SPDX-License-Identifier: Apache-2.0
"""What counts as a node that is there."""

import unittest
from datetime import datetime, timezone

from e2e.cluster.cluster import said_ready

NOON = datetime(2026, 12, 1, 12, tzinfo=timezone.utc).timestamp()


def ready(status: str = "True", heartbeat: str = "2026-12-01T12:00:00Z") -> list[dict[str, str]]:
    return [{"type": "MemoryPressure", "status": "False", "lastHeartbeatTime": "2026-12-01T12:00:09Z"},
            {"type": "Ready", "status": status, "lastHeartbeatTime": heartbeat}]


class SaidReady(unittest.TestCase):
    def test_only_since_the_machine_was_started(self):
        self.assertTrue(said_ready(ready(), since=NOON))
        self.assertFalse(said_ready(ready(heartbeat="2026-12-01T11:59:59Z"), since=NOON), "that was the boot before")

    def test_only_ready_is_ready(self):
        self.assertFalse(said_ready(ready(status="False"), since=NOON))
        self.assertFalse(said_ready(ready(status="Unknown"), since=NOON))
        self.assertFalse(said_ready([], since=NOON), "it has not registered yet")


if __name__ == "__main__":
    unittest.main()
