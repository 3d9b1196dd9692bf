"""The English output of commands for frozen logs and for records with faults, as before there were other languages.

``python -m tests.frozen.said`` writes it anew, after a change of the English words.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from referee.telling.game_file import GameFile, as_text
from referee.text.notation.game_text import write
from tests.cli.inside import referee

HERE: Final = Path(__file__).parent
FROZEN: Final = HERE / "said.json"
LOGS: Final = (
    *("alhambra-2-dealt-2-attempts", "alhambra-2-dealt-3-contested"),
    *("kingdomino-1-dealt-2-duel-attempts", "kingdomino-1-dealt-3-contested"),
    *("rollwrite-1-dealt-2-attempts", "rollwrite-1-dealt-3-contested"),
)
EVENTS: Final = ("event-1-swiss", "event-1-knock-out", "event-1-byes")
LANGUAGE: Final = ("--language", "en")
"""The default: what is said with it is what is said without."""


def said(folder: Path, *options: str) -> Iterator[tuple[str, str]]:
    """Yield a name and a text. ``folder``: for files that commands read; ``options``: of every command."""
    for name in LOGS:
        log = HERE / f"{name}.gamelog"
        for command in ("score", "report"):
            yield f"{name} {command}", told(folder, command, log, *options)
        path, report = folder / f"{name}.txt", folder / f"{name}.report.txt"
        path.write_text(faulty(write(as_text(GameFile.read(BytesIO(log.read_bytes())))), name), encoding="utf-8")
        for policy in ("stop", "skip", "accept-as-played"):
            more = ("--on-illegal", policy, "--date", "2026-11-22", "--arbiter", "A. Biter", "--report", report)
            done = told(folder, "adjudicate", path, *more, *options)
            yield f"{name} adjudicate {policy}", done + report.read_text(encoding="utf-8")
            report.unlink()
        yield f"{name} adjudicate --list", told(folder, "adjudicate", path, "--list", *options)
    for name in EVENTS:
        out = folder / name
        done = told(folder, "event", "export", HERE / f"{name}.eventlog", "--html", out, *options)
        yield f"{name} export", done + "".join(path.read_text(encoding="utf-8") for path in sorted(out.iterdir()))


def told(folder: Path, *words: object) -> str:
    """Return what a command prints, without where files are."""
    done = referee(*words)
    assert done.returncode in (0, 5, 8), done.stderr
    return f"{done.returncode}\n{done.stdout}\n{done.stderr}".replace(f"{folder}/", "").replace(f"{HERE}/", "")


def faulty(text: str, seed: str) -> str:
    """Return the text with lines left out, repeated, or put in the place of others."""
    rng, lines = random.Random(seed), text.split("\n")
    moves = [at for at, line in enumerate(lines) if line[:1].isdigit() and "[" not in line]
    for at in sorted(rng.sample(moves[len(moves) // 2 :], 3), reverse=True):
        lines[at : at + 1] = rng.choice(([], [lines[at], lines[at]], [lines[rng.choice(moves)]]))
    return "\n".join(lines)


def digests(folder: Path, *options: str) -> dict[str, str]:
    """Return SHA-256 of each text, by name."""
    return {name: sha256(text.encode()).hexdigest() for name, text in said(folder, *options)}


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        FROZEN.write_text(json.dumps(digests(Path(folder)), indent=1) + "\n", encoding="ascii")
    sys.stdout.write(f"wrote {FROZEN}\n")
