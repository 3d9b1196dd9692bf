"""Who signs: a seat, a scribe or an arbiter, and its number. By itself, as the compiled core leaves out dataclasses."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from referee.text.words.catalogue import Phrase


class Role(StrEnum):
    """In what capacity somebody signs; the values are the fields of ``Intent.author``."""

    SEAT = "seat"
    SCRIBE = "scribe"
    ARBITER = "arbiter"


@dataclass(frozen=True, slots=True)
class Author:
    """The signer: a seat's number, or an index into the game's scribe or arbiter keys."""

    role: Role
    index: int

    def __str__(self) -> str:
        return f"{self.role} {self.index}"

    @property
    def phrase(self) -> Phrase:
        """The same, for a place of another phrase."""
        return Phrase(f"{self.role} {{n}}", {"n": self.index})
