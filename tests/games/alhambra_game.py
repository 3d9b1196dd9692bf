"""Players, options and checks for whole games of Alhambra."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from referee.games.alhambra import Options, State
from referee.games.alhambra.money import KINDS
from referee.games.alhambra.moves import (
    Buy,
    GiveTile,
    PlaceTile,
    RebuildAdd,
    RebuildRemove,
    RebuildSwap,
    ReserveTile,
    TakeMoney,
)
from referee.games.alhambra.options import EndRule, LoopRule
from referee.games.alhambra.position import FREE
from referee.games.alhambra.tiles import tiles_of
from referee.harness import Choose, by_kind, evenly
from tests.games.options import TURNED

ORDER = (TakeMoney, Buy, RebuildAdd, RebuildRemove, RebuildSwap, PlaceTile, ReserveTile, GiveTile)


def canonical(move: Any) -> tuple[Any, ...]:
    """Return the place of a move in the canonical order: its kind, then its parts as they are written."""
    return ORDER.index(type(move)), *(getattr(move, field.name) for field in fields(move))


def builder(rng: random.Random, state: Any, moves: Sequence[Any]) -> Any:
    """Buys and places whenever it can, so that layouts grow large and the game comes to its end by the rules."""
    for kinds in ((PlaceTile,), (Buy,), (RebuildAdd,)):
        wanted = [move for move in moves if isinstance(move, kinds)]
        if wanted and rng.random() < 0.85:
            return rng.choice(wanted)
    return by_kind(rng, state, moves)


def hoarder(rng: random.Random, state: Any, moves: Sequence[Any]) -> Any:
    """Take money as long as there is any."""
    money = [move for move in moves if isinstance(move, TakeMoney)]
    return rng.choice(money) if money and rng.random() < 0.98 else by_kind(rng, state, moves)


CHOICES: dict[str, Choose] = {"evenly": evenly, "by kind": by_kind, "builder": builder, "hoarder": hoarder}


OPTIONS = {
    "default": Options(),
    "one less, bag empty": Options(loop_rule=LoopRule.ONE_LESS, end_rule=EndRule.BAG_EMPTY),
    "short": Options(max_turns=40),
    "currencies": Options(slot_currencies=TURNED, end_rule=EndRule.BAG_EMPTY),
}


def options_for(rng: random.Random, name: str, seats: int) -> Options:
    """With a random age order."""
    return replace(OPTIONS[name], age_order=tuple(rng.sample(range(seats), seats)))


def watch(state: State) -> None:
    """Check the invariants before every event of a legal game."""
    in_play = [state.bag, state.bought, state.neutral, *state.reserves, *state.won]
    tiles = [tile for bits in in_play for tile in tiles_of(bits)]
    tiles += [tile for tile in state.market if tile != FREE]
    for layout in state.layouts:
        tiles += layout.tiles.values()
    assert sorted(tiles) == list(range(54)), "a tile was lost or doubled"
    cards = [*state.hands, state.deck, state.discard]
    assert [sum(c[kind] for c in cards) + state.row.count(kind) for kind in range(KINDS)] == [
        2 if state.seats == 2 else 3
    ] * KINDS, "a card was lost or doubled"
    moves = list(state.legal_moves())
    assert moves == sorted(moves, key=canonical), "not in canonical order"
    assert len(state.row) <= 4
    assert state.row == sorted(state.row)
