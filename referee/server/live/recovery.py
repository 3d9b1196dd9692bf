"""Games that cannot be continued, and what an operator can do about each. The referee is not running meanwhile.

The store has lost or damaged entries that were signed for: a copy brings them back. Or the game continues without the
lost ones, or ends, with an entry that says so. Games in doubt are decided about in the same ways: which entries they
lack, if any, is not known.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from referee.log.entry import Clock, Event, decode_entry
from referee.log.errors import LogError
from referee.log.game import Phase
from referee.log.note import Checkpoint
from referee.log.replay import Record, signed_part
from referee.log.v1 import log_pb2
from referee.server.live.context import Context
from referee.server.live.history import History
from referee.server.live.live_games import LiveGames
from referee.server.live.refusals import Unsound
from referee.server.live.scrub import Scrub
from referee.server.store.marks import Mark
from referee.server.store.store import Opening, Row, StoreDamaged, StoreFailed


class CannotRecover(Exception):
    """Nothing has changed: why not, and what can be done instead."""


class Way(StrEnum):
    """A decision about a game, by its option."""

    RESTORE = "--from"
    CONTINUE = "--continue"
    END = "--end"
    GIVE_UP = "--give-up"


@dataclass(frozen=True, slots=True)
class Recovered:
    """The outcome of a recovery."""

    entries: int
    """The number of entries that came back after loss or damage; or that stay lost."""
    size: int
    """Entries of the game now."""
    ended: bool
    tokens: Sequence[tuple[str, str]] = ()
    """New tokens, where those of the game are lost: for whom, and the token."""
    copied_ms: int = 0
    """Above 0: entries that were signed after this time may be lost, and the log says so; milliseconds since 1970."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A game in doubt."""

    game_id: bytes
    copied_ms: int
    """The time when the copy was made, in milliseconds since 1970."""
    shows_more: bool
    """True if players may have seen lost draws, which come again if the game continues."""
    rules_id: str
    seats: int
    size: int
    """Its entries, as far as they are there."""
    ways: Sequence[Way]
    """The decisions that are possible."""


async def in_doubt(context: Context) -> list[Doubt]:
    """Return the games in doubt that can be read. Raise ``StoreFailed``."""
    found = []
    for game_id, copied_ms in sorted(context.store.marks.doubts.items()):
        with suppress(Unsound):
            record = await _checked(History(context, game_id), without_secret=True)
            opened, shows_more = record.opened, record.game.deal.is_dealt and not record.game.is_over
            is_stuck = shows_more and await kept_secret(context, game_id) is None
            possible = [Way.RESTORE, Way.END] if is_stuck else [Way.RESTORE, Way.CONTINUE, Way.END]
            size, seats = record.size, len(opened.seats)
            found.append(Doubt(game_id, copied_ms, shows_more, opened.rules_id, seats, size, possible))
    return found


async def ways(context: Context, game_id: bytes) -> Sequence[Way]:
    """Return the decisions about a game of ``find`` that are possible; a file has to be one that helps.

    Nothing is changed. Raise ``StoreFailed``.
    """
    found, is_whole = list[Way](), False
    for way, end in ((Way.CONTINUE, False), (Way.END, True)):
        with suppress(CannotRecover):
            is_whole |= (await _planned(context, game_id, end=end)).is_whole
            found.append(way)
    if not is_whole:  # what is whole lacks a secret, which is in no file
        found.insert(0, Way.RESTORE)
    with suppress(CannotRecover):
        await _check_lost(context, game_id)
        found.append(Way.GIVE_UP)
    return found


async def find(context: Context) -> list[Unsound]:
    """Return the games that are not what was signed or cannot continue, and why; ``in_doubt`` has others.

    Games that are over are read whole, too. Raise ``StoreFailed``.
    """
    live_games = LiveGames(context, producer="")
    await live_games.start()
    for game in [*live_games.open_games]:
        with suppress(Unsound):  # it is set aside for that
            await _checked(History(context, game.game_id, live_games.set_aside))
    await Scrub(live_games, rest=0).round()
    return list(live_games.aside.values())


