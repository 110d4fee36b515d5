# SPDX-License-Identifier: Apache-2.0
import subprocess
import tempfile
import unittest
from pathlib import Path

from e2e.cluster.pki import Certificate, Pki


class Made(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.pki = Pki(Path(folder.name))
        cls.pki.make_authority()
        cls.pki.make(Certificate("server", "s", servers=["node1", "172.30.0.11"]))
        cls.pki.make(Certificate("client", "system:node:node1", ["system:nodes"]))

    def text(self, name: str) -> str:
        return subprocess.run(["openssl", "x509", "-in", self.pki.crt(name), "-noout", "-text"],
                              capture_output=True, text=True, check=True).stdout

    def test_server_names_are_dns_or_ip(self):
        self.assertIn("DNS:node1, IP Address:172.30.0.11", self.text("server"))

    def test_client_has_user_and_group_and_cannot_serve(self):
        text = self.text("client")
        self.assertIn("O = system:nodes, CN = system:node:node1", text)
        self.assertNotIn("TLS Web Server Authentication", text)

    def test_authority_signed_both(self):
        for name in ("server", "client"):
            subprocess.run(["openssl", "verify", "-CAfile", self.pki.ca, self.pki.crt(name)],
                           capture_output=True, check=True)

    def test_keys_are_private(self):
        self.assertEqual(self.pki.key("client").stat().st_mode & 0o077, 0)

    def test_again_changes_nothing(self):
        before = self.pki.crt("client").read_bytes()
        self.pki.make(Certificate("client", "other"))
        self.assertEqual(self.pki.crt("client").read_bytes(), before)


if __name__ == "__main__":
    unittest.main()
