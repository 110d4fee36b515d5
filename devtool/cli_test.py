# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
import shlex
import unittest

from devtool import cli


class Help(unittest.TestCase):
    def test_overview_has_every_verb_with_its_example(self):
        text = cli.overview()
        for verb in cli.VERBS:
            self.assertEqual(verb.example in text, not verb.hidden, verb.name)

    def test_each_example_is_accepted_by_the_parser(self):
        for verb in cli.VERBS:
            self.assertEqual(cli.parse(shlex.split(verb.example)[1:]).verb, verb.name)

    def test_options_of_kubectl_are_its_own(self):
        self.assertEqual(cli.parse(["kubectl", "-n", "x", "get", "--help"]).words, ["-n", "x", "get", "--help"])

    def test_no_verb_prints_the_overview_and_is_an_error(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertEqual(cli.main([]), 2)
        self.assertIn("./dev up", out.getvalue())


if __name__ == "__main__":
    unittest.main()
