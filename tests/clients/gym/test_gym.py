"""Environments for learning: as the libraries expect them, and legal where the rules are."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from pettingzoo.test.api_test import api_test
from pettingzoo.test.parallel_test import parallel_api_test
from pettingzoo.test.seed_test import seed_test

from referee.games import registry
from referee.games.game import Chance, Decision, Forced, ForcedPass, Over
from referee.games.kingdomino.moves import ChooseDomino
from referee.log.deck import Deck
from referee.log.vectors.transcripts import TRANSCRIPTS, Transcript
from referee.text.notation.registry import notation
from referee_clients.bots import RESIGN, Protest, TakeBack, load
from referee_clients.gym import IllegalAction, RawEnv, aec_env, parallel_env, solo_env
from referee_clients.gym.coding import CANONICAL, Canonical
from referee_clients.gym.environments import Play
from referee_clients.match import IllegalMove, play_game

GAMES = registry.names()
SEATS = [(game, seats) for game in GAMES for seats in (registry.get(game).min_seats, registry.get(game).max_seats)]


@pytest.fixture
def tolerated() -> Iterator[None]:
    """Observations are dictionaries, with planes that may be empty at first; the libraries mention it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Observation")
        warnings.filterwarnings("ignore", message=".*alternative render modes")
        yield


@pytest.mark.usefixtures("tolerated")
@pytest.mark.parametrize(("game", "seats"), SEATS)
def test_it_is_an_environment_for_pettingzoo(game: str, seats: int, capsys: pytest.CaptureFixture[str]) -> None:
    api_test(aec_env(game, seats), num_cycles=40)  # type: ignore[no-untyped-call]
    seed_test(lambda: aec_env(game, seats), num_cycles=20)  # type: ignore[no-untyped-call]
    parallel_api_test(parallel_env(game, seats), num_cycles=20)
    assert "Passed API test" in capsys.readouterr().out


@pytest.mark.usefixtures("tolerated")
@pytest.mark.parametrize("game", GAMES)
def test_it_is_an_environment_for_gymnasium(game: str) -> None:
    check_env(solo_env(game, ("random",), illegal="lose"), skip_render_check=True)


def positions(transcript: Transcript) -> Iterator[Any]:
    """Yield every position of the transcript in which a seat decides."""
    game = registry.get(transcript.rules_id)
    state = game.new(transcript.seats, transcript.options, None)
    chance, choices = (Deck(sha256(f"{transcript.name} {use}".encode()).digest()) for use in ("deck", "choices"))
    dealer = game.dealer(transcript.seats, transcript.options, None, chance)
    for number in range(10_000):
        match state.pending()[0]:
            case Over():
                return
            case Chance():
                state.apply(dealer.outcome(state))
            case Forced(seat):
                state.apply(ForcedPass(seat))
            case Decision():
                yield state
                moves = list(state.legal_moves())
                kinds = sorted({type(move).__name__ for move in moves})
                kind = kinds[choices.uniform(f"kind/{number}", len(kinds))]
                of_kind = [move for move in moves if type(move).__name__ == kind]
                state.apply(of_kind[choices.uniform(f"move/{number}", len(of_kind))])


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda transcript: transcript.name)
def test_the_mask_is_what_the_rules_allow(transcript: Transcript) -> None:
    """All positions are tested; of fixed numbers every number is asked about in a part of them."""
    play = Play(transcript.rules_id, transcript.seats, transcript.options, None, "places")
    part = registry.part("referee_clients.gym", transcript.rules_id)
    view, every = part.View(transcript.seats, play.state.options), 7
    for number, state in enumerate(positions(transcript)):
        moves = tuple(state.legal_moves())
        mask = play.actions.mask(state, moves)
        assert mask.shape == (play.actions.size,)
        for move in moves:
            action = play.actions.action(state, moves, move)
            assert mask[action]
            assert play.actions.move(state, moves, action) == move
        if isinstance(play.actions, Canonical):
            assert mask.sum() == len(moves) <= CANONICAL
            assert not any(state.check(play.actions.move(state, moves, action)) for action in range(len(moves)))
        elif number % every == 0:
            allowed = [not state.check(play.actions.move(state, moves, action)) for action in range(play.actions.size)]
            assert mask.tolist() == allowed, state
        planes, facts = view.observe(state, state.seat)
        assert (planes.shape[0], facts.shape[0]) == (len(view.planes), sum(length for _, length in view.facts))


@pytest.mark.parametrize("game", GAMES)
def test_a_game_is_the_one_that_bots_play_on_the_same_deal(game: str) -> None:
    play = Play(game, 2, None, None, "points")
    play.begin(5)
    bots = [load("random", game, seat) for seat in range(2)]
    while (seat := play.seat) is not None:
        move = bots[seat].choose(play.state.observation(seat), play.moves)
        action = play.actions.action(play.state, play.moves, move)
        assert play.describe(action) == notation(game).describe(move, play.state)
        play.act(action)
    outcome = play_game([load("random", game, seat) for seat in range(2)], 5, game)
    assert play.over is not None
    assert play.over.scores == outcome.scores
    assert [play.reward(seat) for seat in range(2)] == list(map(float, outcome.scores))


