"""Whole games of Alhambra at random: the harness, the slow game beside the engine, and what holds at every step."""

from __future__ import annotations

import random

import pytest

from referee.games.alhambra import GAME, Options
from referee.games.alhambra.moves import Event
from referee.games.alhambra.position import Phase
from referee.games.alhambra.tiles import tile_set
from referee.games.game import Chance, Ending, Forced, ForcedPass, Over
from referee.harness import Shuffler, check_game
from tests.games.alhambra_game import CHOICES, OPTIONS, options_for, watch
from tests.games.slow_alhambra import SlowGame
from tests.games.words import slow_game, slow_table_of, table_of, words
from tests.sizes import sample_of

TILE_SET = tile_set()


@pytest.mark.parametrize(("seats", "name"), sample_of([(s, name) for s in range(2, 7) for name in OPTIONS], 4))
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
