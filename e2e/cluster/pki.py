# SPDX-License-Identifier: Apache-2.0
"""The certificates of the cluster: one authority, short subjects, made by the openssl program."""

import base64
import ipaddress
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from devtool.process import run

_DAYS = "365"


@dataclass(frozen=True)
class Certificate:
    """name      file name: NAME.crt, NAME.key
    user      common name; for the API server this is the user name
    groups    organizations; for the API server these are the user's groups
    servers   DNS names and IP addresses that it may serve; empty = a client certificate only
    """

    name: str
    user: str
    groups: Sequence[str] = ()
    servers: Sequence[str] = ()

    @property
    def subject(self) -> str:
        return "".join(f"/O={g}" for g in self.groups) + f"/CN={self.user}"

    def extensions(self) -> str:
        lines = ["basicConstraints=critical,CA:FALSE", "keyUsage=critical,digitalSignature"]
        if self.servers:
            # etcd's own gateway dials itself with the serving certificate, so it is good for clients too.
            lines.append("extendedKeyUsage=serverAuth,clientAuth")
            lines.append("subjectAltName=" + ",".join(_alternative_name(s) for s in self.servers))
        else:
            lines.append("extendedKeyUsage=clientAuth")
        return "\n".join(lines) + "\n"


def _alternative_name(server: str) -> str:
    try:
        return f"IP:{ipaddress.ip_address(server)}"
    except ValueError:
        return f"DNS:{server}"


class Pki:
    """A folder with ca.crt and what it has signed. Files are private to their owner."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.ca = folder / "ca.crt"

    def crt(self, name: str) -> Path:
        return self.folder / f"{name}.crt"

    def key(self, name: str) -> Path:
        return self.folder / f"{name}.key"

    def make_authority(self) -> None:
        if self.ca.exists():
            return
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._make_key("ca")
        run(["openssl", "req", "-x509", "-new", "-key", self.key("ca"), "-subj", "/CN=reclaim-dev-ca",
             "-days", _DAYS, "-addext", "keyUsage=critical,keyCertSign,cRLSign", "-out", self.ca])

    def make(self, certificate: Certificate) -> None:
        """Signs a certificate; nothing when it exists already."""
        out = self.crt(certificate.name)
        if out.exists():
            return
        self._make_key(certificate.name)
        request, extensions = out.with_suffix(".csr"), out.with_suffix(".ext")
        extensions.write_text(certificate.extensions())
        run(["openssl", "req", "-new", "-key", self.key(certificate.name), "-subj", certificate.subject,
             "-out", request])
        # A random serial needs no ca.srl, so certificates can be made side by side.
        run(["openssl", "x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self.key("ca"),
             "-set_serial", f"0x{os.urandom(15).hex()}", "-days", _DAYS, "-extfile", extensions, "-out", out])
        request.unlink()
        extensions.unlink()

    def make_signing_pair(self, name: str) -> None:
        """A bare key pair (NAME.key, NAME.pub), for service-account tokens."""
        public = self.folder / f"{name}.pub"
        if public.exists():
            return
        self._make_key(name)
        run(["openssl", "pkey", "-in", self.key(name), "-pubout", "-out", public])

    def kubeconfig(self, certificate_name: str, server: str) -> Path:
        """NAME.kubeconfig with everything inlined, so that it can be copied anywhere."""
        path = self.folder / f"{certificate_name}.kubeconfig"
        path.write_text(kubeconfig_text(server, self.ca, self.crt(certificate_name), self.key(certificate_name)))
        path.chmod(0o600)
        return path

    def _make_key(self, name: str) -> None:
        path = self.key(name)
        run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path])
        path.chmod(0o600)


def kubeconfig_text(server: str, ca: Path, crt: Path, key: Path) -> str:
    def inline(path: Path) -> str:
        return base64.b64encode(path.read_bytes()).decode()

    return f"""apiVersion: v1
kind: Config
current-context: dev
clusters:
- name: reclaim-dev
  cluster: {{server: "{server}", certificate-authority-data: {inline(ca)}}}
users:
- name: owner
  user: {{client-certificate-data: {inline(crt)}, client-key-data: {inline(key)}}}
contexts:
- name: dev
  context: {{cluster: reclaim-dev, user: owner}}
"""
