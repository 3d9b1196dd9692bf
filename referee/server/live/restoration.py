"""Restoration from a game file: of entries that were lost or damaged, and of games that the store does not have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from referee.log import file
from referee.log.entry import decode_entry
from referee.log.errors import LogError
from referee.log.file import FrameType
from referee.log.game import Phase
from referee.log.header import header_hash
from referee.log.intent import game_id as identity_of
from referee.log.merkle import Tree, leaf_hash
from referee.log.note import open_checkpoint
from referee.log.replay import Record
from referee.server.live.archive import Archive
from referee.server.live.context import Context
from referee.server.live.history import History
from referee.server.live.opening import new_token, token_digest
from referee.server.live.recovery import CannotRecover, Recovered, commit, go_on, kept_rows, kept_secret
from referee.server.live.refusals import Unsound
from referee.server.live.view import game_message
from referee.server.store.marks import Mark
from referee.server.store.store import Grant, Opening, Row, StoredGame

_CHECKPOINTS = (FrameType.CHECKPOINT, FrameType.OLD_CHECKPOINT)


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
        secret = await kept_secret(context, game_id) or _disclosed(entries[-1])
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
        await commit(context, record, rows, opening)
    if not is_new or record.is_final:
        store.marks.settle(game_id)
        return Recovered(len(rows), record.size, record.phase is Phase.CLOSED, tokens)
    store.marks.raise_to([(game_id, record.size, record.root())])
    done = await go_on(context, game_id, end=is_stuck, copied_ms=record.last_ms)
    return Recovered(len(rows), done.size, done.ended, [] if done.ended else tokens, done.copied_ms)


async def _differing(context: Context, game_id: bytes, entries: Sequence[bytes]) -> list[Row]:
    """Return the rows of these entries, which were signed, that the store does not have like this."""
    kept = {row.seq: row async for row in kept_rows(context, game_id)}
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
    async for row in kept_rows(context, game_id):
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
