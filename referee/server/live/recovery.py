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
from typing import BinaryIO

from referee.log import file
from referee.log.entry import Clock, Event, decode_entry
from referee.log.errors import LogError
from referee.log.file import FrameType
from referee.log.game import Phase
from referee.log.header import header_hash
from referee.log.identity import game_id as identity_of
from referee.log.merkle import Tree, leaf_hash
from referee.log.note import Checkpoint, open_checkpoint
from referee.log.replay import Record, signed_part
from referee.log.v1 import log_pb2
from referee.server.live.archive import Archive
from referee.server.live.context import Context
from referee.server.live.history import History
from referee.server.live.live_games import LiveGames
from referee.server.live.opening import new_token, token_digest
from referee.server.live.refusals import Unsound
from referee.server.live.scrub import Scrub
from referee.server.live.view import game_message
from referee.server.store.marks import Mark
from referee.server.store.store import Grant, Opening, Row, StoreDamaged, StoredGame, StoreFailed

_CHECKPOINTS = (FrameType.CHECKPOINT, FrameType.OLD_CHECKPOINT)


class CannotRecover(Exception):
    """Nothing has changed: why not, and what can be done instead."""


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


async def in_doubt(context: Context) -> list[Doubt]:
    """Return the games in doubt that can be read. Raise ``StoreFailed``."""
    found = []
    for game_id, copied_ms in sorted(context.store.marks.doubts.items()):
        with suppress(Unsound):
            record = await _checked(History(context, game_id), without_secret=True)
            opened, shows_more = record.opened, record.game.deal.is_dealt and not record.game.is_over
            found.append(Doubt(game_id, copied_ms, shows_more, opened.rules_id, len(opened.seats), record.size))
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
    mark = _lost(context, game_id)
    if await context.store.game(game_id) is None:
        raise CannotRecover("the database does not have this game; expected --from FILE, or --give-up")
    try:
        record, is_whole = await _replayed(context, game_id, without_secret=end)
    except Unsound as error:
        raise CannotRecover(f"the game in the database cannot go on: {error.what}") from error
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
    if rows:
        await _commit(context, record, rows)
    else:
        context.store.marks.raise_to([(game_id, record.size, record.root())])
    context.store.marks.settle(game_id)
    return Recovered(lost, record.size, record.game.end is not None, copied_ms=copied_ms)


async def _declares(context: Context, mark: Mark, record: Record) -> bool:
    """Return whether the store's entries declare a loss that explains why the mark contradicts them."""
    head = Checkpoint(context.signer.verifier.name, record.game_id, mark.size, mark.root)
    history = History(context, record.game_id)
    await history.replay(without_secret=True)
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
    """Return the game as the store has it, and whether that is what was signed for; if not, the mark may be reset.

    Raise ``Unsound``, ``StoreFailed``.
    """
    history = History(context, game_id)
    try:
        record = await _checked(history, without_secret=without_secret)
    except Unsound:
        context.store.marks.permit(game_id)
        return await _checked(history, without_secret=without_secret), False
    return record, True


async def _checked(history: History, *, without_secret: bool = False) -> Record:
    """Return the game, of which every checkpoint is good. Raise ``Unsound``, ``StoreFailed``."""
    record, _ = await history.replay(without_secret=without_secret)
    await history.check_notes()
    return record


async def _begun(context: Context, game_id: bytes, loss: log_pb2.Recovered) -> int | None:
    """Return the entry with which the store's own entries declare this very loss.

    A loss without a known head may have been declared with a later time, which a file showed; no act has followed it.
    """
    begun = None
    async for row in _kept(context, game_id):
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


async def newest_signed(context: Context, game_id: bytes, stream: BinaryIO) -> int:
    """Return how many of a game file's entries this referee signed for, as the file shows; 0 for a file of no use."""
    signed = _Signed(context, game_id)
    try:
        _read(stream, context.store.marks.kept(game_id), signed)
    except CannotRecover:
        return 0
    return signed.newest


