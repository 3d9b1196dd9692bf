"""A witness never signs two heads that contradict each other, whatever it is sent, and says why not."""

from __future__ import annotations

import random
import sqlite3
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from referee.log import merkle
from referee.log.merkle import EMPTY_ROOT, check_consistency, leaf_hash
from referee.log.note import CheckpointSigner, Note, NoteSignature, TreeHead
from referee.log.public.checkpoint import LogPolicy, open_log_checkpoint, origin_hash, parse_log_note
from referee.log.public.witness import MAX_PROOF_LINES, Reply, Request, Witness, WitnessFailed, WitnessFile
from tests.log.consistency import consistency_proof
from tests.log.games import key
from tests.log.public.logs import LOG, NOW_S, cosigned, plain, policy, policy_text

ORIGIN = LOG.verifier.name
HASHES = [leaf_hash(leaf) for leaf in plain(400)]
FORKED = [*HASHES[:100], *(leaf_hash(leaf) for leaf in plain(300, 1000))]
"""Another history from leaf 100 on."""


@pytest.fixture
def witness(tmp_path: Path) -> Iterator[Witness]:
    file = WitnessFile.make(tmp_path / "w.db", "w1.example", key("w1"))
    yield Witness(file, key("w1"), policy("none", []))
    file.close()


def note_of(hashes: list[bytes], size: int, signer: CheckpointSigner = LOG) -> bytes:
    return signer.sign_head(TreeHead(signer.verifier.name, size, merkle.root(hashes[:size])))


def request(hashes: list[bytes], old: int, size: int, signer: CheckpointSigner = LOG) -> bytes:
    proof = consistency_proof(hashes[:size], old) if 0 < old <= size else []
    return Request(old, tuple(proof), note_of(hashes, size, signer)).encode()


def signed(reply: Reply, note: bytes) -> int:
    """Return when the witness signed this checkpoint, which it has to have done."""
    assert reply.status == 200, reply.body
    together = note + reply.body
    found = open_log_checkpoint(together, policy("all", ["w1"]))
    assert found.has_quorum
    return found.cosigned["w1"]


def test_a_log_that_grows_is_cosigned(witness: Witness) -> None:
    old = 0
    for step, size in enumerate((1, 2, 255, 256, 257, 400)):
        assert signed(witness.add(request(HASHES, old, size), NOW_S + step), note_of(HASHES, size)) == NOW_S + step
        old = size
    assert signed(witness.add(request(HASHES, 400, 400), NOW_S + 60), note_of(HASHES, 400)) == NOW_S + 60


def test_of_a_clock_that_was_set_back_nobody_reads_an_earlier_time(witness: Witness) -> None:
    assert signed(witness.add(request(HASHES, 0, 5), NOW_S), note_of(HASHES, 5)) == NOW_S
    assert signed(witness.add(request(HASHES, 5, 6), NOW_S - 1000), note_of(HASHES, 6)) == NOW_S


def test_a_clock_that_was_ahead_is_told_to_the_operator(witness: Witness) -> None:
    witness.add(request(HASHES, 0, 5), NOW_S)
    with capture_logs() as logs:
        witness.add(request(HASHES, 5, 6), NOW_S - 60)
        assert not logs
        witness.add(request(HASHES, 6, 7), NOW_S - 61)
    assert logs == [{"event": "clock was ahead", "log_level": "error", "origin": ORIGIN, "ahead_s": 61}]


def test_a_log_that_went_back_is_told_the_size(witness: Witness) -> None:
    witness.add(request(HASHES, 0, 300), NOW_S)
    for old, size in ((0, 1), (0, 300), (200, 250), (200, 300), (299, 400)):
        reply = witness.add(request(HASHES, old, size), NOW_S)
        assert (reply.status, reply.body, reply.media_type) == (409, b"300\n", "text/x.tlog.size")
    assert witness.add(request(HASHES, 300, 400), NOW_S).status == 200


def test_a_fork_is_refused_with_whatever_proof(witness: Witness) -> None:
    witness.add(request(HASHES, 0, 300), NOW_S)
    assert witness.add(request(FORKED, 300, 400), NOW_S).status == 422
    assert witness.add(request(FORKED, 300, 300), NOW_S).status == 422
    # The proof of the right tree under the head of the other.
    proof = tuple(consistency_proof(HASHES[:400], 300))
    assert witness.add(Request(300, proof, note_of(FORKED, 400)).encode(), NOW_S).status == 422
    assert witness.add(Request(300, (), note_of(FORKED, 300)).encode(), NOW_S).status == 422
    assert witness.add(request(HASHES, 300, 400), NOW_S).status == 200, "it goes on with the right one"


