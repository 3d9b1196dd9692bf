"""A game as an outsider would write it, registered nowhere; ``test_harness.py`` holds it to the contract.

A die of 0 to 3 is rolled, and the seat on turn takes that number of stones of a heap or fewer; with a 0 it passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from referee.games.game import Chance, Decision, Ending, Fact, Forced, Kind, Over, Pending, Rule, Stream, Violation
from referee.games.sampling import Below


@dataclass(frozen=True)
class Take:
    stones: int


@dataclass(frozen=True)
class Die:
    shows: int


@dataclass
class Heap:
    taken: list[int]
    stones: int
    turns: int = 0
    die: int = -1

    def pending(self) -> tuple[Pending, ...]:
        seat = self.turns % len(self.taken)
        if not self.stones:
            places = tuple(1 + sum(more > own for more in self.taken) for own in self.taken)
            return (Over(Ending.RULES, tuple(self.taken), places),)
        if self.die < 0:
            return (Chance("die"),)
        return (Decision(seat, ("take",)),) if self.die else (Forced(seat),)

    def check(self, event: Any) -> tuple[Violation, ...]:
        kind = {Take: Decision, Die: Chance}.get(type(event), Forced)
        if not isinstance(self.pending()[0], kind):
            return (Violation("HEAP-1"),)
        if isinstance(event, Take) and not 1 <= event.stones <= self.stones:
            return (Violation("HEAP-2"),)
        if isinstance(event, Take) and event.stones > self.die:
            return (Violation("HEAP-3"),)
        return ()

    def apply(self, event: Any) -> None:
        if isinstance(event, Die):
            self.die = event.shows
            return
        if isinstance(event, Take):
            self.stones -= event.stones
            self.taken[self.turns % len(self.taken)] += event.stones
        self.turns, self.die = self.turns + 1, -1

    def legal_moves(self) -> Iterator[Any]:
        return (Take(n) for n in range(1, min(self.die, self.stones) + 1))

    def stand_in(self, seat: int) -> Any:
        if self.pending() != (Decision(seat, ("take",)),):
            raise ValueError(f"seat {seat} has nothing to decide")
        return Take(1)

    def chance_outcomes(self) -> Iterator[tuple[Any, int]]:
        return ((Die(n), 1) for n in range(4) if self.stones and self.die < 0)

    def sample(self, below: Below) -> Die:
        return Die(below(4))

    def observation(self, seat: int | None) -> Any:
        return self.copy()

    def comments(self) -> tuple[str, ...]:
        return ()

    def course(self) -> Mapping[str, Fact]:
        return {}

    def copy(self) -> Heap:
        return replace(self, taken=self.taken.copy())

    def encode(self) -> bytes:
        return bytes([*self.taken, self.stones, self.turns, self.die + 1])

    def digest(self) -> bytes:
        return sha256(self.encode()).digest()


@dataclass
class Dealer:
    stream: Stream

    def outcome(self, state: Any) -> Die:
        return Die(self.stream.uniform(f"dice/{state.turns}", 4))


class Game:
    rules_id, version, min_seats, max_seats, declares_components = "heap", 1, 1, 4, False
    catalogue: Sequence[Rule] = (
        Rule("HEAP-1", Kind.CONSTRAINT, "Only what is awaited.", "page 1", "heap.check"),
        Rule("HEAP-2", Kind.CONSTRAINT, "One stone at least, at most all that are there.", "page 1", "heap.check"),
        Rule("HEAP-3", Kind.CONSTRAINT, "At most what the die shows.", "page 1", "heap.check"),
    )

    waivable = frozenset({"HEAP-3"})

    def default_components(self) -> None:
        pass

    def new(self, seats: int, options: int, components: Any) -> Any:
        return Heap([0] * seats, options)

    def dealer(self, seats: int, options: int, components: Any, stream: Stream) -> Any:
        return Dealer(stream)
