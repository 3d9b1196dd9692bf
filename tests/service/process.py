"""The referee as a process of its own, to be stopped and killed."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from dataclasses import dataclass
from pathlib import Path

from tests.cli.command import REFEREE
from tests.service.engines import place


@dataclass
class Referee:
    """``referee serve``, ready."""

    process: Process
    address: str
    token: str
    lines: list[str]
    log: Path


async def serve(data: Path, log: Path, *words: str, changed: str = "") -> Referee:
    """Started, and listening on a free port. What it logs is in ``log``; ``changed``: what is other, in Python."""
    if (store := place(data)) is not None and "--store" not in words:
        words = (*words, "--store", store)
    with log.open("ab") as stderr:
        process = await asyncio.create_subprocess_exec(
            *((sys.executable, "-c", f"{changed}\nfrom referee.cli import main\nmain()") if changed else (REFEREE,)),
            *("serve", "--data", str(data), "--listen", "127.0.0.1:0", *words),
            stdout=PIPE,
            stderr=stderr,
            env={**os.environ, "NO_COLOR": "1"},
        )
    assert process.stdout is not None
    lines = [(await process.stdout.readline()).decode().rstrip("\n") for _ in range(3)]
    assert lines[0].startswith("listening on "), f"see {log}"
    token = (data / "organiser.token").read_text().strip() if (data / "organiser.token").exists() else ""
    return Referee(process, lines[0].removeprefix("listening on "), token, lines, log)
