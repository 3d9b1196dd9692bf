"""Whole games of Roll & Write at random: the harness, the slow game beside the engine, and what holds at every step."""

from __future__ import annotations

import random

import pytest

from referee.games.game import Chance, Ending, Over, SetupError
from referee.games.rollwrite import GAME, TYPES, Options, State
from referee.games.rollwrite.moves import Event
from referee.games.rollwrite.options import Solo
from referee.games.rollwrite.position import Phase
from referee.harness import Shuffler, by_kind, check_game, evenly
from referee.log.deck import Deck
from tests.games.rollwrite_game import CHOICES, TABLES, builder, hoarder, watch
from tests.games.rollwrite_positions import SHEET, position, slow_table_of, table_of, words
from tests.games.slow_rollwrite import CELLS, TRACK, SlowGame
from tests.sizes import Part, in_parts, sample_of


def check_end(state: State) -> None:
    """Check the end: every place of a type went at most once, and no more points than there are."""
    assert state.turns == state.rounds * state.seats
    for type_ in range(len(TYPES)):
        awards = [award for award in state.awards if award.type == type_]
        winners = [player for award in awards for player in (*award.seats, *(p + state.seats for p in award.virtual))]
        assert len(winners) == len(set(winners))
        assert [award.round for award in awards] == sorted({award.round for award in awards})
        given = sum(points.types[type_] for points in state.score()[0])
        assert given <= (16 + type_) + (8 + type_) + (1 + type_)


@in_parts(2)
@pytest.mark.parametrize(("seats", "options"), TABLES)
def test_random_games_pass_the_harness(seats: int, options: Options, part: Part) -> None:
    rng = random.Random(f"{seats} {options}")
    for choose in part.of((by_kind, rng.choice([evenly, builder, hoarder]))):
        played = check_game(GAME, seats, rng, options=options, choose=choose, watch=watch)  # type: ignore[arg-type]
        assert played.over.ending is Ending.RULES
        assert len({*played.digests}) == len(played.digests), "two positions of a game have one digest"
        check_end(played.state)  # type: ignore[arg-type]


class Beside:
    """The engine and the slow game fed with the same events; equal tables, equal moves."""

    def __init__(self, seats: int, options: Options) -> None:
        self.state = GAME.new(seats, options)
        self.slow = SlowGame(seats, options.start_seat, options.virtual_players, options.solo is Solo.AGAINST)

    def compare(self) -> None:
        assert table_of(self.state) == slow_table_of(self.slow)
        listed = [words(move) for move in self.state.legal_moves()]
        assert len(listed) == len(set(listed))
        if self.state.phase is not Phase.ACTION or self.state.coins[self.state.seat] <= 2:
            assert set(listed) == self.slow.legal()

    def happen(self, event: Event) -> None:
        assert self.state.check(event) == ()
        self.state.apply(event)
        self.slow.happen(words(event))
        self.compare()


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize(("seats", "options"), sample_of(TABLES, 4))
def test_games_run_like_the_slow_game(seats: int, options: Options, choice: str) -> None:
    """Dice, coins, awards, points: all of the table after every event, and the moves while they are few enough."""
    rng = random.Random(f"beside {seats} {options} {choice}")
    game = Beside(seats, options)
    game.compare()
    dealer = GAME.dealer(seats, options, None, Shuffler(rng))
    while not isinstance(awaited := game.state.pending()[0], Over):
        if isinstance(awaited, Chance):
            game.happen(dealer.outcome(game.state))
        else:
            game.happen(CHOICES[choice](rng, game.state, list(game.state.legal_moves())))
    totals = game.slow.totals()
    assert awaited.scores == tuple(totals[seat] for seat in game.slow.seats)
    rivals = list(totals.values()) if options.solo is Solo.AGAINST else [totals[seat] for seat in game.slow.seats]
    assert awaited.places == tuple(1 + sum(other > score for other in rivals) for score in awaited.scores)
    check_end(game.state)


def test_types_are_completed_in_some_of_these_games() -> None:
    """So that the games beside each other say something of awards."""
    rng = random.Random(8)
    awards = []
    for _ in range(12):
        game = Beside(1, Options(virtual_players=4, solo=Solo.AGAINST))
        dealer = GAME.dealer(1, game.state.options, None, Shuffler(rng))
        while not isinstance(game.state.pending()[0], Over):
            moves = list(game.state.legal_moves())
            event = builder(rng, game.state, moves) if moves else dealer.outcome(game.state)
            game.state.apply(event)
            game.slow.happen(words(event))
        assert table_of(game.state) == slow_table_of(game.slow)
        awards += game.state.awards
    assert len(awards) >= 5


