"""The Merkle tree over a game's entries (RFC 6962, section 2.1): root, inclusion and consistency proofs.

The proofs are part of the format (docs/log-format.md, section 5): by them an entry or a receipt is held against a
signed head without the whole file. Knows bytes only. The leaf hash is also the ``prev`` of the next entry, so chain
and tree share their hashing.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from referee.log.errors import Code, LogError

HASH_BYTES = 32
EMPTY_ROOT = sha256(b"").digest()


def leaf_hash(data: bytes) -> bytes:
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


class Tree:
    """A tree that only grows and keeps no leaves: the roots of its perfect subtrees, largest first."""

    __slots__ = ("_peaks", "size")

    def __init__(self) -> None:
        self.size = 0
        self._peaks: list[bytes] = []

    @classmethod
    def resumed(cls, size: int, peaks: Sequence[bytes]) -> Tree:
        """Return the tree that had this size and these ``peaks``. Raise ``ValueError`` if no tree has."""
        if len(peaks) != size.bit_count() or any(len(peak) != HASH_BYTES for peak in peaks):
            raise ValueError(f"{len(peaks)} subtrees of a tree of {size} leaves")
        tree = cls()
        tree.size, tree._peaks = size, list(peaks)
        return tree

    @property
    def peaks(self) -> tuple[bytes, ...]:
        """Return the roots of the perfect subtrees, largest first: with the size all that the tree is."""
        return tuple(self._peaks)

    def append(self, leaf: bytes) -> None:
        """Add a leaf hash: O(log n) at worst, two hashes on average."""
        size = self.size
        while size & 1:
            leaf = node_hash(self._peaks.pop(), leaf)
            size >>= 1
        self._peaks.append(leaf)
        self.size += 1

    def root(self) -> bytes:
        if not self._peaks:
            return EMPTY_ROOT
        root = self._peaks[-1]
        for peak in self._peaks[-2::-1]:
            root = node_hash(peak, root)
        return root


def root(leaves: Sequence[bytes]) -> bytes:
    """Return the root over these leaf hashes."""
    tree = Tree()
    for leaf in leaves:
        tree.append(leaf)
    return tree.root()


def inclusion_proof(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """Return the audit path of a leaf, from the leaf upwards (RFC 6962, section 2.1.1)."""
    if not 0 <= index < len(leaves):
        raise IndexError(f"leaf {index} of {len(leaves)}")
    path: list[bytes] = []
    low, high = 0, len(leaves)
    while high - low > 1:
        split = low + _largest_power_below(high - low)
        if index < split:
            path.append(root(leaves[split:high]))
            high = split
        else:
            path.append(root(leaves[low:split]))
            low = split
    return path[::-1]


def check_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root_hash: bytes) -> None:
    """Raise ``LogError`` unless the leaf is at this index of the tree (RFC 9162, section 2.1.3.2)."""
    if not 0 <= index < size:
        raise _refused("inclusion", f"leaf {index} of {size}")
    value = leaf
    for sibling, is_left in zip(proof, _climb("inclusion", index, size - 1, len(proof)), strict=True):
        value = node_hash(sibling, value) if is_left else node_hash(value, sibling)
    if value != root_hash:
        raise _refused("inclusion", "the proof leads to another root")


def check_consistency(old_size: int, old_root: bytes, size: int, root_hash: bytes, proof: Sequence[bytes]) -> None:
    """Raise ``LogError`` unless the old tree is a prefix of the new (RFC 9162, section 2.1.4.2)."""
    if not 0 < old_size <= size:
        raise _refused("consistency", f"{old_size} of {size} leaves")
    path = list(proof)
    if old_size == size:
        if path:
            raise _refused("consistency", "the proof is too long")
        if old_root != root_hash:
            raise _refused("consistency", "two roots of one size")
        return
    if old_size & (old_size - 1) == 0:
        path.insert(0, old_root)
    if not path:
        raise _refused("consistency", "the proof is too short")
    node, last = old_size - 1, size - 1
    while node & 1:
        node >>= 1
        last >>= 1
    old_value = value = path[0]
    for sibling, is_left in zip(path[1:], _climb("consistency", node, last, len(path) - 1), strict=True):
        if is_left:
            old_value = node_hash(sibling, old_value)
            value = node_hash(sibling, value)
        else:
            value = node_hash(value, sibling)
    if old_value != old_root or value != root_hash:
        raise _refused("consistency", "the proof leads to another root")


def _climb(kind: str, node: int, last: int, steps: int) -> list[bool]:
    """Return for each sibling on the way from a node of a level to the root whether it is the left one."""
    sides: list[bool] = []
    for _ in range(steps):
        if last == 0:
            raise _refused(kind, "the proof is too long")
        is_left = bool(node & 1) or node == last
        sides.append(is_left)
        while is_left and not node & 1 and node:
            # The last node of a level without a right sibling moves up as it is.
            node >>= 1
            last >>= 1
        node >>= 1
        last >>= 1
    if last != 0:
        raise _refused(kind, "the proof is too short")
    return sides


def _largest_power_below(n: int) -> int:
    return 1 << ((n - 1).bit_length() - 1)


def _refused(kind: str, what: str) -> LogError:
    return LogError(Code.CHECKPOINT, f"{kind} proof: {what}")
