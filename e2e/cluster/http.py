# SPDX-License-Identifier: Apache-2.0
"""Plain HTTP on the loopback, past any proxy that the environment names."""

import urllib.request

_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def get(url: str, timeout: float = 5) -> str:
    """Body of a successful GET; OSError otherwise."""
    with _DIRECT.open(url, timeout=timeout) as answer:
        return answer.read().decode()
