"""One game between bots, without server and log."""

from __future__ import annotations

import math
import random
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any, Final

from referee.games import registry
from referee.games.game import Chance, Decision, Ending, Forced, Pending
from referee.games.results import Contest, Result
from referee.log.events import Dealt, Event, Passed, StoodIn, change_of
from referee.wire import registry as wire
from referee_clients.bots.bot import RESIGN, Bot, OwnClock, Protest, Table, TakeBack, begin, end
from referee_clients.bots.bot import Ending as Ended
from referee_clients.bots.program import ProgramFailed, ProgramIllegal, ProgramLate
from referee_clients.bots.story import Story, moved

FAULTS: Final = frozenset({Ending.CRASHED, Ending.FLAG, Ending.ILLEGAL_MOVES})
"""The endings in which a seat loses by the fault of its bot; to resign is none."""
_PER_OCTAVE: Final = 4

Act = int | str
"""The act of a seat at a decision: the number of a legal move in their canonical order, ``=`` and the base64 of
another legal move, or ``!`` and how it lost, such as ``!CRASHED``. A seat that is out decides nothing any more."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a bot after which the game cannot continue."""

    seat: int
    ending: Ending
    """``CRASHED``, ``FLAG`` or ``ILLEGAL_MOVES``."""
    why: str
    state: Any = field(compare=False, repr=False, default=None)
    """The position of the fault."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a game, and its cost."""

    scores: tuple[int, ...]
    places: tuple[int, ...]
    turns: int
    decisions: tuple[int, ...]
    """The number of decisions per seat."""
    ending: Ending = Ending.RULES
    out: Mapping[int, Ending] = field(default_factory=dict)
    """Seats that lost before the end and how, in that order."""
    acts: tuple[Act, ...] = ()
    """All acts of seats. With the deal they are the game."""
    position: str = ""
    """Digest of the last position, in hexadecimal digits."""
    times: tuple[Mapping[int, int], ...] = field(default=(), compare=False)
    """Per seat: the number of decisions in each ``bucket`` of time."""


def bucket(microseconds: float) -> int:
    """Return the class of a time: four to each doubling."""
    return int(_PER_OCTAVE * math.log2(max(1.0, microseconds)))


def milliseconds(number: int) -> float:
    """Return the middle of a class of times."""
    return float(2 ** ((number + 0.5) / _PER_OCTAVE) / 1000)


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


def play_game(
    bots: Sequence[Bot],
    seed: int,
    rules_id: str = "alhambra",
    options: Any = None,
    *,
    on_fault: Callable[[Fault], None] | None = None,
) -> Outcome:
    """Play a game of the bots, in the order of their seats, on the deal of this seed. Raise ``IllegalMove``,
    ``SetupError``.

    ``options``: of the game; ``None``: its defaults. For a seat that resigns the stand-in plays on (TBL-2).
    ``on_fault``: is called when a bot fails, which then loses while the stand-in plays on; without it the game ends.
    """
    game = registry.get(rules_id)
    state = game.new(len(bots), options, None)
    components = game.default_components()
    seats = [seated(bot, game, seat, state) for seat, bot in enumerate(bots)]
    happens = partial(Told(seats).happens, state)
    codec = wire.codec(rules_id, game.version)
    acts = list[Act]()
    result: Result | None = None
    try:
        for seat in seats:
            seat.begin(is_strict=on_fault is None)
        # Bots that are processes have been started by now: they do not have it in their memory.
        dealer = game.dealer(len(bots), options, None, SeededStream(seed))
        out = dict[int, Ending]()
        while (result := Contest(out).result(len(bots), state.pending())) is None:
            if (number := deciding(state.pending(), out)) is None:
                happens(*following(state, dealer, out))
                continue
            moves = tuple(state.legal_moves())
            try:
                move = seats[number].choose(state, moves)
            except Failed as failed:
                if on_fault is None:
                    raise IllegalMove(str(failed)) from failed.__cause__
                out[number] = failed.ending
                acts.append(f"!{failed.ending.name}")
                on_fault(Fault(number, failed.ending, str(failed), state.observation(number)))
                continue
            if move is RESIGN:
                out[number] = Ending.RESIGNED
                acts.append("!RESIGNED")
                continue
            acts.append(
                moves.index(move) if move in moves else "=" + b64encode(codec.encode_move(move, components)).decode()
            )
            happens(moved(number, move), number)
    finally:
        with ExitStack() as leaving:  # every seat, whatever the bot of another one does
            for seat in seats:
                leaving.callback(seat.leave, result, is_strict=on_fault is None)
    return Outcome(
        result.scores or tuple(state.scores),
        result.places,
        state.turns,
        tuple(seat.decisions for seat in seats),
        result.ending,
        out,
        tuple(acts),
        state.digest().hex()[:32],
        tuple(seat.times for seat in seats),
    )


