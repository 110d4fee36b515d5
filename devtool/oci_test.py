# SPDX-License-Identifier: Apache-2.0
import hashlib
import io
import json
import tarfile
import tempfile
import unittest
from pathlib import Path

from devtool import oci


class Written(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "program").write_text("#!/bin/sh\n")
        self.image = oci.Image("localhost/x", ["/usr/bin/x"], {"/usr/bin/x": self.root / "program"},
                               links={"/bin/x": "/usr/bin/x"}, texts={"/etc/conf": "a=1\n"})

    def test_every_digest_fits_and_the_chain_leads_to_the_files(self):
        oci.write(self.image, self.root / "x.tar")
        with tarfile.open(self.root / "x.tar") as archive:
            blobs = {m.name.split("/")[-1]: archive.extractfile(m).read() for m in archive if "blobs" in m.name}
            index = json.load(archive.extractfile("index.json"))
        for digest, data in blobs.items():
            self.assertEqual(hashlib.sha256(data).hexdigest(), digest)
        [entry] = index["manifests"]
        self.assertEqual(entry["annotations"]["io.containerd.image.name"], self.image.reference)
        manifest = json.loads(blobs[entry["digest"].removeprefix("sha256:")])
        config = json.loads(blobs[manifest["config"]["digest"].removeprefix("sha256:")])
        self.assertEqual(config["config"]["Entrypoint"], ["/usr/bin/x"])
        layer = blobs[manifest["layers"][0]["digest"].removeprefix("sha256:")]
        with tarfile.open(fileobj=io.BytesIO(layer)) as files:
            self.assertEqual(files.getnames(), ["bin", "bin/x", "etc", "etc/conf", "usr", "usr/bin", "usr/bin/x"])
            self.assertEqual(files.extractfile("etc/conf").read(), b"a=1\n")

    def test_equal_images_have_equal_bytes_and_names(self):
        oci.write(self.image, self.root / "1.tar")
        oci.write(self.image, self.root / "2.tar")
        self.assertEqual((self.root / "1.tar").read_bytes(), (self.root / "2.tar").read_bytes())

    def test_the_tag_follows_the_content(self):
        before = self.image.reference
        (self.root / "program").write_text("#!/bin/sh\necho\n")
        self.assertNotEqual(self.image.reference, before)


class Libraries(unittest.TestCase):
    def test_of_a_dynamic_program_include_the_loader(self):
        found = oci.library_closure(Path("/usr/bin/env"))
        self.assertTrue(any("ld-linux" in path for path in found))
        self.assertTrue(any("libc.so" in path for path in found))


if __name__ == "__main__":
    unittest.main()
