# SPDX-License-Identifier: Apache-2.0
"""A hand-made agent: dials the operator through a port-forward with any token one likes."""

from __future__ import annotations

import contextlib
import importlib
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, Iterator

import grpc

from cluster import NAMESPACE, REPOSITORY

CONNECT = "/kswapd.v1alpha1.NodeAgentService/Connect"
SERVICE_NAME = f"reclaim-operator.{NAMESPACE}.svc"


def load_messages() -> Any:
    """The generated module kswapd.v1alpha1.agent_pb2, made from proto/ by protoc into a temporary folder."""
    out = tempfile.mkdtemp(prefix="reclaim-proto-")
    proto = REPOSITORY / "proto"
    files = sorted(str(p) for p in proto.glob("kswapd/v1alpha1/*.proto"))
    subprocess.run(["protoc", f"-I{proto}", f"--python_out={out}", *files], check=True)
    sys.path.insert(0, str(Path(out)))
    return importlib.import_module("kswapd.v1alpha1.agent_pb2")


@contextlib.contextmanager
def port_forward(pod: str, port: int) -> Iterator[int]:
    """A loopback port that leads to `port` of the pod for as long as the context lasts."""
    command = [str(REPOSITORY / "dev"), "kubectl", "-n", NAMESPACE, "port-forward", f"pod/{pod}", f":{port}", "--address", "127.0.0.1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"127\.0\.0\.1:(\d+)", line)
        assert found, f"port-forward to {pod}:{port} printed {line!r}"
        yield int(found.group(1))
    finally:
        process.terminate()
        process.wait(timeout=10)


class Refused(Exception):
    """The operator ended the stream; `code` is the gRPC status."""

    def __init__(self, code: grpc.StatusCode, details: str) -> None:
        super().__init__(f"{code}: {details}")
        self.code = code


def first_push(messages: Any, address: str, ca: bytes | None, token: str | None, node_name: str = "", timeout: float = 30) -> Any:
    """The NodeSpec of the first push. ca=None dials without TLS. Raises Refused when the operator ends the stream."""
    if ca is None:
        channel = grpc.insecure_channel(address)
    else:
        channel = grpc.secure_channel(
            address, grpc.ssl_channel_credentials(root_certificates=ca), options=[("grpc.ssl_target_name_override", SERVICE_NAME)]
        )
    with channel:
        call = channel.stream_stream(
            CONNECT, request_serializer=messages.AgentMessage.SerializeToString, response_deserializer=messages.OperatorMessage.FromString
        )
        hello = messages.AgentMessage(hello=messages.Hello(agent_version="test", node_name=node_name))
        metadata = [("authorization", f"Bearer {token}")] if token is not None else []
        stream = call(_stay_open(hello), metadata=metadata, timeout=timeout)
        try:
            push = next(stream).push
        except grpc.RpcError as error:
            raise Refused(error.code(), error.details()) from error
        finally:
            stream.cancel()
    spec = messages.NodeSpec()
    spec.ParseFromString(push.node_spec)
    return spec


def _stay_open(hello: Any) -> Iterator[Any]:
    """One message, then silence: the stream stays open until it is cancelled."""
    yield hello
    threading.Event().wait(60)
