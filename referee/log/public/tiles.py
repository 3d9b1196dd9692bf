"""A tree as tiles of 256 hashes, its leaves as bundles (C2SP tlog-tiles), root and proofs from them, their check.

Knows paths and bytes, not where they are kept: the caller gives a source to read from, and writes what ``Edge`` makes.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from referee.log.errors import Code, LogError
from referee.log.merkle import EMPTY_ROOT, HASH_BYTES, leaf_hash, node_hash
from referee.log.note import TreeHead

WIDTH: Final = 256
"""Hashes of a full tile, leaves of a full bundle."""
HEIGHT: Final = 8
"""Levels of the tree in one tile."""
MAX_TILE_BYTES = WIDTH * HASH_BYTES
MAX_BUNDLE_BYTES = WIDTH * (2 + 0xFFFF)
MAX_SIZE = 1 << 62
PARTIAL: Final = ".p/"
"""The part of the path of a tile or a bundle that is not full."""
_KEPT_TILES = 256
_NAME = re.compile(r"tile/([0-9]|[1-5][0-9]|6[0-3]|entries)/(?:x[0-9]{3}/)*[0-9]{3}(?:\.p/[1-9][0-9]{0,2})?", re.ASCII)


class Source(Protocol):
    """The source of a log's files: a folder, or a web server."""

    def read(self, path: str, most: int) -> bytes | None:
        """Return what is there, None if nothing is. Raise ``OSError``; for more than ``most`` bytes ``LogError``."""


def tile_path(level: int, index: int, width: int = WIDTH) -> str:
    return f"tile/{level}/{_numbered(index, width)}"


def bundle_path(index: int, width: int = WIDTH) -> str:
    return f"tile/entries/{_numbered(index, width)}"


def is_path(path: str) -> bool:
    """Return whether a tile or a bundle may have this path."""
    return _NAME.fullmatch(path) is not None


