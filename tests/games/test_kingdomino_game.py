"""Whole games of Kingdomino at random: the harness, a slow draft beside the engine, and what holds at every step."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from referee.games.game import Ending, SetupError
from referee.games.kingdomino import GAME, DominoSet, Options, State
from referee.games.kingdomino.dominoes import Domino
from referee.games.kingdomino.moves import ChooseDomino, DiscardDomino, FirstOrder, Line, PlaceCastle, PlaceDomino
from referee.games.kingdomino.options import Central, Draw, Frame, all_kings
from referee.games.kingdomino.position import Phase
from referee.harness import Shuffler, check_game, evenly
from tests.games.kingdomino_game import CHOICES, watch, worth
from tests.games.kingdomino_positions import DOMINO_SET, domino, random_states
from tests.sizes import sample_of

OPTIONS = {
    "default": Options(),
    "relative": Options(frame=Frame.RELATIVE),
    "bonuses": Options(first_order=Draw.KINGS, central=Central.KINGDOM, harmony=True),
    "frame bonus": Options(central=Central.FRAME, harmony=True, dynasty=True),
    "wider": Options(wider_offer=True, frame=Frame.RELATIVE, harmony=True),
    "duel": Options(mighty_duel=True, central=Central.KINGDOM),
    "relative duel": Options(mighty_duel=True, frame=Frame.RELATIVE, first_order=Draw.KINGS),
    "declared": Options(wider_offer=True, declared_order=(0,)),
}


def playable() -> Iterable[tuple[int, str, Options]]:
    for seats in (2, 3, 4):
        for name, options in OPTIONS.items():
            declared = all_kings(seats)[::-1] if options.declared_order else ()
            try:
                yield seats, name, replace(options, declared_order=declared).for_seats(seats)
            except SetupError:
                continue


GAMES = [pytest.param(*game, id=f"{game[0]}-{game[1].replace(' ', '-')}") for game in playable()]


@pytest.mark.parametrize(("seats", "name", "options"), sample_of(GAMES, 9))
def test_random_games_pass_the_harness(seats: int, name: str, options: Options) -> None:
    rng = random.Random(f"{seats} {name}")
    choose = list(CHOICES.values())[(seats + list(OPTIONS).index(name)) % 3]
    played = check_game(GAME, seats, rng, options=options, choose=choose, watch=watch)  # type: ignore[arg-type]
    assert isinstance(played.state, State)
    over = played.over
    assert over.ending is Ending.RULES
    assert len({*played.digests}) == len(played.digests), "two positions of a game have one digest"
    ranked = worth(played.state)
    assert list(over.scores) == [points for points, _, _ in ranked]
    assert list(over.places) == [1 + sum(other > own for other in ranked) for own in ranked]
    each = options.dominoes(seats) // options.line(seats) * (2 if seats == 2 else 1)
    assert [len(k.dominoes) + len(d) for k, d in zip(played.state.kingdoms, played.state.discarded, strict=True)] == [
        each
    ] * seats


def slow_draft(
    seats: int, castles: bool, order: Sequence[int], lines: int, choices: Sequence[int]
) -> list[tuple[int, str, int]]:
    """Return the order of acts by the rule text: seat, act, and the domino."""
    acts = [(seat, "castle", 0) for seat in range(seats)] if castles else []
    picks = iter(choices)
    row = []
    for seat in order:
        row.append((next(picks), seat))
        acts.append((seat, "choose", row[-1][0]))
    for _ in range(lines - 1):
        chosen = []
        for number, seat in sorted(row):
            chosen.append((next(picks), seat))
            acts += [(seat, "place", number), (seat, "choose", chosen[-1][0])]
        row = chosen
    acts += [(seat, "place", number) for number, seat in sorted(row)]
    assert not list(picks)
    return acts


@pytest.mark.parametrize(("seats", "name", "options"), GAMES)
def test_games_run_like_the_slow_draft(seats: int, name: str, options: Options) -> None:
    rng = random.Random(f"draft {seats} {name}")
    acts: list[tuple[int, str, int]] = []

    def note(rng: random.Random, state: Any, moves: Sequence[Any]) -> Any:
        move = evenly(rng, state, moves)
        match move:
            case PlaceCastle():
                acts.append((state.seat, "castle", 0))
            case ChooseDomino(number):
                acts.append((state.seat, "choose", number))
            case PlaceDomino(number) | DiscardDomino(number):
                acts.append((state.seat, "place", number))
        return move

    played = check_game(GAME, seats, rng, options=options, choose=note)  # type: ignore[arg-type]
    assert isinstance(played.state, State)
    orders = [event.seats for event in played.events if isinstance(event, FirstOrder)]
    lines = [event.dominoes for event in played.events if isinstance(event, Line)]
    choices = [number for _, what, number in acts if what == "choose"]
    order = orders[0] if orders else options.declared_order
    assert acts == slow_draft(seats, options.frame is Frame.FIXED, order, len(lines), choices)
    drawn = [number for line in lines for number in line]
    assert played.state.removed == [number for number in drawn if number not in choices]
    assert len(drawn) == len({*drawn}) == options.dominoes(seats)


def test_no_domino_comes_more_often_than_another() -> None:
    """Which dominoes are in a game of two, and in which line they come, is even: 24 of 48 in each of 400 games."""
    seen: Counter[int] = Counter()
    first: Counter[int] = Counter()
    for seed in range(400):
        state = GAME.new(2, Options(frame=Frame.RELATIVE))
        dealer = GAME.dealer(2, state.options, None, Shuffler(random.Random(seed)))
        state.apply(dealer.outcome(state))
        for _ in range(6):
            line = dealer.outcome(state)
            assert isinstance(line, Line)
            seen.update(line.dominoes)
            if not state.lines:
                first.update(line.dominoes)
            state.lines += 1
    assert min(seen[number] for number in range(1, 49)) > 150
    assert max(seen.values()) < 250
    assert min(first[number] for number in range(1, 49)) > 10


def test_placements_in_random_play_are_more_in_a_relative_frame() -> None:
    """Both ways of naming equal halves counted, other implementations have 10.65 a turn, 9.29, and 5.05 in a corner."""
    means = {}
    for name, castle in (("relative", None), ("middle", (2, 2)), ("corner", (0, 0))):
        counts: list[int] = []
        for seed in range(60):
            rng = random.Random(seed)
            options = Options(frame=Frame.FIXED if castle else Frame.RELATIVE)
            for state in random_states(rng, 4, options, castle):
                if state.phase is Phase.PLACE:
                    piece = state.due()
                    ways = 2 if piece.left == piece.right else 1
                    counts.append(ways * len(state.kingdoms[state.seat].placements(piece)))
        means[name] = sum(counts) / len(counts)
    assert means["relative"] > means["middle"] > means["corner"]
    assert means["corner"] == pytest.approx(5.05, abs=0.4)
    assert means["middle"] == pytest.approx(9.29, abs=0.4)
    assert means["relative"] == pytest.approx(10.65, abs=0.4)


def test_a_declared_set_is_played_with() -> None:
    """The numbers are the set's, and so are the halves that are laid."""
    turned = DominoSet([Domino(number, right, left) for number, left, right in DOMINO_SET.dominoes])
    state = GAME.new(4, Options(frame=Frame.RELATIVE), turned)
    assert state.domino_set.dominoes[47].left == domino(48).right
    state.apply(FirstOrder((0, 1, 2, 3)))
    state.apply(Line((45, 46, 47, 48)))
    for number in (48, 47, 46, 45):
        state.apply(ChooseDomino(number))
    state.apply(Line((1, 2, 3, 4)))
    assert state.due() == Domino(45, domino(45).right, domino(45).left)
