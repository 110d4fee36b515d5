# SPDX-License-Identifier: Apache-2.0
"""The disk that every node starts from, and the small archive that makes a node this node.

The base disk holds programs, their libraries and the imported images; it is keyed by content and
shared read-only by all nodes, each of which writes to an overlay of its own.
"""

import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path

from devtool import go_programs, oci
from devtool.content_key import key_of
from devtool.errors import DevError
from devtool.process import run, wait_for
from devtool.stage import Report, Stage
from e2e.cluster import layout
from e2e.cluster.pki import Pki, kubeconfig_text

GUEST = Path(__file__).parent / "guest"
DISK_SIZE = "4G"

# The two files of guest/etc that have no room for a licence line.
_ACCOUNTS = {"etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
             "etc/group": "root:x:0:\nnogroup:x:65534:\n"}

_GO_PROGRAMS = ("kubelet", "kube-proxy", "containerd", "containerd-shim-runc-v2", "ctr")
_DEBIAN_PROGRAMS = ("/usr/sbin/runc", "/usr/bin/mount", "/usr/bin/umount", "/usr/bin/nsenter", "/usr/sbin/ip",
                    "/usr/sbin/xtables-nft-multi", "/usr/sbin/nft", "/usr/sbin/conntrack", "/usr/sbin/dropbear")
_IPTABLES_NAMES = ("iptables", "iptables-save", "iptables-restore", "ip6tables", "ip6tables-save", "ip6tables-restore")
_CNI_PLUGINS = ("loopback", "host-local", "ptp", "portmap")
_XTABLES = Path("/usr/lib/x86_64-linux-gnu/xtables")
_FOLDERS = ("bin", "sbin", "usr/bin", "usr/sbin", "usr/lib", "lib", "lib64", "etc/cni/net.d", "etc/dropbear", "opt/cni/bin",
            "dev", "proc", "sys", "run", "root/.ssh", "var/lib/kubelet", "var/lib/containerd", "var/log")


def base_stage(images: Iterable[Path]) -> Stage:
    """base.img: an ext4 disk with everything that all nodes have in common.

    images are OCI tar files; they are in containerd's store from the first boot on, because an
    import inside the emulated machine takes tens of seconds.
    """
    images = list(images)
    go = {name: go_programs.binary(name) for name in _GO_PROGRAMS}

    def build(out: Path, report: Report) -> None:
        root = out / "root"
        report("programs")
        _fill(root, go)
        report("images")
        _import_images(root, go, images)
        report("disk")
        disk = out / "base.img"
        run(["truncate", "-s", DISK_SIZE, disk])
        run(["mke2fs", "-q", "-t", "ext4", "-J", "size=16", "-E", "lazy_itable_init=1,nodiscard", "-d", root, disk])
        shutil.rmtree(root)

    key = key_of([GUEST / "etc", *go.values(), *(Path(p) for p in _DEBIAN_PROGRAMS), *images, DISK_SIZE,
                  Path(__file__)])
    return Stage("base-disk", 15, key, build)


def _fill(root: Path, go: dict[str, Path]) -> None:
    for folder in _FOLDERS:
        (root / folder).mkdir(parents=True)
    (root / "tmp").mkdir(mode=0o1777)
    (root / "var/run").symlink_to("/run")
    (root / "root/.ssh").chmod(0o700)
    shutil.copytree(GUEST / "etc", root / "etc", dirs_exist_ok=True)
    for path, text in _ACCOUNTS.items():
        (root / path).write_text(text)
    shutil.copy("/usr/bin/busybox", root / "bin/busybox")
    for applet in run(["/usr/bin/busybox", "--list-full"]).split():
        link = root / applet
        if not link.exists():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to("/bin/busybox")
    for path in _DEBIAN_PROGRAMS:
        _program(root, Path(path), path)
    for name, path in go.items():
        _program(root, path, f"/usr/bin/{name}")
    for name in _IPTABLES_NAMES:
        _link(root / "usr/sbin" / name, "xtables-nft-multi")
    shutil.copytree(_XTABLES, root / str(_XTABLES).lstrip("/"), dirs_exist_ok=True)
    for plugin in _CNI_PLUGINS:
        shutil.copy(f"/usr/lib/cni/{plugin}", root / "opt/cni/bin")


def _program(root: Path, source: Path, inside: str) -> None:
    """Copies a program with its libraries; it replaces busybox's applet of the same name, wherever that lies."""
    for folder in ("bin", "sbin", "usr/bin", "usr/sbin"):
        same = root / folder / Path(inside).name
        if same.is_symlink():
            same.unlink()
    for path, file in {inside: source, **oci.library_closure(source)}.items():
        target = root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            shutil.copy(file, target)
            target.chmod(0o755)


