# SPDX-License-Identifier: Apache-2.0
"""What the chart installs and what it allows, rendered and in a throwaway API server; the cluster of `./dev up` is not touched."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator

import pytest
import yaml

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))

from devtool import go_programs  # noqa: E402
from e2e.cluster.api_only import api_server  # noqa: E402

CHART = REPOSITORY / "charts/reclaim-operator"
NAMESPACE = "reclaim-system"
# helm alone assumes an old Kubernetes; a real install asks the API server.
KUBE_VERSION = ("--kube-version", "1.36.0")


def helm(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([go_programs.binary("helm"), *arguments], capture_output=True, text=True, timeout=120)
    if check and done.returncode != 0:
        raise AssertionError(f"helm {' '.join(arguments)}: {done.stdout}{done.stderr}")
    return done


def render(*settings: str) -> list[dict[str, Any]]:
    sets = [word for setting in settings for word in ("--set", setting)]
    text = helm("template", "reclaim", str(CHART), "--namespace", NAMESPACE, *KUBE_VERSION, *sets).stdout
    return [document for document in yaml.safe_load_all(text) if document]


def one(documents: list[dict[str, Any]], kind: str, name: str) -> dict[str, Any]:
    found = [d for d in documents if d["kind"] == kind and d["metadata"]["name"] == name]
    assert len(found) == 1, f"{len(found)} of {kind}/{name}"
    return found[0]


def pod_of(workload: dict[str, Any]) -> dict[str, Any]:
    return workload["spec"]["template"]["spec"]


@pytest.fixture(scope="module")
def rendered() -> list[dict[str, Any]]:
    return render()


@pytest.fixture(scope="module")
def operator(rendered: list[dict[str, Any]]) -> dict[str, Any]:
    return one(rendered, "Deployment", "reclaim-operator")


@pytest.fixture(scope="module")
def agent(rendered: list[dict[str, Any]]) -> dict[str, Any]:
    return one(rendered, "DaemonSet", "reclaim-node-agent")


def test_lints() -> None:
    helm("lint", "--strict", str(CHART))


def test_says_nothing_but_the_manifests() -> None:
    assert helm("template", "reclaim", str(CHART), *KUBE_VERSION).stderr == ""


def test_every_object_has_the_labels(rendered: list[dict[str, Any]]) -> None:
    for document in rendered:
        labels = document["metadata"]["labels"]
        for label in ("version", "part-of", "managed-by"):
            assert f"app.kubernetes.io/{label}" in labels, f"{document['kind']}/{document['metadata']['name']}"
        assert labels["helm.sh/chart"].startswith("reclaim-operator-")


@pytest.mark.parametrize("workload", ["operator", "agent"])
def test_containers_give_up_what_they_do_not_need(workload: str, request: pytest.FixtureRequest) -> None:
    pod = pod_of(request.getfixturevalue(workload))
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not {"hostNetwork", "hostPID", "hostIPC", "hostUsers"} & pod.keys()
    for container in pod["containers"]:
        security = container["securityContext"]
        assert security["allowPrivilegeEscalation"] is False
        assert security["readOnlyRootFilesystem"] is True
        assert security["capabilities"] == {"drop": ["ALL"]}
        assert not security.get("privileged")
        assert "memory" in container["resources"]["limits"]
        assert "cpu" not in container["resources"]["limits"]
        assert {"cpu", "memory"} <= container["resources"]["requests"].keys()
        assert container["livenessProbe"]["httpGet"]["port"] == "health"
        assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"


def test_operator_is_not_root(operator: dict[str, Any]) -> None:
    assert pod_of(operator)["securityContext"]["runAsNonRoot"] is True


def test_two_operators_never_overlap(operator: dict[str, Any]) -> None:
    assert operator["spec"]["replicas"] == 1
    assert operator["spec"]["strategy"] == {"type": "Recreate"}


def test_agent_mounts_these_and_no_more(agent: dict[str, Any]) -> None:
    pod = pod_of(agent)
    source = {v["name"]: v.get("hostPath", {}).get("path", "") for v in pod["volumes"]}
    mounts = {
        m["mountPath"]: (source[m["name"]], "ro" if m.get("readOnly") else "rw") for m in pod["containers"][0]["volumeMounts"]
    }
    assert mounts == {
        "/host/proc": ("/proc", "ro"),
        "/host/proc-sys-vm": ("/proc/sys/vm", "rw"),
        "/host/node": ("/sys/devices/system/node", "rw"),
        "/host/sys": ("/sys", "ro"),
        "/host/cgroup": ("/sys/fs/cgroup", "rw"),
        "/var/lib/reclaim-node-agent": ("/var/lib/reclaim-node-agent", "rw"),
        "/etc/reclaim/ca": ("", "ro"),
        "/var/run/secrets/reclaim": ("", "ro"),
    }


def test_agent_has_a_token_for_the_operator_only(agent: dict[str, Any], rendered: list[dict[str, Any]]) -> None:
    assert pod_of(agent)["automountServiceAccountToken"] is False
    audience = re.search(r'kAgentTokenAudience\[\] = "([^"]+)"', (REPOSITORY / "common/agent_api.h").read_text())
    tokens = [s["serviceAccountToken"] for v in pod_of(agent)["volumes"] for s in v.get("projected", {}).get("sources", [])]
    assert audience is not None
    assert [t["audience"] for t in tokens] == [audience.group(1)]
    for binding in (d for d in rendered if d["kind"] in ("RoleBinding", "ClusterRoleBinding")):
        assert [s["name"] for s in binding["subjects"]] == ["reclaim-operator"]


@pytest.mark.parametrize(("workload", "source"), [("operator", "operator/options.cc"), ("agent", "node-agent/options.cc")])
def test_programs_know_the_arguments(workload: str, source: str, request: pytest.FixtureRequest) -> None:
    known = (REPOSITORY / source).read_text()
    for argument in pod_of(request.getfixturevalue(workload))["containers"][0]["args"]:
        name = argument.removeprefix("--").split("=")[0]
        assert f'"{name}"' in known, f"{source} has no option {name}"


def test_host_ports_only_when_asked_for() -> None:
    def ports(documents: list[dict[str, Any]], kind: str, name: str) -> list[int]:
        return [p["hostPort"] for p in pod_of(one(documents, kind, name))["containers"][0]["ports"] if "hostPort" in p]

    without = render()
    having = render("agent.metrics.hostPort=9464", "operator.metrics.hostPort=9470")
    for kind, name, port in (("DaemonSet", "reclaim-node-agent", 9464), ("Deployment", "reclaim-operator", 9470)):
        assert ports(without, kind, name) == []
        assert ports(having, kind, name) == [port]


def test_network_policy_only_when_asked_for() -> None:
    assert not [d for d in render() if d["kind"] == "NetworkPolicy"]
    documents = render("networkPolicy.enabled=true", "networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.name=monitoring")
    policy = one(documents, "NetworkPolicy", "reclaim-operator")
    grpc = [rule for rule in policy["spec"]["ingress"] if rule["ports"] == [{"port": "grpc"}]]
    assert grpc[0]["from"][0]["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == "agent"
    metrics = [rule for rule in policy["spec"]["ingress"] if rule["ports"] == [{"port": "metrics"}]]
    assert metrics[0]["from"] == [{"namespaceSelector": {"matchLabels": {"name": "monitoring"}}}]


def test_crds_are_the_repositorys_own(rendered: list[dict[str, Any]]) -> None:
    for file in (REPOSITORY / "crds").glob("*.yaml"):
        source = yaml.safe_load(file.read_text())
        installed = one(rendered, "CustomResourceDefinition", source["metadata"]["name"])
        assert installed["spec"] == source["spec"]
        assert installed["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    assert not [d for d in render("crds.install=false") if d["kind"] == "CustomResourceDefinition"]


@pytest.mark.parametrize("setting", ["agent.tik=5s", "agent.tick=often", "agent.metrics.hostPort=70000", "operator.replicas=2",
                                     "agent.maxUnavailable=0", "crds.install=perhaps"])
def test_refuses_a_wrong_value_by_name(setting: str) -> None:
    done = helm("template", "reclaim", str(CHART), *KUBE_VERSION, "--set", setting, check=False)
    assert done.returncode != 0
    last = setting.split("=")[0].split(".")[-1]
    assert last in done.stderr, done.stderr


def test_readme_names_every_value() -> None:
    readme = (CHART / "README.md").read_text()

    def leaves(values: dict[str, Any], path: str) -> Iterator[str]:
        for key, value in values.items():
            inner = f"{path}{key}"
            if isinstance(value, dict) and value and key != "resources":
                yield from leaves(value, inner + ".")
            else:
                yield inner

    for path in leaves(yaml.safe_load((CHART / "values.yaml").read_text()), ""):
        last = "." + path.split(".")[-1]
        assert f"`{path}`" in readme or f"`{last}`" in readme, f"README.md does not name {path}"


class Installed:
    """The release in an API server without nodes or controllers."""

    def __init__(self, kubeconfig: Path) -> None:
        self.kubeconfig = str(kubeconfig)

    def helm(self, *arguments: str) -> str:
        return helm(*arguments, "--kubeconfig", self.kubeconfig, "--namespace", NAMESPACE).stdout

    def kubectl(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([go_programs.binary("kubectl"), "--kubeconfig", self.kubeconfig, *arguments],
                              capture_output=True, text=True, timeout=60)

    def can(self, account: str, verb: str, resource: str, namespace: str = NAMESPACE, subresource: str = "") -> bool:
        """`resource` as kubectl auth can-i takes it: "secrets/NAME"."""
        done = self.kubectl("auth", "can-i", verb, resource, "--subresource", subresource, "--namespace", namespace, "--as",
                            f"system:serviceaccount:{NAMESPACE}:{account}",
                            "--as-group", "system:serviceaccounts", "--as-group", "system:authenticated")
        assert done.stdout.strip() in ("yes", "no"), done.stderr
        return done.stdout.strip() == "yes"


@pytest.fixture(scope="module")
def installed() -> Iterator[Installed]:
    with api_server() as kubeconfig:
        release = Installed(kubeconfig)
        release.helm("install", "reclaim", str(CHART), "--create-namespace", "--set", "networkPolicy.enabled=true")
        yield release


def test_installs_and_upgrades(installed: Installed) -> None:
    installed.helm("upgrade", "reclaim", str(CHART), "--set", "agent.metrics.hostPort=9464")
    assert installed.kubectl("-n", NAMESPACE, "get", "daemonset", "reclaim-node-agent").returncode == 0
    assert "reclaimpolicies.kswapd.dev" in installed.kubectl("get", "crds", "-o", "name").stdout


def test_operator_may_do_its_work_and_no_more(installed: Installed) -> None:
    may = [("list", "reclaimpolicies.kswapd.dev"), ("watch", "nodes"), ("create", "nodereclaims.kswapd.dev"),
           ("delete", "nodereclaims.kswapd.dev"), ("create", "tokenreviews.authentication.k8s.io"), ("create", "secrets"),
           ("get", "secrets/reclaim-operator-ca"), ("patch", "configmaps/reclaim-operator-ca")]
    may_not = [("get", "secrets/other"), ("list", "secrets"), ("watch", "secrets"), ("delete", "secrets/reclaim-operator-ca"),
               ("update", "reclaimpolicies.kswapd.dev"), ("update", "nodereclaims.kswapd.dev"), ("patch", "nodes"),
               ("list", "pods"), ("create", "pods")]
    for verb, resource in may:
        assert installed.can("reclaim-operator", verb, resource), f"operator needs {verb} {resource}"
    for verb, resource in may_not:
        assert not installed.can("reclaim-operator", verb, resource), f"operator must not {verb} {resource}"
    for resource in ("reclaimpolicies.kswapd.dev", "nodereclaims.kswapd.dev"):
        assert installed.can("reclaim-operator", "patch", resource, subresource="status")
        assert not installed.can("reclaim-operator", "update", resource, subresource="status")
    assert not installed.can("reclaim-operator", "get", "secrets/reclaim-operator-ca", namespace="kube-system")


def test_agent_may_do_nothing(installed: Installed) -> None:
    for verb, resource in [("get", "nodes"), ("list", "reclaimpolicies.kswapd.dev"), ("get", "nodereclaims.kswapd.dev"),
                           ("get", "configmaps/reclaim-operator-ca"), ("get", "secrets/reclaim-operator-ca"), ("list", "pods")]:
        assert not installed.can("reclaim-node-agent", verb, resource), f"agent must not {verb} {resource}"


def test_short_names_and_columns_are_there(installed: Installed) -> None:
    applied = installed.kubectl("apply", "-f", str(REPOSITORY / "crds/testdata/good/workers.yaml"))
    assert applied.returncode == 0, applied.stderr
    lines = installed.kubectl("get", "rp").stdout.splitlines()
    assert lines[0].split() == ["NAME", "READY", "REASON", "MATCHED", "APPLIED", "UNSUPPORTED", "PRIORITY", "AGE"]
    assert lines[1].split()[:2] == ["workers", "100"]
    assert installed.kubectl("get", "nr").returncode == 0
    assert installed.kubectl("get", "kswapd").returncode == 0


def test_every_field_is_explained(installed: Installed) -> None:
    explained = installed.kubectl("explain", "reclaimpolicy.spec.proactiveReclaim.goal.rate")
    assert "Bytes to reclaim for each unit of time" in explained.stdout


def test_uninstall_keeps_the_policies(installed: Installed) -> None:
    installed.helm("uninstall", "reclaim")
    assert "reclaimpolicies.kswapd.dev" in installed.kubectl("get", "crds", "-o", "name").stdout
    assert installed.kubectl("-n", NAMESPACE, "get", "daemonset", "reclaim-node-agent").returncode != 0
