"""A whole game of Alhambra told in the order of the rule book, on top of the oracle. It knows nothing of the engine.

Events are tuples of words, the same that the counting files use::

    take denar-2 denar-3 | buy SLOT VALUE … | add TILE X,Y | remove X,Y | swap TILE X,Y
    place TILE X,Y | reserve TILE | give TILE | pass
    neutral TILE … | market TILE … | hand SEAT CARD … | row CARD …
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from tests.games import oracle
from tests.games.oracle import CURRENCIES, START, Board, Card, Cell

Event = tuple[str, ...]
Course = Generator[Event, Event, None]


def card(name: str) -> Card:
    currency, value = name.split("-")
    return currency, int(value)


def cell_of(text: str) -> Cell:
    x, y = text.split(",")
    return int(x), int(y)


def cell_text(cell: Cell) -> str:
    return f"{cell[0]},{cell[1]}"


class SlowGame:
    """Everything on the table. ``awaited`` is what comes next, such as ("action", "2") or ("market", "4")."""

    def __init__(
        self,
        seats: int,
        tiles: Sequence[str],
        *,
        youngest_first: Sequence[int] = (),
        currencies: Sequence[str] = CURRENCIES,
        max_turns: int = 400,
        loop_one_less: bool = False,
        end_when_bag_empty: bool = False,
    ) -> None:
        self.seats = seats
        self.youngest_first = list(youngest_first) or list(range(seats))
        self.currencies = currencies
        self.max_turns = max_turns
        self.loop_one_less = loop_one_less
        self.end_when_bag_empty = end_when_bag_empty
        self.bag = set(tiles)
        self.deck = [f"{c}-{v}" for c in CURRENCIES for v in range(1, 10) for _ in range(2 if seats == 2 else 3)]
        self.discard: list[str] = []
        self.row: list[str] = []
        self.market: list[str | None] = [None] * 4
        self.hands: list[list[str]] = [[] for _ in range(seats)]
        self.boards: list[Board] = [dict(START) for _ in range(seats)]
        self.reserves: list[set[str]] = [set() for _ in range(seats)]
        self.in_hand: set[str] = set()
        """Tiles bought in this turn, or those that the seat won in the hand-out."""
        self.won: list[set[str]] = [set() for _ in range(seats)]
        self.neutral: set[str] = set()
        self.scores = [0] * seats
        self.rounds: list[int] = []
        self.turns = 0
        self.ending = ""
        self._course = self._play()
        self.awaited: Event = next(self._course)

    def happen(self, event: Event) -> None:
        """Continue the course with the awaited event."""
        try:
            self.awaited = self._course.send(event)
        except StopIteration:
            self.awaited = ("over",)

    # The course of the game

    def _play(self) -> Course:
        if self.seats == 2:
            yield from self._neutral_draws(6)
        yield from self._fill_market()
        for i in range(self.seats):
            seat = (self.youngest_first[0] + i) % self.seats
            event = yield ("hand", str(seat))
            for name in event[2:]:
                self.deck.remove(name)
                self.hands[seat].append(name)
        seat = oracle.first_seat([[card(c) for c in hand] for hand in self.hands], self.youngest_first)
        yield from self._fill_row()
        while True:
            yield from self._turn(seat)
            self.turns += 1
            if self.turns >= self.max_turns:
                self.ending = "stalled"
                break
            rounds = yield from self._fill_row()
            yield from self._fill_market()
            for round_ in sorted(rounds):
                self._score(round_)
                if self.seats == 2:
                    yield from self._neutral_draws(6 if round_ == 1 else len(self.bag) // 3)
            if None in self.market or (self.end_when_bag_empty and not self.bag):
                yield from self._hand_out(seat)
                self.ending = "rules"
                break
            seat = (seat + 1) % self.seats
        self._score(3)

    def _neutral_draws(self, count: int) -> Course:
        count = min(count, len(self.bag))
        if count:
            event = yield ("neutral", str(count))
            self.bag -= set(event[1:])
            self.neutral |= set(event[1:])

    def _fill_market(self) -> Course:
        free = [slot for slot in range(4) if self.market[slot] is None]
        count = min(len(free), len(self.bag))
        if count:
            event = yield ("market", str(count))
            for slot, tile in zip(free, event[1:], strict=False):
                self.market[slot] = tile
                self.bag.remove(tile)

    def _fill_row(self) -> Generator[Event, Event, list[int]]:
        rounds: list[int] = []
        if len(self.row) < 4 and (self.deck or self.discard):
            event = yield ("row",)
            for name in event[1:]:
                if name.startswith("scoring"):
                    rounds.append(1 if name == "scoring-A" else 2)
                    continue
                if not self.deck:
                    self.deck, self.discard = self.discard, []
                self.deck.remove(name)
                self.row.append(name)
        return rounds

    def _turn(self, seat: int) -> Course:
        acting = True
        while acting:
            if not self.actions(seat):
                yield ("pass", str(seat))
                break
            kind, *rest = yield ("action", str(seat))
            acting = False
            match kind:
                case "take":
                    for name in rest:
                        self.row.remove(name)
                        self.hands[seat].append(name)
                case "buy":
                    slot = int(rest[0]) - 1
                    tile = self.market[slot]
                    assert tile is not None
                    self.market[slot] = None
                    self.in_hand.add(tile)
                    for value in rest[1:]:
                        self.hands[seat].remove(f"{self.currencies[slot]}-{value}")
                        self.discard.append(f"{self.currencies[slot]}-{value}")
                    acting = sum(map(int, rest[1:])) == oracle.cost(tile)
                case "add":
                    self.reserves[seat].remove(rest[0])
                    self.boards[seat][cell_of(rest[1])] = rest[0]
                case "remove":
                    self.reserves[seat].add(self.boards[seat].pop(cell_of(rest[0])))
                case "swap":
                    self.reserves[seat].remove(rest[0])
                    self.reserves[seat].add(self.boards[seat].pop(cell_of(rest[1])))
                    self.boards[seat][cell_of(rest[1])] = rest[0]
        yield from self._dispose(seat, "place")

    def _dispose(self, seat: int, stage: str) -> Course:
        while self.in_hand:
            kind, tile, *where = yield (stage, str(seat))
            self.in_hand.remove(tile)
            if kind == "place":
                self.boards[seat][cell_of(where[0])] = tile
            elif kind == "reserve":
                self.reserves[seat].add(tile)
            else:
                self.neutral.add(tile)

    def _hand_out(self, ender: int) -> Course:
        left = {self.currencies[slot]: tile for slot, tile in enumerate(self.market) if tile is not None}
        for tile, seat in oracle.hand_out([[card(c) for c in hand] for hand in self.hands], left).items():
            if seat is not None:
                self.won[seat].add(tile)
                self.market[self.market.index(tile)] = None
        for i in range(self.seats):
            seat = (ender + 1 + i) % self.seats
            self.in_hand, self.won[seat] = self.won[seat], set()
            yield from self._dispose(seat, "won")

    def wall(self, seat: int) -> int:
        longest = oracle.longest_wall(self.boards[seat])
        closed = longest == len(oracle.outer_sides(self.boards[seat]))
        return longest - 1 if self.loop_one_less and closed else longest

    def _score(self, round_: int) -> None:
        walls = [self.wall(seat) for seat in range(self.seats)]
        points = oracle.round_points(round_, [board.values() for board in self.boards], walls, self.neutral)
        self.scores = [score + more for score, more in zip(self.scores, points, strict=True)]
        self.rounds.append(round_)

    # Allowed moves: canonical, unordered

    def legal(self) -> list[Event]:
        match self.awaited:
            case ("action", seat):
                return self.actions(int(seat))
            case ("place" | "won", seat):
                return self.disposals(int(seat))
        return []

    def _cells(self, seat: int, tile: str) -> list[str]:
        board = self.boards[seat]
        beside = {oracle.beside(cell, side) for cell in board for side in oracle.STEPS} - set(board)
        return [cell_text(cell) for cell in beside if not oracle.placing(board, tile, cell)]

    def actions(self, seat: int) -> list[Event]:
        board, reserve = self.boards[seat], self.reserves[seat]
        hand = [card(name) for name in self.hands[seat]]
        moves: list[Event] = [
            ("take", *(f"{c}-{v}" for c, v in choice)) for choice in oracle.takings([card(name) for name in self.row])
        ]
        for slot, tile in enumerate(self.market):
            if tile is not None:
                ways = oracle.payments(hand, self.currencies[slot], oracle.cost(tile))
                moves += [("buy", str(slot + 1), *map(str, way)) for way in ways]
        moves += [("add", tile, cell) for tile in reserve for cell in self._cells(seat, tile)]
        moves += [("remove", cell_text(cell)) for cell in board if not oracle.removing(board, cell)]
        for tile in reserve:
            moves += [("swap", tile, cell_text(cell)) for cell in board if not oracle.swapping(board, tile, cell)]
        return moves

    def disposals(self, seat: int) -> list[Event]:
        moves: list[Event] = [("place", tile, cell) for tile in self.in_hand for cell in self._cells(seat, tile)]
        moves += [("reserve", tile) for tile in self.in_hand]
        if self.seats == 2 and self.awaited[0] == "place":
            moves += [("give", tile) for tile in self.in_hand]
        return moves
