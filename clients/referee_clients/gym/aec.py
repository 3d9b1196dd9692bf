"""Each game as a PettingZoo environment, in which one agent acts after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils.conversions import turn_based_aec_to_parallel
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from referee_clients.gym.play import ActionNames, Play, Rewards


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
