"""Tiles, bundles, roots and proofs from them: against the specification's example, our own tree, pymerkle and Go."""

from __future__ import annotations

import os
import random
from base64 import b64decode, b64encode
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pymerkle import InmemoryTree

from referee.log import merkle
from referee.log.errors import Code, LogError
from referee.log.merkle import EMPTY_ROOT, check_consistency, check_inclusion, leaf_hash
from referee.log.public.sources import Folder
from referee.log.public.tiles import (
    Edge,
    TileTree,
    bundle_path,
    decode_bundle,
    encode_bundle,
    is_path,
    read_leaves,
    tile_path,
)
from tests import sumdb
from tests.log.consistency import consistency_proof
from tests.log.public.logs import LOG, Memory, leaves, plain, publish
from tests.sumdb import Ask


def test_paths_are_those_of_the_specification() -> None:
    assert tile_path(0, 1234067) == "tile/0/x001/x234/067"
    assert tile_path(3, 7, 112) == "tile/3/007.p/112"
    assert bundle_path(1000) == "tile/entries/x001/000"
    assert all(map(is_path, (tile_path(63, 0), tile_path(7, 10**9, 255), bundle_path(5, 1))))
    for wrong in (
        "checkpoint",
        "tile/64/000",
        "tile/0/../x",
        "tile/0/1",
        "tile/00/000",
        "tile/0/000.p/0",
        "/tile/0/000",
    ):
        assert not is_path(wrong)


def test_seventy_thousand_leaves_are_the_tiles_of_the_specifications_example() -> None:
    files, edge, rng = Memory(), Edge(), random.Random(1)
    every = plain(70_000)
    while edge.size < len(every):
        files.take(edge.append(every[edge.size : edge.size + rng.randrange(1, 1000)]))
    full = [path for path in files.files if path.startswith("tile/0/") and ".p/" not in path]
    assert len(full) == 273
    assert len(files.files[tile_path(0, 273, 112)]) == 112 * 32
    assert len(files.files[tile_path(1, 0)]) == 256 * 32
    assert len(files.files[tile_path(1, 1, 17)]) == 17 * 32
    assert len(files.files[tile_path(2, 0, 1)]) == 32
    assert not any(path.startswith("tile/3/") for path in files.files)
    assert edge.root() == merkle.root([leaf_hash(leaf) for leaf in every]) == TileTree(files, 70_000).root()


def test_a_tree_of_256_leaves_is_one_full_tile_and_one_hash_above_it() -> None:
    files, edge = Memory(), Edge()
    files.take(edge.append(leaves(256)))
    assert set(files.files) == {"tile/entries/000", "tile/0/000", "tile/1/000.p/1"}


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 300), max_size=6), st.data())
def test_however_the_leaves_come_the_files_of_a_size_are_the_same(batches: list[int], data: st.DataObject) -> None:
    total = sum(batches)
    every = leaves(total)
    files, edge = Memory(), Edge()
    for batch in batches:
        files.take(edge.append(every[edge.size : edge.size + batch]))
        edge = data.draw(st.sampled_from([edge, Edge.read(files, edge.size)]))  # a restart changes nothing
    at_once = Memory()
    whole = Edge()
    at_once.take(whole.append(every))
    assert at_once.files.items() <= files.files.items()
    assert edge.root() == whole.root() == merkle.root([leaf_hash(leaf) for leaf in every])
    assert [leaf for _, leaf in read_leaves(files, 0, total)] == every
    if total:
        start = data.draw(st.integers(0, total))
        assert [at for at, _ in read_leaves(files, start, total)] == list(range(start, total))


def test_proofs_are_those_of_the_whole_list() -> None:
    """Every leaf and every old size of small trees; the list's own proofs are held against RFC 6962 elsewhere."""
    every = leaves(21)
    hashes = [leaf_hash(leaf) for leaf in every]
    for size in range(1, 22):
        files = Memory()
        files.take(Edge().append(every[:size]))
        tree = TileTree(files, size)
        for index in range(size):
            assert list(tree.inclusion(index)) == merkle.inclusion_proof(hashes[:size], index)
            assert list(tree.consistency(index + 1)) == consistency_proof(hashes[:size], index + 1)
        assert tree.consistency(0) == ()


