"""Records and score sheets for the commands that judge them."""

from __future__ import annotations

import random
import re
from pathlib import Path


def keys(folder: Path, *names: str) -> list[str | Path]:
    options = {"scribe": "--key", "referee": "--referee-key", "arbiter": "--arbiter-key"}
    return [word for name in names for word in (options[name], folder / f"{name}.pem")]


def fact(name: str, told: str) -> str:
    (value,) = re.findall(rf"^ *{name} +(\S+)$", told, re.MULTILINE)
    return str(value)


def spoilt(rng: random.Random, lines: list[str]) -> list[str]:
    """Return a record with a line left out, doubled, exchanged with the next, or with another digit."""
    at = rng.randrange(lines.index("") + 1, len(lines) - 1)
    before, line, after = lines[:at], lines[at], lines[at + 1 :]
    digit = str(rng.randrange(7))
    changed = re.sub(r"\d(?=[^\d]*\Z)", digit, line)
    return rng.choice(
        (
            [*before, *after],
            [*before, line, line, *after],
            [*before, *after[:1], line, *after[1:]],
            [*before, changed, *after],
        )
    )
