"""Alhambra Roll & Write a second time, slowly: who may do what, and who rolls when. It scores nothing.

Written from the rules' text, with nothing of the engine: dice are single dice, buildings are words, and what can be
made of dice for coins is tried out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

Words = tuple[str, ...]
Pair = tuple[int, int]

TYPES = ["pavilion", "seraglio", "arcades", "chambers", "garden", "tower"]
GRID = [
    "garden seraglio arcades chambers garden tower",
    "seraglio arcades chambers garden tower pavilion",
    "arcades chambers garden tower pavilion seraglio",
    "chambers garden tower pavilion tower arcades",
    "garden tower pavilion seraglio arcades chambers",
    "tower pavilion seraglio arcades chambers garden",
]
"""The default sheet: a line for each blue value, in it the buildings by yellow value."""
BOXES = dict(zip(TYPES, (5, 5, 6, 6, 7, 7), strict=True))
TRACK = 20
ROUNDS = {3: 18, 4: 15, 5: 12}


def pair(word: str) -> Pair:
    """Return the pair of ``3,5``, blue first."""
    blue, yellow = word.split(",")
    return int(blue), int(yellow)


class SlowGame:
    """A game whose rolls are known beforehand; each is used for whatever comes next."""

    def __init__(self, seats: int, start: int, virtual: int, rolls: Iterable[Pair]) -> None:
        self.seats = seats
        self.rolls = iter(rolls)
        self.order = [(start + turn) % seats for turn in range(seats)]
        self.rounds = ROUNDS[max(3, seats + virtual)]
        self.buildings: list[set[Pair]] = [set() for _ in range(seats)]
        self.coins = [3] * seats
        self.ever = [3] * seats
        self.dice: list[tuple[list[int], list[int]]] = [([], []) for _ in range(seats)]
        """Per seat: the blue and the yellow dice."""
        for seat in self.order:
            while len(self.buildings[seat]) < 3:
                self.buildings[seat].add(next(self.rolls))
        self.virtual = [dict.fromkeys(TYPES, 0) for _ in range(virtual)]
        for player in self.virtual:
            for _ in range(3):
                player[self.building(next(self.rolls))] += 1
        for seat in self.order:
            for _ in range(2 if seat == start else 1):
                self.roll(seat)
        self.turns = 0
        self.stage = "action"
        self.changed = False
        self.used: Pair = (0, 0)

    def building(self, place: Pair) -> str:
        return GRID[place[0] - 1].split()[place[1] - 1]

    def roll(self, seat: int) -> None:
        for die, colour in zip(next(self.rolls), self.dice[seat], strict=True):
            colour.append(die)

    @property
    def seat(self) -> int:
        return self.order[self.turns % self.seats]

    @property
    def left(self) -> int:
        return self.order[(self.turns + 1) % self.seats]

    @property
    def last_round(self) -> bool:
        return self.turns >= self.seats * (self.rounds - 1)

    @property
    def last_turn(self) -> bool:
        return self.turns == self.seats * self.rounds - 1

    # Allowed moves

    def legal(self) -> list[Words]:
        """Return every move of the seat on turn; none if the game is over."""
        if self.turns == self.seats * self.rounds:
            return []
        blue, yellow = self.dice[self.seat]
        meets = {f"{b},{y}" for b in blue for y in yellow}
        if self.stage == "keep":
            return [("keep", place) for place in meets]
        if self.stage == "second":
            return [("second",), ("end",)]
        free = [place for place in meets if pair(place) not in self.buildings[self.seat]]
        return [("coins",), *[("build", place) for place in free], *self.turned()]

    def turned(self) -> Iterator[Words]:
        """Yield each die to each value: what four dice can show, for no more steps than there are coins."""
        if self.changed:
            return
        blue, yellow = self.dice[self.seat]
        found = set()
        for wanted in product(range(1, 7), repeat=4):
            steps = sum(abs(new - old) for new, old in zip(wanted, [*blue, *yellow], strict=True))
            if steps <= self.coins[self.seat]:
                found.add((*sorted(wanted[:2]), *sorted(wanted[2:])))
        found.discard((*sorted(blue), *sorted(yellow)))
        for a, b, c, d in found:
            yield "change", f"{a},{b}", f"{c},{d}"

    # Events

    def happen(self, words: Words) -> None:
        seat = self.seat
        blue, yellow = self.dice[seat]
        match words:
            case ("change", first, second):
                new_blue, new_yellow = list(pair(first)), list(pair(second))
                old = [*sorted(blue), *sorted(yellow)]
                self.coins[seat] -= sum(abs(a - b) for a, b in zip(old, new_blue + new_yellow, strict=True))
                self.dice[seat] = (new_blue, new_yellow)
                self.changed = True
            case ("build", place):
                self.used = pair(place)
                self.buildings[seat].add(self.used)
                rest = self.rest(self.used)
                self.stage = "second"
                if self.coins[seat] < 3 or rest in self.buildings[seat]:
                    self.pass_on(rest)
            case ("second",):
                self.coins[seat] -= 3
                self.buildings[seat].add(self.rest(self.used))
                self.roll_all()
            case ("end",):
                self.pass_on(self.rest(self.used))
            case ("coins",):
                here = self.buildings[seat]
                gain = sum(1 for b in blue for y in yellow if (b, y) in here)
                gain = min(gain, TRACK - self.ever[seat])
                self.coins[seat] += gain
                self.ever[seat] += gain
                self.roll_all()
            case ("keep", place):
                kept, rest = pair(place), self.rest(pair(place))
                self.dice[seat] = ([kept[0]], [kept[1]])
                self.give(rest)
                self.end_turn()

    def rest(self, taken: Pair) -> Pair:
        """Return the dice beside these two."""
        blue, yellow = [colour.copy() for colour in self.dice[self.seat]]
        blue.remove(taken[0])
        yellow.remove(taken[1])
        return blue[0], yellow[0]

    def give(self, dice: Pair) -> None:
        for die, colour in zip(dice, self.dice[self.left], strict=True):
            colour.append(die)

    def pass_on(self, rest: Pair) -> None:
        """Pass the turn after one building: unused dice move on, used ones are rolled for the next round."""
        seat = self.seat
        self.dice[seat] = ([], [])
        if not self.last_turn:
            self.give(rest)
        if not self.last_round:
            self.roll(seat)
        self.end_turn()

    def roll_all(self) -> None:
        seat = self.seat
        self.dice[seat] = ([], [])
        if not self.last_turn:
            self.roll(seat)
            self.roll(seat)
        if self.seats == 1 or self.last_turn:
            self.end_turn()
        else:
            self.stage = "keep"

    def end_turn(self) -> None:
        self.turns += 1
        self.stage, self.changed = "action", False
        if self.turns % self.seats:
            return
        for player in self.virtual:
            while player[kind := self.building(next(self.rolls))] == BOXES[kind]:
                pass
            player[kind] += 1