def test_a_proof_from_nothing_and_another_empty_tree_are_refused(witness: Witness) -> None:
    assert witness.add(Request(0, (bytes(32),), note_of(HASHES, 5)).encode(), NOW_S).status == 422
    empty = LOG.sign_head(TreeHead(ORIGIN, 0, bytes(32)))
    assert witness.add(Request(0, (), empty).encode(), NOW_S).status == 422
    right = LOG.sign_head(TreeHead(ORIGIN, 0, EMPTY_ROOT))
    assert signed(witness.add(Request(0, (), right).encode(), NOW_S), right) == NOW_S


def test_strangers_are_told_apart(witness: Witness) -> None:
    other = CheckpointSigner("other.example/log", key("log"))
    assert witness.add(request(HASHES, 0, 5, other), NOW_S).status == 404
    forged = CheckpointSigner(ORIGIN, key("somebody"))
    assert witness.add(request(HASHES, 0, 5, forged), NOW_S).status == 403
    note = parse_log_note(note_of(HASHES, 5))
    wrong = Note(note.text, (NoteSignature(ORIGIN, LOG.verifier.id, bytes(64)),)).encode()
    assert witness.add(Request(0, (), wrong).encode(), NOW_S).status == 403
    assert witness.latest(origin_hash(ORIGIN)) is None


def test_other_peoples_signatures_are_neither_checked_nor_kept(tmp_path: Path) -> None:
    file = WitnessFile.make(tmp_path / "w.db", "w1.example", key("w1"))
    witness = Witness(file, key("w1"), policy())
    note = parse_log_note(cosigned(note_of(HASHES, 5), "w2"))
    bad = NoteSignature(note.signatures[1].name, note.signatures[1].key_id, bytes(72))
    body = Request(0, (), Note(note.text, (note.signatures[0], bad)).encode()).encode()
    assert witness.add(body, NOW_S).status == 200
    kept = witness.latest(origin_hash(ORIGIN))
    assert kept is not None
    assert [line.name for line in parse_log_note(kept).signatures] == [ORIGIN, "w1.example"]
    assert open_log_checkpoint(kept, policy("1", ["w1"])).has_quorum
    file.close()


BODY = request(HASHES, 3, 7)
GARBAGE = {
    "nothing": b"",
    "no old line": BODY.partition(b"\n")[2],
    "old with a zero before it": BODY.replace(b"old 3", b"old 03"),
    "old with a sign": BODY.replace(b"old 3", b"old +3"),
    "two spaces": BODY.replace(b"old 3", b"old  3"),
    "no empty line": BODY.replace(b"\n\n", b"\n", 1),
    "carriage returns": BODY.replace(b"\n", b"\r\n"),
    "a hash that is too short": BODY.replace(b"old 3\n", b"old 3\n" + b64encode(bytes(31)) + b"\n"),
    "a hash without padding": BODY.replace(b"old 3\n", b"old 3\n" + b64encode(bytes(32)).rstrip(b"=") + b"\n"),
    "64 proof lines": BODY.replace(b"old 3\n", b"old 3\n" + (b64encode(bytes(32)) + b"\n") * (MAX_PROOF_LINES + 1)),
    "no signature": BODY.rpartition("— ".encode())[0],
    "not UTF-8": BODY.replace(b"referee.example", b"\xff\xfe"),
    "more than the head has": request(HASHES, 7, 7).replace(b"old 7", b"old 8"),
    "a head of two lines": b"old 0\n\nx\n1\n\n" + BODY.rpartition(b"\n\n")[2],
}


@pytest.mark.parametrize("body", GARBAGE.values(), ids=GARBAGE.keys())
def test_garbage_is_answered_400(witness: Witness, body: bytes) -> None:
    assert witness.add(body, NOW_S).status == 400


