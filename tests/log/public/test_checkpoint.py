"""Leaves, cosigned checkpoints and proofs of heads."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.log.errors import Code, LogError
from referee.log.note import Checkpoint, CheckpointSigner, Note, NoteSignature, TlogProof, TreeHead
from referee.log.public.checkpoint import (
    MAX_DEFINED,
    LogPolicy,
    check_head_logged,
    demand_quorum,
    leaf_of,
    ml_dsa_message,
    open_log_checkpoint,
    parse_log_note,
    prove_head,
    read_leaf,
)
from referee.log.public.tiles import Edge, TileTree
from tests.log.games import ORIGIN, key
from tests.log.public.checkpoint import MlDsaWitness
from tests.log.public.logs import LOG, NOW_S, Memory, cosigned, head, leaves, policy, policy_text

SIZE = 300
FILES, EDGE = Memory(), Edge()
FILES.take(EDGE.append(leaves(SIZE)))
NOTE = LOG.sign_head(TreeHead(LOG.verifier.name, SIZE, EDGE.root()))


def test_as_many_witnesses_as_a_policy_may_have_can_all_sign() -> None:
    names = [f"w{number}" for number in range(MAX_DEFINED - 1)]  # and one group
    note = cosigned(NOTE, *names, "one-more")
    assert len(parse_log_note(note).signatures) == MAX_DEFINED + 1
    assert len(open_log_checkpoint(note, policy("all", names)).cosigned) == len(names)


def test_a_leaf_is_these_bytes() -> None:
    one = Checkpoint("club.example", bytes(range(16)), 42, bytes(32))
    data = leaf_of(one)
    assert data == (
        b"tile-referee/v1/head\nclub.example/g/000102030405060708090a0b0c0d0e0f\n42\n" + b64encode(bytes(32)) + b"\n"
    )
    assert read_leaf(data) == one
    assert len(data) < 150


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", Code.UNSUPPORTED),
        (b"tile-referee/v2/head\nx\n", Code.UNSUPPORTED),
        (leaf_of(head(1)) + b"more\n", Code.NOTE),
        (leaf_of(head(1))[:-1], Code.NOTE),
        (leaf_of(head(1)).replace(b"/g/", b"/h/"), Code.NOTE),
        (b"tile-referee/v1/head\n\xff", Code.NOTE),
        (b"tile-referee/v1/head\n" + bytes(2000), Code.NOTE),
    ],
)
def test_other_bytes_are_no_leaf(data: bytes, code: Code) -> None:
    with pytest.raises(LogError) as caught:
        read_leaf(data)
    assert caught.value.code is code


def test_witnesses_are_counted_by_name_and_time() -> None:
    found = open_log_checkpoint(cosigned(NOTE, "w2", "w3", spread_s=5), policy("2"))
    assert found.head == TreeHead(LOG.verifier.name, SIZE, EDGE.root())
    assert found.cosigned == {"w2": NOW_S, "w3": NOW_S + 5}
    assert (found.quorum_s, found.last_s, found.has_quorum) == (NOW_S + 5, NOW_S + 5, True)
    demand_quorum(found, policy("2"))
    alone = open_log_checkpoint(NOTE, policy("2"))
    assert (alone.cosigned, alone.quorum_s, alone.has_quorum) == ({}, None, False)
    with pytest.raises(LogError, match="cosigned by no witness"):
        demand_quorum(alone, policy("2"))


def test_a_stranger_under_a_checkpoint_counts_for_nothing() -> None:
    found = open_log_checkpoint(cosigned(NOTE, "stranger", "w1"), policy("all", ["w1"]))
    assert found.cosigned == {"w1": NOW_S + 60}


def test_a_wrong_cosignature_makes_the_checkpoint_worthless() -> None:
    note = parse_log_note(cosigned(NOTE, "w1", "w2"))
    for at in range(72):
        line = note.signatures[2]
        value = bytearray(line.signature)
        value[at] ^= 1
        bad = Note(note.text, (*note.signatures[:2], NoteSignature(line.name, line.key_id, bytes(value))))
        with pytest.raises(LogError) as caught:
            open_log_checkpoint(bad.encode(), policy())
        assert caught.value.code is Code.NOTE_SIGNATURE


def test_another_log_is_not_trusted() -> None:
    forged = CheckpointSigner(LOG.verifier.name, key("another log"))
    other = CheckpointSigner("other.example/log", key("log"))
    tree = (SIZE, EDGE.root())
    for note in (
        forged.sign_head(TreeHead(LOG.verifier.name, *tree)),
        other.sign_head(TreeHead("other.example/log", *tree)),
    ):
        with pytest.raises(LogError) as caught:
            open_log_checkpoint(cosigned(note, "w1"), policy())
        assert caught.value.code is Code.UNTRUSTED_KEY
    with pytest.raises(LogError) as caught:
        open_log_checkpoint(LOG.sign_head(TreeHead("other.example/log", *tree)), policy())
    assert caught.value.code is Code.UNTRUSTED_KEY


def test_ml_dsa_counts_as_ed25519_does() -> None:
    one, two = MlDsaWitness("pq1"), MlDsaWitness("pq2")
    text = policy_text("all", ["w1"]).replace("quorum all-of-them", "group both all all-of-them pq1 pq2\nquorum both")
    text = f"witness pq1 {one.vkey}\nwitness pq2 {two.vkey}\n" + text
    both = LogPolicy.parse(text.encode())
    note = one.cosign(cosigned(NOTE, "w1"), NOW_S + 7)
    assert not open_log_checkpoint(note, both).has_quorum
    found = open_log_checkpoint(two.cosign(note), both)
    assert found.cosigned == {"w1": NOW_S, "pq1": NOW_S + 7, "pq2": NOW_S}
    assert found.has_quorum
    for changed in (note.replace(b"\n300\n", b"\n301\n"), one.cosign(NOTE).replace(b"pq1.example ", b"pq2.example ")):
        with pytest.raises(LogError):
            demand_quorum(open_log_checkpoint(changed, both), both)


def test_the_ml_dsa_message_is_that_of_the_specification() -> None:
    message = ml_dsa_message("w.example", TreeHead("log.example", 300, bytes(range(32))), 5)
    assert message == (
        b"subtree/v1\n\x00"
        b"\x09w.example"
        + bytes(7)
        + b"\x05"
        + b"\x0blog.example"
        + bytes(8)
        + bytes(6)
        + b"\x01\x2c"
        + bytes(range(32))
    )


def test_a_checkpoint_with_sixteen_large_signatures_is_read() -> None:
    note = NOTE
    for number in range(16):
        line = NoteSignature(f"w{number}.example", bytes([0, 0, 0, number]), bytes(4900))
        note = Note(parse_log_note(note).text, (*parse_log_note(note).signatures, line)).encode()
    assert len(note) > 100_000
    assert open_log_checkpoint(note, policy("none")).head.size == SIZE


def proof(index: int, note: bytes = b"") -> TlogProof:
    return prove_head(TileTree(FILES, SIZE), index, note or cosigned(NOTE, "w1", "w2", "w3"))


def test_the_proof_of_a_head_holds_with_the_head_and_the_policy_alone() -> None:
    for index in (0, 1, 255, 256, SIZE - 1):
        data = proof(index).encode()
        assert b"extra" not in data
        assert len(data) < 4096
        read = TlogProof.parse(data)
        assert read.encode() == data
        found = check_head_logged(read, head(index), policy("2"))
        assert (found.index, found.witnessed.has_quorum) == (index, True)


@given(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1))
def test_a_proof_is_of_one_head_only(index: int, other: int) -> None:
    one = head(other) if other != index else head(index, 2)
    with pytest.raises(LogError) as caught:
        check_head_logged(proof(index), one, policy())
    assert caught.value.code is Code.CHECKPOINT


def test_no_byte_of_a_proof_can_change() -> None:
    data = proof(17).encode()
    for at in range(0, len(data), 7):
        changed = bytearray(data)
        changed[at] ^= 1
        try:
            found = check_head_logged(TlogProof.parse(bytes(changed)), head(17), policy("all"))
            demand_quorum(found.witnessed, policy("all"))
        except LogError:
            continue
        raise AssertionError(f"byte {at} does not matter")


def test_a_proof_without_its_entry_shows_no_entry_of_a_game() -> None:
    from tests.log.games import SIGNER

    note = SIGNER.sign(bytes(16), 1, bytes(32))
    with pytest.raises(LogError, match="no line extra"):
        TlogProof(None, 0, (), note).check(SIGNER.verifier)


def test_the_name_of_a_log_is_its_own() -> None:
    assert LOG.verifier.name == f"{ORIGIN}/log"


BAD_HEADS: dict[str, Any] = {
    "no origin": f"\n1\n{b64encode(bytes(32)).decode()}\n",
    "an empty extension": f"a\n1\n{b64encode(bytes(32)).decode()}\n\n",
    "no newline at the end": f"a\n1\n{b64encode(bytes(32)).decode()}",
    "a short root": f"a\n1\n{b64encode(bytes(31)).decode()}\n",
    "two lines": "a\n1\n",
}


@pytest.mark.parametrize("text", BAD_HEADS.values(), ids=BAD_HEADS.keys())
def test_other_text_is_no_head(text: str) -> None:
    with pytest.raises(LogError) as caught:
        TreeHead.parse(text)
    assert caught.value.code is Code.NOTE


def test_extension_lines_of_other_logs_are_kept() -> None:
    text = f"a\n1\n{b64encode(bytes(32)).decode()}\nmore\n"
    assert TreeHead.parse(text).extensions == ("more",)
    assert TreeHead.parse(text).text() == text


def test_a_size_of_more_than_63_bits_is_no_size() -> None:
    root = b64encode(bytes(32)).decode()
    assert TreeHead.parse(f"a\n{2**63 - 1}\n{root}\n").size == 2**63 - 1
    for size in (2**63, 9_999_999_999_999_999_999):
        with pytest.raises(LogError, match=f"size {size}; expected at most"):
            TreeHead.parse(f"a\n{size}\n{root}\n")


def test_the_log_of_another_referee_says_nothing_of_this_ones_games() -> None:
    other = CheckpointSigner("other.example/log", key("another log"))
    both = LogPolicy.parse(f"log {other.verifier}\n{policy_text('2')}".encode())
    note = cosigned(other.sign_head(TreeHead(other.verifier.name, SIZE, EDGE.root())), "w1", "w2")
    assert open_log_checkpoint(note, both).has_quorum
    with pytest.raises(LogError, match=f"a proof from other.example/log; expected {ORIGIN}/log") as caught:
        check_head_logged(proof(17, note), head(17), both)
    assert caught.value.code is Code.UNTRUSTED_KEY
    assert check_head_logged(proof(17), head(17), both).index == 17


def test_one_witness_of_a_quorum_cannot_date_back() -> None:
    note = cosigned(NOTE, "w1", "w2", "w3", time_s=5, spread_s=NOW_S)
    times = {quorum: open_log_checkpoint(note, policy(quorum)).quorum_s for quorum in ("any", "2", "all", "none")}
    assert times == {"any": 5, "2": NOW_S + 5, "all": 2 * NOW_S + 5, "none": None}


def test_a_cosignature_without_a_time_is_wrong() -> None:
    for note in (cosigned(NOTE, "w1", time_s=0), MlDsaWitness("pq").cosign(NOTE, 0)):
        text = f"witness pq {MlDsaWitness('pq').vkey}\n" + policy_text()
        with pytest.raises(LogError) as caught:
            open_log_checkpoint(note, LogPolicy.parse(text.encode()))
        assert caught.value.code is Code.NOTE_SIGNATURE
