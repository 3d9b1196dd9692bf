"""The drafting of Kingdomino a second time, from the rules' text: who is on turn, and with which domino.

Where a domino fits is asked of ``tests.games.slow_kingdomino``. The dominoes are those of ``kingdomino/dominoes.txt``.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path

from referee.log.vectors import DATA
from tests.games.slow_kingdomino import SlowKingdom

Words = tuple[str, ...]
Halves = tuple[str, str]


def _halves(path: Path) -> dict[int, Halves]:
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {int(number): (left, right) for number, left, right in rows}


HALVES = _halves(DATA / "kingdomino" / "dominoes.txt")
"""Terrain and crowns of each domino's left and right half."""


def cell(word: str) -> tuple[int, int]:
    """Return the cell of ``-1,2``."""
    x, y = word.split(",")
    return int(x), int(y)


class SlowDraft:
    """A game whose dominoes are known beforehand."""

    def __init__(
        self, seats: int, order: Sequence[int], deck: Sequence[int], *, size: int, fixed: bool, wider: bool
    ) -> None:
        self.size = size
        self.deck = list(deck)
        kings = 4 if seats == 2 else seats
        self.line_size = kings + 1 if wider else kings
        # Everything that is still to be done, in order: "castle", "choose" and "place", by which seat.
        self.todo = [("castle", seat) for seat in range(seats)] if fixed else []
        self.todo += [("choose", seat) for seat in order]
        self.kingdoms = [SlowKingdom(size, None) for _ in range(seats)]
        self.placing: list[tuple[int, int]] = []
        """Domino and seat of the kings that stand beside the line before."""
        self.line = self.draw()
        self.taken: dict[int, int] = {}

    def draw(self) -> list[int]:
        line, self.deck = self.deck[: self.line_size], self.deck[self.line_size :]
        return sorted(line)

    def legal(self) -> list[Words]:
        """Return every move of the seat on turn; none if the game is over."""
        if not self.todo:
            return []
        what, seat = self.todo[0]
        if what == "castle":
            return [("castle", f"{column},{row}") for column in range(self.size) for row in range(self.size)]
        if what == "choose":
            return [("choose", str(number)) for number in self.line if number not in self.taken]
        number = self.placing[0][0]
        places = self.kingdoms[seat].placements(HALVES[number])
        return [("place", str(number), f"{ax},{ay}", f"{bx},{by}") for ax, ay, bx, by in places] or [
            ("discard", str(number))
        ]

    def after(self, words: Words) -> SlowDraft:
        """Return the game after the move; this one stays."""
        after = deepcopy(self)
        after.happen(words)
        return after

    def happen(self, words: Words) -> None:
        (_, seat), *self.todo = self.todo
        match words:
            case ("castle", place):
                self.kingdoms[seat].castle = cell(place)
            case ("choose", number):
                self.taken[int(number)] = seat
            case ("place", number, left, right):
                self.kingdoms[seat].lay(HALVES[int(number)], cell(left), cell(right))
                self.placing = self.placing[1:]
            case ("discard", _):
                self.placing = self.placing[1:]
        if not self.todo and self.taken:
            # The kings are in the order of their dominoes; each places, then chooses while there is a line to come.
            self.placing = sorted(self.taken.items())
            self.taken = {}
            self.line = self.draw()
            for _, owner in self.placing:
                self.todo += [("place", owner), *([("choose", owner)] if self.line else [])]
