"""The demo's view of a game: figures that add up to the scores, and a screen that 80 columns and 24 lines hold."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from rich.console import Console

from referee.games import registry
from referee.games.game import Chance, Decision, ForcedPass, Over
from referee_clients import play_async
from referee_clients.bots import load, names
from referee_clients.match import SeededStream
from referee_clients.sdk.ledger import Ledger
from referee_clients.sdk.organiser import organiser
from referee_clients.terminal.demo.alhambra import Show as Alhambra
from referee_clients.terminal.demo.screen import Screen, Show, show
from tests.clients.referee_process import Referee
from tests.sizes import Part, in_parts

_MOST = 1000
"""Moves of a game, or entries."""
BOTS = ("random", "greedy", "planner", "mine:Own", "greedy", "random")


def played(game: str, seats: int, seed: int, look: Callable[[Show, Any], None] | None = None) -> tuple[Any, Show]:
    """A whole game in this process: its last state, and the show that saw it; ``look`` is called at every move."""
    rules = registry.get(game)
    state, shown = rules.new(seats, None, None), show(game, BOTS[:seats])
    dealer = rules.dealer(seats, None, None, SeededStream(seed))
    bot = load("greedy", game)
    while not isinstance(awaited := state.pending()[0], Over):
        if isinstance(awaited, Chance):
            state.apply(dealer.outcome(state))
        elif isinstance(awaited, Decision):
            if look is not None:
                look(shown, state)
            state.apply(bot.choose(state.observation(awaited.seat), tuple(state.legal_moves())))
        else:
            state.apply(ForcedPass(state.seat))
        shown.went_on(state)
    return state, shown


@pytest.mark.parametrize("seats", [2, 3, 6])
def test_rounds_add_up_to_the_scores(seats: int) -> None:
    for seed in range(3):
        state, shown = played("alhambra", seats, seed)
        assert isinstance(shown, Alhambra)
        numbers = [held.number for held in shown.rounds]
        assert numbers in ([1, 2, 3], [1, 3])
        assert [sum(points) for points in zip(*(held.points for held in shown.rounds), strict=True)] == state.scores
        for held in shown.rounds:
            assert [sum(earned) + wall for earned, wall in zip(held.earned, held.walls, strict=True)] == [*held.points]


GAMES = [(rules.rules_id, seats) for rules in registry.newest() for seats in (rules.min_seats, rules.max_seats)]


@in_parts(4)
@pytest.mark.parametrize(("game", "seats"), GAMES)
def test_what_is_live_leaves_room_for_the_rest_of_80_columns_and_24_lines(game: str, seats: int, part: Part) -> None:
    moves, drawn = count(), {*part.of(range(_MOST))}
    console = Console(file=io.StringIO(), width=73, force_terminal=True, record=True)

    def look(shown: Show, state: Any) -> None:
        if next(moves) not in drawn:
            return
        console.print(shown.position(state))
        picture = console.export_text()
        assert "…" not in picture
        assert len(picture.splitlines()) <= 16, picture

    played(game, seats, 1, look)


@pytest.mark.parametrize(("game", "seats"), GAMES)
def test_results_fit_into_80_columns(game: str, seats: int) -> None:
    state, shown = played(game, seats, 1)
    console = Console(file=io.StringIO(), width=80, force_terminal=True, record=True)
    shown.result(console, state)
    said = console.export_text()
    assert max(map(len, said.splitlines())) <= 80
    assert str(max(state.scores)) in said
    assert "…" not in said


@in_parts(3)
@pytest.mark.parametrize("game", registry.names())
async def test_the_live_picture_of_every_moment(referee: Referee, game: str, part: Part) -> None:
    """The beginning and the end each time, and a part of the moments between them."""
    async with organiser(referee.address, referee.token) as organising:
        opened = await organising.open_game(game, 2)
    console = Console(file=io.StringIO(), width=80, record=True)
    bots = names(game)[:2]
    shown = show(game, bots)
    screen = Screen(console, shown, bots)
    pictures: list[str] = []
    drawn = {*range(4), *part.of(range(_MOST))}

    def look(ledger: Ledger) -> None:
        if ledger.size - 1 not in drawn and ledger.record.game.end is None:
            return
        console.print(screen.frame(ledger.record))
        pictures.append(console.export_text())

    await asyncio.gather(
        play_async(opened.joins[0], load("greedy", game), on_commit=look),
        play_async(opened.joins[1], load("greedy", game)),
    )
    assert shown.title in pictures[0]
    assert "0 of 2 seats have joined" in pictures[0]
    assert "1 of 2 seats have opened their seeds" in pictures[3]
    assert "the game is over" in pictures[-1]
    for picture in pictures:
        lines = picture.splitlines()
        assert {len(line) for line in lines} == {77}, "a terminal's ^C beside it does not wrap"
        assert "…" not in picture
