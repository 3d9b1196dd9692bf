"""Entrants and rounds, as values: a round's tables and their results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256

from referee.tournament.rules.acts import Origin, Result, Tables
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


VOID = Result(())
"""The result of a table that does not count."""


@dataclass(frozen=True)
class Round:
    """The tables have numbers from 1 on."""

    number: int
    tables: Tables
    byes: tuple[int, ...]
    vector: tuple[int, ...]
    bound: int
    origin: Origin
    is_published: bool = False
    is_closed: bool = False
    results: Mapping[int, Result] = field(default_factory=dict)
    """The results by table."""
    games: Mapping[int, bytes] = field(default_factory=dict)
    """The game's id, by table whose game is known."""
    awards: Mapping[int, int] = field(default_factory=dict)
    """An arbiter's awards by entrant, in 60ths."""
    standings: bytes = b""
    """The hash that closed it."""

    @property
    def is_knock_out(self) -> bool:
        """True for a round after the cut."""
        return self.origin is Origin.KNOCK_OUT

    @property
    def has_begun(self) -> bool:
        """True if any of its games may have begun (EVT-U2)."""
        return bool(self.results or self.games)

    @cached_property
    def seats(self) -> Mapping[int, tuple[int, int]]:
        """Table and seat of every entrant who has one."""
        return {who: (n, seat) for n, table in enumerate(self.tables, 1) for seat, who in enumerate(table)}

    @cached_property
    def undecided(self) -> tuple[int, ...]:
        """Tables without a result, ascending."""
        return tuple(n for n in range(1, len(self.tables) + 1) if n not in self.results)

    def played(self, table: int) -> Result | None:
        """Return what the table came to, if it counts."""
        result = self.results.get(table)
        return result if result is not None and result.places else None

    def with_result(self, table: int, result: Result) -> Round:
        """Return it with a table decided, once more perhaps."""
        return replace(self, results={**self.results, table: result})

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of all of it, in the order of the fields."""
        flags = [int(self.is_published), int(self.is_closed)]
        results = [[n, *_parts(result)] for n, result in sorted(self.results.items())]
        games = [[n, game] for n, game in sorted(self.games.items())]
        awards = sorted(self.awards.items())
        paired: list[object] = [self.number, self._paired, self.bound, int(self.origin)]
        return sha256(bencode([*paired, flags, results, games, awards, self.standings])).digest()

    @cached_property
    def _paired(self) -> bytes:
        return sha256(bencode([self.tables, self.byes, self.vector])).digest()


def _parts(result: Result) -> list[object]:
    log = result.log
    return [
        result.places,
        result.scores,
        result.forfeited,
        [] if log is None else [log.game_id, log.size, log.root],
    ]
