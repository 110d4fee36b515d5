# SPDX-License-Identifier: Apache-2.0
import tempfile
import unittest
from pathlib import Path

from devtool.content_key import key_of


class KeyOf(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def test_equal_content_elsewhere_has_the_same_key(self):
        self.write("a/x", "1")
        self.write("b/x", "1")
        self.assertEqual(key_of([self.root / "a"]), key_of([self.root / "b"]))

    def test_content_name_and_mode_count(self):
        keys = {key_of([self.write("a/x", "1").parent])}
        keys.add(key_of([self.write("a/x", "2").parent]))
        keys.add(key_of([self.write("b/y", "2").parent]))
        (self.root / "b/y").chmod(0o755)
        keys.add(key_of([self.root / "b"]))
        self.assertEqual(len(keys), 4)

    def test_parts_do_not_run_into_each_other(self):
        self.assertNotEqual(key_of(["ab", "c"]), key_of(["a", "bc"]))
        self.assertNotEqual(key_of(["ab"]), key_of(["a", "b"]))

    def test_compiled_python_does_not_count(self):
        folder = self.write("a/x.py", "1").parent
        before = key_of([folder])
        self.write("a/__pycache__/x.pyc", "bytes")
        self.assertEqual(key_of([folder]), before)

    def test_missing_input_is_an_error_that_names_it(self):
        with self.assertRaisesRegex(FileNotFoundError, "nowhere"):
            key_of([self.root / "nowhere"])


if __name__ == "__main__":
    unittest.main()
