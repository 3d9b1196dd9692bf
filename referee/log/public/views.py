"""What the witnesses of a log have signed last, held against what the log shows here (C2SP tlog-witness, monitors).

A log can show one list to some witnesses and another to others, if a quorum needs neither all nor most of them. Each
signs only what it has seen grow, and shows it: so whoever asks all of them has both lists.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from referee.log.errors import Code, LogError
from referee.log.merkle import check_consistency
from referee.log.note import MAX_COSIGNED_BYTES, TreeHead
from referee.log.public.checkpoint import open_log_checkpoint, origin_hash
from referee.log.public.folder import CHECKPOINT
from referee.log.public.monitor import State
from referee.log.public.policy import LogPolicy
from referee.log.public.tiles import Source, TileTree


@dataclass(frozen=True, slots=True)
class View:
    """What one witness shows."""

    name: str
    """As the policy has it."""
    size: int | None = None
    """How many leaves it has signed for; None: it showed nothing that counts."""
    note: bytes = b""
    problem: LogError | None = None
    """``FORK``: it signed another list; ``STALE``: more than the log shows."""
    comment: str = ""
    """Why it showed nothing."""


def views(source: Source, policy: LogPolicy, state: State, ask: Callable[[str], Source]) -> list[View]:
    """Ask every witness that has an address, and compare. ``ask``: makes the reader of an address.

    Raise ``OSError`` if the log itself cannot be read.
    """
    return [_view(source, policy, state, name, ask(peer.url)) for name, peer in policy.witnesses.items() if peer.url]


def _view(source: Source, policy: LogPolicy, state: State, name: str, witness: Source) -> View:
    seen = state.seen()
    if seen is None:
        return View(name, comment="nothing of the log was seen")
    origin, tree, _ = seen
    try:
        note = witness.read(f"{origin_hash(origin)}/{CHECKPOINT}", MAX_COSIGNED_BYTES)
        if note is None:
            return View(name, comment="it has not signed for this log, or does not show what it signed")
        witnessed = open_log_checkpoint(note, policy)
        if witnessed.head.origin != origin or name not in witnessed.cosigned:
            return View(name, comment="what it shows is not signed by it, or of another log")
    except (OSError, LogError) as error:
        return View(name, comment=str(error))
    head = witnessed.head
    if head.size > tree.size:
        problem = _beyond(source, tree.size, tree.root(), head, name)
    else:
        problem = None if state.root_of(head.size) == head.root else _fork(name, head)
    return View(name, head.size, note, problem)


def _beyond(source: Source, size: int, root: bytes, head: TreeHead, name: str) -> LogError | None:
    """Return what is wrong with a head that is further than what is published: an honest log has its tiles already."""
    tiles = TileTree(source, head.size)
    try:
        is_shown, proof = tiles.root() == head.root, tiles.consistency(size)
    except LogError:
        what = f"{name} has signed {head.size} leaves, and the log does not show them"
        return LogError(Code.STALE, what, "its tiles, which are written before a witness is asked")
    try:
        if is_shown:
            check_consistency(size, root, head.size, head.root, proof)
    except LogError:
        is_shown = False
    return None if is_shown else _fork(name, head)


def _fork(name: str, head: TreeHead) -> LogError:
    what = f"{name} has signed another list of {head.size} leaves than the log shows here"
    return LogError(Code.FORK, what, "one list for everybody")
