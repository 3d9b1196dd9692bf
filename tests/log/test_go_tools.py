"""Notes and proofs held against Go's sumdb packages, which were written elsewhere."""

from __future__ import annotations

import random
from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import Any

import pytest

from referee.games.alhambra import Options
from referee.log import merkle
from referee.log.errors import LogError
from referee.log.note import open_checkpoint
from tests import sumdb
from tests.log.alhambra import CODEC, alhambra, at_random
from tests.log.consistency import consistency_proof
from tests.log.games import SIGNER, Played, play
from tests.sumdb import Ask

pytestmark = sumdb.needed


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return sumdb.build(tmp_path_factory.mktemp("go"), str(SIGNER.verifier))


@pytest.fixture(scope="module")
def played() -> Played:
    return play(alhambra(seats=2, options=CODEC.encode_options(Options(max_turns=4))), at_random(2))


def text(data: bytes) -> str:
    return b64encode(data).decode()


def texts(all_data: list[bytes]) -> list[str]:
    return [text(data) for data in all_data]


def test_leaves_and_checkpoints(ask: Ask, played: Played) -> None:
    found = ask(Notes=texts(played.notes), Entries=texts(played.entries))
    assert found["Notes"] == [""] * len(played.notes)
    assert found["Texts"] == [note.decode().partition("\n\n")[0] + "\n" for note in played.notes]
    assert [b64decode(leaf) for leaf in found["Leaves"]] == [merkle.leaf_hash(entry) for entry in played.entries]


def test_proofs(ask: Ask, played: Played) -> None:
    """The proofs of every entry in every head, and of every two heads; and one wrong hash in each of them."""
    leaves = [merkle.leaf_hash(entry) for entry in played.entries][:24]
    roots = [merkle.root(leaves[:size]) for size in range(len(leaves) + 1)]
    inclusion = [
        {"Proof": merkle.inclusion_proof(leaves[:size], i), "Size": size, "Root": roots[size], "Index": i, "Leaf": leaf}
        for size in range(1, len(leaves) + 1)
        for i, leaf in enumerate(leaves[:size])
    ]
    consistency = [
        {
            "Proof": consistency_proof(leaves[:size], old),
            "Size": size,
            "Root": roots[size],
            "OldSize": old,
            "OldRoot": roots[old],
        }
        for size in range(1, len(leaves) + 1)
        for old in range(1, size + 1)
    ]
    found = ask(Inclusion=list(map(_encoded, inclusion)), Consistency=list(map(_encoded, consistency)))
    assert set(found["Inclusion"]) == set(found["Consistency"]) == {""}
    wrong = ask(
        Inclusion=[_encoded({**one, "Root": bytes(32)}) for one in inclusion],
        Consistency=[_encoded({**one, "OldRoot": bytes(32)}) for one in consistency],
    )
    assert "" not in {*wrong["Inclusion"], *wrong["Consistency"]}


def _encoded(fields: dict[str, Any]) -> dict[str, Any]:
    def one(value: Any) -> Any:
        if isinstance(value, list):
            return texts(value)
        return text(value) if isinstance(value, bytes) else value

    return {name: one(value) for name, value in fields.items()}


def test_what_we_accept_go_accepts_and_reads_alike(ask: Ask, played: Played) -> None:
    changed = list(_changed(played.notes[-1]))
    found = ask(Notes=texts(changed))
    accepted = 0
    for note, refused, go_text in zip(changed, found["Notes"], found["Texts"], strict=True):
        try:
            checkpoint = open_checkpoint(note, SIGNER.verifier)
        except LogError:
            continue
        accepted += 1
        assert (refused, go_text) == ("", checkpoint.text())
    assert accepted > 10, "the changes that matter to nobody"


def _changed(note: bytes) -> Iterator[bytes]:
    """Yield every byte with another bit, cuts, doubled and added lines, other line ends, further signatures."""
    rng = random.Random(1)
    for at in range(len(note)):
        other = bytearray(note)
        other[at] ^= 1 << rng.randrange(8)
        yield bytes(other)
        yield note[:at]
        yield note[:at] + note[at:].replace(b"\n", b"\r\n", 1)
        yield note[:at] + b"\n" + note[at:]
    body, _, line = note.partition(b"\n\n")
    for extra in (
        "— other.example AAAAAAAA",
        "— other.example AAAAAAAAAA==",
        "— x+y AAAAAAAA",
        "— a b AAAAAAAA",
        "- a AAAAAAAA",
    ):
        more = f"{extra}\n".encode()
        yield note + more
        yield body + b"\n\n" + more + line
        for count in (2, 8, 15, 16, 17, 101):
            yield note + b"".join(f"— w{i}.example AAAA{i:04}\n".encode() for i in range(count))
    yield note + line
    yield body.replace(b"\n", b"\n\n", 1) + b"\n\n" + line
    yield note.replace(b"=\n\n", b"\n\n", 1)
