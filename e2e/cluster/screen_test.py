# SPDX-License-Identifier: Apache-2.0
"""What the screen suggests has to be possible."""

import unittest

from devtool import paths
from e2e.cluster.screen import policy_to_try

TABLE = """NAME     READY   REASON            MATCHED   APPLIED   UNSUPPORTED   PRIORITY   AGE
{name}   True    AllNodesApplied   2         2         1             0          29s
"""


class PolicyToTry(unittest.TestCase):
    def test_the_sample_is_edited_where_it_is(self):
        self.assertIn("edit reclaimpolicy sample", policy_to_try(TABLE.format(name="sample")))

    def test_else_it_is_applied_from_a_file_that_exists(self):
        for policies in ("", TABLE.format(name="sample-of-mine"), 'error: the server doesn\'t have a resource type "reclaimpolicies"'):
            suggestion = policy_to_try(policies)
            self.assertIn("kubectl apply -f ", suggestion)
            self.assertTrue((paths.REPO / suggestion.split(" -f ")[1]).is_file(), suggestion)


if __name__ == "__main__":
    unittest.main()
