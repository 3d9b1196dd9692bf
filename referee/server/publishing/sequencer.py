"""Makes a public log of the heads that a store keeps, once a second if there are any, and keeps its files as they were.

The store numbers heads, which fixes for good what the leaves are; then their bundles and tiles are written; then the
store notes how far the log is about to be signed; then it is signed, shown to witnesses, and published if the policy's
quorum signed. Stopped anywhere between, the next start makes the same bytes: all but signatures follow from the store.
Games never wait for any of it.

Upkeep compares the published files with the database, from which they were made, and makes a damaged one again. A look
goes through the whole log, some bundles at a time. Nothing is replaced before it has come to the end and found that the
leaves in the database have the root that was signed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from time import monotonic
from typing import NamedTuple

import structlog

from referee.log.errors import LogError
from referee.log.note import MAX_COSIGNED_BYTES, Checkpoint, CheckpointSigner, NoteSignature, TreeHead, VerifierKey
from referee.log.public.checkpoint import (
    NONE,
    LogPolicy,
    Peer,
    check_log_signature,
    demand_quorum,
    leaf_of,
    open_log_checkpoint,
    parse_log_note,
)
from referee.log.public.sources import CHECKPOINT, Folder
from referee.log.public.tiles import PARTIAL, WIDTH, Edge, Source, TileTree
from referee.server.publishing import witnesses
from referee.server.publishing.witnesses import Ahead, Witnesses
from referee.server.store.store import Head, LogState, Store, StoreFailed, TakenOver

AT_ONCE = 4
"""Bundles that are compared in one go: about 40 KB each are read, with the tiles that they fill."""
REST_S = 6 * 3600.0
"""The time from the end of a look to the begin of the next."""
_MOST_NAMED = 10

_upkeep_log = structlog.get_logger("referee.log")


class Upkeep:
    """Looks after the files of one log. Only who writes the log may have one at work."""

    def __init__(self, store: Store, leaf: Callable[[Head], bytes], folder: Folder) -> None:
        """``leaf``: makes the leaf of a head."""
        self.looks = 0
        """Looks that came to their end, since the start."""
        self.mended = 0
        """Files that were made again, since the start."""
        self.damaged = 0
        """Files that are not what they should be, by the newest look."""
        self.named: tuple[str, ...] = ()
        """The first of them, by their paths in the folder."""
        self.contradicts = False
        """The heads in the database are not those that were signed: then no file is made again."""
        self._store = store
        self._leaf = leaf
        self._folder = folder
        self._look: _Look | None = None
        self._next_s = 0.0

    @property
    def trouble(self) -> str:
        """Return what is wrong, in words; empty: nothing, as far as was looked."""
        if not self.damaged and not self.contradicts:
            return ""
        more = f" and {self.damaged - len(self.named)} more" if self.damaged > len(self.named) else ""
        files = f"damaged files in {self._folder.path}: {', '.join(self.named)}{more}" if self.damaged else ""
        heads = "the heads in the database are not those that were signed" if self.contradicts else ""
        return "; ".join(filter(None, (heads, files)))

    async def compare_some(self, signed: LogState, size: int) -> None:
        """Compare what comes next, if a look is due. Raise ``StoreFailed``.

        ``signed``: how far the log is signed; ``size``: how many of its leaves are written.
        """
        if self._look is None:
            if monotonic() < self._next_s:
                return
            self._look = _Look(signed)
        look = self._look
        for _ in range(AT_ONCE):
            heads = await self._store.leaves(look.edge.size, min(WIDTH, look.signed.size - look.edge.size))
            if not heads:
                self._look = self._after(look)
                return
            await asyncio.to_thread(self._compare, look, heads, is_last=size == look.edge.size + len(heads))

    def _compare(self, look: _Look, heads: Sequence[Head], *, is_last: bool) -> None:
        """``is_last``: the log has no more leaves, so it has partial tiles of these."""
        files = [file for file in look.edge.append(list(map(self._leaf, heads))) if PARTIAL not in file[0]]
        for path, data in (*files, *(look.edge.partials() if is_last else ())):
            if self._is_there(path, data):
                continue
            if not look.mends:
                look.found(path)
                if look.count <= _MOST_NAMED:  # a disk may have lost thousands
                    _upkeep_log.error("log file damaged", file=path)
                continue
            try:
                self._folder.mend(path, data)
            except OSError as error:
                look.found(path)
                if look.count <= _MOST_NAMED:
                    _upkeep_log.error("log file not made again", file=path, error=error.strerror)
            else:
                self.mended += 1
                if self.mended <= _MOST_NAMED:
                    _upkeep_log.warning("log file made again", file=path)

    def _is_there(self, path: str, data: bytes) -> bool:
        try:
            return self._folder.read(path, len(data)) == data
        except (LogError, OSError):
            return False

    def _after(self, look: _Look) -> _Look | None:
        """Return the look that follows at once, if one has to; otherwise have the next wait."""
        self.damaged, self.named = look.count, tuple(look.names)
        self.contradicts = look.edge.root() != look.signed.root
        if self.contradicts:
            _upkeep_log.error("log contradicts the database", why=self.trouble)
        elif look.count and not look.mends:
            return _Look(look.signed, mends=True)
        self.looks += 1
        self._next_s = monotonic() + REST_S
        return None


class _Look:
    """One way through the log."""

    def __init__(self, signed: LogState, *, mends: bool = False) -> None:
        """``mends``: damaged files are made again; an earlier look has found that there may be some."""
        self.signed = signed
        self.mends = mends
        self.edge = Edge()
        self.count = 0
        self.names: list[str] = []

    def found(self, path: str) -> None:
        """Note a file that is not what it should be."""
        self.count += 1
        if len(self.names) < _MOST_NAMED:
            self.names.append(path)


EVERY_S = 1.0
FRESH_S = 600.0
"""The time without a new head after which the witnesses sign the old one again: so a halted log is noticed."""
_BATCH = 1024
"""Heads that are taken at one time."""
_LONGEST_S = 30.0
"""Between attempts to reach a quorum, or a disk that does not write."""
_TOGETHER_WITH = "and it signs no head of the log; expected the database that it was, or `referee log recover`"

_log = structlog.get_logger("referee.log")


class WentBack(Exception):
    """More of the log is known than the store has, or another history of it: nothing more of it may be signed."""


class Published(NamedTuple):
    """The newest checkpoint that is public."""

    head: TreeHead
    note: bytes
    at: float
    """The time when it was published or found, by the monotonic clock; in seconds."""


def leaf(origin: str, head: Head) -> bytes:
    """Return the leaf of a head of a game of this referee."""
    return leaf_of(Checkpoint(origin, head.game_id, head.size, head.root))


def published_in(source: Source, verifier: VerifierKey) -> tuple[TreeHead, bytes] | None:
    """Return the checkpoint that is published there, and its note; None if there is none.

    Raise ``WentBack`` if this log did not sign it; ``OSError``, ``LogError``.
    """
    data = source.read(CHECKPOINT, MAX_COSIGNED_BYTES)
    if data is None:
        return None
    try:
        note = parse_log_note(data)
        check_log_signature(verifier, note)
        head = TreeHead.parse(note.text)
    except LogError as error:
        expected = f"; expected {error.expected}" if error.expected else ""
        raise WentBack(f"the published checkpoint is not of this log: {error.what}{expected}") from None
    if head.origin != verifier.name:
        raise WentBack(f"the published checkpoint is of the log {head.origin}; expected {verifier.name}")
    return head, data


class Sequencer:
    """``start``, then ``run`` as a task until ``stop``."""

    def __init__(  # noqa: PLR0917 - what a log is made of
        self,
        store: Store,
        origin: str,
        signer: CheckpointSigner,
        folder: Path,
        policy: LogPolicy | None,
        every_s: float = EVERY_S,
    ) -> None:
        """``origin``: of the games. ``signer``: the log's own. ``policy``: None: published without witnesses.

        Raise ``ValueError`` if the policy's witnesses cannot be asked.
        """
        self.folder = Folder(folder)
        self.witnesses = Witnesses(policy) if policy is not None else None
        self.published: Published | None = None
        self.halted = ""
        """The reason why the log is no longer signed; empty: it is."""
        self.verifier = signer.verifier
        self._store = store
        self._origin = origin
        self._signer = signer
        self._policy = policy
        own = (Peer(signer.verifier, ""),)
        self._readers = LogPolicy(own, {}, NONE) if policy is None else replace(policy, logs=own)
        self.upkeep = Upkeep(store, self._leaf, self.folder)
        self._signed: LogState | None = None
        """The signed state of the log; None: another referee writes it, or nothing is known yet."""
        self._sound = 0
        """The number of first leaves in the store that have the signed root: files of them may be replaced."""
        self._edge = Edge()
        self._every_s = self._pause_s = every_s
        self._trouble = ""
        self._task: asyncio.Task[None] | None = None

    @property
    def size(self) -> int:
        """Return how many leaves are written."""
        return self._edge.size

    @property
    def trouble(self) -> str:
        """Return what is wrong with the log, in words; empty: nothing that is known."""
        unpublished = f"not published: {self._trouble}" if self._trouble and not self.halted else ""
        return "; ".join(filter(None, (self.halted, unpublished, self.upkeep.trouble)))

    # --- what is there at the start ------------------------------------------------------------------------------

    async def start(self) -> None:
        """Find how far the log is. Raise ``WentBack``, ``StoreFailed``, ``OSError``."""
        await asyncio.to_thread(self.folder.path.mkdir, mode=0o755, parents=True, exist_ok=True)
        # In this order: beside another referee, which notes how far the log is and then publishes.
        found = await asyncio.to_thread(published_in, self.folder, self._signer.verifier)
        state = await self._store.log_state() or LogState(0, Edge().root())
        if found is not None and found[0].size > state.size:
            what = f"the published log has {found[0].size} leaves, and the database knows of {state.size}"
            raise WentBack(f"{self.folder.path}: {what}: the database went back, {_TOGETHER_WITH}")
        is_whole = await asyncio.to_thread(self._take_up, state)
        if not is_whole:
            # The first round writes them: that takes a while, and games do not wait for it.
            _log.warning("tiles written again", folder=str(self.folder.path), leaves=state.size)
            if await self._root_in_store(state.size) != state.root:
                what = f"the first {state.size} heads in the database are not those that were signed"
                raise WentBack(f"{self.folder.path}: {what}, {_TOGETHER_WITH}")
            self._sound = state.size
        if found is None and not state.size:
            # Readers can tell an empty log from one that is missing. Its witnesses are asked in the first round.
            empty = TreeHead(self.verifier.name, 0, Edge().root())
            await asyncio.to_thread(self.folder.publish, self._signer.sign_head(empty))
        elif found is not None and found[0].size:
            size = found[0].size
            root = await asyncio.to_thread(self._root_in_tiles, size, state.size) if is_whole else None
            # Damage to a tile says nothing of the database.
            if root != found[0].root and await self._root_in_store(size) != found[0].root:
                what = f"the published log has other leaves than the database, among its first {size}"
                raise WentBack(f"{self.folder.path}: {what}, {_TOGETHER_WITH}")
            self.published = Published(*found, monotonic())

    def _take_up(self, state: LogState) -> bool:
        """Read the edge of the tree from the tiles; return whether it is the one that was signed."""
        try:
            edge = Edge.read(self.folder, state.size)
        except LogError:
            return False
        if edge.root() != state.root:
            return False
        self._edge = edge
        return True

    def _root_in_tiles(self, size: int, written: int) -> bytes | None:
        """Return the root over the first ``size`` leaves; None if a tile is damaged. Raise ``OSError``."""
        try:
            return TileTree(self.folder, written).root(size)
        except LogError:
            return None

    async def _root_in_store(self, size: int) -> bytes:
        """Return the root over ``size`` leaves, without a file. Raise ``WentBack`` if there are fewer."""
        edge = Edge()
        while edge.size < size:
            heads = await self._leaves_from(edge.size, size)
            await asyncio.to_thread(edge.append, list(map(self._leaf, heads)))
        return edge.root()

    async def _leaves_from(self, first: int, size: int) -> Sequence[Head]:
        heads = await self._store.leaves(first, min(_BATCH, size - first))
        if not heads:
            raise WentBack(f"leaf {first} is missing in the database, {_TOGETHER_WITH}")
        return heads

    # --- what is new ---------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Go to work, once a second."""
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """End the work; an unfinished step may be left where it is."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        if self.witnesses is not None:
            self.witnesses.close()

    async def _run(self) -> None:
        while not self.halted:
            try:
                await self.round()
                self._pause_s, self._trouble = self._every_s, ""
            except WentBack as error:
                self.halted = str(error)
                _log.error("log halted", why=self.halted)
            except TakenOver:
                return
            except (NoQuorum, StoreFailed, OSError, LogError) as error:
                self._later(str(error))
            except Exception as error:  # noqa: BLE001 - whatever it is, the log does not end silently
                self._later(f"{type(error).__name__}: {error}", error)
            if not self.halted:
                await self._look_after()
            await asyncio.sleep(self._pause_s)

    async def _look_after(self) -> None:
        """Compare some of the published files, in a referee that writes the log."""
        if self._signed is None:
            return
        try:
            await self.upkeep.compare_some(self._signed, self.size)
        except StoreFailed as error:
            _log.warning("log files not compared", why=str(error))

    def _later(self, why: str, unexpected: Exception | None = None) -> None:
        if why != self._trouble:
            self._trouble = why
            if unexpected is None:
                _log.warning("log not published", why=why)
            else:
                _log.error("log not published", why=why, exc_info=unexpected)
        self._pause_s = min(2 * self._pause_s, _LONGEST_S)

    async def round(self) -> None:
        """Log what is there, and publish it.

        Raise ``WentBack``; ``StoreFailed``, ``OSError``, and ``NoQuorum``: then the next round may do better.
        """
        try:
            await self._round()
        except Ahead as error:
            what = f"{error}, and the database has size {self.size}: it went back, together with the published log"
            raise WentBack(f"{what}; no head of the log is signed; expected the database that it was") from None

    async def _round(self) -> None:
        if self.witnesses is not None:
            self.witnesses.check()
        size = -1
        while (numbered := await self._store.number_heads(_BATCH)) != size:
            if numbered is None:
                self._signed = None
                await asyncio.to_thread(self._follow)
                return
            size = numbered
            await self._write_up_to(size)
        if self.size != size:
            raise WentBack(
                f"{self.size} leaves are written, and the database has {size}: it went back, {_TOGETHER_WITH}"
            )
        state = LogState(size, self._edge.root())
        if await asyncio.to_thread(self._is_published, size):
            self._signed = state
            return
        head = TreeHead(self._signer.verifier.name, size, state.root)
        if not await self._store.keep_log_state(state):
            return
        self._signed = state
        note = self._signer.sign_head(head)
        lines = await self._cosigned(head, note)
        await asyncio.to_thread(self._publish, head, note, lines)

    def _follow(self) -> None:
        """Find what the log's writer has published there. Raise ``WentBack``, ``OSError``, ``LogError``."""
        found = published_in(self.folder, self._signer.verifier)
        if found is None or (self.published is not None and self.published.note == found[1]):
            return
        edge = Edge.read(self.folder, found[0].size)
        if edge.root() == found[0].root:
            self._edge = edge
        self.published = Published(*found, monotonic())

    def _is_published(self, size: int) -> bool:
        """Return whether the newest checkpoint is of ``size`` leaves, fresh, and in its place. Raise ``OSError``."""
        if self.published is None or self.published.head.size != size:
            return False
        has_witnesses = self.witnesses is not None and self.witnesses.are_there
        if has_witnesses and monotonic() - self.published.at >= FRESH_S:
            return False
        # A referee that was held up while it wrote the log may have put an older one there.
        return self.folder.read(CHECKPOINT, MAX_COSIGNED_BYTES) == self.published.note

    async def _write_up_to(self, size: int) -> None:
        """Write bundles and tiles of the store's leaves. Raise ``WentBack``, ``StoreFailed``, ``OSError``."""
        while self._edge.size < size:
            end = self._sound if self._edge.size < self._sound else size
            await asyncio.to_thread(self._write, await self._leaves_from(self._edge.size, end))

    def _leaf(self, head: Head) -> bytes:
        return leaf(self._origin, head)

    def _write(self, heads: Sequence[Head]) -> None:
        edge = self._edge.copy()
        try:
            files = edge.append(list(map(self._leaf, heads)))
            put = self.folder.mend if edge.size <= self._sound else self.folder.write
            for path, data in files:
                put(path, data)
        except LogError as error:
            raise WentBack(f"{error}: the database went back, {_TOGETHER_WITH}") from None
        self._edge = edge  # only now: what failed half-way is written again
        self._tidy(path for path, _ in files)

    def _tidy(self, paths: Iterable[str]) -> None:
        """Remove the partial tiles and bundles that these full ones have replaced: they would be two for each leaf."""
        for path in paths:
            if PARTIAL not in path:
                rmtree(self.folder.path / f"{path}{PARTIAL}", ignore_errors=True)

    async def _cosigned(self, head: TreeHead, note: bytes) -> Mapping[str, NoteSignature]:
        """Return the witnesses' lines, of a quorum at least. Raise ``Ahead``, ``NoQuorum``."""
        if self.witnesses is None or self._policy is None:
            return {}

        def prove(old: int) -> Sequence[bytes]:
            return TileTree(self.folder, head.size).consistency(old)

        lines = await self.witnesses.cosign(witnesses.Head(head, note, prove))
        if not self._policy.is_met({*lines}):
            names = ", ".join(lines) or "no witness"
            raise NoQuorum(f"{names} signed; expected the quorum {self._policy.quorum}")
        return lines

    def _publish(self, head: TreeHead, note: bytes, lines: Mapping[str, NoteSignature]) -> None:
        signed = note + b"".join(f"{line}\n".encode() for line in lines.values())
        # Checked as readers do: a checkpoint that they would refuse must not replace one that they can read.
        demand_quorum(open_log_checkpoint(signed, self._readers), self._readers)
        found = published_in(self.folder, self._signer.verifier)
        if found is not None and found[0].size > head.size:
            # Another referee has continued while this one was held up: a checkpoint that was read is not taken back.
            self.published = Published(*found, monotonic())
            return
        self.folder.publish(signed)
        self.published = Published(head, signed, monotonic())


class NoQuorum(Exception):
    """Too few witnesses have signed."""
