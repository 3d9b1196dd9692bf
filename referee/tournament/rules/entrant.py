"""An entrant, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from referee.tournament.rules.bencode import bencode


@dataclass(frozen=True)
class Entrant:
    """The facts about an entrant beside results."""

    number: int
    player: bytes = b""
    key: bytes = b""
    commitment: bytes = b""
    """The commitment to a share of the draw."""
    share: bytes = b""
    """The share that was opened."""
    is_there: bool = False
    """Checked in."""
    first_round: int = 1
    late_points: int = 0
    """The points in 60ths, for all rounds before the first."""
    has_withdrawn: bool = False
    is_expelled: bool = False
    absent: tuple[int, ...] = ()
    """Rounds, ascending."""

    def plays(self, round_: int) -> bool:
        """Return whether the entrant is to be paired in the round (EVT-R3, EVT-R5, EVT-R6)."""
        out = self.has_withdrawn or self.is_expelled or round_ in self.absent
        return self.is_there and not out and self.first_round <= round_

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of all of it, in the order of the fields."""
        flags = [int(flag) for flag in (self.is_there, self.has_withdrawn, self.is_expelled)]
        parts: list[object] = [
            self.number,
            self.player,
            self.key,
            self.commitment,
            self.share,
            self.first_round,
            self.late_points,
        ]
        return sha256(bencode([*parts, flags, self.absent])).digest()
