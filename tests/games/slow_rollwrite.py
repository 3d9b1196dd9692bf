"""Alhambra Roll & Write played slowly: written from the rule text alone, in words and dice that lie about.

It imports nothing of the engine. An event is a tuple of words, a roll or a cell is ``blue/yellow`` such as ``3/5``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import product

Words = tuple[str, ...]
Cell = tuple[int, int]

TABLE = {
    "pavilion": (16, 8, 1),
    "seraglio": (17, 9, 2),
    "arcades": (18, 10, 3),
    "chambers": (19, 11, 4),
    "garden": (20, 12, 5),
    "tower": (21, 13, 6),
}

SHEET = """
garden   seraglio arcades  chambers garden   tower
seraglio arcades  chambers garden   tower    pavilion
arcades  chambers garden   tower    pavilion seraglio
chambers garden   tower    pavilion tower    arcades
garden   tower    pavilion seraglio arcades  chambers
tower    pavilion seraglio arcades  chambers garden
"""
"""The default sheet: a row for each value of the blue die."""

CELLS: dict[Cell, str] = {
    (blue, yellow): name
    for blue, row in enumerate(SHEET.strip().splitlines(), 1)
    for yellow, name in enumerate(row.split(), 1)
}
TRACK = 20


def cell_of(text: str) -> Cell:
    blue, yellow = text.split("/")
    return int(blue), int(yellow)


def text_of(cell: Cell) -> str:
    return f"{cell[0]}/{cell[1]}"


def shared(points: Sequence[int], better: int, equal: int) -> int:
    """Return each share of ``equal`` players with ``better`` ahead of them, of the places' points that are left."""
    return sum(points[place] for place in range(better, better + equal) if place < len(points)) // equal


def type_points(type_: str, owned: Mapping[str, int], awarded: Mapping[str, int]) -> dict[str, int]:
    """Return each player's points for a type in all: for its completion, or at the end."""
    left = TABLE[type_][len(awarded) :]
    points = dict(awarded)
    running = {player: own for player, own in owned.items() if own > 0 and player not in awarded}
    for player, own in running.items():
        better = sum(other > own for other in running.values())
        points[player] = shared(left, better, sum(other == own for other in running.values()))
    return points


def line_points(cells: Collection[Cell]) -> int:
    """Rows and columns."""
    points = 0
    for axis in (0, 1):
        for value in range(1, 7):
            points += {4: 2, 5: 5, 6: 10}.get(len([cell for cell in cells if cell[axis] == value]), 0)
    return points


def totals(
    counts: Mapping[str, Mapping[str, int]],
    virtual: Collection[str] = (),
    awarded: Mapping[str, Mapping[str, int]] | None = None,
    built: Mapping[str, Collection[Cell]] | None = None,
    coins: Mapping[str, int] | None = None,
    against: bool = False,
) -> dict[str, int]:
    """Every player's points in the end."""
    found = dict.fromkeys(counts, 0)
    for type_ in TABLE:
        owned = {player: own.get(type_, 0) for player, own in counts.items()}
        for player, points in type_points(type_, owned, (awarded or {}).get(type_, {})).items():
            found[player] += points
    for player, cells in (built or {}).items():
        found[player] += line_points(cells)
    for player, number in (coins or {}).items():
        found[player] += number // 2
    for player in virtual:
        found[player] = found[player] + {2: 21, 3: 18, 4: 15}[len(virtual)] if against else 0
    return found


