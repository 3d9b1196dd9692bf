"""The verifier in JavaScript says of proofs from the public log what ``referee audit`` says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from referee.log.note import Checkpoint, CheckpointSigner
from referee.log.verdict import Verdict
from tests.cli.audit_log import Log, head_of
from tests.cli.inside import referee
from tests.log.games import ORIGIN, SIGNER, Played, build_file, key, play
from tests.log.public.checkpoint import MlDsaWitness
from tests.log.public.logs import policy_text
from tests.log.registered import at_random, opened
from tests.log.verifier import verify
from tests.log.verify_js import why_not


@pytest.fixture(autouse=True)
def _node() -> None:
    if why := why_not():
        pytest.skip(why)


@pytest.fixture(scope="module")
def played() -> Played:
    return play(opened("kingdomino"), at_random(3))


def both(folder: Path, proofs: list[bytes], policy: str, *more: str) -> list[dict[str, object]]:
    """Return what each of the two says of the file there."""
    (folder / "policy").write_text(policy)
    words = [str(folder / "game.gamelog"), "--key", str(SIGNER.verifier), "--log-policy", str(folder / "policy"), *more]
    for number, proof in enumerate(proofs):
        (folder / f"proof{number}").write_bytes(proof)
        words += ["--proof", str(folder / f"proof{number}")]
    theirs = verify(*words, "--json")
    assert theirs.stderr == ""
    ours = referee("audit", *words, "--json")
    found = [json.loads(ours.stdout), json.loads(theirs.stdout)]
    assert [ours.returncode, theirs.returncode] == [each.get("exit_code", each.get("exit")) for each in found]
    return found


def test_the_two_agree_about_every_kind_of_proof(tmp_path: Path, played: Played) -> None:
    size = len(played.entries)
    (tmp_path / "game.gamelog").write_bytes(played.file())
    log = Log(head_of(played, 1), head_of(played, size))
    good, opening = log.proof(201, "w1", "w2"), log.proof(200, "w1", "w2", extra=True)
    forked = Log(Checkpoint(ORIGIN, played.record.game_id, size, bytes(32))).proof(200, "w1", "w2", extra=True)
    longer = Log(Checkpoint(ORIGIN, played.record.game_id, size + 1, bytes(32))).proof(200, "w1", "w2", extra=True)
    cases: list[tuple[list[bytes], str, Verdict]] = [
        ([good], "2", Verdict.COMPLETE),
        ([good, opening], "2", Verdict.COMPLETE),
        ([log.proof(201, "w1", "w2", extra=True)], "2", Verdict.COMPLETE),
        ([log.proof(201)], "none", Verdict.COMPLETE),
        ([log.proof(201, "w1", "w2", extensions=("more", "and more"))], "2", Verdict.COMPLETE),
        ([log.proof(201, "w1")], "2", Verdict.UNLOGGED),
        ([log.proof(201, "w1", "stranger")], "2", Verdict.UNLOGGED),
        ([opening], "2", Verdict.UNLOGGED),
        ([log.proof(17, "w1", "w2")], "2", Verdict.UNLOGGED),
        ([log.proof(17, "w1", "w2", extra=True)], "2", Verdict.UNLOGGED),
        ([good.replace(b"\n301\n", b"\n302\n")], "2", Verdict.UNLOGGED),
        ([good.replace(b"index 201", b"index 0201")], "2", Verdict.UNLOGGED),
        ([b"nothing"], "2", Verdict.UNLOGGED),
        ([forked], "2", Verdict.FORK),
        ([longer], "2", Verdict.STALE),
    ]
    for number, (proofs, quorum, expected) in enumerate(cases):
        found = both(tmp_path, proofs, policy_text(quorum))
        assert [each["verdict"] for each in found] == [expected.name] * 2, (number, found)
    for flipped in range(0, len(good), max(1, len(good) // 4)):
        changed = bytearray(good)
        changed[flipped] ^= 1
        found = both(tmp_path, [bytes(changed)], policy_text("all", ("w1", "w2")))
        assert [each["verdict"] for each in found] == ["UNLOGGED"] * 2, flipped


@pytest.mark.parametrize("name", ["constructor", "__proto__"])
def test_no_name_of_a_witness_is_there_before_it_has_signed(tmp_path: Path, played: Played, name: str) -> None:
    (tmp_path / "game.gamelog").write_bytes(played.file())
    log, policy = Log(head_of(played, len(played.entries))), policy_text("any", (name,))
    for witnesses, expected in (((), "UNLOGGED"), ((name,), "COMPLETE")):
        found = both(tmp_path, [log.proof(200, *witnesses)], policy)
        assert [each["verdict"] for each in found] == [expected] * 2


def test_a_proof_is_found_beside_and_is_a_remark_unless_it_is_demanded(tmp_path: Path, played: Played) -> None:
    (tmp_path / "game.gamelog").write_bytes(played.file())
    ours, theirs = both(tmp_path, [], policy_text("2"))
    assert (ours["verdict"], theirs["verdict"]) == ("COMPLETE", "COMPLETE")
    assert "nothing shows that the file's last head is in the public log" in str(theirs["remarks"])
    assert [each["verdict"] for each in both(tmp_path, [], policy_text("2"), "--require-log")] == ["UNLOGGED"] * 2
    log = Log(head_of(played, len(played.entries)))
    (tmp_path / "game.tlog-proof").write_bytes(log.proof(200, "w2", "w3"))
    ours, theirs = both(tmp_path, [], policy_text("2"), "--require-log")
    assert (ours["verdict"], theirs["verdict"]) == ("COMPLETE", "COMPLETE")
    said = f"{len(played.entries)} entries as entry 200 of {ORIGIN}/log, cosigned by w2, w3"
    assert f"{said}, by a quorum at 2026-11-18T11:07:40" in str(theirs["remarks"])


def test_a_proof_from_another_referees_log_shows_nothing(tmp_path: Path, played: Played) -> None:
    (tmp_path / "game.gamelog").write_bytes(played.file())
    other = CheckpointSigner("other.example/log", key("another log"))
    proof = Log(head_of(played, len(played.entries))).proof(200, "w1", "w2", log=other)
    found = both(tmp_path, [proof], f"log {other.verifier}\n{policy_text('2')}")
    assert [each["verdict"] for each in found] == ["UNLOGGED"] * 2
    assert all("a proof from other.example/log" in str(each) for each in found)


def test_a_size_of_more_than_63_bits_is_no_size(tmp_path: Path, played: Played) -> None:
    (tmp_path / "game.gamelog").write_bytes(played.file())
    head = Checkpoint(ORIGIN, played.record.game_id, 2**63, bytes(32))
    found = both(tmp_path, [Log(head).proof(200, "w1", "w2", extra=True)], policy_text("2"))
    assert [each["verdict"] for each in found] == ["UNLOGGED"] * 2


def test_ml_dsa_is_named_and_not_counted(tmp_path: Path, played: Played) -> None:
    (tmp_path / "game.gamelog").write_bytes(played.file())
    witness = MlDsaWitness("pq")
    policy = f"witness pq {witness.vkey}\n" + policy_text("any", ("w1",)).replace(
        "quorum all-of-them", "group both {} all-of-them pq\nquorum both"
    )
    head, blank, note = Log(head_of(played, len(played.entries))).proof(200, "w1").partition(b"\n\n")
    proof = head + blank + witness.cosign(note)
    assert [each["verdict"] for each in both(tmp_path, [proof], policy.format("any"))] == ["COMPLETE"] * 2
    ours, theirs = both(tmp_path, [proof], policy.format("all"))
    assert (ours["verdict"], theirs["verdict"]) == ("COMPLETE", "UNLOGGED")
    assert "pq with ML-DSA, which is not counted here" in str(theirs["message"])


def test_an_older_file_is_told_from_a_fork(tmp_path: Path, played: Played) -> None:
    (tmp_path / "game.gamelog").write_bytes(build_file(played.header, played.entries[:-1], played.notes[-2]))
    proof = Log(head_of(played, len(played.entries))).proof(200, "w1", "w2", extra=True)
    assert [each["verdict"] for each in both(tmp_path, [proof], policy_text("2"))] == ["STALE"] * 2
