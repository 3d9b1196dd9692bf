"""A game that an environment plays: what is chance happens by itself, what a seat decides is a numbered action."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, get_args

import numpy as np
from gymnasium import spaces

from referee.games import registry
from referee.games.game import Ending, Over
from referee.games.results import Contest
from referee.text.notation.registry import notation
from referee_clients.bots import Bot
from referee_clients.bots.story import moved
from referee_clients.gym.coding import Actions, Canonical, Mask, View
from referee_clients.match import SeededStream
from referee_clients.match.game import Seat, Told, deciding, following, seated

Rewards = Literal["places", "points", "win"]
ActionNames = Literal["canonical", "fixed"]
Observation = Mapping[str, Any]
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
        """Which actions are legal for the seat on turn."""
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
        """Deal a new game, the same for the same seed. ``bots``: those who are told what happens."""
        self.state = self._rules.new(self.seats, self._options, None)
        self._out, self._told = {}, Told(bots)
        self._dealer = self._rules.dealer(self.seats, self._options, None, SeededStream(seed))
        self._go_on()

    @property
    def seat(self) -> int | None:
        """Return the seat on turn; None when the game is over."""
        return None if self.over is not None else self.state.seat

    def act(self, action: int) -> None:
        """Make the move and go on to the next decision. Raise ``IllegalAction``."""
        if not 0 <= action < self.actions.size or not self.mask[action]:
            raise IllegalAction(f"action {action} is not legal here; expected one that the action mask allows")
        self.make(self.actions.move(self.state, self.moves, action))

    def make(self, move: Any) -> None:
        """Make a legal move and go on to the next decision."""
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
