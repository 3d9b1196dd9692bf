"""The rules alone, on one core."""

from __future__ import annotations

import random
from collections.abc import Iterator

from referee.games import registry
from referee.games.alhambra.layout import Layout, index_of
from referee.games.alhambra.tiles import tile_table
from referee.games.game import Chance, ForcedPass, Over
from tests.bench.measure import Figure, rate
from tests.harness import Shuffler


def layouts(tiles: int, count: int) -> list[Layout]:
    """Random legal layouts."""
    table, rng = tile_table(), random.Random(tiles)
    found: list[Layout] = []
    while len(found) < count:
        layout = Layout(table)
        for tile in rng.sample(range(54), 54):
            cells = layout.placeable_cells(table.walls[tile])
            if cells and len(layout.tiles) < tiles:
                layout = layout.placed(tile, index_of(rng.choice(cells)))
        if len(layout.tiles) == tiles:
            found.append(layout)
    return found


def fresh(layouts_: list[Layout]) -> list[Layout]:
    """The same layouts, nothing about them known yet."""
    return [Layout(layout.table, layout.tiles) for layout in layouts_]


def play(seats: int, rng: random.Random) -> int:
    """A whole game of moves picked evenly from the complete list; returns how many events it had."""
    game = registry.get("alhambra")
    state = game.new(seats)
    dealer = game.dealer(seats, None, None, Shuffler(rng))
    for events in range(1_000_000):
        match state.pending()[0]:
            case Over():
                return events
            case Chance():
                state.apply(dealer.outcome(state))
            case _:
                moves = list(state.legal_moves())
                state.apply(rng.choice(moves) if moves else ForcedPass(state.seat))
    raise AssertionError("the game does not end")


def figures() -> Iterator[Figure]:
    """Legal cells, longest wall, whole games."""
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

    made = 1 / rate(making)
    yield Figure("legal cells of a tile, 16-tile layout", 1 / (1 / rate(legal_cells) - made), 60_000)
    yield Figure("longest wall, 16-tile layout", 1 / (1 / rate(longest_wall) - made), 100_000)

    def games() -> int:
        rng = random.Random(3)
        for _ in range(20):
            play(3, rng)
        return 20

    yield Figure("random complete 3-player games", rate(games), 60)
