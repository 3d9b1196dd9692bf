"""RFC 6962: known answers, an independent implementation, and proofs for every pair of small sizes."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymerkle import InmemoryTree

from referee.log.errors import Code, LogError
from referee.log.merkle import (
    EMPTY_ROOT,
    Tree,
    check_consistency,
    check_inclusion,
    inclusion_proof,
    leaf_hash,
    node_hash,
    root,
)
from tests.log.consistency import consistency_proof

# From Certificate Transparency's test data: the roots of these eight leaves' prefixes.
CT_LEAVES = [
    bytes.fromhex(x)
    for x in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
]
CT_ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
LEAVES = [leaf_hash(bytes([i])) for i in range(20)]


def test_roots_of_certificate_transparency() -> None:
    assert sha256().digest() == EMPTY_ROOT == Tree().root()
    tree = Tree()
    for data, expected in zip(CT_LEAVES, CT_ROOTS, strict=True):
        tree.append(leaf_hash(data))
        assert tree.root().hex() == expected


@given(st.lists(st.binary(max_size=8), max_size=80))
def test_roots_of_pymerkle(leaves: list[bytes]) -> None:
    other = InmemoryTree(algorithm="sha256")
    tree = Tree()
    for data in leaves:
        other.append_entry(data)
        tree.append(leaf_hash(data))
        assert tree.root() == other.get_root()


@pytest.mark.parametrize("size", range(1, 20))
def test_inclusion(size: int) -> None:
    leaves = LEAVES[:size]
    expected = root(leaves)
    for index in range(size):
        proof = inclusion_proof(leaves, index)
        check_inclusion(leaves[index], index, size, proof, expected)
        bad = [
            (leaves[index], index, size, [*proof, leaves[0]], expected),
            (leaves[index], index, size, proof, leaves[0] if size > 1 else EMPTY_ROOT),
            (EMPTY_ROOT, index, size, proof, expected),
            (leaves[index], size, size, proof, expected),
        ]
        bad += [(leaves[index], index, size, proof[:-1], expected)] if proof else []
        bad += [(leaves[index], other, size, proof, expected) for other in range(size) if other != index]
        for arguments in bad:
            with pytest.raises(LogError) as caught:
                check_inclusion(*arguments)
            assert caught.value.code is Code.CHECKPOINT


@pytest.mark.parametrize("size", range(1, 20))
def test_consistency(size: int) -> None:
    leaves = LEAVES[:size]
    expected = root(leaves)
    for old in range(1, size + 1):
        proof = consistency_proof(leaves, old)
        old_root = root(leaves[:old])
        check_consistency(old, old_root, size, expected, proof)
        bad = [
            (old, EMPTY_ROOT, size, expected, proof),
            (old, old_root, size, EMPTY_ROOT, proof),
            (old, old_root, size, expected, [*proof, EMPTY_ROOT]),
            (0, old_root, size, expected, proof),
            (size + 1, old_root, size, expected, proof),
        ]
        bad += [(old, old_root, size, expected, proof[:-1])] if proof else []
        bad += [(old, old_root, size, expected, [EMPTY_ROOT, *proof[1:]])] if proof else []
        for arguments in bad:
            with pytest.raises(LogError):
                check_consistency(*arguments)


def test_a_node_is_no_leaf() -> None:
    """Attack 44: the inner node of a tree of two presented as the only leaf of a smaller one."""
    left, right = LEAVES[:2]
    inner = node_hash(left, right)
    assert leaf_hash(left + right) != inner
    with pytest.raises(LogError):
        check_inclusion(leaf_hash(b"\x01" + left + right), 0, 1, [], inner)


def test_indices_outside() -> None:
    with pytest.raises(IndexError):
        inclusion_proof(LEAVES, 20)
    with pytest.raises(IndexError):
        consistency_proof(LEAVES, 0)