async def restore(context: Context, game_id: bytes, stream: BinaryIO) -> Recovered:
    """Take from a game file what the store lacks or has otherwise than it was signed.

    If the game is in doubt, unknown here, or the file has entries beyond the mark that this referee signed for, the
    mark was not the newest head: still more may be lost. Then, unless the game is over, an entry says so, and the game
    continues, or ends if the secret is lost from which it deals. Raise ``CannotRecover``, ``StoreFailed``.
    """
    store = context.store
    mark, stored = store.marks.kept(game_id), await store.game(game_id)
    is_open = stored is not None and stored.closed is None
    ways = "--continue or --end" if is_open else "--give-up"
    otherwise = f"expected another copy, or {ways}" if mark is not None else "expected another copy"
    signed = _Signed(context, game_id)
    try:
        header, entries = _read(stream, mark, signed)
    except CannotRecover as error:
        if is_open and game_id not in store.marks.doubts and (seq := await _declaration(context, game_id)) is not None:
            what = f"the game was decided about: its entry {seq} declares what is lost, and that is final"
            raise CannotRecover(f"{error}; {what}") from None
        raise CannotRecover(f"{error}; {otherwise}") from None
    is_new = mark is None or game_id in store.marks.doubts or signed.newest > mark.size
    try:
        secret = await _secret(context, game_id) or _disclosed(entries[-1])
        record = Record.replay(entries, engines=context.engines, secret=secret, max_entries=context.max_entries)
    except LogError as error:
        raise CannotRecover(f"the file is not valid: {error}; {otherwise}") from error
    if header_hash(header) != record.opened.header_hash:
        raise CannotRecover(f"the file's header does not match its entry 0; {otherwise}")
    rows = await _differing(context, game_id, entries) if stored is not None else []
    if stored is not None and not rows and await _is_whole(context, stored, header):
        if is_new and is_open:
            raise CannotRecover(f"the file knows nothing newer than entry {len(entries) - 1}; {otherwise}")
        raise CannotRecover(f"nothing is wrong with this game: the database has all {len(entries)} signed entries")
    is_stuck = record.phase is not Phase.CLOSED and record.game.deal.is_dealt and secret is None
    if is_stuck and not is_new:
        what = "the game is not over, and no file has the secret from which the referee deals"
        raise CannotRecover(f"{what}; expected a database that has the game, or --give-up")
    tokens: list[tuple[str, str]] = []
    if is_new and not record.is_final:  # first: whatever stops us now, it is known that more may be lost
        store.marks.doubt({game_id: record.last_ms})
    if stored is not None:
        closed = game_message(record).SerializeToString() if record.is_final else None
        store.mend(game_id, header, rows, closed)
    else:
        rows = [Row(seq, data) for seq, data in enumerate(entries)]
        opening, tokens = _opening(record, header)
        await _commit(context, record, rows, opening)
    if not is_new or record.is_final:
        store.marks.settle(game_id)
        return Recovered(len(rows), record.size, record.phase is Phase.CLOSED, tokens)
    store.marks.raise_to([(game_id, record.size, record.root())])
    done = await go_on(context, game_id, end=is_stuck, copied_ms=record.last_ms)
    return Recovered(len(rows), done.size, done.ended, [] if done.ended else tokens, done.copied_ms)


async def _differing(context: Context, game_id: bytes, entries: Sequence[bytes]) -> list[Row]:
    """Return the rows of these entries, which were signed, that the store does not have like this."""
    kept = {row.seq: row async for row in _kept(context, game_id)}
    rows, tree = list[Row](), Tree()
    for seq, data in enumerate(entries):
        tree.append(leaf_hash(data))
        there = kept.get(seq)
        has_note = seq == len(entries) - 1 or (there is not None and bool(there.note))
        row = Row(seq, data, context.signer.sign(game_id, tree.size, tree.root()) if has_note else b"")
        if there != row:
            rows.append(row)
    return rows


async def _is_whole(context: Context, stored: StoredGame, header: bytes) -> bool:
    """Return whether nothing but entries can be missing."""
    if stored.closed is not None:
        try:
            await Archive.open(context, stored, checked=_at_once)
        except Unsound:
            return False
    return await context.store.header(stored.game_id) == header


async def _at_once(_: History, __: Row) -> None:
    """Do not wait."""


async def give_up(context: Context, game_id: bytes) -> Mark:
    """Give the game up: it is no longer expected, and if the store has it, callers cannot reach it.

    Use this only if nothing else can be done. Raise ``CannotRecover``, ``StoreFailed``.
    """
    mark = _lost(context, game_id)
    if await context.store.game(game_id) is not None:
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
        # First here: if the mark is still there, the game is missed, and can be given up again.
        context.store.give_up(game_id)
    context.store.marks.forget(game_id)
    context.store.marks.settle(game_id)
    return mark


def _lost(context: Context, game_id: bytes) -> Mark:
    mark = context.store.marks.kept(game_id)
    if mark is None:
        raise CannotRecover("the referee has no such game; without GAME, recover lists those that cannot go on")
    return mark


