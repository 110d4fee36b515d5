# SPDX-License-Identifier: Apache-2.0
"""A stream shows and reports one node: the one its token was issued for."""

from __future__ import annotations

import time
from typing import Any, Iterator

import grpc
import jwt
import pytest
from kubernetes import client

from agent_stream import Refused, first_push, load_messages, port_forward
from cluster import NAMESPACE, Api, Cluster
from waiting import wait_for

AUDIENCE = "reclaim-operator.kswapd.dev"


@pytest.fixture(scope="module")
def messages() -> Any:
    return load_messages()


@pytest.fixture(scope="module")
def address(api: Api) -> Iterator[str]:
    with port_forward(api.operator_pod().metadata.name, 8443) as port:
        yield f"127.0.0.1:{port}"


@pytest.fixture(scope="module")
def ca(api: Api) -> bytes:
    return api.core.read_namespaced_config_map("reclaim-operator-ca", NAMESPACE).data["ca.crt"].encode()


def token(api: Api, pod: client.V1Pod, audience: str = AUDIENCE, seconds: int = 600) -> str:
    """A token of the pod's service account, bound to the pod as the kubelet's projected ones are."""
    request = client.AuthenticationV1TokenRequest(
        spec=client.V1TokenRequestSpec(
            audiences=[audience],
            expiration_seconds=seconds,
            bound_object_ref=client.V1BoundObjectReference(
                api_version="v1", kind="Pod", name=pod.metadata.name, uid=pod.metadata.uid
            ),
        )
    )
    return api.core.create_namespaced_service_account_token(pod.spec.service_account_name, NAMESPACE, request).status.token


def with_expiry(cluster: Cluster, genuine: str, seconds: int) -> str:
    """The same token, issued two hours ago and expiring `seconds` from now (negative: it has), signed by the cluster's key.

    The API server issues none for less than 10 minutes, so one that has expired is made, not waited for.
    """
    header = jwt.get_unverified_header(genuine)
    claims = jwt.decode(genuine, options={"verify_signature": False})
    now = int(time.time())
    issued = now - 2 * 3600
    return jwt.encode(
        {**claims, "iat": issued, "nbf": issued, "exp": now + seconds},
        cluster.token_signing_key,
        algorithm=header["alg"],
        headers={"kid": header["kid"]},
    )


def rejected(cluster: Cluster) -> dict[str, float]:
    """Refused streams by reason, as Prometheus has them."""
    return {s["metric"]["reason"]: float(s["value"][1]) for s in cluster.promql("reclaim_operator_streams_rejected_total")}


def test_the_right_token_gets_its_node(cluster: Cluster, api: Api, messages: Any, address: str, ca: bytes) -> None:
    node = cluster.patched[0]
    first_push(messages, address, ca, token(api, api.agent_pod(node)), node_name=node)


@pytest.mark.parametrize("case", ["no_token", "other_audience", "not_a_token", "token_of_a_pod_on_another_node", "operators_own_token"])
def test_refuses_and_counts(case: str, cluster: Cluster, api: Api, messages: Any, address: str, ca: bytes) -> None:
    node, other = cluster.patched[0], cluster.stock[0]
    given: dict[str, str | None] = {"no_token": None, "not_a_token": "not.a.token"}
    if case == "other_audience":
        given[case] = token(api, api.agent_pod(node), audience="https://kubernetes.default.svc")
    elif case == "token_of_a_pod_on_another_node":
        given[case] = token(api, api.agent_pod(other))
    elif case == "operators_own_token":
        given[case] = token(api, api.operator_pod())
    before = sum(rejected(cluster).values())

    with pytest.raises(Refused) as refusal:
        first_push(messages, address, ca, given[case], node_name=node)
    assert refusal.value.code in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED)
    wait_for("the refusal to be counted", lambda: sum(rejected(cluster).values()) > before, 60)


def test_refuses_and_counts_an_expired_token(cluster: Cluster, api: Api, messages: Any, address: str, ca: bytes) -> None:
    node = cluster.patched[0]
    genuine = token(api, api.agent_pod(node))
    # Shows that it is the expiry alone that is refused below: claims and signature are good.
    first_push(messages, address, ca, with_expiry(cluster, genuine, 600), node_name=node)
    before = rejected(cluster).get("not_authenticated", 0)

    with pytest.raises(Refused) as refusal:
        first_push(messages, address, ca, with_expiry(cluster, genuine, -3600), node_name=node)
    assert refusal.value.code == grpc.StatusCode.UNAUTHENTICATED
    wait_for("the refusal to be counted", lambda: rejected(cluster).get("not_authenticated", 0) > before, 60)


def failed_handshakes(cluster: Cluster) -> float:
    return sum(float(s["value"][1]) for s in cluster.promql("reclaim_operator_tls_handshake_failures_total"))


def test_refuses_and_counts_plain_tcp(messages: Any, address: str, api: Api, cluster: Cluster) -> None:
    before = failed_handshakes(cluster)
    with pytest.raises(Refused) as refusal:
        first_push(messages, address, None, token(api, api.agent_pod(cluster.patched[0])))
    assert refusal.value.code == grpc.StatusCode.UNAVAILABLE
    wait_for("the failed handshake to be counted", lambda: failed_handshakes(cluster) > before, 60)
