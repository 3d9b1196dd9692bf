"""Illegal moves that an arbiter lets stand: a game continues to its end, and the slow checkers score it alike."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from referee.games import alhambra, registry
from referee.games.alhambra.moves import PlaceTile
from referee.games.alhambra.options import LoopRule
from referee.games.alhambra.outline import longest_wall, outline
from referee.games.game import Kind
from referee.games.kingdomino import Options as KingdominoOptions
from referee.games.kingdomino.moves import PlaceDomino
from referee.games.kingdomino.options import Central, Frame
from referee.wire.certificates.registry import provable
from tests.games import oracle, rollwrite_positions, slow_alhambra, slow_rollwrite, words
from tests.games.kingdomino_game import worth
from tests.games.kingdomino_positions import names
from tests.games.layouts import engine_layout
from tests.games.rulings import play
from tests.games.slow_kingdomino import SlowKingdom
from tests.sizes import Part, campaign, in_parts

Hits = Counter[str]


class Lenient(slow_alhambra.SlowGame):
    """A game that lays every tile as asked; its lists of moves are not used."""

    def actions(self, seat: int) -> list[slow_alhambra.Event]:
        return [("take",)] if self.row else super().actions(seat)

    def wall(self, seat: int) -> int:
        """With holes by the outline, which has no wall along them."""
        board = self.boards[seat]
        if not {"ALH-A5", "ALH-A6"} & oracle.faults(board).keys():
            return super().wall(seat)
        layout = engine_layout(board)
        longest = len(longest_wall(layout))
        return longest - 1 if self.loop_one_less and longest == len(outline(layout)) else longest


def alhambra_game(rng: random.Random, hits: Hits) -> None:
    """All of the table and all points, beside the slow game."""
    seats, loop_one_less = rng.randrange(2, 7), rng.random() < 0.5
    table = alhambra.tile_set()
    slow = Lenient(seats, table.names, youngest_first=range(seats), loop_one_less=loop_one_less)
    options = alhambra.Options(loop_rule=LoopRule.ONE_LESS if loop_one_less else LoopRule.FULL)
    state = play(
        "alhambra", seats, rng, hits, options, lambda state, event: slow.happen(words.words(event, state.tile_set))
    )
    assert words.table_of(state) == words.slow_table_of(slow)
    assert list(state.pending()[0].scores) == slow.scores


def kingdomino_game(rng: random.Random, hits: Hits) -> None:
    """Points, largest areas and crowns of every kingdom, by the slow checker."""
    seats, central = rng.randrange(2, 5), rng.choice(list(Central))
    frame = Frame.FIXED if central is Central.FRAME else rng.choice(list(Frame))
    options = KingdominoOptions(frame, central=central, harmony=rng.random() < 0.5, mighty_duel=seats == 2)
    state = play("kingdomino", seats, rng, hits, options)
    (over,) = state.pending()
    ranked = worth(state)
    assert list(over.scores) == [points for points, _, _ in ranked]
    assert list(over.places) == [1 + sum(other > own for other in ranked) for own in ranked]


def rollwrite_game(rng: random.Random, hits: Hits) -> None:
    """All of the table and all points, beside the slow game."""
    seats = rng.randrange(1, 6)
    slow = slow_rollwrite.SlowGame(seats)
    state = play(
        "rollwrite", seats, rng, hits, follow=lambda state, event: slow.happen(rollwrite_positions.words(event))
    )
    assert rollwrite_positions.table_of(state) == rollwrite_positions.slow_table_of(slow)
    totals = slow.totals()
    assert list(state.pending()[0].scores) == [totals[seat] for seat in slow.seats]


GAMES: dict[str, Callable[[random.Random, Hits], None]] = {
    "alhambra": alhambra_game,
    "kingdomino": kingdomino_game,
    "rollwrite": rollwrite_game,
}
"""A game beside the slow checker."""


@pytest.mark.parametrize(
    ("rules_id", "games", "least"),
    [
        *(("alhambra", 3, 300), ("kingdomino", 6, 75), ("rollwrite", 4, 30)),
        *(campaign("alhambra", 12, 300), campaign("kingdomino", 50, 300), campaign("rollwrite", 40, 300)),
    ],
)
def test_games_with_illegal_moves_that_stand(rules_id: str, games: int, least: int) -> None:
    hits: Hits = Counter()
    for number in range(games):
        GAMES[rules_id](random.Random(f"ruling {rules_id} {number} of {games}"), hits)
    assert hits.keys() == registry.get(rules_id).waivable
    assert hits.total() >= least


@pytest.mark.parametrize("rules_id", registry.names())
def test_only_constraints_are_waived(rules_id: str) -> None:
    game: Any = registry.get(rules_id)
    assert game.waivable < {rule.id for rule in game.catalogue if rule.kind is Kind.CONSTRAINT}


def is_legal(rules_id: str, state: Any) -> bool:
    """Return the building of the seat on turn, by the slow checkers."""
    if rules_id == "alhambra":
        return not oracle.faults(words.board_of(state.layouts[state.seat]))
    kingdom = state.kingdoms[state.seat]
    slow = SlowKingdom(kingdom.frame_size, kingdom.castle)
    for number, left, right in kingdom.dominoes:
        halves = names(state.domino_set.dominoes[number - 1])
        if slow.faults(halves, left, right):
            return False
        slow.lay(halves, left, right)
    return True


@in_parts(3)
@pytest.mark.parametrize("rules_id", ["alhambra", "kingdomino"])
def test_of_a_building_in_which_something_illegal_stands_nothing_is_claimed(rules_id: str, part: Part) -> None:
    proofs: Any = provable(rules_id, 1)
    seen: Hits = Counter()

    def follow(state: Any, event: Any) -> None:
        move = next((move for move in state.legal_moves() if isinstance(move, PlaceTile | PlaceDomino)), None)
        if move is not None:
            legal = is_legal(rules_id, state)
            assert any(map(proofs.is_of_move, proofs.claims(state, move))) == legal
            seen[str(legal)] += 1

    for seed in part.of(range(3)):
        play(rules_id, 3, random.Random(f"claims {rules_id} {seed}"), Counter(), None, follow)
    assert seen.keys() == {"True", "False"}
