"""Proofs of single entries and of forks: every change of a proof is refused, every pair that contradicts is found."""

from __future__ import annotations

import random
from base64 import b64encode
from collections.abc import Callable
from io import BytesIO

import pytest

from referee.games.alhambra import Options
from referee.log import merkle
from referee.log.entry import decode_entry
from referee.log.errors import Code, LogError
from referee.log.file import FrameType, Writer
from referee.log.fork import find_fork, read_file, read_side
from referee.log.note import MAX_PROOF_BYTES, TlogProof, VerifierKey
from referee.log.v1 import log_pb2
from tests.log import evil
from tests.log.alhambra import CODEC, alhambra, at_random
from tests.log.games import SIGNER, Played, key, play, start

OTHER = VerifierKey.of("other.example", key("other").public)


@pytest.fixture(scope="module")
def played() -> Played:
    return play(alhambra(seats=2, options=CODEC.encode_options(Options(max_turns=6))), at_random(3))


@pytest.fixture(scope="module")
def other_end(played: Played) -> bytes:
    """Return the file of another history: a late entry has another time, and everything after it is signed again."""

    def edit(entries: list[log_pb2.Entry]) -> None:
        entries[-4].referee_ms += 1

    return evil.forged(played, edit, players=True)


def test_every_entry_has_a_proof_that_says_it_again(played: Played) -> None:
    for index, entry in enumerate(played.entries):
        data = TlogProof.of(played.entries, index, played.notes[-1]).encode()
        proof = TlogProof.parse(data)
        assert (proof.entry, proof.index, proof.encode()) == (entry, index, data)
        assert proof.check(SIGNER.verifier).size == len(played.entries)


def test_the_text_is_that_of_the_specification(played: Played) -> None:
    data = TlogProof.of(played.entries, 2, played.notes[-1]).encode()
    leaves = [merkle.leaf_hash(entry) for entry in played.entries]
    expected = [
        "c2sp.org/tlog-proof@v1",
        f"extra {b64encode(played.entries[2]).decode()}",
        "index 2",
        *(b64encode(sibling).decode() for sibling in merkle.inclusion_proof(leaves, 2)),
        "",
        played.notes[-1].decode(),
    ]
    assert data.decode() == "\n".join(expected)


def test_no_change_of_a_byte_is_accepted(played: Played) -> None:
    proof = TlogProof.of(played.entries, 5, played.notes[-1])
    data = proof.encode()
    rng = random.Random(1)
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 1 << rng.randrange(8)
        try:
            found = TlogProof.parse(bytes(changed))
            found.check(SIGNER.verifier)
        except LogError:
            continue
        pytest.fail(f"byte {at} may be changed")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("c2sp.org/tlog-proof@v1", "c2sp.org/tlog-proof@v2", "first line"),
        ("extra ", "Extra ", "no line index"),
        ("index 5", "index 05", "a decimal number"),
        ("index 5", "index -5", "a decimal number"),
        ("index 5", "index 1_0", "a decimal number"),
        ("index 5\n", "", "a decimal number"),
        ("index 5", "index 6", "another root"),
        ("index 5", "index 999999", "leaf 999999 of"),
        ("\n\n", "\n", "no checkpoint"),
    ],
)
def test_what_is_wrong_is_named(played: Played, old: str, new: str, expected: str) -> None:
    text = TlogProof.of(played.entries, 5, played.notes[-1]).encode().decode()
    head, blank, note = text.partition("\n\n")
    changed = (head + blank).replace(old, new, 1) + note
    if old == "\n\n":
        changed = f"{head}\n{note.split(chr(10) * 2)[0]}\n"
    with pytest.raises(LogError, match=expected):
        TlogProof.parse(changed.encode()).check(SIGNER.verifier)


def test_a_proof_too_long_and_one_of_another_referee(played: Played) -> None:
    with pytest.raises(LogError, match="at most"):
        TlogProof.parse(bytes(MAX_PROOF_BYTES + 1))
    with pytest.raises(LogError) as raised:
        TlogProof.of(played.entries, 5, played.notes[-1]).check(OTHER)
    assert raised.value.code is Code.UNTRUSTED_KEY


# --- forks ---------------------------------------------------------------------------------------------------


def _file(played: Played) -> bytes:
    return played.file()


def _receipt(played: Played) -> bytes:
    return played.notes[-2]


def _proof(played: Played) -> bytes:
    return TlogProof.of(played.entries, len(played.entries) - 4, played.notes[-1]).encode()


