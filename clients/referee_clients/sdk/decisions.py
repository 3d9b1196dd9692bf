"""The decisions of a bot at a referee: each question that the bot gets, and its answer. The module knows no network."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from threading import Thread
from types import TracebackType
from typing import Any, Final

from referee.log import intent
from referee.log.errors import LogError
from referee.log.events import Author, Role, TakeBackProposed
from referee.log.intent import TableAct
from referee.log.keys import PrivateKey
from referee.log.v1 import log_pb2
from referee.text.notation.times import in_words
from referee_clients.bots.bot import (
    RESIGN,
    Bot,
    Ending,
    Happening,
    Proposal,
    Protest,
    Table,
    TakeBack,
    agrees,
    begin,
    end,
)
from referee_clients.bots.story import Story
from referee_clients.sdk.errors import BadMove, BotFailed
from referee_clients.sdk.ledger import Ledger

END_S: Final = 10.0
"""The seconds for a bot to take leave."""
CONSENT_WAIT_S: Final = 10.0
"""The seconds that a seat that has agreed to a take-back waits for the others before it moves."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Choice:
    """A decision that the bot was asked for."""

    position: bytes
    """The digest of the position."""
    since_s: float
    """The time when we learnt that it is our turn there."""
    answer: bytes | TableAct | None = None
    """A move, or an act of the table; None while it is being asked."""
    is_asked: bool = False


