# SPDX-License-Identifier: Apache-2.0
import unittest

from devtool.apt import mirror_from_index_targets
from devtool.errors import DevError

LISTING = """\
Debian|main|bookworm-security|http://mirror.example/debian-security/
Debian|main|bookworm-updates|http://mirror.example/debian/
Other|contrib|bookworm|http://other.example/
Debian|main|bookworm|http://mirror.example/debian/
"""


class Mirror(unittest.TestCase):
    def test_is_the_one_that_serves_the_release_itself(self):
        self.assertEqual(mirror_from_index_targets(LISTING, "bookworm"), "http://mirror.example/debian/")

    def test_none_is_an_error_that_names_the_release(self):
        with self.assertRaisesRegex(DevError, "trixie"):
            mirror_from_index_targets(LISTING, "trixie")


if __name__ == "__main__":
    unittest.main()
