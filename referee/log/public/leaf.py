"""A leaf of the public log: the head of a game or an event, as text.

What a leaf means is decided here and nowhere else. It names the game, its size and its root, and neither people nor
moves nor times.
"""

from __future__ import annotations

from typing import Final

from referee.log.errors import Code, LogError
from referee.log.note import Checkpoint

FIRST_LINE: Final = "tile-referee/v1/head\n"
MAX_LEAF_BYTES = 1024


def log_origin(referee: str) -> str:
    """Return the name of the log that has the heads of the referee of this name."""
    return f"{referee}/log"


def leaf_of(head: Checkpoint) -> bytes:
    """Return the leaf of this head: a line of its own, then the text that the game's checkpoint has."""
    return (FIRST_LINE + head.text()).encode()


def read_leaf(data: bytes) -> Checkpoint:
    """Return the head that a leaf is of. Raise ``LogError``: ``UNSUPPORTED`` for another kind, else ``NOTE``."""
    if len(data) > MAX_LEAF_BYTES:
        raise LogError(Code.NOTE, f"leaf of {len(data)} bytes", f"at most {MAX_LEAF_BYTES}")
    try:
        text = data.decode("ascii")
    except UnicodeDecodeError:
        raise LogError(Code.NOTE, "the leaf is not ASCII") from None
    if not text.startswith(FIRST_LINE):
        raise LogError(Code.UNSUPPORTED, f"leaf of the kind {text.partition(chr(10))[0][:60]!r}", FIRST_LINE.strip())
    return Checkpoint.parse(text.removeprefix(FIRST_LINE))
