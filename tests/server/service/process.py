"""The referee as a process of its own, to be stopped and killed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tests.server.service.engines import place
from tests.server.service.forked import Process, origin


@dataclass
class Referee:
    """``referee serve``, ready."""

    process: Process
    address: str
    token: str
    lines: list[str]
    log: Path


async def serve(data: Path, log: Path, *words: str, changed: str = "") -> Referee:
    """Start a referee that listens on a free port. It logs to ``log``; ``changed``: changes to it, in Python."""
    if (store := place(data)) is not None and "--store" not in words:
        words = (*words, "--store", store)
    with log.open("ab") as stderr:
        process = await origin().fork(
            changed=changed,
            words=("serve", "--data", str(data), "--listen", "127.0.0.1:0", *words),
            env={**os.environ, "NO_COLOR": "1"},
            stderr=stderr,
        )
    lines = [(await process.stdout.readline()).decode().rstrip("\n") for _ in range(3)]
    assert lines[0].startswith("listening on "), f"see {log}"
    token = (data / "organiser.token").read_text().strip() if (data / "organiser.token").exists() else ""
    return Referee(process, lines[0].removeprefix("listening on "), token, lines, log)
