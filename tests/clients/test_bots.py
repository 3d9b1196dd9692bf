"""Bots choose legal moves, always the same ones for the same seed, and the better ones win."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from referee.games import registry
from referee.games.alhambra import Options
from referee.games.game import Chance, Decision, Pending, UnknownRules
from referee_clients.bots import Bot, UnknownBot, load, maker, names
from referee_clients.bots.alhambra import Planner
from referee_clients.bots.alhambra import Thinking as Alhambra
from referee_clients.bots.kingdomino import Thinking as Kingdomino
from referee_clients.bots.loading import _Chooser
from referee_clients.bots.rollwrite import Thinking as RollWrite
from referee_clients.bots.sampler import Sampler, Thinking
from referee_clients.match import IllegalMove, play_game
from tests.clients.match.quick import quick
from tests.sizes import Part, campaign, in_parts, sample_of

ROOT = Path(__file__).parents[2]
THINKING: dict[str, type[Thinking]] = {"alhambra": Alhambra, "kingdomino": Kingdomino, "rollwrite": RollWrite}


class Watched:
    """Passes everything on to a bot and sees that it keeps to the list."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.asked = 0

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        before = observation.digest()
        move = self.bot.choose(observation, legal_moves)
        assert move in legal_moves
        assert observation.digest() == before, "a bot thinks on copies"
        self.asked += 1
        return move


GAMES = [
    *[(game.rules_id, name) for game in registry.newest() for name in names(game.rules_id, slow=False)],
    *[campaign(game.rules_id, "sampler") for game in registry.newest()],
]


@in_parts(3)
@pytest.mark.parametrize(("game", "name"), GAMES)
def test_a_bot_chooses_from_the_list_to_the_end(
    game: str, name: str, part: Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the smallest and the largest table, and at one of three; with few futures, as more are more of the same."""
    monkeypatch.setattr(THINKING[game], "futures", 8)
    rules = registry.get(game)
    for seats in part.of(sorted({rules.min_seats, 3, rules.max_seats})):
        bots = [Watched(load(name, game, seed)) for seed in range(seats)]
        outcome = play_game(bots, seats, game)
        assert min(outcome.places) == 1
        assert [bot.asked for bot in bots] == list(outcome.decisions)


@pytest.mark.parametrize(("game", "thinking"), THINKING.items())
def test_a_sampler_answers_a_position_always_alike(
    game: str, thinking: type[Thinking], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And from the list; with few futures, as above."""
    monkeypatch.setattr(thinking, "futures", 8)
    asked: list[tuple[Any, Sequence[Any], Any]] = []

    def choose(observation: Any, legal_moves: Sequence[Any]) -> Any:
        before = observation.copy()
        move = Watched(load("sampler", game)).choose(observation, legal_moves)
        asked.append((before, legal_moves, move))
        return move

    play_game([_Chooser(choose), load("greedy", game)], seed=3, rules_id=game)
    assert len(asked) > 10
    assert len({type(move) for *_, move in asked}) > 1
    for observation, legal_moves, move in asked[::5]:
        assert load("sampler", game).choose(observation, legal_moves) == move


@pytest.mark.long
@pytest.mark.parametrize(("game", "games"), [("alhambra", 4), ("kingdomino", 6), ("rollwrite", 10)])
def test_samplers_win(game: str, games: int) -> None:
    """Against the weakest that plays for points, so that few games suffice; docs/bots.md has the measured ones."""
    assert quick(("sampler", "greedy"), game, games)[0].first.value > 0.6


def test_a_sampler_takes_what_leads_most_in_the_futures() -> None:
    """The position is a count that every answer adds to; a first estimate that misleads is overruled."""
    candidates = [(100.0 - move, move) for move in range(6)]

    class Sums:
        most, futures, prior = 6, 12, 0.0

        def candidates(self, legal_moves: Sequence[int]) -> list[tuple[float, int]]:
            return candidates

        def reply(self, state: Count) -> int:
            return 0

        def is_far(self, state: Count) -> bool:
            return state.turns >= 3

        def lead(self, state: Count) -> float:
            return -abs(state.sum - 3) - state.luck / 10

    sampler = Sampler(lambda state: Sums())
    assert sampler.choose(Count(), range(6)) == 3
    Sums.most = 2
    assert sampler.choose(Count(), range(6)) == 1
    Sums.prior = 1000.0
    assert sampler.choose(Count(), range(6)) == 0


class Count:
    """A game of one seat: moves are added up, and between them chance brings a number that changes no order."""

    def __init__(self) -> None:
        self.turns = self.sum = self.luck = 0
        self.rolls = False

    def copy(self) -> Count:
        new = Count()
        new.turns, new.sum, new.luck, new.rolls = self.turns, self.sum, self.luck, self.rolls
        return new

    def digest(self) -> bytes:
        return bytes([self.turns, self.sum])

    def pending(self) -> tuple[Pending, ...]:
        return (Chance("roll"),) if self.rolls else (Decision(0, ("add",)),)

    def sample(self, below: Callable[[int], int]) -> int:
        return below(6)

    def apply(self, event: int) -> None:
        if self.rolls:
            self.luck += event
        else:
            self.turns, self.sum = self.turns + 1, self.sum + event
        self.rolls = not self.rolls


def test_the_same_seed_gives_the_same_game() -> None:
    short = Options(max_turns=24)
    games = [
        play_game([load("random", seed=1), load("greedy"), load("planner")], seed=7, options=short) for _ in range(2)
    ]
    assert games[0].scores == games[1].scores
    assert games[0].decisions == games[1].decisions
    others = [
        play_game([load("random", seed=chance), load("greedy")], deal) for chance, deal in ((1, 7), (1, 8), (2, 7))
    ]
    assert len({game.scores for game in others}) == 3


class Cheat:
    """Takes the whole money row."""

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        return type(legal_moves[0])(tuple(observation.row))


def test_an_illegal_move_is_named_with_its_rule() -> None:
    with pytest.raises(IllegalMove, match=r"seat \d chose TakeMoney.*ALH-C1"):
        play_game([Cheat(), Cheat()], seed=1)


def last(observation: Any, legal_moves: Sequence[Any]) -> Any:
    return legal_moves[-1]


CHEAT = Cheat()


def test_a_bot_of_ones_own_is_a_function_a_class_or_an_object() -> None:
    assert load(f"{__name__}:last").choose(None, [1, 2]) == 2
    assert isinstance(load(f"{__name__}:Cheat"), Cheat)
    assert load(f"{__name__}:CHEAT") is CHEAT


def test_a_bot_that_fails_is_told_in_one_line() -> None:
    class Broken:
        def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
            raise KeyError("lost")

    with pytest.raises(IllegalMove, match=r"^the bot at seat \d failed: KeyError: 'lost'$"):
        play_game([Broken(), Broken()], seed=1)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("alphago", "random, greedy, planner"),
        ("no_such_module:Bot", "No module named"),
        (f"{__name__}:Absent", "no attribute 'Absent'"),
        (f"{__name__}:GAMES", "no method choose"),
        (":", "no bot"),
    ],
)
def test_an_unknown_bot_is_explained(name: str, said: str) -> None:
    with pytest.raises(UnknownBot, match=said):
        load(name)
    with pytest.raises(UnknownBot, match=said):
        maker(name)


