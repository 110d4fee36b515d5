# SPDX-License-Identifier: Apache-2.0
"""Says what is going on and how long it usually takes; one line that updates on a terminal."""

import sys
import threading
import time


def clock(seconds: float) -> str:
    """75 -> '1:15'; short times keep one decimal."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d} min"


class Progress:
    """Use as a context manager around one piece of work.

    A thread shows elapsed and usual time: each second on a terminal, each 30 s in a log file.
    """

    def __init__(self, title: str, usual_seconds: float, stream=None):
        self._title = title
        self._usual = usual_seconds
        self._stream = stream or sys.stderr
        self._terminal = self._stream.isatty()
        self._detail = ""
        self._done = threading.Event()
        self._start = time.monotonic()

    def report(self, detail: str) -> None:
        """What the work is at, in a few words; shown with the next update."""
        self._detail = detail

    def __enter__(self) -> "Progress":
        self._thread = threading.Thread(target=self._tick, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind, value, traceback) -> None:
        self._done.set()
        self._thread.join()
        took = clock(time.monotonic() - self._start)
        end = "done in" if kind is None else "interrupted after" if kind is KeyboardInterrupt else "FAILED after"
        self._say(f"{self._title}: {end} {took}", last=True)

    def _tick(self) -> None:
        self._show()
        while not self._done.wait(1 if self._terminal else 30):
            self._show()

    def _show(self) -> None:
        elapsed = clock(time.monotonic() - self._start)
        detail = f" · {self._detail}" if self._detail else ""
        self._say(f"{self._title}: {elapsed} (usually {clock(self._usual)}){detail}", last=False)

    def _say(self, text: str, last: bool) -> None:
        if self._terminal:
            self._stream.write(f"\r\033[K{text[:118]}" + ("\n" if last else ""))
        else:
            self._stream.write(text + "\n")
        self._stream.flush()
