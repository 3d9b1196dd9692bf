"""A tournament at one moment, with the plain questions about it. Nothing in it is secret."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from hashlib import sha256
from typing import Final, Self

from referee.games.game import Fact, SetupError
from referee.games.state_base import StateBase
from referee.games.values import Copied
from referee.tournament.rules.acts import Tables
from referee.tournament.rules.round import Entrant, Round
from referee.tournament.rules.terms import Terms

SEATS: Final = 1
"""The desk, at which the organiser sits."""
_DOMAIN: Final = b"tile-referee/v1/event-"


class Position(StateBase):
    """The whole position. A field's value is never changed, only replaced: so copies are cheap."""

    __slots__ = ("entrants", "forbidden", "is_abandoned", "is_cut", "key", "phase", "plan", "rounds", "seats", "terms")

    def __init__(self, seats: int, terms: Terms) -> None:
        """Make the position before the first act. Raise ``SetupError``."""
        if seats != SEATS:
            raise SetupError("seats", f"{seats}; expected 1, the desk")
        self.seats = seats
        self.terms = terms
        self.phase = Phase.ENTERING
        self.key = b""
        """The key of all lots; empty until the draw."""
        self.entrants: Mapping[int, Entrant] = {}
        """The entrants by number."""
        self.forbidden: Mapping[tuple[int, int], bool] = {}
        """Pairs that are not to meet, the smaller number first; and whether never."""
        self.plan: Mapping[int, Tables] = {}
        """The planned tables by round."""
        self.rounds: tuple[Round, ...] = ()
        self.is_cut = False
        self.is_abandoned = False

    def copy(self) -> Self:
        """Return an independent position."""
        new = Copied.__new__(type(self))
        new.seats, new.terms, new.phase, new.key = self.seats, self.terms, self.phase, self.key
        new.entrants, new.forbidden, new.plan = self.entrants, self.forbidden, self.plan
        new.rounds, new.is_cut, new.is_abandoned = self.rounds, self.is_cut, self.is_abandoned
        return new

    def comments(self) -> tuple[str, ...]:
        """Return what every report has to mention."""
        return self.terms.comments()

    def course(self) -> Mapping[str, Fact]:
        """Return how far the event has come: all there is to say of its end, as its one seat is the desk."""
        return {
            "entrants": len(self.entrants),
            "rounds_closed": sum(each.is_closed for each in self.rounds),
            "tables": sum(len(each.tables) for each in self.rounds),
            "results": sum(len(each.results) for each in self.rounds),
            "state": "abandoned" if self.is_abandoned else self.phase.words,
        }

    @property
    def round(self) -> Round | None:
        """The newest round; None before the first is paired."""
        return self.rounds[-1] if self.rounds else None

    @property
    def is_between(self) -> bool:
        """True if every round that was paired is closed (EVT-P12)."""
        return self.round is None or self.round.is_closed

    @property
    def next_round(self) -> int:
        """The number of the round that is paired next, or again."""
        return len(self.rounds) + 1 if self.is_between else len(self.rounds)

    @property
    def before(self) -> tuple[Round, ...]:
        """The rounds that are over when the next is paired."""
        return self.rounds if self.is_between else self.rounds[:-1]

    @property
    def played(self) -> tuple[Round, ...]:
        """Rounds before the cut."""
        return tuple(each for each in self.rounds if not each.is_knock_out)

    @property
    def knock_out(self) -> tuple[Round, ...]:
        """Rounds after the cut."""
        return tuple(each for each in self.rounds if each.is_knock_out)

    def there(self, round_: int) -> tuple[int, ...]:
        """Return who is to be paired in the round, ascending."""
        return tuple(sorted(number for number, entrant in self.entrants.items() if entrant.plays(round_)))

    def forbids(self, *, hard: bool) -> frozenset[tuple[int, int]]:
        """Return the pairs that are not to meet: never, or not if it can be avoided."""
        return frozenset(pair for pair, never in self.forbidden.items() if never is hard)

    def lot(self, number: int) -> bytes:
        """Return the entrant's lot, which decides where nothing else does: the smaller is the better (EVT-S13)."""
        return sha256(_DOMAIN + b"lot\0" + self.key + number.to_bytes(4, "big")).digest()

    def __repr__(self) -> str:
        return f"<event: {self.phase.name.lower()}, {len(self.entrants)} entrants, {len(self.rounds)} rounds>"


def commitment(seed: bytes) -> bytes:
    """Return what the terms say of the organiser's seed."""
    return sha256(_DOMAIN + b"commit\0" + seed).digest()


def share_commitment(number: int, seed: bytes) -> bytes:
    """Return the commitment of a CheckIn to an entrant's share; it includes the number, so that it cannot be copied."""
    return sha256(_DOMAIN + b"share\0" + number.to_bytes(4, "big") + seed).digest()


def drawn_key(seed: bytes, entrants: Mapping[int, Entrant]) -> bytes:
    """Return the key of all lots: from the organiser's seed and every share that was opened, by number."""
    shares = [number.to_bytes(4, "big") + entrants[number].share for number in sorted(entrants)]
    return sha256(_DOMAIN + b"key\0" + seed + b"".join([share for share in shares if len(share) > 4])).digest()


class Phase(IntEnum):
    """The values are in the encoding."""

    ENTERING = 0
    """Entrants enter and check in."""
    OPENING = 1
    """Entries are closed; shares of the draw are opened."""
    PLAYING = 2
    """The lots are known; rounds are paired and played."""
    OVER = 3

    @property
    def words(self) -> str:
        """The phase in words."""
        return ("entries are open", "the draw is next", "being played", "over")[self]
