"""The checks that need no referee: the bot's moves are legal and in time, and it reads its lines as it should."""

from __future__ import annotations

import inspect
import json
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, zip_longest
from threading import Thread
from typing import Any, Final

from referee.games import registry
from referee.text.notation.times import in_words
from referee_clients.bot_check.catalogue import ASKED, CATALOGUE, Result, Status, Wrong
from referee_clients.bot_check.positions import Position, of_transcripts, random_game, rare
from referee_clients.bot_check.subject import Subject
from referee_clients.bots.bot import RESIGN, Protest, Table, TakeBack, begin, end
from referee_clients.bots.program import END_S, Patience, Program, ProgramFailed

_SHARE_S: Final = 4.0
"""The most seconds for games and for transcripts: a slow bot is asked in fewer positions."""


class Hung(Wrong):
    """The bot gave no answer in time: a bot that hangs once is not asked again."""


@dataclass(slots=True)
class OfflineChecks:
    """The checks of one game. ``games``: random ones; ``p99_s``, ``limit_s``: the limits for the time of moves."""

    subject: Subject
    rules_id: str
    games: int
    p99_s: float
    limit_s: float
    seed: int = 1
    share_s: float = _SHARE_S
    took_s: list[float] = field(default_factory=list)
    _is_hanging: bool = False

    def ids(self) -> tuple[str, ...]:
        """Return the checks that there are for this bot in this game."""
        if self.subject.make is None:
            return ()
        seldom = {"one-move", "give-tile", "rebuilding", "forced-pass", "castle", "discard-only", "coins-only"}
        seldom |= {"keep-pair", "build-second", "many-moves", "full-list"}
        of_programs = {"unknown-lines", "exits"}
        there = {*rare(self.rules_id)} | (of_programs if self.subject.is_program else set())
        return tuple(check for check in ASKED if check in there or check not in seldom | of_programs)

    def results(self, wanted: Iterable[str]) -> Iterator[Result]:
        """Make those of these checks that there are, in the order of the catalogue."""
        for check in self.ids():
            if check in wanted:
                began = time.monotonic()
                status, told = self._result(check)
                yield Result(CATALOGUE[check], self.rules_id, status, told, time.monotonic() - began)

    def _result(self, check: str) -> tuple[Status, str]:
        if self._is_hanging and check != "time":
            return Status.SKIPPED, "it hung before, and is not asked again"
        try:
            return Status.PASSED, self._checks().get(check, lambda: self._rare(check))()
        except Hung as hung:
            self._is_hanging = True
            return Status.FAILED, str(hung)
        except Wrong as wrong:
            return Status.FAILED, str(wrong)

    def _checks(self) -> dict[str, Callable[[], str]]:
        return {
            "starts": self._starts,
            "random-games": self._random_games,
            "transcripts": self._transcripts,
            "time": self._time,
            "two-games": self._two_games,
            "unknown-lines": self._unknown_lines,
            "exits": self._exits,
        }

    # --- the checks ----------------------------------------------------------------------------------------------

    def _starts(self) -> str:
        position = next(random_game(self.rules_id, 2, self.seed))
        with self._seated(position) as seat:
            seat.choose(position)
        return ""

    def _random_games(self) -> str:
        """Play them against random moves, each as the bot decides, for as long as there is time."""
        until, before, played = time.monotonic() + self.share_s, len(self.took_s), 0
        for number in range(self.games):
            if time.monotonic() > until:
                break
            own, seed = number % 2, self.seed + number
            first = next(each for each in random_game(self.rules_id, 2, seed) if each.seat == own)
            with self._seated(first) as seat:
                for position in random_game(self.rules_id, 2, seed, partial(seat.play, until)):
                    del position  # the seat has it
            played += 1
        return f"{_counted(len(self.took_s) - before, 'move')} in {_counted(played, 'game')}"

    def _transcripts(self) -> str:
        """Ask in each position, for as long as there is time; a bot is made for every seat of every game."""
        until, before = time.monotonic() + self.share_s, len(self.took_s)
        with ExitStack() as leaving:
            seats = dict[tuple[str, int], _Seat]()
            for position in of_transcripts(self.rules_id):
                if time.monotonic() > until:
                    break
                at = position.where.partition(",")[0], position.seat
                if at not in seats:
                    seats[at] = leaving.enter_context(self._seated(position))
                seats[at].choose(position)
        return _counted(len(self.took_s) - before, "move")

    def _rare(self, check: str) -> str:
        positions = rare(self.rules_id)[check]()
        for position in positions:
            with self._seated(position) as seat:
                seat.choose(position)
        return f"{_counted(len(positions), 'position')}, {max(len(each.moves) for each in positions)} moves at most"

    def _time(self) -> str:
        if not self.took_s:
            self._random_games()
        took = sorted(self.took_s)
        p99, most = took[min(len(took) - 1, len(took) * 99 // 100)], took[-1]
        told = f"p99 {_ms(p99)}, longest {_ms(most)} of {_counted(len(took), 'move')}"
        if p99 > self.p99_s or most >= self.limit_s:
            raise Wrong(f"{told}; expected at most {_ms(self.p99_s)}, and never {_ms(self.limit_s)}")
        return told

    def _two_games(self) -> str:
        """Ask in turn for moves of two games, each of a bot of its own, as ``--at-once`` makes them."""
        until = time.monotonic() + self.share_s
        one, other = (self._game(self.seed + 50 + number, number) for number in range(2))
        first, second = next(one), next(other)
        with self._seated(first) as here, self._seated(second) as there:
            for position, beside in zip_longest(chain((first,), one), chain((second,), other)):
                if time.monotonic() > until:
                    break
                if position is not None:
                    here.choose(position)
                if beside is not None:
                    there.choose(beside)
        return ""

    def _unknown_lines(self) -> str:
        positions = self._game(self.seed, 0)
        first = next(positions)
        with self._seated(first, _Stranger(self.subject.name)) as seat:
            for _, position in zip(range(3), chain((first,), positions), strict=False):
                seat.choose(position)
        return ""

    def _exits(self) -> str:
        position = next(self._game(self.seed, 0))
        program = _Watched(self.subject.name)
        with self._seated(position, program) as seat:
            seat.choose(position)
        if program.had_to_be_killed:
            raise Wrong("it was still running 2 s after the end of its input, and had to be killed")
        return ""

    # --- asking --------------------------------------------------------------------------------------------------

    def _game(self, seed: int, seat: int) -> Iterator[Position]:
        """Yield the decisions of one of two seats."""
        return (each for each in random_game(self.rules_id, 2, seed) if each.seat == seat)

    @contextmanager
    def _seated(self, position: Position, bot: Any = None) -> Iterator[_Seat]:
        seat = _Seat(self, position, bot if bot is not None else self._made())
        try:
            yield seat
        finally:
            seat.leave()

    def _made(self) -> Any:
        assert self.subject.make is not None  # noqa: S101 - or there are no such checks
        try:
            return self.subject.make(self.rules_id)
        except Exception as error:  # of its author's code
            raise Wrong(_told(error)) from error


class _Seat:
    """The bot at one seat of one game."""

    def __init__(self, asking: OfflineChecks, position: Position, bot: Any) -> None:
        self._asking = asking
        self._bot = bot
        state, rules = position.state, registry.get(asking.rules_id)
        self.table = Table(
            asking.rules_id, rules.version, position.seat, state.seats, state.options, rules.default_components()
        )
        self._ask("begin", begin, bot, self.table)

    def play(self, until: float, position: Position) -> Any:
        """Return its move, or None if it is not its turn, gives up or has no time left (monotonic)."""
        if position.seat != self.table.seat or time.monotonic() > until:
            return None
        return self.choose(position)

    def choose(self, position: Position) -> Any:
        """Return its move; None: it resigns, or wants something else. Raise ``Wrong`` unless the move is legal."""
        began = time.monotonic()
        try:
            move = self._ask("choose", self._bot.choose, position.state.observation(position.seat), position.moves)
        except Wrong as wrong:
            raise type(wrong)(f"{wrong}; {position.where}") from wrong
        finally:
            self._asking.took_s.append(time.monotonic() - began)
        if move is RESIGN or isinstance(move, TakeBack | Protest):
            return None
        if move in position.moves:
            return move
        if inspect.iscoroutine(move):
            move.close()
            raise Wrong("choose is async; expected a function that returns a move")
        try:
            broken = position.state.check(move)
        except Exception:  # noqa: BLE001 - it may be anything at all
            broken = (None,)
        if broken:
            rules = ", ".join(violation.rule_id for violation in broken if violation is not None)
            raise Wrong(
                f"it chose {move!r:.80}, which is "
                + (f"against {rules}" if rules else "no move")
                + f"; {position.where}"
            )
        return move

    def leave(self) -> None:
        """Tell it that its seat is left."""
        self._ask("end", end, self._bot, None)

    def _ask(self, name: str, question: Callable[..., Any], *given: Any) -> Any:
        """Return the answer. Raise ``Wrong`` for an error of it, and ``Hung``."""
        answers: list[Any] = []

        def run() -> None:
            try:
                answers.append((question(*given), None))
            except BaseException as error:  # noqa: BLE001 - SystemExit ends no process here
                answers.append((None, error))

        limit_s = max(self._asking.limit_s, 2 * END_S) if name == "end" else self._asking.limit_s
        thread = Thread(target=run, daemon=True)
        thread.start()
        thread.join(limit_s)
        if not answers:
            raise Hung(f"{name} gave no answer within {in_words(int(1000 * limit_s))}")
        answer, error = answers[0]
        if error is not None:
            raise Wrong(_told(error))
        return answer


def _told(error: BaseException) -> str:
    """Return what was raised, and by which line of the bot's."""
    if isinstance(error, ProgramFailed):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    return f"it raised {type(error).__name__}: {error}{place}"


class _Stranger(Program):
    """Tells lines and members that there are none of yet."""

    def _send(self, line: bytes, patience: Patience) -> None:
        ((kind, told),) = json.loads(line).items()
        super()._send(b'{"weather":{"sky":[1,null,"blue"]}}\n', patience)
        super()._send(json.dumps({kind: {**told, "unheard": {"of": [kind, 1.5, None]}}}).encode() + b"\n", patience)


class _Watched(Program):
    """A program that knows whether it ended on its own."""

    had_to_be_killed = False

    def end(self, ending: Any) -> None:
        process = self._process
        super().end(ending)
        self.had_to_be_killed = process is not None and process.returncode == -9


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms"
