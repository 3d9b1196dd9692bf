"""One game between bots in this process: no server, no log, nothing to wait for."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

from referee.games import registry
from referee.games.game import Chance, Decision, Ending, Forced, ForcedPass
from referee.games.results import Contest, Result
from referee_clients.bots.bot import RESIGN, Bot, Table, begin, end
from referee_clients.bots.bot import Ending as Ended
from referee_clients.bots.program import ProgramFailed


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended, and what it took."""

    scores: tuple[int, ...]
    places: tuple[int, ...]
    turns: int
    decisions: tuple[int, ...]
    """Per seat."""
    thought_s: tuple[float, ...]
    """Per seat: processor time spent choosing; what else the machine does does not count."""


class SeededStream:
    """A dealer's chance from an ordinary generator: the same seed, the same deal, whatever is asked in between."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def _generator(self, label: str) -> random.Random:
        return random.Random(f"{self._seed}/{label}")

    def permutation(self, label: str, n: int) -> list[int]:
        """Return the numbers 0..n-1, shuffled."""
        order = list(range(n))
        self._generator(label).shuffle(order)
        return order

    def uniform(self, label: str, n: int) -> int:
        """Return a number in 0..n-1."""
        return self._generator(label).randrange(n)


class IllegalMove(ValueError):
    """A bot chose what the rules forbid, or failed."""


def play_game(bots: Sequence[Bot], seed: int, rules_id: str = "alhambra", options: Any = None) -> Outcome:
    """Play a game of the bots, in the order of their seats, on the deal of this seed. Raise ``IllegalMove``,
    ``SetupError``.

    ``options``: of the game; ``None``: its defaults. For a seat that resigns the stand-in plays on (TBL-2).
    """
    game = registry.get(rules_id)
    state = game.new(len(bots), options, None)
    dealer = game.dealer(len(bots), options, None, SeededStream(seed))
    seats = [
        _Seat(bot, Table(rules_id, game.version, seat, len(bots), state.options, game.default_components()))
        for seat, bot in enumerate(bots)
    ]
    resigned = dict[int, Ending]()
    result: Result | None = None
    try:
        for seat in seats:
            seat.ask(partial(begin, seat.bot, seat.table))
        while (result := Contest(resigned).result(len(bots), state.pending())) is None:
            match state.pending()[0]:
                case Chance():
                    state.apply(dealer.outcome(state))
                case Forced(number):
                    state.apply(ForcedPass(number))
                case Decision(number) if number in resigned:
                    state.apply(state.stand_in(number))
                case Decision(number):
                    if (move := seats[number].choose(state)) is RESIGN:
                        resigned[number] = Ending.RESIGNED
                    else:
                        state.apply(move)
    finally:
        with ExitStack() as leaving:  # every seat, whatever the bot of another one does
            for seat in seats:
                leaving.callback(seat.leave, result)
    return Outcome(
        result.scores or tuple(state.scores),
        result.places,
        state.turns,
        tuple(seat.decisions for seat in seats),
        tuple(seat.thought_s for seat in seats),
    )


@dataclass(slots=True)
class _Seat:
    bot: Bot
    table: Table
    decisions: int = 0
    thought_s: float = 0.0

    def choose(self, state: Any) -> Any:
        """Return the bot's move, which is legal, or ``RESIGN``. Raise ``IllegalMove``."""
        moves = tuple(state.legal_moves())
        self.decisions += 1
        move = self.ask(lambda: self.bot.choose(state.observation(self.table.seat), moves))
        if move is not RESIGN and (violations := state.check(move)):
            raise IllegalMove(f"seat {self.table.seat} chose {move}: {', '.join(v.rule_id for v in violations)}")
        return move

    def ask(self, question: Callable[[], Any]) -> Any:
        began = time.thread_time()
        try:
            return question()
        except Exception as error:  # its author's code may fail in any way
            how = str(error) if isinstance(error, ProgramFailed) else f"{type(error).__name__}: {error}"
            raise IllegalMove(f"the bot at seat {self.table.seat} failed: {how}") from error
        finally:
            self.thought_s += time.thread_time() - began

    def leave(self, result: Result | None) -> None:
        ending = Ended(result.ending.name, result.scores, result.places) if result is not None else None
        self.ask(partial(end, self.bot, ending))
