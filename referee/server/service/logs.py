"""The referee's reports to its operator: JSON lines, or readable ones on a terminal; always on standard error.

Events and their fields are in docs/operate/reference.md. Lines that callers can bring about again and again appear a
limited number of times a minute and are then counted, so that no caller fills the disk with them.

Nothing secret is ever passed to it, and bytes never are: the caller turns a value into text first. A secret that slips
through all the same is not shown.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, TextIO, cast

import structlog

FORMATS = ("auto", "json", "text")
MOST_LINES, OF_S = 30, 60.0
"""Most warnings and errors of one event in that time."""
_ALWAYS = frozenset({"game set aside"})
"""Written once for each game, and always."""


def configure(log_format: str = "auto", level: str = "info", stream: TextIO | None = None) -> None:
    """Configure logging for the whole process. ``auto``: text on a terminal, else JSON."""
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
            LineLimit(),
            _no_bytes,
            *finish,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.PrintLoggerFactory(cast("TextIO", _Lossy(stream))),
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    root.handlers = [handler for handler in root.handlers if not isinstance(handler, _Libraries)]
    root.addHandler(_Libraries(logging.WARNING))


class LineLimit:
    """A processor that passes a limited number of warnings and errors of one event, then counts what it leaves out.

    Equal causes, which the field ``error`` has, are passed once in that time: a database that is gone is one line, not
    one for each game.
    """

    def __init__(self, most: int = MOST_LINES, of_s: float = OF_S, now: Callable[[], float] = monotonic) -> None:
        self._most = most
        self._of_s = of_s
        self._now = now
        self._told: dict[str, _Told] = {}
        """The lines by event."""

    def __call__(self, _: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        name = str(event.get("event"))
        if event.get("level") not in {"warning", "error", "critical"} or name in _ALWAYS:
            return event
        now = self._now()
        told = self._told.get(name)
        if told is None or now - told.since >= self._of_s:
            if told is not None and told.left_out:
                event["left_out"] = told.left_out
            told = self._told[name] = _Told(now)
        cause = str(event["error"]) if "error" in event else None
        if told.lines >= self._most or cause in told.causes:
            told.left_out += 1
            raise structlog.DropEvent
        told.lines += 1
        if cause is not None:
            told.causes.add(cause)
        return event


@dataclass(slots=True)
class _Told:
    """The lines of one event that were written or left out."""

    since: float
    lines: int = 0
    left_out: int = 0
    causes: set[str] = field(default_factory=set)


class _Libraries(logging.Handler):
    """Warnings of libraries, in the same form as our own."""

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(Exception):  # a failure to log has no remedy
            log = structlog.get_logger(record.name)
            exc_info = record.exc_info if record.exc_info and record.exc_info[0] else None
            log.warning("library", library=record.name, message=record.getMessage(), exc_info=exc_info)


class _Lossy:
    """A stream whose reader may be gone: a game does not fail because its log is not read."""

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
