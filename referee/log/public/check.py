"""The whole of a log recomputed from its leaves: every tile, and the root under the checkpoint. Names what differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from referee.log.errors import Code, LogError
from referee.log.merkle import HASH_BYTES, leaf_hash
from referee.log.note import TreeHead
from referee.log.public.tiles import (
    WIDTH,
    Edge,
    Source,
    TileTree,
    bundle_path,
    perfect_root,
    read_bundle,
    read_tile,
    tile_path,
)

_MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found."""

    tiles: int
    """How many were compared, bundles included."""
    root: bytes
    """Over the leaves as they are."""
    faults: tuple[LogError, ...]
    """The first ones: each names a file, and the leaf or the hash in it."""


def check_log(source: Source, head: TreeHead, progress: Callable[[int], None] = lambda _: None) -> Checked:
    """Recompute a log. ``progress`` is told how many leaves are done. Raise ``OSError``."""
    return _Checker(source, head.size).run(head, progress)


class _Checker:
    def __init__(self, source: Source, size: int) -> None:
        self._source = source
        self._size = size
        self._rows: list[list[bytes]] = [[]]
        """By level: the hashes of its tile that is not full yet."""
        self._count: list[int] = [0]
        """By level: how many of its tiles were full."""
        self._compared = 0
        self._differences: list[tuple[int, int, int, int]] = []
        """Level, tile, its width, and which hash in it."""
        self._faults: list[LogError] = []

    def run(self, head: TreeHead, progress: Callable[[int], None]) -> Checked:
        edge = Edge()
        for index in range(-(-self._size // WIDTH)):
            width = min(WIDTH, self._size - index * WIDTH)
            try:
                leaves = read_bundle(self._source, index, width)
            except LogError as error:
                # Without its leaves nothing above is known: the tiles are believed, which the root then judges.
                self._faults.append(error)
                return self._result(b"")
            self._compared += 1
            edge.append(leaves)
            self._take(0, [leaf_hash(leaf) for leaf in leaves])
            progress(min(self._size, (index + 1) * WIDTH))
        for level, row in enumerate(self._rows):
            if row:
                self._compare(level, self._count[level], row)
        root = edge.root()
        if root != head.root:
            self._faults += self._of_leaves(head)
        self._faults += [
            LogError(Code.CHECKPOINT, f"{tile_path(level, tile, width)}: hash {at} is not that of what is below it")
            for level, tile, width, at in (self._differences if root == head.root else ())
        ]
        return self._result(root)

    def _result(self, root: bytes) -> Checked:
        return Checked(self._compared, root, tuple(self._faults[:_MOST_NAMED]))

    def _take(self, level: int, hashes: list[bytes]) -> None:
        """Add hashes to a level, and what they fill to the levels above."""
        if level == len(self._rows):
            self._rows.append([])
            self._count.append(0)
        row = self._rows[level]
        for each in hashes:
            row.append(each)
            if len(row) == WIDTH:
                self._compare(level, self._count[level], row)
                above = perfect_root(row)
                row.clear()
                self._count[level] += 1
                self._take(level + 1, [above])

    def _compare(self, level: int, tile: int, row: list[bytes]) -> None:
        self._compared += 1
        try:
            found = read_tile(self._source, level, tile, len(row))
        except LogError as error:
            self._faults.append(error)
            return
        for at, each in enumerate(row):
            if found[at * HASH_BYTES : (at + 1) * HASH_BYTES] != each and len(self._differences) < _MOST_NAMED:
                self._differences.append((level, tile, len(row), at))

    def _of_leaves(self, head: TreeHead) -> Iterator[LogError]:
        """Yield why the leaves do not give the signed root."""
        try:
            tiles_hold = TileTree(self._source, head.size).root() == head.root
        except LogError:
            tiles_hold = False
        named = False
        for level, tile, width, at in self._differences if tiles_hold else ():
            if level == 0:
                named = True
                number = tile * WIDTH + at
                what = f"{bundle_path(tile, width)}: leaf {number} was altered"
                yield LogError(Code.CHECKPOINT, what, "what the tiles and the signed root say")
        if not named:
            yield LogError(Code.CHECKPOINT, f"the leaves do not give the signed root over {head.size}", head.root.hex())
