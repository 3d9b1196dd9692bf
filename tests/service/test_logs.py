"""What the operator reads."""

from __future__ import annotations

import json
from io import StringIO

import structlog

from referee.service import logs


def logged_as(log_format: str, **values: object) -> str:
    stream = StringIO()
    logs.configure(log_format, "info", stream)
    log = structlog.get_logger("test")
    log.debug("not shown")
    log.info("shown", **values)
    try:
        1 / 0  # noqa: B018
    except ZeroDivisionError:
        a_local = "hush"
        log.exception("incident", length=len(a_local))
    return stream.getvalue()


def test_json_lines() -> None:
    first, second = (json.loads(line) for line in logged_as("auto", game="ab", seat=1, seq=7).splitlines())
    assert {"event": "shown", "level": "info", "game": "ab", "seat": 1, "seq": 7}.items() <= first.items()
    assert first["timestamp"].endswith("Z")
    assert "ZeroDivisionError" in second["exception"]


def test_readable_lines() -> None:
    text = logged_as("text", game="ab")
    assert "shown" in text
    assert "game=ab" in text
    assert not text.startswith("{")


def test_neither_bytes_nor_local_variables_are_shown() -> None:
    for log_format in ("json", "text"):
        text = logged_as(log_format, seed=b"hush")
        assert "<4 bytes>" in text
        assert "b'hush'" not in text
        assert '"hush"' not in text.replace('a_local = "hush"', "")


def test_a_reader_that_is_gone() -> None:
    stream = StringIO()
    logs.configure("json", "info", stream)
    stream.close()
    structlog.get_logger("test").info("nobody hears it")
