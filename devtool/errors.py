# SPDX-License-Identifier: Apache-2.0
"""The one exception that reaches the user as a message instead of a traceback."""


class DevError(Exception):
    """What was wanted, what happened, and the way out, in words for the person at the prompt."""

    def __init__(self, message: str, exit_code: int = 1):
        super().__init__(message)
        self.exit_code = exit_code


class ProgramEnded(DevError):
    """A background program that should run has ended; waiting any longer is pointless."""