class Decisions:
    """One bot at one seat. It is asked for the needs of ``due``; when it has answered, ``answered`` is called."""

    def __init__(
        self,
        ledger: Ledger,
        seat: int,
        key: PrivateKey,
        *,
        move_limit_s: float | None,
        answered: Callable[[], Awaitable[None]],
    ) -> None:
        self.bot: Bot | None = None
        """There is one as soon as the game is known."""
        self.failure: Exception | None = None
        """Why the bot is asked no more."""
        self.resigns = False
        """The bot gave up."""
        self.tasks: set[asyncio.Task[None]] = set()
        """Questions, and the handling of their answers."""
        self._is_asking = False
        self._ledger = ledger
        self._seat = seat
        self._key = key
        self._move_limit_s = move_limit_s
        self._answered = answered
        self._has_begun = False
        """True if ``begin`` of the bot was called."""
        self._choice: _Choice | None = None
        self._heard_s = time.monotonic()
        """The time when we learnt of the newest entry, or that it is our turn."""
        self._story: Story | None = None
        self._told: tuple[Happening, ...] = ()
        """The story as it was when the bot was asked."""
        self._proposer = 0
        """The author of the newest proposal."""
        self._is_choice = False
        """``due`` returned the bot's choice the last time."""
        self._consented: tuple[int, bool] | None = None
        """The newest proposal that the bot was asked about, and its answer."""
        self._waits_s = CONSENT_WAIT_S
        self._waited: int | None = None
        """The newest proposal that was waited for."""
        self._news = asyncio.Event()

    # --- what comes from the referee -----------------------------------------------------------------------------

    def hear(self) -> None:
        """Note that something came: a turn or entries."""
        self._heard_s = time.monotonic()

    def note(self) -> None:
        """Note what happened in the newest commit."""
        if self._story is None:
            self._story = Story(self._ledger.record.opened.rules_id, self._seat)
        for happened in self._ledger.happened:
            if isinstance(happened.event, TakeBackProposed) and happened.seat is not None:
                self._proposer = happened.seat
            self._story.add(happened)
        self._news.set()

    @property
    def thought_ms(self) -> int:
        """The time that the newest answer took, from having the turn on."""
        since_s = self._heard_s if self._choice is None else self._choice.since_s
        return int(1000 * (time.monotonic() - since_s))

    def entered(self) -> None:
        """Note that our act became an entry."""
        choice = self._choice
        if choice is None or choice.answer is None or not self._is_choice:
            return
        # After an act of the table the same decision is still due, and its time keeps running.
        self._choice = None if isinstance(choice.answer, bytes) else _Choice(choice.position, choice.since_s)

    # --- what goes to the referee --------------------------------------------------------------------------------

    def has_to_agree(self) -> bool:
        """Return whether another seat's proposal waits for this one."""
        record = self._ledger.record
        proposal = record.game.arbitration.proposal
        return (
            proposal is not None
            and self._seat not in proposal.agreed
            and self._seat not in record.game.arbitration.out
            and (self._consented is None or self._consented[0] != proposal.seq or self._consented[1])
            and not record.game.is_over
        )

    def due(self) -> bytes | TableAct | None:
        """Return what the seat does now: a move, or an act of the table; None if nothing, or while the bot is asked."""
        game = self._ledger.record.game
        proposal, self._is_choice = game.arbitration.proposal, False
        if proposal is not None and self.has_to_agree():
            if self._consented is None or self._consented[0] != proposal.seq:
                self._start(partial(self._ask_consent, Proposal(proposal.seq, self._proposer, proposal.to_seq)))
                return None
            return log_pb2.Consent(to_seq=proposal.seq)
        if self._seat not in game.awaited():
            return None
        if proposal is not None and self._seat in proposal.agreed and self._waited != proposal.seq:
            self._start(partial(self._wait, proposal.seq))
            return None
        self._is_choice = True
        return self._chosen()

    def _chosen(self) -> bytes | TableAct | None:
        """Return what the bot chose in this position; None while it is being asked."""
        position = self._ledger.record.game.position.digest()
        choice = self._choice
        if choice is None or (choice.position != position and (choice.answer is not None or not choice.is_asked)):
            self._choice = choice = _Choice(position, self._heard_s)
        elif isinstance(choice.answer, TableAct) and self._why_not(choice.answer) is not None:
            # Others have acted since, and it cannot be done any more.
            self._choice = choice = _Choice(position, choice.since_s)
        if not choice.is_asked:
            choice.is_asked = self._start(partial(self._ask_choice, choice))
        return choice.answer if choice.position == position else None

    # --- asking ----------------------------------------------------------------------------------------------------

    def _start(self, question: Callable[[], Coroutine[Any, Any, None]]) -> bool:
        """Put a question to the bot, if there is none before it."""
        if self._is_asking:
            return False
        self._is_asking = True
        task = asyncio.create_task(self._ask(question))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return True

    async def _ask(self, question: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Ask, and act on the answer; other messages are read meanwhile."""
        try:
            await question()
        except TimeoutError:
            limit = in_words(int(1000 * (self._move_limit_s or 0)))
            self.failure = BotFailed(f"the bot did not choose a move within {limit}")
        except Exception as error:  # noqa: BLE001 - the player of the seat raises it
            self.failure = error
        self._is_asking = False
        await self._answered()

    async def _ask_choice(self, choice: _Choice) -> None:
        async with asyncio.timeout(self._move_limit_s):
            await self._begin()
            assert self.bot is not None  # noqa: S101 - it has begun
            position = self._ledger.record.game.position
            state = position.state.copy()  # others may act meanwhile
            moves: tuple[Any, ...] = tuple(state.legal_moves())
            self._told = self._story.since() if self._story is not None else ()
            answer = await ask(self.bot.choose, state.observation(self._seat), moves)
        match answer:
            case _ if answer is RESIGN:
                self.resigns = True
                return
            case TakeBack(to_seq, wait_s):
                self._waits_s = wait_s
                act: TableAct = log_pb2.TakeBack(to_seq=_number("TakeBack", to_seq))
            case Protest(against_seq, rule_id):
                act = log_pb2.Protest(against_seq=_number("Protest", against_seq), rule_id=str(rule_id))
            case _:
                choice.answer = self._encoded(position, state, moves, answer)
                return
        if why_not := self._why_not(act):
            raise BadMove(f"the bot chose {answer!r}, which the rules of the table forbid: {why_not}")
        choice.answer = act

    async def _ask_consent(self, proposal: Proposal) -> None:
        async with asyncio.timeout(self._move_limit_s):
            await self._begin()
            assert self.bot is not None  # noqa: S101 - it has begun
            self._told = self._story.since() if self._story is not None else ()
            self._consented = proposal.seq, await ask(agrees, self.bot, proposal)
            self._waits_s = CONSENT_WAIT_S

    async def _wait(self, seq: int) -> None:
        """Wait until the others have agreed, or something else has happened to the proposal, or long enough."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._waits_s):
                while (proposal := self._ledger.record.game.arbitration.proposal) and proposal.seq == seq:
                    self._news.clear()
                    await self._news.wait()
        self._waited = seq

    async def _begin(self) -> None:
        if self._has_begun or self.bot is None:
            return
        self._has_begun = True
        record = self._ledger.record
        position, opened = record.game.position, record.opened
        table = Table(
            opened.rules_id,
            opened.rules_version,
            self._seat,
            len(opened.seats),
            position.codec.decode_options(opened.options),
            position.components,
            record.game_id.hex(),
            self._left_ms,
            opened.terms,
            lambda: self._told,
        )
        await ask(begin, self.bot, table)

    async def leave(self, ending: Ending | None) -> None:
        """Tell the bot how it ended. Its failure then changes nothing, and is logged."""
        if self.bot is None or not self._has_begun:
            return
        self._told = self._story.since() if self._story is not None else ()
        try:
            async with asyncio.timeout(END_S):
                await ask(end, self.bot, ending)
        except Exception:  # noqa: BLE001 - of its author's code, when the game is over
            _log.exception("the bot failed at the end of its game", extra={"game": self._ledger.record.game_id.hex()})

    # --- answers -----------------------------------------------------------------------------------------------------

    def _why_not(self, act: TableAct) -> LogError | None:
        """Return why the act cannot be entered now."""
        record = self._ledger.record
        try:
            record.check(intent.act(record.place, Author(Role.SEAT, self._seat), self._key, act))
        except LogError as error:
            return error
        return None

    @staticmethod
    def _encoded(position: Any, state: Any, moves: tuple[Any, ...], move: Any) -> bytes:
        """Return a move as it is sent. Raise ``BadMove``."""
        try:
            data: bytes = position.codec.encode_move(move, position.components)
        except Exception as error:
            raise BadMove(f"the bot chose {move!r}, which is not a move of this game") from error
        if move not in moves:  # perhaps legal nevertheless: a list may leave some out
            violations = state.check(move)
            texts = {rule.id: rule.text for rule in position.rules.catalogue}
            broken = "; ".join(f"{violation.rule_id}: {texts.get(violation.rule_id)}" for violation in violations)
            if violations:
                raise BadMove(f"the bot chose {move!r}, which is against the rules: {broken}")
        return data

    def _left_ms(self) -> int | None:
        """Return the rest of our time for this decision; the time to learn of it is not known here."""
        record, seat = self._ledger.record, self._seat
        if (clocks := record.game.clocks) is None:
            return None
        left, since_ms = clocks.available(seat), clocks.seat(seat).since_ms
        if since_ms is not None:
            left -= record.last_ms - since_ms + int(1000 * (time.monotonic() - self._heard_s))
        return max(0, left)


def _number(act: str, seq: object) -> int:
    if type(seq) is not int or not 0 <= seq < 1 << 32:
        raise BadMove(f"the bot chose {act} with {seq!r}; expected the number of an entry")
    return seq


# --- asking: a bot may think for long, fail in any way, or never answer ---------------------------------------------


async def ask(choose: Callable[..., Any], *arguments: Any) -> Any:
    """Return the choice of ``choose``. Raise its errors, and ``BotFailed`` for one that would end a process.

    It runs in a thread that the end of the process does not wait for.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Any] = loop.create_future()

    def settle(how: Callable[[Any], None], what: Any) -> None:
        def now() -> None:
            if not answer.done():
                how(what)

        with suppress(RuntimeError):  # the loop is closed: no caller waits any more
            loop.call_soon_threadsafe(now)

    def run() -> None:
        try:
            chosen = choose(*arguments)
        except BaseException as error:  # noqa: BLE001 - it goes to the caller
            settle(answer.set_exception, _passed_on(error))
        else:
            settle(answer.set_result, chosen)

    Thread(target=run, name="choose", daemon=True).start()
    return await answer


def _passed_on(error: BaseException) -> Exception:
    """Return what can be raised where the bot was asked."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    failed = BotFailed(f"the bot raised {type(error).__name__}: {error}")
    failed.__cause__ = error
    return failed


def of_the_bot(error: BaseException) -> TracebackType | None:
    """Return the error's traceback from the bot's own code on: the part before it is not its author's."""
    step = trace = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == __file__:
            trace = step.tb_next
        step = step.tb_next
    return trace