def _link(path: Path, target: str) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def _import_images(root: Path, go: dict[str, Path], images: list[Path]) -> None:
    """Runs the node's containerd for a moment on this machine, with its store inside the new root."""
    with tempfile.TemporaryDirectory(prefix="reclaim-images-") as name:
        work = Path(name)
        config, socket = work / "config.toml", work / "containerd.sock"
        config.write_text(f"""version = 3
root = "{root}/var/lib/containerd"
state = "{work}/state"
disabled_plugins = ["io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime", "io.containerd.grpc.v1.cri",
  "io.containerd.snapshotter.v1.blockfile", "io.containerd.snapshotter.v1.erofs",
  "io.containerd.snapshotter.v1.native", "io.containerd.nri.v1.nri"]
[grpc]
  address = "{socket}"
[ttrpc]
  address = "{work}/ttrpc.sock"
""")
        with (work / "log").open("w") as log:
            server = subprocess.Popen([go["containerd"], "-c", config, "--log-level", "warn"], stdout=log, stderr=log)
            try:
                wait_for("containerd on this machine", lambda: _serves(server, socket, work / "log"), timeout=30,
                         every=0.1)
                for image in images:
                    run([go["ctr"], "-a", socket, "-n", "k8s.io", "images", "import", "--snapshotter", "overlayfs", image])
            finally:
                server.terminate()
                server.wait(timeout=30)


def _serves(server: subprocess.Popen, socket: Path, log: Path) -> bool:
    if server.poll() is not None:
        raise RuntimeError(f"containerd ended with status {server.returncode}: {log.read_text()[-2000:]}")
    return socket.exists()


def write_node_archive(out: Path, node: layout.Node, plan: layout.Layout, pki: Pki, host_key: Path,
                       user: Path) -> None:
    """The tar archive on a node's second disk; /etc/rc.boot unpacks it over the base at each boot.

    host_key  the node's ssh key in dropbear's format
    user      the public key that may log in
    """
    server = f"https://{layout.HOST_IN_GUEST}:{plan.ports['apiserver']}"
    serving = f"{node.cert_name}-serving"
    files: dict[str, str | Path] = {
        "etc/hostname": f"{node.name}\n",
        "etc/hosts": hosts_text(plan),
        "etc/node.env": environment_text(node),
        "etc/node.routes": routes_text(node, plan),
        "etc/cni/net.d/10-podnet.conflist": cni_config(node),
        "etc/kubernetes/ca.crt": pki.ca,
        "etc/kubernetes/serving.crt": pki.crt(serving),
        "etc/kubernetes/serving.key": pki.key(serving),
        "etc/kubernetes/kubelet.kubeconfig": kubeconfig_text(server, pki.ca, pki.crt(node.cert_name),
                                                             pki.key(node.cert_name)),
        "etc/kubernetes/kube-proxy.kubeconfig": kubeconfig_text(server, pki.ca, pki.crt("kube-proxy"),
                                                                pki.key("kube-proxy")),
        "etc/dropbear/host_key": host_key,
        "root/.ssh/authorized_keys": user,
    }
    temporary = out.with_suffix(".tmp")
    with tarfile.open(temporary, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            data = content.read_bytes() if isinstance(content, Path) else content.encode()
            info.size, info.mode = len(data), 0o600
            if name in ("etc/hostname", "etc/hosts", "etc/node.env", "etc/node.routes"):
                info.mode = 0o644
            with tempfile.SpooledTemporaryFile() as buffer:
                buffer.write(data)
                buffer.seek(0)
                archive.addfile(info, buffer)
    temporary.replace(out)


def hosts_text(plan: layout.Layout) -> str:
    return "127.0.0.1 localhost\n" + "".join(f"{n.internal_ip} {n.name}\n" for n in plan.nodes)


def environment_text(node: layout.Node) -> str:
    """Shell assignments that rc.boot and the services read."""
    return (f"NODE_NAME={node.name}\nNODE_IP={node.internal_ip}\nNODE_LABELS=e2e.kswapd.dev/kernel={node.kernel}\n"
            f"HOST_IP={layout.HOST_IN_GUEST}\nUSER_NETWORK_IP={layout.GUEST_IN_USER_NETWORK}\n"
            f"POD_NETWORK={layout.POD_CIDR}\nSERVICE_NETWORK={layout.SERVICE_CIDR}\n")


def routes_text(node: layout.Node, plan: layout.Layout) -> str:
    """Lines "CIDR GATEWAY": the pods of every other node lie behind that node's address."""
    return "".join(f"{other.pod_cidr} {other.internal_ip}\n" for other in plan.nodes if other != node)


def cni_config(node: layout.Node) -> str:
    return f"""{{"cniVersion": "1.0.0", "name": "podnet", "plugins": [
 {{"type": "ptp", "ipam": {{"type": "host-local", "ranges": [[{{"subnet": "{node.pod_cidr}"}}]],
   "routes": [{{"dst": "0.0.0.0/0"}}], "dataDir": "/run/cni-ipam"}}}},
 {{"type": "portmap", "capabilities": {{"portMappings": true}}}}]}}
"""


def require_root() -> None:
    if os.geteuid() != 0:
        raise DevError("the cluster needs root: a private mount namespace for the API server and containerd for the "
                       "images. Run ./dev up as root, on a machine or in a container where that is fine.")
