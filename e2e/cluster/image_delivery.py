# SPDX-License-Identifier: Apache-2.0
"""Brings images into nodes that already run: over HTTP on the loopback, for the time of the import only."""

import functools
import http.server
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from e2e.cluster import layout
from e2e.cluster.vm import Vm


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Requests are no news here."""


@contextmanager
def _served(folder: Path) -> Iterator[int]:
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


class Inventory:
    """Which images a node's disk has: those of its base disk and those imported since."""

    def __init__(self, file: Path):
        self._file = file

    def known(self) -> set[str]:
        return set(json.loads(self._file.read_text())) if self._file.exists() else set()

    def add(self, references: set[str]) -> None:
        temporary = self._file.with_suffix(".tmp")
        temporary.write_text(json.dumps(sorted(self.known() | references)))
        temporary.replace(self._file)


def deliver(vm: Vm, inventory: Inventory, images: Mapping[str, Path]) -> list[str]:
    """Imports what the node does not have; images maps reference -> OCI tar file. Returns what it imported."""
    missing = [reference for reference in images if reference not in inventory.known()]
    for reference in missing:
        tar = images[reference]
        with _served(tar.parent) as port:
            vm.output([f"set -o pipefail; wget -q -O - http://{layout.HOST_IN_GUEST}:{port}/{tar.name} | "
                       "ctr -n k8s.io images import --snapshotter overlayfs -"])
        inventory.add({reference})
    return missing