def _numbered(index: int, width: int) -> str:
    digits = f"{index:03}"
    digits = digits.zfill(-(-len(digits) // 3) * 3)
    groups = [digits[at : at + 3] for at in range(0, len(digits), 3)]
    whole = "/".join([*(f"x{group}" for group in groups[:-1]), groups[-1]])
    return whole if width == WIDTH else f"{whole}.p/{width}"


def encode_bundle(leaves: Sequence[bytes]) -> bytes:
    """Return the leaves, each after its length. Raise ``ValueError`` for one of more than 65,535 bytes."""
    if any(len(leaf) > 0xFFFF for leaf in leaves):
        raise ValueError("a leaf of more than 65,535 bytes")
    return b"".join(part for leaf in leaves for part in (len(leaf).to_bytes(2, "big"), leaf))


def decode_bundle(data: bytes, count: int, path: str) -> list[bytes]:
    """Return ``count`` leaves. Raise ``LogError`` (``CHECKPOINT``) if these bytes are anything else."""
    leaves: list[bytes] = []
    at = 0
    while at < len(data) and len(leaves) < count:
        end = at + 2 + int.from_bytes(data[at : at + 2], "big")
        if end > len(data):
            break
        leaves.append(data[at + 2 : end])
        at = end
    if at != len(data) or len(leaves) != count:
        raise LogError(Code.CHECKPOINT, f"{path}: {len(leaves)} whole leaves in {len(data)} bytes", f"{count} leaves")
    return leaves


def read_tile(source: Source, level: int, index: int, width: int = WIDTH) -> bytes:
    """Return the hashes of a tile, of a partial one also from the full one, which may have replaced it.

    Raise ``LogError`` (``CHECKPOINT``) if it is missing or has another length; ``OSError``.
    """
    data, path = _either(source, tile_path(level, index, width), tile_path(level, index), MAX_TILE_BYTES)
    whole = path == tile_path(level, index)
    if len(data) != (WIDTH if whole else width) * HASH_BYTES:
        raise LogError(Code.CHECKPOINT, f"{path}: {len(data)} bytes", f"{(WIDTH if whole else width) * HASH_BYTES}")
    return data[: width * HASH_BYTES]


def read_bundle(source: Source, index: int, width: int = WIDTH) -> list[bytes]:
    """Return leaves, as ``read_tile`` returns hashes."""
    data, path = _either(source, bundle_path(index, width), bundle_path(index), MAX_BUNDLE_BYTES)
    return decode_bundle(data, WIDTH if path == bundle_path(index) else width, path)[:width]


def _either(source: Source, partial: str, full: str, most: int) -> tuple[bytes, str]:
    for path in dict.fromkeys((partial, full)):
        if (data := source.read(path, most)) is not None:
            return data, path
    raise LogError(Code.CHECKPOINT, f"{partial}: not there", "a file that the checkpoint covers")


def read_leaves(source: Source, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Yield the leaves from ``start`` up to ``end``, each with its index. Raise ``LogError``, ``OSError``."""
    for index in range(start // WIDTH, -(-end // WIDTH)):
        first = index * WIDTH
        for at, leaf in enumerate(read_bundle(source, index, min(WIDTH, end - first)), first):
            if at >= start:
                yield at, leaf


class Edge:
    """The right edge of a tree: the hashes outside full tiles, which suffice to add leaves.

    It keeps at most 255 leaves and 255 hashes a level, and makes the same files whenever it is asked.
    """

    def __init__(self) -> None:
        self.size = 0
        self._bundle: list[bytes] = []
        self._rows: list[list[bytes]] = [[]]
        """The hashes of the partial tile, by level."""

    @classmethod
    def read(cls, source: Source, size: int) -> Edge:
        """Return the edge of the first ``size`` leaves. Raise ``LogError``, ``OSError``.

        Only lengths are checked: compare ``root`` with the one that is known for this size.
        """
        edge = cls()
        edge.size = size
        if width := size % WIDTH:
            edge._bundle = read_bundle(source, size // WIDTH, width)
        edge._rows = [
            _split(read_tile(source, level, index, width)) if (width := wide % WIDTH) else []
            for level, (index, wide) in enumerate(_levels(size))
        ] or [[]]
        return edge

    def copy(self) -> Edge:
        """Return an independent copy."""
        edge = Edge()
        edge.size, edge._bundle, edge._rows = self.size, [*self._bundle], [[*row] for row in self._rows]
        return edge

    def root(self) -> bytes:
        """Return the tree's root (RFC 6962, section 2.1)."""
        root: bytes | None = None
        for row in self._rows:
            for peak in reversed(_peaks(row)):
                root = peak if root is None else node_hash(peak, root)
        return EMPTY_ROOT if root is None else root

    def partials(self) -> list[tuple[str, bytes]]:
        """Return the bundle and the tiles that are not full, by their paths."""
        files = [(bundle_path(self.size // WIDTH, len(self._bundle)), encode_bundle(self._bundle))]
        files += [
            (tile_path(level, (self.size >> HEIGHT * level) // WIDTH, len(row)), b"".join(row))
            for level, row in enumerate(self._rows)
        ]
        return [(path, data) for path, data in files if data]

    def append(self, leaves: Sequence[bytes]) -> list[tuple[str, bytes]]:
        """Add leaves. Return the files to write, in this order: whatever a file hashes, comes before it."""
        files: list[tuple[str, bytes]] = []
        if not leaves:
            return files
        at, bundle = self.size // WIDTH, [*self._bundle, *leaves]
        while len(bundle) >= WIDTH:
            files.append((bundle_path(at), encode_bundle(bundle[:WIDTH])))
            at, bundle = at + 1, bundle[WIDTH:]
        if bundle:
            files.append((bundle_path(at, len(bundle)), encode_bundle(bundle)))
        new, level, first = [leaf_hash(leaf) for leaf in leaves], 0, self.size
        while new:
            if level == len(self._rows):
                self._rows.append([])
            at, row, above = first // WIDTH, [*self._rows[level], *new], list[bytes]()
            while len(row) >= WIDTH:
                files.append((tile_path(level, at), b"".join(row[:WIDTH])))
                above.append(perfect_root(row[:WIDTH]))
                at, row = at + 1, row[WIDTH:]
            if row:
                files.append((tile_path(level, at, len(row)), b"".join(row)))
            self._rows[level] = row
            new, level, first = above, level + 1, first // WIDTH
        self._bundle = bundle
        self.size += len(leaves)
        return files


class TileTree:
    """The tree of the first ``size`` leaves, read from tiles as far as a question needs them.

    Nothing proves that the tiles are right but the root: compare it with a signed one. Every method raises
    ``LogError`` (``CHECKPOINT``) for a tile that is missing or not one, and ``OSError``.
    """

    def __init__(self, source: Source, size: int) -> None:
        self.size = size
        self._source = source
        self._tiles: OrderedDict[tuple[int, int], bytes] = OrderedDict()

    def root(self, size: int | None = None) -> bytes:
        """Return the root of the first ``size`` leaves; without a size, of all."""
        return self._root(0, self.size if size is None else size)

    def inclusion(self, index: int) -> tuple[bytes, ...]:
        """Return the path of a leaf from its sibling up (RFC 6962, section 2.1.1)."""
        if not 0 <= index < self.size:
            raise IndexError(f"leaf {index} of {self.size}")
        path: list[bytes] = []
        low, high = 0, self.size
        while high - low > 1:
            split = low + _largest_power_below(high - low)
            if index < split:
                path.append(self._root(split, high))
                high = split
            else:
                path.append(self._root(low, split))
                low = split
        return tuple(reversed(path))

    def consistency(self, old: int) -> tuple[bytes, ...]:
        """Return the proof that the tree of the first ``old`` leaves grew into this one (RFC 6962, section 2.1.2)."""
        if not 0 <= old <= self.size:
            raise IndexError(f"{old} of {self.size} leaves")
        path: list[bytes] = []
        low, high = 0, self.size
        while 0 < old < high:
            split = low + _largest_power_below(high - low)
            if old <= split:
                path.append(self._root(split, high))
                high = split
            else:
                path.append(self._root(low, split))
                low = split
        if low > 0:
            path.append(self._root(low, high))
        return tuple(reversed(path))

    def _root(self, low: int, high: int) -> bytes:
        """Return the root over the leaves from ``low`` up to ``high``: a subtree of the whole one."""
        if low == high:
            return EMPTY_ROOT
        length = high - low
        if length & (length - 1) == 0:
            return self._node(length.bit_length() - 1, low // length)
        split = low + _largest_power_below(length)
        return node_hash(self._root(low, split), self._root(split, high))

    def _node(self, height: int, index: int) -> bytes:
        """Return the root of a whole subtree of 2^height leaves."""
        level, inside = divmod(height, HEIGHT)
        tile, at = divmod(index << inside, WIDTH)
        row = self._tile(level, tile)
        return perfect_root(_split(row[at * HASH_BYTES : (at + (1 << inside)) * HASH_BYTES]))

    def _tile(self, level: int, index: int) -> bytes:
        known = self._tiles.pop((level, index), None)
        if known is None:
            wide = self.size >> (HEIGHT * level)
            known = read_tile(self._source, level, index, min(WIDTH, wide - index * WIDTH))
        self._tiles[level, index] = known
        if len(self._tiles) > _KEPT_TILES:
            self._tiles.popitem(last=False)
        return known


def _levels(size: int) -> Iterator[tuple[int, int]]:
    """Yield for each level the index of its last tile, which may be empty, and how many hashes the level has."""
    while size:
        yield size // WIDTH, size
        size //= WIDTH


def _split(row: bytes) -> list[bytes]:
    return [row[at : at + HASH_BYTES] for at in range(0, len(row), HASH_BYTES)]


def perfect_root(row: Sequence[bytes]) -> bytes:
    """Return the root over hashes whose number is a power of two."""
    while len(row) > 1:
        row = [node_hash(row[at], row[at + 1]) for at in range(0, len(row), 2)]
    return row[0]


def _peaks(row: Sequence[bytes]) -> list[bytes]:
    """Return the roots of the whole subtrees of a partial tile, the largest first."""
    peaks, at = [], 0
    while at < len(row):
        wide = 1 << (len(row) - at).bit_length() - 1
        peaks.append(perfect_root(row[at : at + wide]))
        at += wide
    return peaks


def _largest_power_below(n: int) -> int:
    return 1 << ((n - 1).bit_length() - 1)


_MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class Checked:
    """The findings of ``check_log``."""

    tiles: int
    """The number of tiles that were compared, bundles included."""
    root: bytes
    """Over the leaves as they are."""
    faults: tuple[LogError, ...]
    """The first ones: each names a file, and the leaf or the hash in it."""


def check_log(source: Source, head: TreeHead, progress: Callable[[int], None] = lambda _: None) -> Checked:
    """Recompute a log. ``progress`` takes the number of leaves done. Raise ``OSError``."""
    return _Checker(source, head.size).run(head, progress)


class _Checker:
    def __init__(self, source: Source, size: int) -> None:
        self._source = source
        self._size = size
        self._rows: list[list[bytes]] = [[]]
        """The hashes of the tile that is not full yet, by level."""
        self._count: list[int] = [0]
        """The number of full tiles, by level."""
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
        """Add hashes to a level, and the filled tiles' hashes to the levels above."""
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
                yield LogError(Code.CHECKPOINT, what, "the leaf that the tiles and the signed root have")
        if not named:
            yield LogError(Code.CHECKPOINT, f"the leaves do not give the signed root over {head.size}", head.root.hex())
