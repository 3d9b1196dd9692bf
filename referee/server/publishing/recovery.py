"""A database that went back behind its public log: its losses come back from the log. No referee is running.

The log's leaves get back their places, and each head of a game that the database lacks becomes a mark. Entries are not
in the log: the games continue as ``live.recovery`` says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from referee.log.errors import LogError
from referee.log.note import TreeHead, VerifierKey
from referee.log.public.checkpoint import LogPolicy, demand_quorum, open_log_checkpoint, read_leaf
from referee.log.public.sources import Folder
from referee.log.public.tiles import HEIGHT, WIDTH, Edge, Source, is_path, read_leaves
from referee.server.publishing.sequencer import WentBack, published_in
from referee.server.store.store import Contradiction, Head, LogState, Store

_AT_ONCE = 1024


class CannotRecover(Exception):
    """Nothing has changed: why not."""


class Lost(NamedTuple):
    """A head of a game that the log has and the database had not."""

    head: Head
    contradicts: str
    """The earlier signature, if this head contradicts it; empty: the head is a mark now, or a mark says as much."""


class Recovered(NamedTuple):
    """The outcome of a recovery."""

    size: int
    """Leaves of the log."""
    known: int
    """The number of first leaves that the database has as well."""
    lost: Sequence[Lost]
    removed: int
    """Tiles and bundles that went beyond the checkpoint."""


async def recover(  # noqa: PLR0917 - a log, and who it is to be
    store: Store,
    origin: str,
    verifier: VerifierKey,
    source: Source,
    folder: Folder,
    policy: LogPolicy | None,
) -> Recovered:
    """Bring back what the log in ``source`` has and the database lacks. Raise ``CannotRecover``, ``StoreFailed``.

    ``folder``: where the log is written; what no checkpoint covers is removed from there. ``policy``: whose
    cosignatures the checkpoint must have; None: the log's own signature is enough.
    """
    head, heads = await asyncio.to_thread(_read, source, origin, verifier, policy)
    known = await _agreeing(store, heads)
    state = await store.log_state()
    if known == len(heads) and state is not None and state.size >= head.size:
        # Files beyond it may still be of another database, and then no log can be written there.
        removed = await asyncio.to_thread(_clear, folder, head)
        if not removed:
            raise CannotRecover(f"the database has all {head.size} leaves of the log")
        return Recovered(head.size, known, [], removed)
    missing = [each for each in heads[known:] if each not in {head for head, _ in await store.heads_of(each.game_id)}]
    # First the marks: they keep the games from continuing, whatever becomes of the rest.
    lost = [Lost(each, _marked(store, each)) for each in missing]
    # The places come last: stopped before, the database is still behind its log, and this is done again.
    removed = await asyncio.to_thread(_clear, folder, head)
    store.put_back_leaves(known, heads[known:], LogState(head.size, head.root))
    return Recovered(head.size, known, lost, removed)


def _read(source: Source, origin: str, verifier: VerifierKey, policy: LogPolicy | None) -> tuple[TreeHead, list[Head]]:
    """Return the published head and all leaves below it, held against it. Raise ``CannotRecover``."""
    try:
        found = published_in(source, verifier)
        if found is None:
            raise CannotRecover("there is no checkpoint; expected the folder or the address of the log")
        head, note = found
        if policy is not None:
            demand_quorum(open_log_checkpoint(note, policy), policy)
        edge, heads = Edge(), list[Head]()
        for index, data in read_leaves(source, 0, head.size):
            edge.append([data])
            checkpoint = read_leaf(data)
            if checkpoint.origin != origin:
                raise CannotRecover(f"leaf {index} is of {checkpoint.origin}; expected {origin}")
            heads.append(Head(checkpoint.game_id, checkpoint.size, checkpoint.root))
        if edge.root() != head.root:
            raise CannotRecover("its leaves are not those that the checkpoint covers; expected another copy of the log")
    except (LogError, WentBack) as error:
        raise CannotRecover(f"the log cannot be read: {error}") from error
    except OSError as error:
        raise CannotRecover(f"the log cannot be read: {error.strerror or error}") from error
    return head, heads


async def _agreeing(store: Store, heads: Sequence[Head]) -> int:
    """Return how many of the log's first leaves are the database's, too."""
    known = 0
    while some := await store.leaves(known, _AT_ONCE):
        for ours in some:
            if known == len(heads) or ours != heads[known]:
                return known
            known += 1
    return known


def _marked(store: Store, head: Head) -> str:
    """Make the head a mark, unless a later one is there; return what contradicts it, if anything."""
    kept = store.marks.kept(head.game_id)
    if kept is not None and kept.size > head.size:
        return ""
    try:
        store.marks.raise_to([head])
    except Contradiction:
        return f"another head of {head.size} entries was signed"
    return ""


def _clear(folder: Folder, head: TreeHead) -> int:
    """Remove tiles and bundles beyond the checkpoint: they are not signed for, and others will come there.

    Return how many. Those that the checkpoint covers are written again at the next start, from the database.
    """
    removed = 0
    for path in [each for each in (folder.path / "tile").rglob("*") if each.is_file()]:
        name = path.relative_to(folder.path).as_posix()
        is_beyond = is_path(name) and _reaches_beyond(name, head.size)
        if is_beyond or not is_path(name):
            path.unlink()
        removed += is_beyond
    return removed


def _reaches_beyond(name: str, size: int) -> bool:
    """Return whether this tile or bundle has more than the first ``size`` leaves."""
    _, kind, *parts = name.split("/")
    width = WIDTH
    if parts[-2:-1] and parts[-2].endswith(".p"):
        parts, width = [*parts[:-2], parts[-2].removesuffix(".p")], int(parts[-1])
    index = int("".join(part.removeprefix("x") for part in parts))
    level = 0 if kind == "entries" else int(kind)
    return index * WIDTH + width > size >> (HEIGHT * level)
