"""Consistency proofs from all leaves, as RFC 6962 defines them; a log makes its own from tiles."""

from __future__ import annotations

from collections.abc import Sequence

from referee.log.merkle import root


def consistency_proof(leaves: Sequence[bytes], old_size: int) -> list[bytes]:
    """Return a proof that the tree of the first ``old_size`` leaves grew into this one (RFC 6962, section 2.1.2)."""
    if not 0 < old_size <= len(leaves):
        raise IndexError(f"{old_size} of {len(leaves)} leaves")
    path: list[bytes] = []
    low, high = 0, len(leaves)
    old_high = old_size
    whole = True  # the old tree is a node of the new one, so far
    while high != old_high:
        split = low + (1 << (high - low - 1).bit_length() - 1)
        if old_high <= split:
            path.append(root(leaves[split:high]))
            high = split
        else:
            path.append(root(leaves[low:split]))
            low = split
            whole = False
    if not whole:
        path.append(root(leaves[low:high]))
    return path[::-1]
