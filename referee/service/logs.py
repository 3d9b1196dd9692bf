"""What the referee tells its operator: JSON lines, or readable ones on a terminal; always on standard error.

Nothing secret is ever passed to it, and bytes never are: whoever logs a value turns it into text first. What slips
through all the same is not shown.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from contextlib import suppress
from typing import Any, TextIO, cast

import structlog

FORMATS = ("auto", "json", "text")


def configure(log_format: str = "auto", level: str = "info", stream: TextIO | None = None) -> None:
    """For the whole process. ``auto``: text on a terminal, else JSON."""
    stream = stream or sys.stderr
    text = log_format == "text" or (log_format == "auto" and stream.isatty())
    finish: list[Any] = (
        [structlog.dev.ConsoleRenderer(colors=stream.isatty(), exception_formatter=structlog.dev.plain_traceback)]
        if text
        # Without local variables: a frame of ours may hold a token.
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _no_bytes,
            *finish,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.PrintLoggerFactory(cast("TextIO", _Lossy(stream))),
        cache_logger_on_first_use=False,
    )


class _Lossy:
    """A stream whose reader may be gone: a game does not fail because nobody reads about it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()


def _no_bytes(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for key, value in event.items():
        if isinstance(value, bytes | bytearray | memoryview):
            event[key] = f"<{len(value)} bytes>"
    return event
