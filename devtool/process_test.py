# SPDX-License-Identifier: Apache-2.0
import json
import math
import os
import tempfile
import time
import unittest
from pathlib import Path

from devtool.errors import DevError, ProgramEnded
from devtool.process import Daemon, known_daemons, run, wait_for


class DaemonIdentity(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_is_found_again_and_stopped_by_another_instance(self):
        self.assertEqual(Daemon(self.folder, "sleeper").started_at(), math.inf)
        before = time.time() - 1  # the clock of files ticks more slowly
        Daemon(self.folder, "sleeper").start(["sleep", "60"])
        [found] = known_daemons(self.folder)
        self.assertIsNotNone(found.pid())
        self.assertTrue(before <= found.started_at() <= time.time())
        self.assertEqual(found.argv(), ["sleep", "60"])
        found.stop()
        self.assertIsNone(found.pid())
        self.assertEqual(known_daemons(self.folder), [])

    def test_a_reused_pid_is_not_ours(self):
        # This test's own process has the recorded pid, but another start time: it must survive.
        (self.folder / "sleeper.json").write_text(json.dumps({"pid": os.getpid(), "start": 1, "argv": []}))
        daemon = Daemon(self.folder, "sleeper")
        self.assertIsNone(daemon.pid())
        daemon.stop()

    def test_one_that_ignores_sigterm_is_killed(self):
        daemon = Daemon(self.folder, "stubborn")
        daemon.start(["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done"])
        wait_for("the trap", lambda: "ready\n" in daemon.log.read_text().split("\n", 1)[1], timeout=10, every=0.01)
        daemon.stop(grace=0.1)
        self.assertIsNone(daemon.pid())

    def test_an_early_end_is_reported_with_its_last_words(self):
        daemon = Daemon(self.folder, "short")
        daemon.start(["sh", "-c", "echo no such luck"])
        wait_for("its end", lambda: daemon.pid() is None, timeout=10, every=0.01)
        with self.assertRaisesRegex(DevError, "no such luck"):
            daemon.check_alive()


class Run(unittest.TestCase):
    def test_failure_names_command_status_and_output(self):
        with self.assertRaisesRegex(DevError, r"(?s)sh -c.*status 3.*reason"):
            run(["sh", "-c", "echo reason >&2; exit 3"])

    def test_missing_program(self):
        with self.assertRaisesRegex(DevError, "no-such-program: program not found"):
            run(["no-such-program"])


class WaitFor(unittest.TestCase):
    def test_timeout_tells_the_last_value_seen(self):
        with self.assertRaisesRegex(DevError, "waited 0 s for a miracle; last seen: connection refused"):
            def refuse():
                raise OSError("connection refused")
            wait_for("a miracle", refuse, timeout=0)

    def test_a_program_that_has_ended_ends_the_wait(self):
        def ended():
            raise ProgramEnded("etcd has ended")
        with self.assertRaises(ProgramEnded):
            wait_for("a miracle", ended, timeout=3600)


if __name__ == "__main__":
    unittest.main()
