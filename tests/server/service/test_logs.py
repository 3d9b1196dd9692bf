"""The operator's log lines."""

from __future__ import annotations

import json
import logging
from collections import Counter
from contextlib import suppress
from io import StringIO

import structlog

from referee.server.service import logs


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


def test_what_comes_again_and_again_is_counted() -> None:
    """One event has a limit of lines a minute; the next line has the number of those left out."""
    now = [100.0]
    sparing = logs.LineLimit(most=3, of_s=60, now=lambda: now[0])
    told: list[dict[str, object]] = []

    def happen(event: str, level: str = "error") -> None:
        with suppress(structlog.DropEvent):
            told.append(dict(sparing(None, "", {"event": event, "level": level})))

    for _ in range(10):
        happen("incident")
        happen("game opened", "info")
        happen("game set aside")
    happen("store failed")
    events = Counter(line["event"] for line in told)
    assert events == {"incident": 3, "game opened": 10, "game set aside": 10, "store failed": 1}
    now[0] += 60
    happen("incident")
    happen("incident")
    happen("store failed")
    assert [line.get("left_out") for line in told[-3:]] == [7, None, None]


def test_a_cause_is_told_once_a_minute() -> None:
    now = [100.0]
    sparing = logs.LineLimit(most=3, of_s=60, now=lambda: now[0])
    told: list[dict[str, object]] = []

    def fail(error: str) -> None:
        with suppress(structlog.DropEvent):
            told.append(dict(sparing(None, "", {"event": "store failed", "level": "error", "error": error})))

    for _ in range(209):
        fail("no connection")
    fail("the disk is full")
    assert [line["error"] for line in told] == ["no connection", "the disk is full"]
    for number in range(5):
        fail(f"cause {number}")
    assert len(told) == 3
    now[0] += 60
    fail("no connection")
    fail("the disk is full")
    assert [line.get("left_out") for line in told[3:]] == [208 + 4, None]


def test_libraries_speak_the_same_way() -> None:
    stream = StringIO()
    logs.configure("json", "info", stream)
    logs.configure("json", "info", stream)
    try:
        1 / 0  # noqa: B018
    except ZeroDivisionError:
        logging.getLogger("asyncio").exception("Task %s was lost", "x")
    logging.getLogger("grpc").info("nobody wants to know")
    (line,) = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert (line["event"], line["library"], line["message"]) == ("library", "asyncio", "Task x was lost")
    assert "ZeroDivisionError" in line["exception"]


def test_a_reader_that_is_gone() -> None:
    stream = StringIO()
    logs.configure("json", "info", stream)
    stream.close()
    structlog.get_logger("test").info("nobody hears it")