class _Signed:
    """The heads in a file that this referee signed for the game."""

    def __init__(self, context: Context, game_id: bytes) -> None:
        self._context, self.game_id = context, game_id
        self._heads = set[tuple[int, bytes]]()
        self.newest = 0
        """Entries that the newest of them covers, of those that were compared."""

    def seen(self, note: bytes, tree: Tree) -> None:
        """Take a checkpoint of the file; it may come before its last entry."""
        try:
            checkpoint = open_checkpoint(note, self._context.signer.verifier)
        except LogError:
            return
        if checkpoint.game_id == self.game_id:
            self._heads.add((checkpoint.size, checkpoint.root))
            self.grown(tree)

    def grown(self, tree: Tree) -> None:
        """Compare the heads with the entries so far."""
        if self._heads and (tree.size, tree.root()) in self._heads:
            self.newest = tree.size


async def _declaration(context: Context, game_id: bytes) -> int | None:
    """Return the last entry of the store that declares a loss; None: there is none."""
    found = None
    async for row in _kept(context, game_id):
        if decode_entry(row.data).HasField("recovered"):
            found = row.seq
    return found


def _game_of(first: bytes) -> bytes | None:
    """Return the game of a file with this first entry; None if it cannot be determined."""
    try:
        return identity_of(decode_entry(first).open)
    except LogError:
        return None


def _read(stream: BinaryIO, mark: Mark | None, signed: _Signed) -> tuple[bytes, list[bytes]]:
    """Return the file's header, and the entries that were signed for: by the mark, or by a checkpoint in the file."""
    header, entries, tree, wrong = b"", list[bytes](), Tree(), ""
    size, root = mark.size if mark else 0, Tree().root()
    try:
        file.check_size(stream)
        for frame in file.read(stream):
            if frame.type == FrameType.HEADER:
                header = frame.payload
            elif frame.type == FrameType.ENTRY:
                entries.append(frame.payload)
                tree.append(leaf_hash(frame.payload))
                root = tree.root() if tree.size == size else root
                signed.grown(tree)
            elif frame.type in _CHECKPOINTS:
                signed.seen(frame.payload, tree)
    except LogError as error:
        wrong = str(error)
    if entries and (other := _game_of(entries[0])) not in {None, signed.game_id}:
        raise CannotRecover(f"the file is of game {other.hex()}")
    if wrong and tree.size < max(size, 1):
        raise CannotRecover(f"the file cannot be read to its end: {wrong}")
    if tree.size < size:
        raise CannotRecover(f"the file has {tree.size} entries, but {size} were signed")
    if mark is not None and root != mark.root:
        raise CannotRecover(f"its first {size} entries are not those that were signed")
    if mark is None and not signed.newest:
        raise CannotRecover("the file has no checkpoint of this referee over its entries")
    return header, entries[: max(size, signed.newest)]


async def _kept(context: Context, game_id: bytes) -> AsyncIterator[Row]:
    first = 0
    while page := await context.store.entries(game_id, first, 256):
        for row in page:
            yield row
        first = page[-1].seq + 1


async def _secret(context: Context, game_id: bytes) -> bytes | None:
    try:
        return await context.store.secret(game_id)
    except StoreDamaged:
        return None  # the key that sealed it is lost


def _disclosed(data: bytes) -> bytes | None:
    entry = decode_entry(data)
    return entry.disclose.seed if entry.HasField("disclose") else None


def _opening(record: Record, header: bytes) -> tuple[Opening, list[tuple[str, str]]]:
    """Return the opening of a game that the store does not have: its tokens are lost with it."""
    tokens: list[tuple[str, str]] = []
    grants: list[Grant] = []
    if record.phase is not Phase.CLOSED:
        for number, seat in enumerate(record.opened.seats):
            if not seat.scribed:
                tokens.append((f"seat {number}", new_token()))
                grants.append(Grant(token_digest(tokens[-1][1]), "", frozenset({"play"}), record.game_id, number))
        if record.opened.scribe_keys:
            tokens.append(("scribe", new_token()))
            grants.append(Grant(token_digest(tokens[-1][1]), "", frozenset({"scribe"}), record.game_id))
    return Opening(record.opened.header_hash, header, None, grants, wants_certificates=record.wants_proofs), tokens


async def _commit(context: Context, record: Record, rows: list[Row], opening: Opening | None = None) -> None:
    done: asyncio.Future[StoreFailed | None] = asyncio.get_running_loop().create_future()
    context.store.commit(context.change(record, rows, opening), done.set_result)
    if (failure := await done) is not None:
        raise failure
