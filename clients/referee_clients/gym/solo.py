"""Each game as a Gymnasium environment: one seat acts, bots play the others."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, Literal, SupportsInt

import gymnasium
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from referee.games.results import Result
from referee_clients.bots import RESIGN, load
from referee_clients.gym.play import ActionNames, IllegalAction, Play, Rewards, expect
from referee_clients.match import IllegalMove
from referee_clients.match.game import Failed, Seat

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
        ``illegal``: what an action does that the mask forbids: ``lose`` ends the game with a reward of -1.

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
