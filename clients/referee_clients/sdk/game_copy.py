"""A seat's own copy of its game, beside its key: a game file that grows while the seat plays.

The client shows its newest checkpoint to the referee, which so learns of entries that it has lost, and the file brings
them back.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import grpc

from referee.log import file
from referee.log.entry import decode_entry
from referee.log.errors import LogError
from referee.log.file import HEAD_BYTES, MAGIC, TAIL_BYTES, FrameType, encode_frame
from referee.log.header import MAX_HEADER_BYTES, header_hash
from referee.log.heads import Loss, Losses
from referee.log.merkle import Tree, leaf_hash
from referee.log.note import Checkpoint, Note, VerifierKey, open_checkpoint
from referee.v1 import game_service_pb2 as pb
from referee.v1 import game_service_pb2_grpc as pb_grpc
from referee_clients.sdk.channel import bearer
from referee_clients.sdk.connection import Connection, Cut, cuts
from referee_clients.sdk.errors import ClientError, Denied, Distrust
from referee_clients.sdk.ledger import Ledger

KEPT_FILES = 200
"""Files of games that a folder has at the most; the oldest make room."""
_LIST = ".game-copies"
"""Names the files that were written here, so that no other is ever replaced or deleted."""
_NAME = re.compile(r"[0-9a-f]{32}(-[0-9a-z]+-before)?\.gamelog", re.ASCII)
_HEADER_S = 5.0
_TRIES = 3


class GameCopy:
    """One author's view of one game. A disk that fails stops no game: then less is kept, or nothing."""

    def __init__(
        self,
        folder: Path | None,
        game_id: str,
        name: str,
        verifier: VerifierKey | None = None,
        *,
        keeps_end: bool = True,
    ) -> None:
        """``folder``: None keeps nothing. ``name``: of the author, different for each in the folder.

        A file that cannot be read, or is of another game, counts as none. ``keeps_end``: when the game is over, its
        file stays as ``GAME.gamelog``; otherwise nothing stays then.
        """
        self.note = b""
        """The newest checkpoint that was kept, a signed note; empty if there is none."""
        self._game_id = game_id
        self._verifier = verifier
        self._keeps_end = keeps_end
        self._growing = folder / f"{game_id}-{name}.gamelog" if folder is not None else None
        self._whole = folder / f"{game_id}.gamelog" if folder is not None else None
        self._header = b""
        self._tries = _TRIES
        self._head: Checkpoint | None = None
        """The content of the kept checkpoint."""
        self._end = 0
        """Bytes of the growing file that are good."""
        for path in (self._growing, self._whole):
            if path is not None and not self.note:
                self._read(path)
        self._is_compared = not self.note
        """Nothing was kept before, or it was held against the game."""

    @classmethod
    def beside(
        cls,
        key_file: Path | None,
        game_id: str,
        seat: int,
        verifier: VerifierKey | None = None,
        *,
        keeps_end: bool = True,
    ) -> GameCopy:
        """Return the copy that belongs to a seat's key."""
        folder = key_file.parent if key_file is not None else None
        return cls(folder, game_id, str(seat), verifier, keeps_end=keeps_end)

    def _read(self, path: Path) -> None:
        """Take over what is good of a file, up to its last checkpoint."""
        tree, header = Tree(), b""
        with suppress(OSError, LogError):
            if not path.is_file():  # also a pipe, which may never have a writer
                return
            with path.open("rb") as stream:
                file.check_size(stream)
                for frame in file.read(stream):
                    if frame.type == FrameType.HEADER:
                        header = frame.payload
                    elif frame.type == FrameType.ENTRY:
                        tree.append(leaf_hash(frame.payload))
                    elif frame.type in (FrameType.CHECKPOINT, FrameType.OLD_CHECKPOINT):
                        head = self._opened(frame.payload)
                        if (head.game_id.hex(), head.size, head.root) == (self._game_id, tree.size, tree.root()):
                            self.note, self._head, self._header = frame.payload, head, header
                            end = frame.offset + HEAD_BYTES + len(frame.payload) + TAIL_BYTES
                            self._end = end if path == self._growing else 0

    def _opened(self, note: bytes) -> Checkpoint:
        """Raise ``LogError``."""
        if self._verifier is not None:
            return open_checkpoint(note, self._verifier)
        return Checkpoint.parse(Note.parse(note).text)

    # --- while it is played ------------------------------------------------------------------------------------------

    def compare(self, entries: Sequence[bytes]) -> str:
        """Compare the copy with the referee's game; the copy continues if the game continues it.

        Return how the game contradicts the copy, and what to do; empty if it does not. ``entries``: the whole game so
        far. A loss that they declare is no problem: the lost part is then put aside, and stays.
        """
        head = self._head
        if self._is_compared or head is None:
            return ""
        tree, losses, root = Tree(), Losses(), b""
        for seq, data in enumerate(entries):
            tree.append(leaf_hash(data))
            root = tree.root() if tree.size == head.size else root
            recovered = decode_entry(data).recovered
            if recovered.ByteSize():
                losses.add(Loss(seq, recovered.lost_size, recovered.lost_root))
        if root == head.root:
            self._is_compared = True
            return ""
        if losses.covering(head) is not None:
            self._put_aside()
            return ""
        what = f"the referee signed another history of {head.size} entries before"
        if head.size > tree.size:
            what = f"the referee has {tree.size} entries, and had signed {head.size}"
        return f"{what}, and the log does not declare a loss; ask the organiser"

    def _put_aside(self) -> None:
        """Begin anew. The lost part stays as a file of its own."""
        if self._growing is not None:
            with suppress(OSError):
                aside = self._growing.with_name(f"{self._growing.stem}-before.gamelog")
                self._growing.replace(aside)
                _list(aside)
        self._head, self._end, self.note, self._is_compared = None, 0, b"", True

    async def begin(self, connection: Connection, token: str, opened_with: bytes) -> None:
        """Ask the referee for the beginning of a game file, unless it is here.

        ``opened_with``: its hash, as entry 0 names it. A referee that does not tell is asked a few times at the most.
        """
        if self._growing is None or self._header or not self._tries:
            return
        self._tries -= 1
        with suppress(grpc.aio.AioRpcError, Cut, LogError), cuts():
            header = await _header(connection.channel(), self._game_id, token)
            if header_hash(header) == opened_with:
                self._header = header

    def keep(self, entries: Sequence[bytes], note: bytes) -> None:
        """Keep what is new up to this checkpoint; it is durable when this returns, if the disk takes it."""
        if self._growing is None or not self._header or not self._is_compared or note == self.note:
            return
        with suppress(OSError, LogError):
            self._append(self._growing, entries, note)

    def _append(self, path: Path, entries: Sequence[bytes], note: bytes) -> None:
        """Raise ``OSError``, ``LogError``."""
        head = self._opened(note)
        first = self._head.size if self._head is not None and self._end else 0
        frames = [] if self._end else [MAGIC, encode_frame(FrameType.HEADER, self._header)]
        frames += [encode_frame(FrameType.ENTRY, entry) for entry in entries[first : head.size]]
        frames.append(encode_frame(FrameType.OLD_CHECKPOINT, note))
        data = b"".join(frames)
        is_new = not self._end
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600), "wb") as stream:
            stream.truncate(self._end)
            stream.seek(self._end)
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if is_new:
            _sync(path.parent)
        self._end += len(data)
        self._head, self.note = head, note

    # --- afterwards --------------------------------------------------------------------------------------------------

    def finish(self, ledger: Ledger) -> Path | None:
        """Keep the file of a game that is over, and no longer the one that grew. Return where it is, if it is kept."""
        if self._growing is None or not self._header or not self._is_compared:
            return None
        with suppress(OSError, LogError):
            whole = self._written(_file_of(self._header, ledger)) if self._keeps_end else None
            self._growing.unlink(missing_ok=True)
            self._growing = None
            return whole
        return None

    def tell(self, error: ClientError, ledger: Ledger) -> None:
        """Write all that is here of the game, if the error says that the referee has lost it or a part of it.

        The error tells then where the file is.
        """
        is_lost = isinstance(error, Distrust) or (isinstance(error, Denied) and error.is_lost)
        if is_lost and (path := self._saved(ledger)) is not None:
            error.add(f"your copy of the game is {path}: give it to the organiser")

    def _saved(self, ledger: Ledger) -> Path | None:
        """Return the file with most of the game, which is ``GAME.gamelog`` if that can be written."""
        if self._growing is None or self._whole is None:
            return None
        if ledger.size > (self._head.size if self._head is not None else 0):
            self.keep(ledger.entries, ledger.checkpoint)
        with suppress(OSError):
            if not self._end:
                return self._whole if self._head is not None else None
            if self._whole.is_file() and self._whole.stat().st_size >= self._end:
                return self._whole  # another seat's, or of an earlier time
            with self._growing.open("rb") as stream:
                return self._written(stream.read(self._end)) or self._growing
        return self._growing if self._end else None

    def _written(self, data: bytes) -> Path | None:
        """Write ``GAME.gamelog``, unless that is another program's file. Raise ``OSError``."""
        if (whole := self._whole) is None:
            return None
        if whole.exists() and whole.name not in _listed(whole.parent):
            return None
        _replace(whole, data)
        _list(whole)
        return whole