def deciding(pending: Sequence[Pending], out: Mapping[int, Ending]) -> int | None:
    """Return the seat whose bot has to decide; None: something else comes first."""
    awaited = pending[0]
    return awaited.seat if isinstance(awaited, Decision) and awaited.seat not in out else None


def following(state: Any, dealer: Any, out: Mapping[int, Ending]) -> tuple[Event, int | None]:
    """Return what comes without a bot, and whose it is: chance, a pass, or the move of a stand-in."""
    match state.pending()[0]:
        case Chance():
            return Dealt(dealer.outcome(state), b""), None
        case Forced(number):
            return Passed(number), number
        case Decision(number) if number in out:
            return StoodIn(number, state.stand_in(number)), number
    raise AssertionError("a bot has to decide")


def seated(bot: Bot, game: Any, seat: int, state: Any) -> Seat:
    """Return the bot in its seat of a game, which is ``state``."""
    story, components = Story(game.rules_id, seat), game.default_components()
    table = Table(game.rules_id, game.version, seat, state.seats, state.options, components, since=story.since)
    return Seat(bot, table, story)


class Told:
    """Makes what happens happen, and tells the bots of one game that listen."""

    def __init__(self, seats: Sequence[Seat]) -> None:
        self._stories = [seat.story for seat in seats if hasattr(seat.bot, "begin")]
        self._numbers = count(1)

    def happens(self, state: Any, event: Event, seat: int | None = None) -> None:
        """Change the position. ``seat``: the one that acts; None: no seat."""
        before = state.copy() if self._stories else state
        state.apply(change_of(event))
        number = next(self._numbers)
        for story in self._stories:
            story.add_unlogged(number, event, seat, before)


class Failed(Exception):
    """A bot failed, or chose what the rules forbid: how the seat loses."""

    def __init__(self, ending: Ending, message: str) -> None:
        super().__init__(message)
        self.ending = ending


def _ending(error: BaseException) -> Ending:
    match error:
        case ProgramLate():
            return Ending.FLAG
        case ProgramIllegal():
            return Ending.ILLEGAL_MOVES
    return Ending.CRASHED


@dataclass(slots=True)
class Seat:
    """A bot in its seat: asked, looked at, and left."""

    bot: Bot
    table: Table
    story: Story
    decisions: int = 0
    times: Counter[int] = field(default_factory=Counter)
    failed: Failed | None = None
    """The failure before its first move: it counts when the seat has to decide."""

    def begin(self, *, is_strict: bool) -> None:
        """Tell the bot where it sits. Raise ``IllegalMove`` if it fails, unless that is to count later."""
        try:
            self.ask(partial(begin, self.bot, self.table))
        except Failed as error:
            if is_strict:
                raise IllegalMove(str(error)) from error.__cause__
            self.failed = error

    def choose(self, state: Any, moves: tuple[Any, ...]) -> Any:
        """Return the bot's move, which is legal, or ``RESIGN``. Raise ``Failed``."""
        if self.failed is not None:
            raise self.failed
        self.decisions += 1
        began = time.perf_counter()
        move = self.ask(lambda: self.bot.choose(state.observation(self.table.seat), moves))
        took_s = self.bot.took_s if isinstance(self.bot, OwnClock) else time.perf_counter() - began
        self.times[bucket(took_s * 1e6)] += 1
        if move is RESIGN or move in moves:
            return move
        if isinstance(move, TakeBack | Protest):
            what = f"seat {self.table.seat} chose {move}; expected a move, as there is no log"
            raise Failed(Ending.CRASHED, what)
        try:  # it may be legal all the same: of several that come to the same the list has one
            violations = state.check(move)
        except Exception as error:  # no move at all: whatever a bot returns is looked at here
            what = f"seat {self.table.seat} chose {repr(move)[:80]}, which is no move of this game"
            raise Failed(Ending.CRASHED, what) from error
        if violations:
            what = f"seat {self.table.seat} chose {move}: {', '.join(v.rule_id for v in violations)}"
            raise Failed(Ending.ILLEGAL_MOVES, what)
        return move

    def ask(self, question: Callable[[], Any]) -> Any:
        """Return what the bot answers. Raise ``Failed`` for whatever it raises."""
        try:
            return question()
        except (Exception, SystemExit) as error:  # its author's code may fail in any way
            how = str(error) if isinstance(error, ProgramFailed) else f"{type(error).__name__}: {error}"
            raise Failed(_ending(error), f"the bot at seat {self.table.seat} failed: {how}") from error

    def leave(self, result: Result | None, *, is_strict: bool) -> None:
        """Tell the bot how the game ended; None: it is not over. Raise ``IllegalMove`` if it fails and that counts."""
        ending = Ended(result.ending.name, result.scores, result.places) if result is not None else None
        try:
            self.ask(partial(end, self.bot, ending))
        except Failed as error:
            if is_strict:
                raise IllegalMove(str(error)) from error.__cause__
