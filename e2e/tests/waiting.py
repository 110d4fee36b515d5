# SPDX-License-Identifier: Apache-2.0
"""Bounded waits that say what they waited for."""

from __future__ import annotations

import time
from typing import Callable, TypeVar

T = TypeVar("T")


def wait_for(what: str, probe: Callable[[], T], timeout: float, interval: float = 0.5) -> T:
    """Calls probe() until it returns something true and returns that.

    An exception of probe() counts as "not yet". Raises AssertionError with `what`, the last value and the
    last exception when `timeout` seconds are over.
    """
    deadline = time.monotonic() + timeout
    last: object = None
    error: Exception | None = None
    while True:
        try:
            last = probe()
            error = None
            if last:
                return last
        except Exception as caught:  # noqa: BLE001 - every failure is "not yet", and the last one is reported
            error = caught
        if time.monotonic() > deadline:
            raise AssertionError(f"gave up after {timeout:.0f} s waiting for {what}; last value: {last!r}; last error: {error!r}")
        time.sleep(interval)


def holds_for(what: str, probe: Callable[[], bool], seconds: float, interval: float = 0.5) -> None:
    """Fails as soon as probe() is false within `seconds`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert probe(), f"{what} did not hold for {seconds:.0f} s"
        time.sleep(interval)
