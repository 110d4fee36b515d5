# SPDX-License-Identifier: Apache-2.0
"""Running programs: to their end, or as daemons whose identity survives this process."""

import json
import math
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from devtool.errors import DevError, ProgramEnded


def run(argv: Sequence[str | Path], *, log: Path | None = None, cwd: Path | None = None,
        env: Mapping[str, str] | None = None, input_text: str | None = None) -> str:
    """Runs a program and returns its stdout; with `log`, all output is appended there instead.

    env adds to the environment. A failure is a DevError with the command, its exit status and the
    last lines that it printed.
    """
    words = [str(a) for a in argv]
    full_env = {**os.environ, **(env or {})}
    stdin = {"input": input_text} if input_text is not None else {"stdin": subprocess.DEVNULL}
    try:
        if log:
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("a") as out:
                out.write(f"$ {shlex.join(words)}\n")
                out.flush()
                done = subprocess.run(words, cwd=cwd, env=full_env, text=True, stdout=out,
                                      stderr=subprocess.STDOUT, check=False, **stdin)
        else:
            done = subprocess.run(words, cwd=cwd, env=full_env, text=True, capture_output=True,
                                  check=False, **stdin)
    except FileNotFoundError as e:
        raise DevError(f"{words[0]}: program not found ({e}). ./dev up installs what it needs.") from e
    if done.returncode != 0:
        text = tail(log) if log else (done.stderr or done.stdout or "")[-2000:]
        where = f"\nThe whole output: {log}" if log else ""
        raise DevError(f"{shlex.join(words)[:300]}\nended with status {done.returncode}:\n{text}{where}")
    return done.stdout or ""


def tail(path: Path, lines: int = 15) -> str:
    if not path.exists():
        return "(no output)"
    return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])


def wait_for(what: str, condition: Callable[[], Any], timeout: float, every: float = 0.2) -> Any:
    """Asks `condition` until it is true; returns its value.

    A DevError after `timeout` seconds names what was awaited and the last value seen. An exception
    of `condition` of type OSError or DevError counts as "not yet", but ProgramEnded ends the wait.
    """
    deadline = time.monotonic() + timeout
    last: Any = None
    while True:
        try:
            last = condition()
            if last:
                return last
        except ProgramEnded:
            raise
        except (OSError, DevError) as e:
            last = e
        if time.monotonic() >= deadline:
            raise DevError(f"waited {timeout:.0f} s for {what}; last seen: {last!s:.600}")
        time.sleep(every)


def _start_ticks(pid: int) -> int | None:
    """Start time of a live process in clock ticks since boot; None when there is no such process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text[text.rindex(")") + 2:].split()
    return None if fields[0] == "Z" else int(fields[19])


def _without_proxies() -> dict[str, str]:
    """Daemons speak to each other on this machine only; a proxy would stand between them."""
    return {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}


class Daemon:
    """A background program, known by pid and start time, so that a reused pid is never touched.

    The identity is kept in `folder`/NAME.json and the output in `folder`/NAME.log, so that a later
    ./dev can ask for and stop what an earlier one has started.
    """

    def __init__(self, folder: Path, name: str):
        self.name = name
        self.log = folder / f"{name}.log"
        self._file = folder / f"{name}.json"

    def start(self, argv: Sequence[str | Path], *, env: Mapping[str, str] | None = None) -> None:
        if self.pid() is not None:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        words = [str(a) for a in argv]
        with self.log.open("a") as out:
            out.write(f"$ {shlex.join(words)}\n")
            out.flush()
            child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                     env={**_without_proxies(), **(env or {})}, start_new_session=True)
        ticks = _start_ticks(child.pid)
        child.returncode = 0  # it outlives this object by intent; its identity is kept in the file
        temporary = self._file.with_suffix(".tmp")
        temporary.write_text(json.dumps({"pid": child.pid, "start": ticks, "argv": words}))
        temporary.replace(self._file)

    def pid(self) -> int | None:
        """The pid while the very process that start() made is alive, else None."""
        if not self._file.exists():
            return None
        known = json.loads(self._file.read_text())
        ticks = _start_ticks(known["pid"])
        return known["pid"] if ticks is not None and ticks == known["start"] else None

    def started_at(self) -> float:
        """When start() started it last, in seconds since the epoch; infinity when it never did."""
        return self._file.stat().st_mtime if self._file.exists() else math.inf

    def argv(self) -> list[str]:
        """The command line with which it was last started; [] when it never was."""
        return json.loads(self._file.read_text())["argv"] if self._file.exists() else []

    def check_alive(self) -> None:
        if self.pid() is None:
            raise ProgramEnded(f"{self.name} has ended. Its last words ({self.log}):\n{tail(self.log)}")

    def stop(self, grace: float = 5.0) -> None:
        """SIGTERM, then SIGKILL to its session after `grace` seconds. Nothing when it is not running."""
        pid = self.pid()
        if pid is not None:
            os.kill(pid, signal.SIGTERM)
            deadline = time.monotonic() + grace
            while self.pid() is not None:
                self._reap(pid)
                if time.monotonic() > deadline:
                    os.killpg(pid, signal.SIGKILL)
                    deadline = time.monotonic() + grace
                time.sleep(0.02)
        self._file.unlink(missing_ok=True)

    @staticmethod
    def _reap(pid: int) -> None:
        """A child of this very process stays a zombie until someone waits for it."""
        try:
            os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            return


def known_daemons(folder: Path) -> list[Daemon]:
    return [Daemon(folder, f.stem) for f in sorted(folder.glob("*.json"))]