class SlowGame:
    """One game. ``awaited`` says what for, and whose."""

    def __init__(self, seats: int, start: int | None = None, virtual: int | None = None, against: bool = False) -> None:
        self.seats = [str(seat) for seat in range(seats)]
        number = {1: virtual or 2, 2: 1}.get(seats, 0)
        self.virtual = [f"v{player}" for player in range(number)]
        self.against = against
        self.rounds = {3: 18, 4: 15, 5: 12}[seats + number]
        self.round = 0
        self.order = self.seats
        """From the start seat on, clockwise."""
        self.built: dict[str, set[Cell]] = {seat: set() for seat in self.seats}
        self.marks: dict[str, Counter[str]] = {player: Counter() for player in self.virtual}
        self.circled = dict.fromkeys(self.seats, 3)
        self.crossed = dict.fromkeys(self.seats, 0)
        self.dice: dict[str, list[tuple[str, int]]] = {seat: [] for seat in self.seats}
        """Per seat: the dice on the sheet, as (colour, value)."""
        self.awards: dict[str, list[tuple[str, int]]] = {type_: [] for type_ in TABLE}
        """Per type: the seats that completed it, in order, and the points."""
        self.changed = False
        self.rest: list[tuple[str, int]] = []
        """Dice that this turn's building has not used."""
        self.awaited: Words = ("start_seat",)
        if seats == 1 or start is not None:
            self.happen(("start_seat", str(start or 0)))

    # Awaited acts

    def coins(self, seat: str) -> int:
        return self.circled[seat] - self.crossed[seat]

    def values(self, seat: str, colour: str) -> list[int]:
        return sorted(value for found, value in self.dice[seat] if found == colour)

    def crossings(self, seat: str) -> list[Cell]:
        return list(product(self.values(seat, "blue"), self.values(seat, "yellow")))

    def legal(self) -> set[Words]:
        """Return every move that may be made now."""
        if self.awaited[0] == "second":
            return {("build_second",), ("end_building",)}
        if self.awaited[0] == "keep":
            return {("keep", text_of(cell)) for cell in self.crossings(self.awaited[1])}
        if self.awaited[0] != "action":
            return set()
        seat = self.awaited[1]
        moves: set[Words] = {("get_coins",)}
        moves |= {("build", text_of(cell)) for cell in self.crossings(seat) if cell not in self.built[seat]}
        if not self.changed:
            moves |= self._turnings(seat)
        return moves

    def _turnings(self, seat: str) -> set[Words]:
        """Coin by coin, one die by one: everything that can lie there."""
        own = (*self.values(seat, "blue"), *self.values(seat, "yellow"))
        reached = {own}
        for _ in range(self.coins(seat)):
            reached |= {
                (*dice[:die], dice[die] + step, *dice[die + 1 :])
                for dice in reached
                for die in range(4)
                for step in (1, -1)
                if 1 <= dice[die] + step <= 6
            }
        found = {("change", *map(str, sorted(dice[:2])), *map(str, sorted(dice[2:]))) for dice in reached}
        return found - {("change", *map(str, own))}

    def price(self, seat: str, wanted: tuple[int, ...]) -> int:
        """Return the fewest coins that turn the seat's dice to these."""
        blue, yellow = self.values(seat, "blue"), self.values(seat, "yellow")
        return sum(
            min(
                sum(abs(a - b) for a, b in zip(dice, new, strict=True))
                for new in (wanted_two, tuple(reversed(wanted_two)))
            )
            for dice, wanted_two in ((blue, wanted[:2]), (yellow, wanted[2:]))
        )

    # Events

    def happen(self, event: Words) -> None:
        kind, *rest = event
        getattr(self, f"_{kind}")(*rest)

    def _start_seat(self, seat: str) -> None:
        at = self.seats.index(seat)
        self.order = self.seats[at:] + self.seats[:at]
        self.queue: list[Words] = [
            *(("start_buildings", other) for other in self.order),
            *(("virtual", player) for player in self.virtual),
            *(("start_dice", other) for other in self.order),
        ]
        self._next()

    def _next(self) -> None:
        """The next of the set-up or of the round; or another round; or the end."""
        if self.queue:
            self.awaited = self.queue.pop(0)
        elif self.round < self.rounds:
            if self.round:
                self._give_awards()
            self.round += 1
            self.queue = [*(("action", seat) for seat in self.order), *(("virtual", player) for player in self.virtual)]
            self.awaited = self.queue.pop(0)
        else:
            self._give_awards()
            self.awaited = ("over",)

    def _start_buildings(self, seat: str, *rolls: str) -> None:
        self.built[seat] |= set(map(cell_of, rolls))
        self._next()

    def _start_dice(self, seat: str, *rolls: str) -> None:
        self._lay(seat, rolls)
        self._next()

    def _lay(self, seat: str, rolls: Sequence[str]) -> None:
        for blue, yellow in map(cell_of, rolls):
            self.dice[seat] += [("blue", blue), ("yellow", yellow)]

    def _virtual(self, player: str, *rolls: str) -> None:
        for roll in rolls:
            type_ = CELLS[cell_of(roll)]
            if self.marks[player][type_] < list(CELLS.values()).count(type_):
                self.marks[player][type_] += 1
        self._next()

    def _change(self, *values: str) -> None:
        seat = self.awaited[1]
        wanted = tuple(map(int, values))
        self.crossed[seat] += self.price(seat, wanted)
        self.dice[seat] = [("blue", value) for value in wanted[:2]] + [("yellow", value) for value in wanted[2:]]
        self.changed = True

    def _build(self, where: str) -> None:
        seat, cell = self.awaited[1], cell_of(where)
        self.built[seat].add(cell)
        self.rest = self.dice[seat].copy()
        self.rest.remove(("blue", cell[0]))
        self.rest.remove(("yellow", cell[1]))
        if self.coins(seat) >= 3 and self._rest_cell() not in self.built[seat]:
            self.awaited = ("second", seat)
        else:
            self._end_building()

    def _rest_cell(self) -> Cell:
        faces = dict(self.rest)
        return faces["blue"], faces["yellow"]

    def _build_second(self) -> None:
        seat = self.awaited[1]
        self.built[seat].add(self._rest_cell())
        self.crossed[seat] += 3
        self._four(seat)

    def _get_coins(self) -> None:
        seat = self.awaited[1]
        for cell in self.crossings(seat):
            if cell in self.built[seat] and self.circled[seat] < TRACK:
                self.circled[seat] += 1
        self._four(seat)

    def _turns_follow(self) -> bool:
        """Return True if any seat has a turn after this one."""
        return self.round < self.rounds or any(kind == "action" for kind, *_ in self.queue)

    def _four(self, seat: str) -> None:
        if not self._turns_follow():
            self._done()
            return
        self.dice[seat] = []
        self.awaited = ("dice", seat, "2")

    def _left(self, seat: str) -> str:
        return self.seats[(self.seats.index(seat) + 1) % len(self.seats)]

    def _end_building(self) -> None:
        seat = self.awaited[1]
        if not self._turns_follow():
            self._done()
            return
        self.dice[seat] = []
        self.dice[self._left(seat)] += self.rest
        if self.round == self.rounds:
            self._done()
        else:
            self.awaited = ("dice", seat, "1")

    def _dice(self, *rolls: str) -> None:
        seat = self.awaited[1]
        self._lay(seat, rolls)
        if self.awaited[2] == "2" and len(self.seats) > 1:
            self.awaited = ("keep", seat)
        else:
            self._done()

    def _keep(self, pair: str) -> None:
        seat, (blue, yellow) = self.awaited[1], cell_of(pair)
        kept = [("blue", blue), ("yellow", yellow)]
        for die in kept:
            self.dice[seat].remove(die)
        self.dice[self._left(seat)] += self.dice[seat]
        self.dice[seat] = kept
        self._done()

    def _done(self) -> None:
        self.changed = False
        self.rest = []
        self._next()

    # Points

    def counts(self) -> dict[str, Counter[str]]:
        seats = {seat: Counter(CELLS[cell] for cell in cells) for seat, cells in self.built.items()}
        return {**seats, **self.marks}

    def _give_awards(self) -> None:
        for type_, places in TABLE.items():
            had = [player for player, _ in self.awards[type_]]
            boxes = list(CELLS.values()).count(type_)
            full = [player for player, own in self.counts().items() if own[type_] == boxes and player not in had]
            for player in full:
                points = shared(places, len(had), len(full))
                if player in self.virtual and not self.against:
                    points = 0
                self.awards[type_].append((player, points))

    def totals(self) -> dict[str, int]:
        return totals(
            self.counts(),
            self.virtual,
            {type_: dict(given) for type_, given in self.awards.items()},
            self.built,
            {seat: self.coins(seat) for seat in self.seats},
            self.against,
        )