@pytest.mark.parametrize("game", GAMES)
def test_an_illegal_action_changes_nothing(game: str) -> None:
    env = RawEnv(game)
    env.reset(seed=1)
    before, agent = env.play.state.digest(), env.agent_selection
    illegal = int(np.flatnonzero(env.observe(agent)["action_mask"] == 0)[0])
    for action in (illegal, -1, env.play.actions.size, None):
        with pytest.raises(IllegalAction, match="is not legal here; expected one that the action mask allows"):
            env.step(action)
    assert (env.play.state.digest(), env.agent_selection) == (before, agent)
    lenient = solo_env(game, ("random",), illegal="lose")
    observation, _ = lenient.reset(seed=1)
    illegal = int(np.flatnonzero(observation["action_mask"] == 0)[0])
    assert lenient.step(illegal)[1:4] == (-1.0, True, False)


def test_rewards_are_places_points_or_wins() -> None:
    def ended(rewards: Any, seats: int = 3) -> tuple[Over, dict[str, float]]:
        env = RawEnv("kingdomino", seats, rewards=rewards)
        env.reset(seed=3)
        generator = np.random.default_rng(3)
        while not env.terminations[env.agent_selection]:
            env.step(int(generator.choice(np.flatnonzero(env.play.mask))))
        assert env.play.over is not None
        return env.play.over, env.rewards

    over, places = ended("places")
    assert sum(places.values()) == 0
    assert sorted(places, key=lambda agent: -places[agent]) == sorted(
        places, key=lambda agent: over.places[int(agent[-1])]
    )
    assert list(ended("points")[1].values()) == [float(points) for points in over.scores]
    wins = ended("win")[1]
    assert sum(wins.values()) == 1
    assert all((wins[agent] > 0) == (over.places[int(agent[-1])] == 1) for agent in wins)


def test_the_observer_comes_first() -> None:
    """Two seats' observations of one position differ by who is first, and by nothing else."""
    play = Play("kingdomino", 2, None, None, "places")
    play.begin(1)
    for _ in range(20):
        play.make(play.moves[0])
    first, second = (play.observe(seat) for seat in range(2))
    of_seat = len(play.plane_names) // 2
    assert (first["observation"][:of_seat] == second["observation"][of_seat:]).all()
    assert (first["observation"][of_seat:] == second["observation"][:of_seat]).all()
    points = play.fact_slices["points if the game ended now"]
    assert first["facts"][points].tolist() == second["facts"][points].tolist()[::-1]
    assert play.observe(1 - (play.seat or 0))["action_mask"].sum() == 0


def test_many_environments_at_once_play_as_each_alone() -> None:
    def episode(kind: Any, actions: Any, count: int) -> list[float]:
        environments = kind([lambda: solo_env("rollwrite", ("random",), seat=0)] * count)
        observed, _ = environments.reset(seed=[7 + number for number in range(count)])
        found = []
        for _ in range(25):
            masks = observed["action_mask"]
            observed, rewards, _, _, _ = environments.step(np.array([actions(mask) for mask in masks]))
            found.append(float(observed["facts"][0].sum() + rewards[0]))
        environments.close()
        return found

    def last(mask: Any) -> int:
        return int(np.flatnonzero(mask)[-1])

    alone = episode(SyncVectorEnv, last, 1)
    assert episode(SyncVectorEnv, last, 3) == alone
    assert episode(partial(AsyncVectorEnv, context="forkserver"), last, 2) == alone


def test_a_seat_is_chosen_or_another_in_every_game() -> None:
    env = solo_env("kingdomino", ("random", "greedy"))
    seats = {env.reset(seed=seed)[1]["seat"] for seed in range(20)}
    assert seats == {0, 1, 2}
    assert solo_env("kingdomino", ("random",), seat=1).reset(seed=1)[1] == {"seat": 1}
    with pytest.raises(ValueError, match="seat: 2; expected a number from 0 to 1"):
        solo_env("kingdomino", ("random",), seat=2)
    with pytest.raises(ValueError, match="alhambra has no fixed actions; expected canonical ones"):
        aec_env("alhambra", actions="fixed")


class Heard:
    """A listener that keeps what it gets."""

    told: list[Any]

    def begin(self, table: Any) -> None:
        self.table = table
        self.told = [table.seat, table.seats]
        Heard.last = self

    def choose(self, observation: Any, legal_moves: Any) -> Any:
        self.told.append(len(self.table.since()))
        return legal_moves[0]

    def end(self, ending: Any) -> None:
        self.told.append(ending)

    last: Heard