@pytest.mark.parametrize("kind", [_file, _receipt, _proof])
def test_two_histories_contradict(played: Played, other_end: bytes, kind: Callable[[Played], bytes]) -> None:
    mine, other = read_side(kind(played), SIGNER.verifier), read_side(other_end, SIGNER.verifier)
    assert find_fork(mine, other) is not None
    assert find_fork(other, mine) is not None


def test_two_heads_of_one_size_are_enough(played: Played, other_end: bytes) -> None:
    note = read_file(other_end, SIGNER.verifier).heads[0].note
    fork = find_fork(read_side(played.notes[-1], SIGNER.verifier), read_side(note, SIGNER.verifier))
    assert fork is not None
    assert fork.index is None


def test_the_first_entry_that_differs_and_its_evidence(played: Played, other_end: bytes) -> None:
    sides = [read_side(data, SIGNER.verifier) for data in (played.file(), other_end)]
    fork = find_fork(*sides)
    assert fork is not None
    assert fork.index == len(played.entries) - 4
    evidence = [side.evidence(fork.index) for side in sides]
    again = [read_side(data, SIGNER.verifier) for data in evidence]
    assert find_fork(*again) == fork
    assert [decode_entry(side.entries[fork.index]).seq for side in again] == [fork.index] * 2


def test_a_fork_inside_one_file(played: Played, other_end: bytes) -> None:
    """An older checkpoint in the file, signed as well, that is not of its entries."""
    size = len(played.entries)
    other = [frame[5:-4] for frame in evil.frames(other_end) if frame[4] == FrameType.ENTRY]
    stream = BytesIO()
    writer = Writer(stream)
    writer.header(played.header)
    for entry in played.entries[:-1]:
        writer.entry(entry)
    writer.old_checkpoint(evil.head(played, other[:-1]))
    writer.entry(played.entries[-1])
    writer.end(played.notes[-1])
    side = read_side(stream.getvalue(), SIGNER.verifier)
    assert side.checkpoint.size == size
    assert find_fork(side, side) is not None
    assert find_fork(read_side(played.notes[3], SIGNER.verifier), side) is not None


def test_a_file_that_is_torn_after_its_signed_head(played: Played, other_end: bytes) -> None:
    for cut in (1, 20):
        side = read_side(played.file()[:-cut], SIGNER.verifier)
        assert (side.checkpoint.size, side.remark.split()[0]) == (len(played.entries), "TORN")
        assert find_fork(side, read_side(other_end, SIGNER.verifier)) is not None


def test_one_history_does_not_contradict_itself(played: Played) -> None:
    everything = [
        played.file(),
        *played.notes,
        *(TlogProof.of(played.entries, i, played.notes[-1]).encode() for i in (0, 5)),
        *(TlogProof.of(played.entries[:n], 5, played.notes[n - 1]).encode() for n in (6, 9)),
    ]
    sides = [read_side(data, SIGNER.verifier) for data in everything]
    assert [(a, b) for a in sides for b in sides if find_fork(a, b)] == []


def test_other_games_and_other_keys_are_no_fork(played: Played) -> None:
    another = start(seats=2)
    mine = read_side(played.file(), SIGNER.verifier)
    with pytest.raises(LogError) as raised:
        find_fork(mine, read_side(another.notes[-1], SIGNER.verifier))
    assert raised.value.code is Code.WRONG_GAME
    for data in (played.file(), played.notes[-1], _proof(played)):
        with pytest.raises(LogError) as raised:
            read_side(data, OTHER)
        assert raised.value.code is Code.UNTRUSTED_KEY


def test_entries_that_nobody_signed_for_do_not_count(played: Played, other_end: bytes) -> None:
    """The holder of a copy can add entries to it, and cannot make a fork by that: it cannot sign a head."""
    size = len(played.entries) - 4
    stream = BytesIO()
    writer = Writer(stream)
    writer.header(played.header)
    for entry in played.entries[:size]:
        writer.entry(entry)
    writer.old_checkpoint(played.notes[size - 1])
    for frame in evil.frames(other_end)[1 + size :]:
        if frame[4] == FrameType.ENTRY:
            writer.entry(frame[5:-4])
    side = read_side(stream.getvalue(), SIGNER.verifier)
    assert (side.checkpoint.size, len(side.entries)) == (size, size)
    assert find_fork(side, read_side(played.file(), SIGNER.verifier)) is None


def test_a_file_without_a_signed_head(played: Played) -> None:
    stream = BytesIO()
    writer = Writer(stream)
    writer.header(played.header)
    writer.entry(played.entries[0])
    with pytest.raises(LogError, match="no signed head over its entries"):
        read_side(stream.getvalue(), SIGNER.verifier)