def test_a_bot_belongs_to_its_games() -> None:
    with pytest.raises(UnknownRules, match="chess"):
        load("random", "chess")
    with pytest.raises(UnknownBot, match="no bot 'planner' for kingdomino: there are random, greedy, "):
        load("planner", "kingdomino")
    make = maker("planner")
    assert isinstance(make("alhambra"), Planner)
    with pytest.raises(UnknownBot, match="no bot 'planner' for kingdomino"):
        make("kingdomino")
    assert maker(f"{__name__}:Cheat")("kingdomino") is not None


def test_a_bot_that_cannot_be_imported_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "halfway.py").write_text("def choose(:")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UnknownBot, match="cannot be imported: SyntaxError"):
        load("halfway:choose")


@pytest.mark.parametrize(
    ("better", "other", "games", "share"),
    [
        ("greedy", "random", 4, 1),  # every day: against a better bot a worse one fails nothing
        *sample_of([("planner", "greedy", 4, 0.8), ("planner", "random", 2, 1)], 1),
        campaign("planner", "greedy", 10, 0.8),
        campaign("greedy", "random", 10, 1),
    ],
)
def test_better_bots_win(better: str, other: str, games: int, share: float) -> None:
    """So few games that only clear superiority passes; docs/bots.md has the measured one."""
    assert quick((better, other), "alhambra", games)[0].first.value >= share


@pytest.mark.parametrize("games", [8, campaign(100)])
def test_the_builder_earns_45_points_among_random_bots(games: int) -> None:
    """The mean over all seats; it is some four points more, the means of 100 games are within two of each other."""
    builder = quick(("builder", *["random"] * 3), "kingdomino", games, seats=4)[0]
    assert builder.points.value >= 45
    assert builder.first.value >= 0.8


@pytest.mark.parametrize("games", [10, campaign(60)])
@pytest.mark.parametrize(("game", "best"), [("kingdomino", "builder"), ("rollwrite", "planner")])
def test_better_bots_win_in_the_other_games_too(game: str, best: str, games: int) -> None:
    assert quick((best, "greedy"), game, games)[0].first.value >= 0.6
    assert quick(("greedy", "random"), game, games)[0].first.value >= 0.8