def _file_of(header: bytes, ledger: Ledger) -> bytes:
    """Return the whole file of a game. Raise ``LogError``."""
    content = BytesIO()
    writer = file.Writer(content)
    writer.header(header)
    for entry in ledger.entries:
        writer.entry(entry)
    writer.end(ledger.checkpoint)
    return content.getvalue()


async def _header(channel: grpc.aio.Channel, game_id: str, token: str) -> bytes:
    """Return the header of the game's file as the referee has it. Raise ``grpc.aio.AioRpcError``, ``LogError``."""
    stub: pb_grpc.GameServiceAsyncStub = pb_grpc.GameServiceStub(channel)
    call = stub.GetLog(pb.GetLogRequest(game_id=game_id), timeout=_HEADER_S, metadata=bearer(token))
    data = b""
    try:
        async for part in call:
            data += part.chunk
            with suppress(LogError):
                return next(file.read(BytesIO(data))).payload
            if len(data) > 2 * MAX_HEADER_BYTES:
                break
    finally:
        call.cancel()
    return b""


def _replace(path: Path, data: bytes) -> None:
    """Raise ``OSError``."""
    beside = path.with_name(f".{path.name}.new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    beside.replace(path)


def _sync(folder: Path) -> None:
    """Make names durable. Raise ``OSError``."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _listed(folder: Path) -> list[str]:
    """Return the files that were written here, the oldest first: other files are never touched."""
    try:
        names = (folder / _LIST).read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    return [name for name in dict.fromkeys(reversed(names)) if _NAME.fullmatch(name)][::-1]


def _list(path: Path) -> None:
    """Add a file that was written here; the oldest make room. Raise ``OSError``."""
    names = [*(name for name in _listed(path.parent) if name != path.name), path.name]
    for name in names[:-KEPT_FILES]:
        (path.parent / name).unlink(missing_ok=True)
    _replace(path.parent / _LIST, "".join(f"{name}\n" for name in names[-KEPT_FILES:]).encode())