async def go_on(context: Context, game_id: bytes, *, end: bool, copied_ms: int = 0) -> Recovered:
    """Go on with the game as the store has it: the next entry names the head that is lost.

    ``end``: that is followed by an end for the referee's fault; which also ends a game whose secret is lost, with all
    entries or not. ``copied_ms``: until when the game has what was signed, if it is in doubt and that is known better;
    milliseconds since 1970. An attempt that was stopped between the entry and the mark is finished. Raise
    ``CannotRecover``, ``StoreFailed``.
    """
    plan = await _planned(context, game_id, end=end, copied_ms=copied_ms)
    record, marks = plan.record, context.store.marks
    if not plan.is_whole:
        marks.permit(game_id)
    if plan.rows:
        await commit(context, record, plan.rows)
    else:
        marks.raise_to([(game_id, record.size, record.root())])
    marks.settle(game_id)
    return Recovered(plan.lost, record.size, record.game.end is not None, copied_ms=plan.copied_ms)


class _Plan(NamedTuple):
    """The way in which a game continues or ends."""

    record: Record
    """The game with ``rows``."""
    rows: list[Row]
    """Entries to be added."""
    lost: int
    """Signed entries that stay lost."""
    copied_ms: int
    """Above 0: the log is to say that entries signed after this time may be lost; milliseconds since 1970."""
    is_whole: bool
    """True if all that the mark knows is there."""


async def _planned(context: Context, game_id: bytes, *, end: bool, copied_ms: int = 0) -> _Plan:
    """Return what ``go_on`` is to do. Raise as it does."""
    mark = _lost(context, game_id)
    if await context.store.game(game_id) is None:
        raise CannotRecover("the database does not have this game; expected --from FILE, or --give-up")
    try:
        record, is_whole = await _replayed(context, game_id, without_secret=end)
    except Unsound as error:
        raise CannotRecover(f"the game in the database cannot continue: {error.what}") from error
    copied_ms = copied_ms or context.store.marks.doubts.get(game_id, 0)
    if (
        is_whole
        and not copied_ms
        and (not record.game.deal.is_dealt or record.is_final or record.game.deal.secret is not None)
    ):
        raise CannotRecover("nothing is wrong with this game")
    # A game in doubt may lack more than a seat has shown.
    named = log_pb2.Recovered(lost_size=mark.size, lost_root=mark.root)
    unknown = log_pb2.Recovered(copied_ms=copied_ms, declared_ms=context.time.now_ms())
    loss = unknown if copied_ms else named
    begun = await _begun(context, game_id, loss) if not is_whole or copied_ms else None
    # Another referee of the club may have declared it, and continued; this one's marks do not know that yet.
    may_be_declared = not is_whole and begun is None and mark.size <= record.size
    is_declared = may_be_declared and await _declares(context, mark, record)
    is_lost = not (is_whole or is_declared) and begun is None
    if is_lost and mark.size <= record.size:
        what = f"the {record.size} entries in the database contradict the {mark.size} that were signed"
        raise CannotRecover(f"{what}; nothing is lost, but the referee signs no second history; expected --give-up")
    if is_lost and record.is_final:
        what = f"the game is over after {record.size} entries, but {mark.size} were signed"
        raise CannotRecover(f"{what}; expected --from FILE, or --give-up")
    lost = 0 if is_whole or is_declared or copied_ms else mark.size - (record.size if begun is None else begun)
    rows: list[Row] = []
    record.copied_ms = 0  # the new entry says all of it
    clock = Clock(max(context.time.now_ms(), record.last_ms))

    def write(event: Event, clock: Clock = clock) -> None:
        written = record.write(event, clock)
        rows.append(Row(written.seq, written.data))

    try:
        is_new_doubt = bool(copied_ms) and not is_lost and begun is None and not record.is_final
        for event, at in _of_loss(record, loss, clock) if is_lost or is_new_doubt else ():
            write(event, at)
        if end and record.game.end is None:
            write(log_pb2.GameEnd(ending=log_pb2.ENDING_REFEREE_FAULT))
        while (due := record.due(clock.referee_ms)) is not None:
            write(due)
    except LogError as error:
        raise CannotRecover(f"nothing can be added: {error}; expected --give-up") from error
    return _Plan(record, rows, lost, copied_ms, is_whole)


async def _declares(context: Context, mark: Mark, record: Record) -> bool:
    """Return whether the store's entries declare a loss that explains why the mark contradicts them."""
    head = Checkpoint(context.signer.verifier.name, record.game_id, mark.size, mark.root)
    history = History(context, record.game_id)
    await history.replay(without_secret=True, without_mark=True)
    return await history.explains(head, record.size)