def test_the_slow_game_has_the_default_sheet() -> None:
    assert {cell: TYPES[SHEET.type_at(*cell)] for cell in CELLS} == CELLS
    assert SHEET.coin_track == TRACK


# The dealer


class Labels:
    """A stream that keeps the labels; some numbers are given."""

    def __init__(self, rng: random.Random, numbers: dict[str, int]) -> None:
        self.rng = rng
        self.numbers = numbers
        self.asked: list[tuple[str, int]] = []

    def permutation(self, label: str, n: int) -> list[int]:
        raise AssertionError

    def uniform(self, label: str, n: int) -> int:
        self.asked.append((label, n))
        return self.numbers.get(label, self.rng.randrange(n))


def test_every_die_has_a_label_of_its_own_in_the_order_of_rolling() -> None:
    """docs/rollwrite-state.md defines the labels."""
    rng = random.Random(5)
    for seats in (1, 2, 4):
        stream = Labels(rng, {f"dice/{n}/{die}": 0 for n in (0, 1) for die in ("blue", "yellow")})
        state = GAME.new(seats)
        dealer = GAME.dealer(seats, None, None, stream)
        rolls: list[tuple[int, int]] = []
        while not isinstance(awaited := state.pending()[0], Over):
            if isinstance(awaited, Chance):
                outcome = dealer.outcome(state)
                rolls += getattr(outcome, "rolls", ())
                state.apply(outcome)
            else:
                state.apply(rng.choice(list(state.legal_moves())))
        labels = [("start", seats)] * (seats > 1)
        labels += [(f"dice/{n}/{die}", 6) for n in range(len(rolls)) for die in ("blue", "yellow")]
        assert stream.asked == labels
        assert rolls[:2] == [(1, 1), (1, 1)], "the second is rolled again, and each has its own label"


def test_a_committed_deck_rolls_the_dice() -> None:
    deck = Deck(bytes(32))
    state = GAME.new(3)
    dealer = GAME.dealer(3, None, None, deck)
    state.apply(dealer.outcome(state))
    assert state.start == deck.uniform("start", 3)
    event = dealer.outcome(state)
    wanted = [tuple(deck.uniform(f"dice/{n}/{die}", 6) + 1 for die in ("blue", "yellow")) for n in range(3)]
    assert list(event.rolls)[:3] == wanted  # type: ignore[union-attr]


def test_nothing_is_rolled_for_a_seat_that_decides() -> None:
    with pytest.raises(SetupError, match="no outcome is awaited"):
        GAME.dealer(3, None, None, Shuffler(random.Random(1))).outcome(position())


@pytest.mark.parametrize(
    ("seats", "options", "what"),
    [
        (0, Options(), "seats: expected 1 to 5, got 0"),
        (6, Options(), "seats: expected 1 to 5, got 6"),
        (3, Options(start_seat=3), "start_seat: expected 0 to 2, got 3"),
        (3, Options(start_seat=-1), "start_seat: expected 0 to 2, got -1"),
        (2, Options(virtual_players=2), "virtual_players: a variant for 1 seat, got 2"),
        (2, Options(solo=Solo.AGAINST), "solo: a variant for 1 seat, got 2"),
        (1, Options(virtual_players=1), "virtual_players: expected 2, 3 or 4, got 1"),
        (1, Options(virtual_players=5), "virtual_players: expected 2, 3 or 4, got 5"),
    ],
)
def test_options_that_do_not_go_together_are_refused(seats: int, options: Options, what: str) -> None:
    with pytest.raises(SetupError, match=f"^{what}$"):
        GAME.new(seats, options)
    with pytest.raises(SetupError, match=f"^{what}$"):
        GAME.dealer(seats, options, None, Shuffler(random.Random(1)))


def test_a_declared_start_seat_is_not_drawn() -> None:
    state = GAME.new(4, Options(start_seat=2))
    assert (state.phase, state.start, state.seat) == (Phase.START_BUILDINGS, 2, 2)
    assert (GAME.new(4).phase, GAME.new(1).phase) == (Phase.START_SEAT, Phase.START_BUILDINGS)
    assert "start_buildings, seat 2" in repr(state)
