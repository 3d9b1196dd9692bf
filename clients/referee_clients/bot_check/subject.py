"""The bot that is checked, and its start: in Python, as a program, or as a client of its own over gRPC."""

from __future__ import annotations

import shlex
import shutil
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from referee.text.notation.questions import shown
from referee_clients.bots import load, maker
from referee_clients.bots.bot import MakeBot, UnknownBot
from referee_clients.bots.program import PREFIX

CLIENT: Final = "grpc:"
"""The prefix of the command of a bot that speaks gRPC itself."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The bot."""

    name: str
    make: MakeBot | None
    """None: it can only be played against."""

    @property
    def is_client(self) -> bool:
        """Return whether it speaks gRPC itself."""
        return self.name.startswith(CLIENT)

    @property
    def is_own(self) -> bool:
        """Return whether it is a user's bot in Python, whose code runs when it is imported."""
        return ":" in self.name and not self.is_client and not self.is_program

    @property
    def is_program(self) -> bool:
        """Return whether it is asked in lines."""
        return self.name.startswith(PREFIX)

    def command(self, join: Path, key: Path, verifier: str) -> list[str]:
        """Return what plays the seat whose join string is in the file, and keeps its key in the other."""
        if self.make is None:
            told = {"{join}": str(join), "{key}": str(key), "{verifier}": verifier}
            return [_filled(word, told) for word in shlex.split(self.name.removeprefix(CLIENT))]
        python = [sys.executable, "-c", "from referee.cli import main; main()"]
        return [*python, "bot", self.name, "--join", f"@{join}", "--key", str(key), "--verifier", verifier]


def _filled(word: str, told: dict[str, str]) -> str:
    for name, value in told.items():
        word = word.replace(name, value)
    return word


def named(name: str) -> Subject:
    """Return ``subject``, but do not import a user's bot in Python before it is made. Raise ``UnknownBot``."""
    own = Subject(name, partial(load, name, seed=1))
    return own if own.is_own else subject(name)


def subject(name: str) -> Subject:
    """Return the bot of this name. Raise ``UnknownBot``."""
    if not name.startswith(CLIENT):
        return Subject(name, maker(name, seed=1))
    try:
        words = shlex.split(name.removeprefix(CLIENT))
    except ValueError as error:
        raise UnknownBot(f"no bot {shown(name)}: {error}") from None
    if not words or shutil.which(words[0]) is None:
        there = f"there is no program {shown(words[0])}" if words else f"expected {CLIENT}COMMAND"
        raise UnknownBot(f"no bot {shown(name)}: {there}")
    return Subject(name, None)
