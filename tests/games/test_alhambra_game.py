"""Whole games of Alhambra at random: the harness, the slow game beside the engine, and what holds at every step."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import pytest

from referee.games.alhambra import GAME, Options, State
from referee.games.alhambra.money import KINDS
from referee.games.alhambra.moves import (
    Buy,
    Event,
    GiveTile,
    PlaceTile,
    RebuildAdd,
    RebuildRemove,
    RebuildSwap,
    ReserveTile,
    TakeMoney,
)
from referee.games.alhambra.options import EndRule, LoopRule
from referee.games.alhambra.phases import FREE, Phase
from referee.games.alhambra.tiles import tile_set, tiles_of
from referee.games.game import Chance, Ending, Forced, ForcedPass, Over
from referee.harness import Choose, Shuffler, by_kind, check_game, evenly
from tests.games.options import TURNED
from tests.games.slow_alhambra import SlowGame
from tests.games.words import slow_game, slow_table_of, table_of, words
from tests.sizes import sample_of

TILE_SET = tile_set()

ORDER = (TakeMoney, Buy, RebuildAdd, RebuildRemove, RebuildSwap, PlaceTile, ReserveTile, GiveTile)


def canonical(move: Any) -> tuple[Any, ...]:
    """The place of a move in the canonical order: its kind, then its parts as they are written."""
    return ORDER.index(type(move)), *(getattr(move, field.name) for field in fields(move))


def builder(rng: random.Random, state: Any, moves: Sequence[Any]) -> Any:
    """Buys and places whenever it can, so that layouts grow large and the game comes to its end by the rules."""
    for kinds in ((PlaceTile,), (Buy,), (RebuildAdd,)):
        wanted = [move for move in moves if isinstance(move, kinds)]
        if wanted and rng.random() < 0.85:
            return rng.choice(wanted)
    return by_kind(rng, state, moves)


def hoarder(rng: random.Random, state: Any, moves: Sequence[Any]) -> Any:
    """Takes money as long as there is any."""
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
    """What holds before every event of a legal game."""
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


@pytest.mark.parametrize(("seats", "name"), sample_of([(s, name) for s in range(2, 7) for name in OPTIONS], 7))
def test_random_games_pass_the_harness(seats: int, name: str) -> None:
    rng = random.Random(f"{seats} {name}")
    choose = list(CHOICES.values())[(seats + list(OPTIONS).index(name)) % 4]
    options = options_for(rng, name, seats)
    played = check_game(GAME, seats, rng, options=options, choose=choose, watch=watch)  # type: ignore[arg-type]
    assert played.over.ending in (Ending.RULES, Ending.STALLED)
    assert len({*played.digests}) == len(played.digests), "two positions of a game have one digest"


class Beside:
    """The engine and the slow game fed with the same events; equal tables, equal moves."""

    def __init__(self, seats: int, options: Options, every: int = 1) -> None:
        self.state = GAME.new(seats, options)
        self.slow: SlowGame = slow_game(seats, self.state.options, TILE_SET)
        self.every = every
        self.steps = 0

    def compare(self) -> None:
        assert table_of(self.state) == slow_table_of(self.slow)
        if self.steps % self.every == 0:
            listed = [words(move, TILE_SET) for move in self.state.legal_moves()]
            assert sorted(listed) == sorted(self.slow.legal())
        (awaited,) = self.state.pending()
        match awaited:
            case Over(ending, scores):
                assert self.slow.awaited == ("over",)
                assert self.slow.ending == ending.name.lower()
                assert list(scores) == self.slow.scores
            case Chance(kind):
                assert self.slow.awaited[0] == {"money_row": "row", "hand": "hand"}.get(kind, kind.split("_")[0])
            case Forced(seat):
                assert self.slow.awaited == ("pass", str(seat))
            case _:
                stage = {Phase.ACTION: "action", Phase.PLACE: "place", Phase.HAND_OUT: "won"}[self.state.phase]
                assert self.slow.awaited == (stage, str(awaited.seat))

    def happen(self, event: Event) -> None:
        assert self.state.check(event) == ()
        self.state.apply(event)
        self.slow.happen(words(event, TILE_SET))
        self.steps += 1
        self.compare()


@pytest.mark.parametrize("seats", range(2, 7))
@pytest.mark.parametrize("choice", sample_of(("by kind", "builder", "builder again", "hoarder"), 1))
def test_games_run_like_the_slow_game(seats: int, choice: str) -> None:
    """Scores, hand-out, start seat, refill, neutral draws: all of the table after every event, and most move lists."""
    rng = random.Random(f"beside {seats} {choice}")
    options = options_for(rng, rng.choice(list(OPTIONS)), seats)
    choose = CHOICES[choice.removesuffix(" again")]
    if choice == "hoarder":
        options = Options(options.age_order, 150)
    game = Beside(seats, options, every=3)
    game.compare()
    dealer = GAME.dealer(seats, game.state.options, None, Shuffler(rng))
    while not isinstance(awaited := game.state.pending()[0], Over):
        if isinstance(awaited, Chance):
            game.happen(dealer.outcome(game.state))
        elif isinstance(awaited, Forced):
            game.happen(ForcedPass(awaited.seat))
        else:
            game.happen(choose(rng, game.state, list(game.state.legal_moves())))