def _of_loss(record: Record, recovered: log_pb2.Recovered, now: Clock) -> Iterator[tuple[Event, Clock]]:
    """Yield what is to be entered one after the other, and when."""
    since = Clock(record.last_ms)
    if record.game.clocks is None or record.phase is not Phase.PLAYING:
        yield recovered, now
        return
    # No author's time has passed since the last entry that is there: so it has the time of that one.
    yield recovered, since
    if record.due(now.referee_ms) is None:
        yield log_pb2.Interrupted(alive_ms=since.referee_ms), now


async def _replayed(context: Context, game_id: bytes, *, without_secret: bool) -> tuple[Record, bool]:
    """Return the game as the store has it, and whether that is what was signed for.

    Raise ``Unsound``, ``StoreFailed``.
    """
    history = History(context, game_id)
    try:
        record = await _checked(history, without_secret=without_secret)
    except Unsound:
        return await _checked(history, without_secret=without_secret, without_mark=True), False
    return record, True


async def _checked(history: History, *, without_secret: bool = False, without_mark: bool = False) -> Record:
    """Return the game, of which every checkpoint is good. Raise ``Unsound``, ``StoreFailed``."""
    record, _ = await history.replay(without_secret=without_secret, without_mark=without_mark)
    await history.check_notes()
    return record


async def _begun(context: Context, game_id: bytes, loss: log_pb2.Recovered) -> int | None:
    """Return the entry with which the store's own entries declare this very loss.

    A loss without a known head may have been declared with a later time, which a file showed; no act has followed it.
    """
    begun = None
    async for row in kept_rows(context, game_id):
        entry = decode_entry(row.data)
        found = entry.recovered
        if loss.copied_ms:
            if found.copied_ms >= loss.copied_ms:
                begun = row.seq
            elif signed_part(entry) is not None:
                begun = None
        elif (found.lost_size, found.lost_root) == (loss.lost_size, loss.lost_root) and entry.HasField("recovered"):
            return row.seq
    return begun


async def give_up(context: Context, game_id: bytes) -> Mark:
    """Give the game up: it is no longer expected, and if the store has it, callers cannot reach it.

    Use this only if nothing else can be done. Raise ``CannotRecover``, ``StoreFailed``.
    """
    mark, is_there = await _check_lost(context, game_id)
    if is_there:
        # First here: if the mark is still there, the game is missed, and can be given up again.
        context.store.give_up(game_id)
    context.store.marks.forget(game_id)
    context.store.marks.settle(game_id)
    return mark


async def _check_lost(context: Context, game_id: bytes) -> tuple[Mark, bool]:
    """Raise ``CannotRecover`` unless a game can only be given up. Return its mark, and whether the store has it."""
    mark = _lost(context, game_id)
    is_there = await context.store.game(game_id) is not None
    if is_there:
        try:
            record, is_whole = await _replayed(context, game_id, without_secret=False)
        except Unsound:
            pass
        else:
            if is_whole and game_id in context.store.marks.doubts:
                what = "the game is in doubt, and nothing else is wrong"
                raise CannotRecover(f"{what}; expected --from FILE, --continue or --end")
            if is_whole:
                raise CannotRecover("nothing is wrong with this game")
            begun = await _begun(context, game_id, log_pb2.Recovered(lost_size=mark.size, lost_root=mark.root))
            if begun is not None or (record.size < mark.size and not record.is_final):
                raise CannotRecover("the database has this game; expected --from FILE, --continue or --end")
    return mark, is_there


def _lost(context: Context, game_id: bytes) -> Mark:
    mark = context.store.marks.kept(game_id)
    if mark is None:
        raise CannotRecover("the referee has no such game; without GAME, recover lists those that cannot continue")
    return mark


async def kept_rows(context: Context, game_id: bytes) -> AsyncIterator[Row]:
    first = 0
    while page := await context.store.entries(game_id, first, 256):
        for row in page:
            yield row
        first = page[-1].seq + 1


async def kept_secret(context: Context, game_id: bytes) -> bytes | None:
    try:
        return await context.store.secret(game_id)
    except StoreDamaged:
        return None  # the key that sealed it is lost


async def commit(context: Context, record: Record, rows: list[Row], opening: Opening | None = None) -> None:
    done: asyncio.Future[StoreFailed | None] = asyncio.get_running_loop().create_future()
    context.store.commit(context.change(record, rows, opening), done.set_result)
    if (failure := await done) is not None:
        raise failure
