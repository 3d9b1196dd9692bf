"""The environments: each game for PettingZoo, one agent after the other, and for Gymnasium, one seat against bots.

Chance needs no action; a seat's decision is a numbered action.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, Final, Literal, SupportsInt, get_args

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils.conversions import turn_based_aec_to_parallel
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from referee.games import registry
from referee.games.game import Ending, Over
from referee.games.results import Contest, Result
from referee.text.notation.registry import notation
from referee_clients.bots import RESIGN, Bot, load
from referee_clients.bots.story import moved
from referee_clients.gym.coding import Actions, Canonical, Mask, View
from referee_clients.match import IllegalMove, SeededStream
from referee_clients.match.game import Failed, Seat, Told, deciding, following, seated

Rewards = Literal["places", "points", "win"]
ActionNames = Literal["canonical", "fixed"]
_LARGE: Final = 32767


def expect(option: str, value: Any, expected: Any) -> None:
    """Raise ``ValueError`` if an option has none of the values of a ``Literal``."""
    if value not in (values := get_args(expected)):
        raise ValueError(f"{option}: {value!r}; expected {' or '.join(map(repr, values))}")


class IllegalAction(ValueError):
    """The action stands for no legal move in this position."""


class Play:
    """Games of one kind, one after the other."""

    def __init__(self, game: str, seats: int, options: Any, actions: ActionNames | None, rewards: Rewards) -> None:
        """Raise ``UnknownRules``, ``SetupError``, and ``ValueError`` for actions or rewards that there are not."""
        expect("rewards", rewards, Rewards)
        if actions is not None:
            expect("actions", actions, ActionNames)
        self._rules = registry.get(game)
        self.game = game
        self.seats = seats
        self._options = options
        self.state: Any = self._rules.new(seats, options, None)
        part = registry.part(__package__, game)
        fixed = getattr(part, "Fixed", None)
        if actions == "fixed" and fixed is None:
            raise ValueError(f"{game} has no fixed actions; expected canonical ones")
        self.actions: Actions = Canonical() if fixed is None or actions == "canonical" else fixed()
        self._view: View = part.View(seats, self.state.options)
        self._rewards = rewards
        self.moves: tuple[Any, ...] = ()
        """Legal moves of the seat on turn."""
        self.mask: Mask = np.zeros(self.actions.size, np.int8)
        """The actions that are legal for the seat on turn."""
        self.over: Over | None = None
        self._out: dict[int, Ending] = {}
        self._told = Told(())
        self._dealer: Any = None

    @property
    def observation_space(self) -> spaces.Dict:
        """Return what ``observe`` returns."""
        planes, facts = len(self._view.planes), sum(length for _, length in self._view.facts)
        return spaces.Dict(
            {
                "observation": spaces.Box(0, 255, (planes, *self._view.shape), np.uint8),
                "facts": spaces.Box(-_LARGE, _LARGE, (facts,), np.int16),
                "action_mask": spaces.Box(0, 1, (self.actions.size,), np.int8),
            }
        )

    @property
    def plane_names(self) -> tuple[str, ...]:
        """Return what each plane shows."""
        return tuple(self._view.planes)

    @property
    def fact_slices(self) -> Mapping[str, slice]:
        """Return where each fact stands."""
        found, start = dict[str, slice](), 0
        for name, length in self._view.facts:
            found[name] = slice(start, start + length)
            start += length
        return found

    def seated(self, bot: Bot, seat: int) -> Seat:
        """Return the bot in a seat of the next game."""
        return seated(bot, self._rules, seat, self.state)

    def begin(self, seed: int, bots: Sequence[Seat] = ()) -> None:
        """Deal a new game, the same for the same seed. ``bots``: the bots that hear of the events."""
        self.state = self._rules.new(self.seats, self._options, None)
        self._out, self._told = {}, Told(bots)
        self._dealer = self._rules.dealer(self.seats, self._options, None, SeededStream(seed))
        self._go_on()

    @property
    def seat(self) -> int | None:
        """Return the seat on turn; None when the game is over."""
        return None if self.over is not None else self.state.seat

    def act(self, action: int) -> None:
        """Make the move and continue to the next decision. Raise ``IllegalAction``."""
        if not 0 <= action < self.actions.size or not self.mask[action]:
            raise IllegalAction(f"action {action} is not legal here; expected one that the action mask allows")
        self.make(self.actions.move(self.state, self.moves, action))

    def make(self, move: Any) -> None:
        """Make a legal move and continue to the next decision."""
        self._told.happens(self.state, moved(self.state.seat, move), self.state.seat)
        self._go_on()

    def resign(self) -> None:
        """Let the seat on turn give up: the game ends, or the stand-in plays on for it (TBL-2)."""
        self._out[self.state.seat] = Ending.RESIGNED
        self._go_on()

    def describe(self, action: int) -> str:
        """Return the move that a legal action stands for, in notation."""
        return notation(self.game).describe(self.actions.move(self.state, self.moves, action), self.state)

    def observe(self, seat: int) -> dict[str, Any]:
        """Return what the seat sees; only the seat on turn has legal actions."""
        planes, facts = self._view.observe(self.state, seat)
        mask = self.mask.copy() if self.seat == seat else np.zeros(self.actions.size, np.int8)
        return {"observation": planes, "facts": facts, "action_mask": mask}

    def reward(self, seat: int) -> float:
        """Return what the seat gets for the game that is over."""
        if self.over is None:
            return 0.0
        places, place = self.over.places, self.over.places[seat]
        match self._rewards:
            case "points":
                return float(self.over.scores[seat])
            case "win":
                return 1 / places.count(1) if place == 1 else 0.0
            case "places":
                if self.seats == 1:
                    return 1.0
                behind, ahead = sum(other > place for other in places), sum(other < place for other in places)
                return (behind - ahead) / (self.seats - 1)

    def _go_on(self) -> None:
        state = self.state
        self.over = None
        while (result := Contest(self._out).result(self.seats, state.pending())) is None:
            if deciding(state.pending(), self._out) is not None:
                self.moves = tuple(state.legal_moves())
                self.mask = self.actions.mask(state, self.moves)
                return
            self._told.happens(state, *following(state, self._dealer, self._out))
        self.over, self.moves = Over(result.ending, result.scores or tuple(state.scores), result.places), ()


# --- PettingZoo: one agent acts after the other ---------------------------------------------------------------------


class RawEnv(AECEnv[str, Any, Any]):
    """One game. Agents are ``seat_0``, ``seat_1``, … and act when the rules ask them to, several times in a row too."""

    metadata: dict[str, Any] = {  # noqa: RUF012 - as PettingZoo declares it
        "name": "tile_referee_v0", "is_parallelizable": True, "render_modes": [],
    }  # fmt: skip

    def __init__(
        self,
        game: str,
        seats: int = 2,
        options: Any = None,
        *,
        actions: ActionNames | None = None,
        rewards: Rewards = "places",
    ) -> None:
        """Raise ``UnknownRules``, ``SetupError``, ``ValueError``."""
        super().__init__()  # type: ignore[no-untyped-call]
        self.play = Play(game, seats, options, actions, rewards)
        self.possible_agents = [f"seat_{seat}" for seat in range(seats)]
        seen: spaces.Space[Any] = self.play.observation_space
        self.observation_spaces = dict.fromkeys(self.possible_agents, seen)
        made: spaces.Space[Any] = spaces.Discrete(self.play.actions.size)
        self.action_spaces = dict.fromkeys(self.possible_agents, made)
        self.render_mode = None
        self._random = np.random.default_rng()

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return what an agent sees."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the actions of an agent."""
        return self.action_spaces[agent]

    def observe(self, agent: str) -> dict[str, Any]:
        """Return what the agent sees."""
        return self.play.observe(self.possible_agents.index(agent))

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:  # noqa: ARG002
        """Deal a game. The same seed deals the same games, this one and those that follow without a seed."""
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self.play.begin(int(self._random.integers(1 << 62)))
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.possible_agents[self.play.seat or 0]

    def step(self, action: int | None) -> None:
        """Let the agent whose turn it is act. Raise ``IllegalAction``; the game is then as it was."""
        if self.terminations[self.agent_selection] or self.truncations[self.agent_selection]:
            self._was_dead_step(action)
            return
        agent = self.agent_selection
        self.play.act(-1 if action is None else int(action))
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if self.play.over is not None:
            self.rewards = {each: self.play.reward(self.possible_agents.index(each)) for each in self.agents}
            self.terminations = dict.fromkeys(self.agents, True)
        else:
            self.agent_selection = self.possible_agents[self.play.seat or 0]
        self._accumulate_rewards()

    def render(self) -> None:
        """Show nothing: ``referee show`` and ``describe`` are for people."""

    def describe(self, action: int) -> str:
        """Return the move that a legal action stands for, in notation."""
        return self.play.describe(action)

    def close(self) -> None:
        """Hold nothing that has to be given back."""


