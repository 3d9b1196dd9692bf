"""The rules alone, on one core: the parts that take most of the time, and whole games.

A floor is what is left when nothing has to be found out: the same results made, the same dominoes laid, the same events
applied.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from referee.games import registry
from referee.games.alhambra.layout import Layout, index_of
from referee.games.alhambra.tiles import tile_set
from referee.games.game import Chance, Decision, Forced, ForcedPass
from referee.games.kingdomino import domino_set
from referee.games.kingdomino.dominoes import Domino
from referee.games.kingdomino.kingdom import Kingdom
from tests.bench.measure import Figure, against, rate, slice_rate

GAMES = {"alhambra": (3, 60, 10), "kingdomino": (4, 400, 40), "rollwrite": (4, 300, 40)}
"""Per game: seats, the least complete games a second, games in a batch."""
Laid = list[tuple[Domino, tuple[int, int], tuple[int, int]]]


@dataclass(frozen=True)
class Work:
    """Something that the rules do, and what is left of it when nothing has to be found out. Both return how often."""

    name: str
    target: float
    """A second."""
    work: Callable[[], int]
    bare: Callable[[], int]
    bare_name: str = ""
    """Empty: the bare part is not the rules' work at all, and is taken off."""

    def once(self) -> float:
        """Return how many a second, of one slice."""
        found = slice_rate(self.work)
        return found if self.bare_name else 1 / (1 / found - 1 / slice_rate(self.bare))


def works() -> Iterator[Work]:
    """Yield the parts of every game, and whole games."""
    yield from alhambra_works()
    yield from kingdomino_works()
    yield from map(whole_games, registry.names())


def figures() -> Iterator[Figure]:
    """How many a second, and beside it the ratio to a floor of the same run."""
    for each in works():
        if not each.bare_name:
            value = 1 / (1 / rate(each.work) - 1 / rate(each.bare))
            yield Figure(each.name, value, each.target)
            continue
        measured = against(each.name, each.work, each.bare, 0)
        yield Figure(each.name, measured.value, each.target)
        yield replace(measured, name=f"    of {each.bare_name}", target=None)


# Alhambra


def layouts(tiles: int, count: int) -> list[Layout]:
    """Return random legal layouts."""
    known, rng = tile_set(), random.Random(tiles)
    found: list[Layout] = []
    while len(found) < count:
        layout = Layout(known)
        for tile in rng.sample(range(54), 54):
            cells = layout.placeable_cells(known.walls[tile])
            if cells and len(layout.tiles) < tiles:
                layout = layout.placed(tile, index_of(rng.choice(cells)))
        if len(layout.tiles) == tiles:
            found.append(layout)
    return found


def fresh(layouts_: list[Layout]) -> list[Layout]:
    """Return copies of the layouts, with nothing cached."""
    return [Layout(layout.tile_set, layout.tiles) for layout in layouts_]


def alhambra_works() -> Iterator[Work]:
    """Legal cells, longest wall."""
    boards, walls = layouts(16, 100), range(1, 15)

    def legal_cells() -> int:
        for mask in walls:
            for layout in fresh(boards):
                layout.placeable_cells(mask)
        return len(boards) * len(walls)

    def making() -> int:
        for _ in walls:
            fresh(boards)
        return len(boards) * len(walls)

    def longest_wall() -> int:
        for _ in walls:
            for layout in fresh(boards):
                layout.wall()
        return len(boards) * len(walls)

    yield Work("alhambra: legal cells of a tile, 16-tile layout", 60_000, legal_cells, making)
    yield Work("alhambra: longest wall, 16-tile layout", 100_000, longest_wall, making)


# Kingdomino


def kingdom(rng: random.Random, dominoes: int) -> tuple[Kingdom, Laid]:
    """So many dominoes drawn at random, each laid anywhere where it fits in a relative frame; and how they lie."""
    known, found, laid = domino_set().dominoes, Kingdom(5), Laid()
    for domino in rng.sample(known, dominoes):
        if places := found.placements(domino):
            ax, ay, bx, by = rng.choice(places)
            laid.append((domino, (ax, ay), (bx, by)))
            found = found.placed(*laid[-1])
    return found, laid


def kingdomino_works() -> Iterator[Work]:
    """Placements of a domino, kingdoms, scores."""
    rng, dominoes = random.Random(1), domino_set().dominoes[::4]
    boards = [kingdom(rng, 6)[0] for _ in range(100)]
    lists = [board.placements(domino) for board in boards for domino in dominoes]

    def placements() -> int:
        for board in boards:
            for domino in dominoes:
                board.placements(domino)
        return len(lists)

    def the_same_lists() -> int:
        for places in lists:
            [(ax, ay, bx, by) for ax, ay, bx, by in places]
        return len(lists)

    name = "kingdomino: legal placements of a domino, 6 dominoes lie"
    yield Work(name, 60_000, placements, the_same_lists, "making the same lists")

    made = [kingdom(random.Random(seed), 12) for seed in range(200)]

    def kingdoms() -> int:
        again = random.Random(2)
        for _ in made:
            kingdom(again, 12)
        return len(made)

    def the_same_kingdoms() -> int:
        for _, laid in made:
            found = Kingdom(5)
            for domino, left, right in laid:
                found = found.placed(domino, left, right)
        return len(made)

    name = "kingdomino: random kingdoms of 12 dominoes"
    yield Work(name, 4_000, kingdoms, the_same_kingdoms, "laying the dominoes where they lie")

    full = [found for found, _ in made]
    areas = [[(area.squares, area.crowns) for area in found.areas()] for found in full]

    def scores() -> int:
        for found in full:
            found.score()
        return len(full)

    def sums() -> int:
        for known in areas:
            sum([squares * crowns for squares, crowns in known])
        return len(full)

    yield Work("kingdomino: score of such a kingdom", 100_000, scores, sums, "adding up its areas")


# Whole games


class Even:
    """A stream of chance that costs next to nothing, so that what is measured is the rules."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def permutation(self, label: str, n: int) -> list[int]:
        return self._rng.sample(range(n), n)

    def uniform(self, label: str, n: int) -> int:
        return int(self._rng.random() * n)


def play(seats: int, rng: random.Random, rules_id: str = "alhambra") -> list[Any]:
    """Play a whole game of moves picked evenly from the complete list; return its events."""
    game = registry.get(rules_id)
    state = game.new(seats)
    dealer = game.dealer(seats, None, None, Even(rng))
    events: list[Any] = []
    uniform = rng.random
    while True:
        awaited = state.pending()[0]
        if isinstance(awaited, Decision):
            moves = [*state.legal_moves()]
            event = moves[int(uniform() * len(moves))]
        elif isinstance(awaited, Chance):
            event = dealer.outcome(state)
        elif isinstance(awaited, Forced):
            event = ForcedPass(awaited.seat)
        else:
            return events
        events.append(event)
        state.apply(event)


def whole_games(rules_id: str) -> Work:
    """Complete random games, every list of moves made in full."""
    seats, target, batch = GAMES[rules_id]
    game, rng = registry.get(rules_id), random.Random(3)
    played = [play(seats, rng, rules_id) for _ in range(batch)]

    def games() -> int:
        again = random.Random(3)
        for _ in played:
            play(seats, again, rules_id)
        return batch

    def the_same_games() -> int:
        for events in played:
            state = game.new(seats)
            for event in events:
                state.apply(event)
        return batch

    name = f"{rules_id}: random complete {seats}-seat games"
    return Work(name, target, games, the_same_games, "applying the same events")