def opponent(answer: Any) -> str:
    """Return the name of a bot that always answers this, whatever is asked."""
    setattr(sys.modules[__name__], "answering", lambda _seen, _moves: answer)  # noqa: B010 - by its name, as users do
    return f"{__name__}:answering"


def to_the_end(env: Any) -> tuple[float, bool]:
    """Play the first legal action each time; the last reward, and whether the game is over."""
    observation, _ = env.reset(seed=4)
    for _ in range(500):
        observation, reward, is_over, _, _ = env.step(int(np.flatnonzero(observation["action_mask"])[0]))
        if is_over:
            return reward, True
    return 0.0, False


@pytest.mark.parametrize("game", GAMES)
def test_opponents_are_told_of_the_game_as_at_a_table(game: str) -> None:
    env = solo_env(game, (f"{__name__}:Heard",), seat=1, rewards="points")
    env.reset(seed=4)
    abandoned = Heard.last
    reward, is_over = to_the_end(env)
    assert abandoned.told[-1] is None
    assert is_over
    seat, seats, *since, ending = Heard.last.told
    assert (seat, seats, ending.ending, ending.scores[1]) == (0, 2, "RULES", reward)
    assert max(since) > 0
    env.close()
    assert Heard.last.told[-1] is ending


def test_opponents_may_be_programs_which_end_with_the_environment(tmp_path: Path) -> None:
    source, ended = tmp_path / "bot.py", tmp_path / "ended"
    source.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    if 'hello' in asked:\n"
        "        print(json.dumps({'name': 'first'}), flush=True)\n"
        "    elif 'turn' in asked:\n"
        "        print(json.dumps({'move': 0}), flush=True)\n"
        f"open({str(ended)!r}, 'w').close()\n"
    )
    env = solo_env("rollwrite", (f"exec:{shlex.join([sys.executable, str(source)])}",), seat=1)
    env.reset(seed=4)
    assert not ended.exists()
    env.close()
    assert ended.exists()
    assert to_the_end(env)[1]


@pytest.mark.parametrize("game", GAMES)
def test_an_opponent_that_resigns_loses_at_once_with_two_seats(game: str) -> None:
    env = solo_env(game, (opponent(RESIGN),), seat=0)
    assert to_the_end(env) == (1.0, True)
    assert env.play.over is not None
    assert env.play.over.places == (1, 2)


def test_a_game_that_ended_before_the_first_decision_is_told_by_the_first_step() -> None:
    env = solo_env("kingdomino", (opponent(RESIGN),), seat=1)
    assert not env.reset(seed=4)[0]["action_mask"].any()
    assert env.step(0)[1:3] == (1.0, True)
    with pytest.raises(ResetNeeded, match="expected reset"):
        env.step(0)


def test_for_one_that_resigns_among_more_the_stand_in_plays_on() -> None:
    env = solo_env("kingdomino", (opponent(RESIGN), "greedy"), seat=0)
    assert to_the_end(env)[1]
    assert env.play.over is not None
    assert env.play.over.places[1] == 3


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (TakeBack(1), "expected a move, as there is no log"),
        (Protest(1, "ALH-1"), "expected a move, as there is no log"),
        ("pass", "KDO-9"),
        (None, "KDO-9"),
        (ChooseDomino(48), "KDO-9"),
    ],
)
def test_an_opponent_that_does_not_move_ends_the_game(answer: Any, said: str) -> None:
    env = solo_env("kingdomino", (opponent(answer),), seat=0)
    with pytest.raises(IllegalMove, match=f"seat 1 chose .*{said}"):
        to_the_end(env)
    with pytest.raises(ResetNeeded, match="the game is over"):
        env.step(0)


@pytest.mark.parametrize("illegal", ["raise", "lose"])
def test_no_step_comes_after_the_end(illegal: Any) -> None:
    env = solo_env("rollwrite", ("random",), illegal=illegal)
    with pytest.raises(ResetNeeded, match="expected reset"):
        env.step(0)
    if illegal == "lose":
        env.reset(seed=4)
        assert env.step(-1)[1:3] == (-1.0, True)
    else:
        assert to_the_end(env)[1]
    before = env.play.state.digest()
    with pytest.raises(ResetNeeded, match="expected reset"):
        env.step(0)
    assert env.play.state.digest() == before


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"rewards": "nonsense"}, "rewards: 'nonsense'; expected 'places' or 'points' or 'win'"),
        ({"actions": "some"}, "actions: 'some'; expected 'canonical' or 'fixed'"),
        ({"illegal": "ignore"}, "illegal: 'ignore'; expected 'raise' or 'lose'"),
    ],
)
def test_an_option_that_there_is_not_is_refused_at_once(option: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        solo_env("kingdomino", **option)
