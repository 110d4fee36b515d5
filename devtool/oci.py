# SPDX-License-Identifier: Apache-2.0
"""Container images without a registry and without a container tool: a program and what it needs."""

import hashlib
import io
import json
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from devtool.content_key import key_of
from devtool.process import run
from devtool.stage import Report, Stage

IMAGE_FILE = "image.tar"

_LAYER = "application/vnd.oci.image.layer.v1.tar"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_CONFIG = "application/vnd.oci.image.config.v1+json"


@dataclass(frozen=True)
class Image:
    """name        without a tag, e.g. localhost/reclaim-operator
    entrypoint  the command
    files       absolute path in the image -> file of this machine
    links       absolute path in the image -> target of the symbolic link
    texts       absolute path in the image -> content
    tag         empty = the content key, so that equal content has an equal name
    """

    name: str
    entrypoint: Sequence[str]
    files: Mapping[str, Path]
    links: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    tag: str = ""

    @property
    def reference(self) -> str:
        return f"{self.name}:{self.tag or self.key()}"

    def key(self) -> str:
        parts: list[str | Path] = [self.name, *self.entrypoint]
        for table in (self.files, self.links, self.texts):
            for path in sorted(table):
                parts += [path, table[path]]
        return key_of(parts)


def library_closure(program: Path) -> dict[str, Path]:
    """Path in the image -> file, for every shared library that a program loads; none if it is static."""
    done = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    found: dict[str, Path] = {}
    for line in done.stdout.splitlines():
        if "not found" in line:
            raise FileNotFoundError(f"{program} needs a library that is not there: {line.strip()}")
        words = line.split()
        path = words[2] if "=>" in words else words[0] if words and words[0].startswith("/") else ""
        if path:
            found[path] = Path(path)
    return found


def program_stage(name: str, program: Path) -> tuple[Stage, str]:
    """The image of one of our programs: stripped, with its libraries and nothing else.

    Returns the stage, whose result holds image.tar, and the reference localhost/NAME:TAG of the
    image; the tag is the content key.
    """
    libraries = library_closure(program)
    key = key_of([name, program, *(file for _, file in sorted(libraries.items())), Path(__file__)])
    reference = f"localhost/{name}:{key}"
    inside = f"/usr/bin/{program.name}"

    def build(out: Path, report: Report) -> None:
        stripped = out / program.name
        run(["strip", "--strip-unneeded", "-o", stripped, program])
        write(Image(f"localhost/{name}", [inside], {inside: stripped, **libraries},
                    texts={"/etc/nsswitch.conf": "hosts: files dns\n"}, tag=key), out / IMAGE_FILE)
        stripped.unlink()

    return Stage(f"image-{name}", 3, key, build), reference


def write(image: Image, out: Path) -> None:
    """Writes an OCI image layout with one layer as a tar file; equal images give equal bytes."""
    layer = _layer(image)
    blobs: dict[str, bytes] = {}

    def describe(media_type: str, data: bytes) -> dict[str, object]:
        digest = hashlib.sha256(data).hexdigest()
        blobs[digest] = data
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(data)}

    layer_descriptor = describe(_LAYER, layer)
    config = describe(_CONFIG, _json({
        "architecture": "amd64", "os": "linux",
        "config": {"Entrypoint": list(image.entrypoint), "Env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]},
        "rootfs": {"type": "layers", "diff_ids": [layer_descriptor["digest"]]}}))
    manifest = describe(_MANIFEST, _json({
        "schemaVersion": 2, "mediaType": _MANIFEST, "config": config, "layers": [layer_descriptor]}))
    index = _json({"schemaVersion": 2, "manifests": [{
        **manifest, "platform": {"architecture": "amd64", "os": "linux"},
        "annotations": {"io.containerd.image.name": image.reference,
                        "org.opencontainers.image.ref.name": image.reference.rsplit(":", 1)[1]}}]})
    with tarfile.open(out, "w") as archive:
        _add(archive, "oci-layout", b'{"imageLayoutVersion":"1.0.0"}')
        _add(archive, "index.json", index)
        for digest, data in sorted(blobs.items()):
            _add(archive, f"blobs/sha256/{digest}", data)


def _layer(image: Image) -> bytes:
    buffer = io.BytesIO()
    made: set[str] = set()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        def folders_of(path: str) -> None:
            for folder in reversed(PurePosixPath(path).parents):
                name = str(folder).lstrip("/")
                if name and name not in made:
                    made.add(name)
                    info = tarfile.TarInfo(name)
                    info.type, info.mode = tarfile.DIRTYPE, 0o755
                    archive.addfile(info)

        for path in sorted({*image.files, *image.links, *image.texts}):
            folders_of(path)
            if path in image.links:
                info = tarfile.TarInfo(path.lstrip("/"))
                info.type, info.linkname = tarfile.SYMTYPE, image.links[path]
                archive.addfile(info)
            elif path in image.files:
                _add(archive, path.lstrip("/"), image.files[path].read_bytes(), 0o755)
            else:
                _add(archive, path.lstrip("/"), image.texts[path].encode())
    return buffer.getvalue()


def _add(archive: tarfile.TarFile, name: str, data: bytes, mode: int = 0o644) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(data), mode
    archive.addfile(info, io.BytesIO(data))


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