def campaign(sizes: list[int], ask: Ask, folder: Path, pymerkle_to: int = 70_000) -> None:
    """Hold root and proofs of each size against the list's root, pymerkle's, and what Go makes of the files."""
    rng, edge, files = random.Random(7), Edge(), Memory()
    other, tree = InmemoryTree(algorithm="sha256"), merkle.Tree()
    roots, questions, ours = {0: EMPTY_ROOT}, list[dict[str, object]](), []
    for size in sorted(sizes):
        new = plain(size - edge.size, edge.size)
        for leaf in new:
            if tree.size < pymerkle_to:
                other.append_entry(leaf)
            tree.append(leaf_hash(leaf))
        made = edge.append(new)
        files.take(made)
        for name, data in made:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        reader = TileTree(files, size)
        roots[size] = reader.root()
        assert roots[size] == edge.root() == tree.root()
        index, old = rng.randrange(size), rng.choice([known for known in roots if known])
        path, growth = reader.inclusion(index), reader.consistency(old)
        check_inclusion(leaf_hash(plain(1, index)[0]), index, size, path, roots[size])
        check_consistency(old, roots[old], size, roots[size], growth)
        ours.append((leaf_hash(plain(1, index)[0]), path, growth))
        questions.append(
            {"Folder": str(folder), "Size": size, "Root": text(roots[size]), "Indices": [index], "Olds": [old]}
        )
    for size in rng.sample([size for size in roots if 0 < size <= pymerkle_to], 12):
        assert other.get_root(size) == roots[size]
    for found, (leaf, path, growth) in zip(ask(Logs=questions)["Logs"], ours, strict=True):
        assert found["Root"] == ""
        assert [b64decode(each) for each in found["Leaves"]] == [leaf]
        assert [b64decode(each) for each in found["Paths"][0]] == list(path)
        assert [b64decode(each) for each in found["Growth"][0]] == list(growth)


def text(data: bytes) -> str:
    return b64encode(data).decode()


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return sumdb.build(tmp_path_factory.mktemp("go"), str(LOG.verifier))


SIZES = random.Random(3).sample(range(1, 70_001), 10_000)


@sumdb.needed
def test_go_reads_our_tiles_and_makes_the_same_proofs(ask: Ask, tmp_path: Path) -> None:
    campaign([*range(1, 6), 255, 256, 257, 511, 512, 65_535, 65_536, 65_537, *SIZES[:40]], ask, tmp_path, 6000)


@sumdb.needed
@pytest.mark.long
def test_go_reads_our_tiles_of_ten_thousand_sizes(ask: Ask, tmp_path: Path) -> None:
    campaign(SIZES, ask, tmp_path)


@sumdb.needed
def test_go_opens_our_checkpoint_and_finds_one_altered_byte_in_a_tile(ask: Ask, tmp_path: Path) -> None:
    edge = publish(tmp_path, [leaves(300)])
    question = {"Folder": str(tmp_path), "Size": 300, "Root": text(edge.root()), "Indices": [17, 299], "Olds": [1, 256]}
    found = ask(Notes=[text((tmp_path / "checkpoint").read_bytes())], Logs=[question])
    assert found["Notes"] == [""]
    assert found["Texts"] == [f"{LOG.verifier.name}\n300\n{text(edge.root())}\n"]
    assert found["Logs"][0]["Root"] == ""
    tile = tmp_path / tile_path(0, 0)
    damaged = bytearray(tile.read_bytes())
    damaged[100] ^= 1
    tile.write_bytes(damaged)
    assert "transparency proof" in ask(Logs=[question])["Logs"][0]["Root"]


def test_a_file_that_is_there_is_never_replaced_by_other_bytes(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write(tile_path(0, 0, 1), bytes(32))
    folder.write(tile_path(0, 0, 1), bytes(32))
    with pytest.raises(LogError, match="other bytes are there"):
        folder.write(tile_path(0, 0, 1), bytes(31) + b"\x01")
    assert (tmp_path / tile_path(0, 0, 1)).read_bytes() == bytes(32)
    for path in ("checkpoint", "../x", "tile/0/1"):
        with pytest.raises(ValueError, match="not the path"):
            folder.write(path, b"")


@given(st.lists(st.binary(max_size=40), max_size=8), st.binary(max_size=3))
def test_a_bundle_has_one_reading(many: list[bytes], more: bytes) -> None:
    data = encode_bundle(many)
    assert decode_bundle(data, len(many), "x") == many
    for wrong, count in ((data + b"\x00", len(many)), (data[:-1], len(many)), (data, len(many) + 1)):
        with pytest.raises(LogError) as caught:
            decode_bundle(wrong if wrong != data[:-1] or data else b"\x01", count, "x")
        assert caught.value.code is Code.CHECKPOINT


def test_what_is_missing_or_too_short_is_named() -> None:
    files = Memory()
    files.take(Edge().append(leaves(600)))
    del files.files["tile/0/001"]
    with pytest.raises(LogError, match="tile/0/001: not there"):
        TileTree(files, 600).inclusion(300)
    files.files["tile/0/001"] = bytes(31)
    with pytest.raises(LogError, match="tile/0/001: 31 bytes"):
        TileTree(files, 600).inclusion(300)


def test_the_full_tile_serves_where_the_partial_one_was_deleted() -> None:
    files, edge = Memory(), Edge()
    files.take(edge.append(leaves(200)))
    old = edge.root()
    files.take(edge.append(leaves(100, 200)))
    del files.files["tile/0/000.p/200"]
    del files.files["tile/entries/000.p/200"]
    assert TileTree(files, 200).root() == old
    assert [leaf for _, leaf in read_leaves(files, 0, 200)] == leaves(200)
    assert Edge.read(files, 200).root() == old


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir], ids=["pipe", "folder"])
def test_what_could_be_waited_for_without_end_is_no_file(make: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / tile_path(0, 0, 1)
    path.parent.mkdir(parents=True)
    make(path)
    with pytest.raises(LogError, match="is no file; expected a file of the log"):
        Folder(tmp_path).read(tile_path(0, 0, 1))
