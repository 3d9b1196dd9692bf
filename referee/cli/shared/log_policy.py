"""Whom a command trusts with a log: the file that its option names."""

from __future__ import annotations

from pathlib import Path

from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.log.errors import LogError
from referee.log.public.checkpoint import MAX_POLICY_BYTES, LogPolicy


def log_policy(option: str, path: Path) -> LogPolicy:
    """Read a policy file. Raise ``Failure``."""
    try:
        with path.open("rb") as file:
            return LogPolicy.parse(file.read(MAX_POLICY_BYTES + 1))
    except OSError as error:
        raise Failure(f"{option} {path}: {error.strerror}", EXIT_USAGE) from None
    except LogError as error:
        expected = f"; expected {error.expected}" if error.expected else ""
        raise Failure(f"{option} {path}: {error.what}{expected}", EXIT_USAGE) from None
