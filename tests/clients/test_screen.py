"""What the demo shows of a game: rounds that add up to the scores, and a screen that 80 columns hold."""

from __future__ import annotations

import asyncio
import io

import pytest
from rich.console import Console

from clients import play_async
from clients.bots import load
from clients.demo.rounds import Rounds
from clients.demo.screen import Screen, rounds_table, show_result
from clients.match import SeededStream
from clients.sdk.ledger import Ledger
from clients.sdk.organiser import organiser
from referee.games.alhambra import GAME, State
from referee.games.game import Chance, Decision, ForcedPass, Over
from tests.clients.referee_process import Referee

BOTS = ("random", "greedy", "planner", "mine:MyVeryOwnPlayer", "greedy", "random")


def played(seats: int, seed: int) -> tuple[State, Rounds]:
    """A whole game in this process."""
    state, rounds = GAME.new(seats), Rounds()
    dealer = GAME.dealer(seats, None, None, SeededStream(seed))
    bot = load("greedy")
    while not isinstance(awaited := state.pending()[0], Over):
        if isinstance(awaited, Chance):
            state.apply(dealer.outcome(state))
        elif isinstance(awaited, Decision):
            state.apply(bot.choose(state.observation(awaited.seat), tuple(state.legal_moves())))
        else:
            state.apply(ForcedPass(state.seat))
        rounds.went_on(state)
    return state, rounds


@pytest.mark.parametrize("seats", [2, 3, 6])
def test_rounds_add_up_to_the_scores(seats: int) -> None:
    for seed in range(5):
        state, rounds = played(seats, seed)
        numbers = [held.number for held in rounds.held]
        assert numbers in ([1, 2, 3], [1, 3])
        assert [sum(points) for points in zip(*(held.points for held in rounds.held), strict=True)] == state.scores
        for held in rounds.held:
            assert [sum(earned) + wall for earned, wall in zip(held.earned, held.walls, strict=True)] == [*held.points]


@pytest.mark.parametrize("seats", [2, 6])
def test_results_fit_into_80_columns(seats: int) -> None:
    state, rounds = played(seats, 1)
    console = Console(file=io.StringIO(), width=80, force_terminal=True, record=True)
    show_result(console, BOTS[:seats], state, rounds.held)
    said = console.export_text()
    assert max(map(len, said.splitlines())) <= 80
    assert str(max(state.scores)) in said
    console.print(rounds_table(BOTS[:seats], rounds.held))
    assert "…" not in console.export_text()


async def test_the_live_picture_of_every_moment_fits_into_80_columns(referee: Referee) -> None:
    async with organiser(referee.address, referee.token) as organising:
        opened = await organising.open_game("alhambra", 2)
    console = Console(file=io.StringIO(), width=80, record=True)
    screen = Screen(console, BOTS[1:3])
    pictures = []

    def look(ledger: Ledger) -> None:
        console.print(screen.frame(ledger.record))
        pictures.append(console.export_text())

    await asyncio.gather(
        play_async(opened.joins[0], load("greedy"), on_commit=look), play_async(opened.joins[1], load("greedy"))
    )
    assert "0 of 2 seats have joined" in pictures[0]
    assert "1 of 2 seats have opened their seeds" in pictures[3]
    assert "the game is over" in pictures[-1]
    for picture in pictures:
        lines = picture.splitlines()
        assert {len(line) for line in lines} == {77}, "a terminal's ^C beside it does not wrap"
        assert "…" not in picture