def aec_env(game: str, seats: int = 2, options: Any = None, **how: Any) -> AECEnv[str, Any, Any]:
    """Return ``RawEnv`` in PettingZoo's check of the order of calls."""
    return OrderEnforcingWrapper(RawEnv(game, seats, options, **how))


def parallel_env(game: str, seats: int = 2, options: Any = None, **how: Any) -> ParallelEnv[str, Any, Any]:
    """Return the same with an action of each agent at every step, of which only that of the agent on turn counts."""
    return turn_based_aec_to_parallel(RawEnv(game, seats, options, **how))


# --- Gymnasium: one seat acts, bots play the others -----------------------------------------------------------------


Illegal = Literal["raise", "lose"]


class SoloEnv(gymnasium.Env[dict[str, Any], SupportsInt]):
    """One seat of a game against bots."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(
        self,
        game: str,
        opponents: Sequence[str] = ("greedy",),
        *,
        seat: int | None = None,
        options: Any = None,
        actions: ActionNames | None = None,
        rewards: Rewards = "places",
        illegal: Illegal = "raise",
    ) -> None:
        """``opponents``: bots by name, or ``module:attribute``; ``seat``: None: another one at random in every game;
        ``illegal``: the effect of an action that the mask forbids: ``lose`` ends the game with a reward of -1.

        Raise ``UnknownRules``, ``UnknownBot``, ``SetupError``, ``ValueError``.
        """
        expect("illegal", illegal, Illegal)
        self.play = Play(game, 1 + len(opponents), options, actions, rewards)
        if seat is not None and not 0 <= seat < self.play.seats:
            raise ValueError(f"seat: {seat}; expected a number from 0 to {self.play.seats - 1}")
        self._opponents = tuple(opponents)
        for name in opponents:
            load(name, game)
        self._fixed_seat = seat
        self._loses = illegal == "lose"
        self.seat = seat or 0
        self._bots: dict[int, Seat] = {}
        self._is_over = True
        self.observation_space = self.play.observation_space
        self.action_space = spaces.Discrete(self.play.actions.size)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Deal a game, and play it on to the seat's first decision. Raise ``IllegalMove`` if an opponent fails."""
        super().reset(seed=seed, options=options)
        self.close()
        draw = self.np_random.integers
        self.seat = int(draw(self.play.seats)) if self._fixed_seat is None else self._fixed_seat
        others = [seat for seat in range(self.play.seats) if seat != self.seat]
        for seat, name in zip(others, self._opponents, strict=True):
            self._bots[seat] = self.play.seated(load(name, self.play.game, int(draw(1 << 62))), seat)
        with ExitStack() as failing:
            failing.callback(self.close)
            for bot in self._bots.values():
                bot.begin(is_strict=True)
            self.play.begin(int(draw(1 << 62)), tuple(self._bots.values()))
            self._let_others_play()
            failing.pop_all()
        self._is_over = False
        return self.play.observe(self.seat), {"seat": self.seat}

    def step(self, action: SupportsInt) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Act, and let the others play. If they ended the game before its first decision, it ends here.

        Raise ``IllegalAction``, and the game is as it was; ``IllegalMove`` if an
        opponent fails, and the game is over; ``ResetNeeded`` if it is over.
        """
        if self._is_over:
            raise ResetNeeded("the game is over; expected reset() before the next step()")
        if self.play.over is None:
            try:
                self.play.act(int(action))
            except IllegalAction:
                if not self._loses:
                    raise
                self.close()
                return self.play.observe(self.seat), -1.0, True, False, {"seat": self.seat}
        with ExitStack() as failing:
            failing.callback(self.close)
            self._let_others_play()
            failing.pop_all()
        self._is_over = self.play.over is not None
        return self.play.observe(self.seat), self.play.reward(self.seat), self._is_over, False, {"seat": self.seat}

    def close(self) -> None:
        """Leave the game, and end the opponents that are programs. Raise ``IllegalMove`` if an opponent fails."""
        self._leave(None)

    def describe(self, action: int) -> str:
        """Return the move that a legal action stands for, in notation."""
        return self.play.describe(action)

    def _let_others_play(self) -> None:
        play = self.play
        while (seat := play.seat) is not None and seat != self.seat:
            try:
                move = self._bots[seat].choose(play.state, play.moves)
            except Failed as failed:
                raise IllegalMove(str(failed)) from failed.__cause__
            if move is RESIGN:
                play.resign()
            else:
                play.make(move)
        if play.over is not None:
            self._leave(Result(play.over.ending, play.over.scores, play.over.places))

    def _leave(self, result: Result | None) -> None:
        bots, self._bots, self._is_over = self._bots, {}, True
        with ExitStack() as leaving:  # every bot, whatever another one does
            for bot in bots.values():
                leaving.callback(partial(bot.leave, result, is_strict=True))


def solo_env(game: str, opponents: Sequence[str] = ("greedy",), **how: Any) -> SoloEnv:
    """Return ``SoloEnv``, for ``gymnasium.vector.SyncVectorEnv`` and the like."""
    return SoloEnv(game, opponents, **how)
