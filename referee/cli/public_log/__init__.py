"""Commands of the panel "The public log"."""

from __future__ import annotations


def log() -> None:
    """Watch, check and look after a public log: the heads of all games of a referee, which witnesses cosign.

    `docs/public-log.md` says what a log is for and how a club runs one.
    """