@given(data=st.data())
def test_no_change_of_a_request_is_signed(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    at, bit = data.draw(st.integers(0, len(BODY) - 1)), data.draw(st.integers(0, 7))
    changed = bytearray(BODY)
    changed[at] ^= 1 << bit
    shared = _shared(tmp_path_factory)
    assert shared.add(bytes(changed), NOW_S).status in (400, 403, 404, 409, 422)


_kept: list[Witness] = []


def _shared(factory: pytest.TempPathFactory) -> Witness:
    """Return a witness that has signed three leaves; making one takes longer than asking it."""
    if not _kept:
        file = WitnessFile.make(factory.mktemp("shared") / "w.db", "w1.example", key("w1"))
        _kept.append(Witness(file, key("w1"), policy("none", [])))
        assert _kept[0].add(request(HASHES, 0, 3), NOW_S).status == 200
    return _kept[0]


@pytest.mark.parametrize("seed", range(2))
def test_all_that_was_ever_signed_is_one_history(tmp_path: Path, seed: int) -> None:
    """A referee with two histories, a witness that is restarted, requests in any order: what it signed fits."""
    rng, path, signed_heads = random.Random(seed), tmp_path / "w.db", list[TreeHead]()
    WitnessFile.make(path, "w1.example", key("w1")).close()
    file = WitnessFile.open(path, key("w1"))
    size = 0
    for _ in range(150):
        if rng.random() < 0.05:
            file.close()
            file = WitnessFile.open(path, key("w1"))
        witness = Witness(file, key("w1"), policy("none", []))
        hashes = rng.choice((HASHES, HASHES, FORKED))
        new = min(399, rng.choice((size, size + rng.randrange(9), rng.randrange(400))))
        old = rng.choice((size, size, rng.randrange(new + 1)))
        body = request(hashes, min(old, new), new)
        reply = witness.add(body, NOW_S)
        match reply.status:
            case 200:
                signed_heads.append(TreeHead(ORIGIN, new, merkle.root(hashes[:new])))
                assert min(old, new) == size
                size = new
            case 409:
                assert reply.body == b"%d\n" % size
            case status:
                assert status == 422
    file.close()
    assert len(signed_heads) > 10
    assert len({each.root for each in signed_heads if each.size > 100}) >= 2
    ours = HASHES if any(each.root == merkle.root(HASHES[: each.size]) for each in signed_heads[-1:]) else FORKED
    for one, two in pairwise(signed_heads):
        if one.size:
            proof = consistency_proof(ours[: two.size], one.size)
            check_consistency(one.size, one.root, two.size, two.root, proof)


def test_two_requests_at_once_cannot_roll_it_back(witness: Witness) -> None:
    """The race of the specification: many threads, from one old size, to different new ones."""
    witness.add(request(HASHES, 0, 10), NOW_S)
    replies: list[tuple[int, Reply]] = []

    def ask(new: int) -> None:
        replies.append((new, witness.add(request(HASHES, 10, new), NOW_S)))

    threads = [Thread(target=ask, args=(new,)) for new in range(20, 40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (won,) = [new for new, reply in replies if reply.status == 200]
    assert {reply.body for new, reply in replies if new != won} == {b"%d\n" % won}


def test_what_cannot_be_written_is_not_signed(witness: Witness, tmp_path: Path) -> None:
    impatient = WitnessFile.open(tmp_path / "w.db", key("w1"), busy_s=0)
    other = sqlite3.connect(tmp_path / "w.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(WitnessFailed, match="locked"):
        Witness(impatient, key("w1"), policy("none", [])).add(request(HASHES, 0, 5), NOW_S)
    other.execute("ROLLBACK")
    other.close()
    impatient.close()
    assert witness.latest(origin_hash(ORIGIN)) is None
    assert witness.add(request(HASHES, 0, 5), NOW_S).status == 200


def test_its_file_is_made_once_and_belongs_to_one_key(tmp_path: Path) -> None:
    path = tmp_path / "w.db"
    with pytest.raises(WitnessFailed, match="--new"):
        WitnessFile.open(path, key("w1"))
    assert not path.exists()
    WitnessFile.make(path, "w1.example", key("w1")).close()
    with pytest.raises(WitnessFailed, match="the file exists"):
        WitnessFile.make(path, "w1.example", key("w1"))
    with pytest.raises(WitnessFailed, match=r"the witness w1\.example"):
        WitnessFile.open(path, key("w2"))
    for content in (b"", b"not a database at all"):
        (tmp_path / "other.db").write_bytes(content)
        with pytest.raises(WitnessFailed):
            WitnessFile.open(tmp_path / "other.db", key("w1"))
    assert path.stat().st_mode & 0o077 == 0


def test_what_was_answered_survives_a_power_cut(tmp_path: Path) -> None:
    """Only with EXTRA is the removal of the journal durable, too (SQLite, PRAGMA synchronous)."""
    file = WitnessFile.make(tmp_path / "w.db", "w1.example", key("w1"))
    assert file._connection.execute("PRAGMA synchronous").fetchone() == (3,)
    file.close()


def test_a_policy_for_a_witness_needs_no_witnesses() -> None:
    assert LogPolicy.parse(policy_text("none", []).encode()).logs


def test_a_request_comes_back() -> None:
    with suppress(ValueError):
        assert Request.parse(BODY).encode() == BODY


def test_a_size_that_no_database_keeps_is_a_bad_request(witness: Witness) -> None:
    for size in (2**63, 9_999_999_999_999_999_999):
        note = LOG.sign_head(TreeHead(ORIGIN, size, bytes(32)))
        assert witness.add(Request(0, (), note).encode(), NOW_S).status == 400
    assert witness.add(request(HASHES, 0, 5), NOW_S).status == 200
