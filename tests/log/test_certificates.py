"""Certificates in a game's file: the auditor against what is missing, altered, misplaced, added, and against the truth.

Number 46 of the table of attacks in docs/log-format.md.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from referee.log import intent
from referee.log.certificates import encode_proof
from referee.log.engines import Engines, installed
from referee.log.entry import decode_entry
from referee.log.errors import Code
from referee.log.events import Author, Role
from referee.log.merkle import leaf_hash
from referee.log.v1 import log_pb2
from referee.log.verdict import Layer, Report, Verdict
from referee.wire.certificates.alhambra.claims import HandOutClaim, StepClaim
from tests.core import needs_source
from tests.log import evil, second
from tests.log.alhambra import CODEC, COMPONENTS, HEADER, alhambra, at_random
from tests.log.certificates import LenientGame, slip
from tests.log.games import SIGNER, Played, game_open, join_and_reveal, seat_key, start, step
from tests.log.proved import PROVABLE, Certificates, a_game, certificates, claims, with_frames

ALL, REFUSALS, NONE = log_pb2.PROOF_POLICY_ALL, log_pb2.PROOF_POLICY_REFUSALS, log_pb2.PROOF_POLICY_UNSPECIFIED


def failing(report: Report) -> tuple[Verdict, Code, int | None]:
    """Return the one thing that is wrong."""
    (finding,) = report.findings
    assert finding.layer is Layer.PROOFS, report.as_text()
    assert finding.offset is not None or finding.code is Code.MALFORMED
    assert report.verdict is finding.verdict
    return finding.verdict, finding.code, finding.entry


def refused(played: Played) -> set[int]:
    return {seq for seq, data in enumerate(played.entries) if decode_entry(data).HasField("refused")}


def proof_of(frame: bytes) -> log_pb2.Proof:
    return log_pb2.Proof.FromString(frame)


def with_certificate(frame: bytes, certificate: bytes) -> bytes:
    proof = proof_of(frame)
    return encode_proof(proof.seq, proof.leaf, certificate)


# --- what is right -------------------------------------------------------------------------------------------


def test_every_verdict_of_a_game_is_proved() -> None:
    played, frames = a_game(ALL)
    report = played.audit(with_frames(played, frames))
    assert report.verdict is Verdict.COMPLETE, report.as_text()
    count = sum(map(len, frames.values()))
    assert (report.proofs.policy, report.proofs.checked, report.proofs.lacking) == ("ALL", count, ())
    assert f"certificates: {count} hold; the terms ask for ALL: {count} in all\n" in report.as_text()
    value = json.loads(report.as_json())
    assert value["certificates"] == {
        "terms": "ALL",
        "checked": count,
        "failed": 0,
        "not_compared": 0,
        "wanted": count,
        "lacking": [],
    }
    assert value["layers"][-1] == {"layer": "certificates", "entries_checked": None, "finding": None}


def test_the_claims_are_those_of_the_entries() -> None:
    """Counted by hand from the moves in the log: every move of building, every attempt at one, and the hand-out."""
    played, _ = a_game(ALL)
    building = set()
    for seq, data in enumerate(played.entries):
        entry = decode_entry(data)
        part = entry.signed if entry.HasField("signed") else entry.refused
        move = log_pb2.Intent.FromString(part.intent).move
        if move and type(CODEC.decode_move(move, COMPONENTS)).__name__ in {
            *("PlaceTile", "RebuildAdd", "RebuildRemove", "RebuildSwap")
        }:
            building.add(seq)
    made = claims(played)
    assert {seq for seq, of in made.items() if isinstance(of[0], StepClaim)} == building
    assert len(building & refused(played)) > 10
    hand_outs = [seq for seq, of in made.items() if isinstance(of[-1], HandOutClaim)]
    assert len(hand_outs) <= 1
    assert len(building) + len(hand_outs) == sum(map(len, made.values()))


@pytest.mark.parametrize("policy", [ALL, REFUSALS, NONE])
def test_what_is_missing_is_remarked_on(policy: log_pb2.ProofPolicy.ValueType) -> None:
    played, frames = a_game(policy)
    report = played.audit()
    wanted = {ALL: set(frames), REFUSALS: refused(played) & set(frames), NONE: set()}[policy]
    assert report.verdict is Verdict.COMPLETE
    assert set(report.proofs.lacking) == wanted
    assert any("missing for entry" in remark for remark in report.remarks) == bool(wanted)
    full = played.audit(with_frames(played, frames))
    assert (full.verdict, full.proofs.lacking) == (Verdict.COMPLETE, ())
    assert full.proofs.checked == sum(map(len, frames.values())), "what nobody asked for is checked all the same"
    some = {seq: frames[seq] for seq in sorted(frames)[::2]}
    assert set(played.audit(with_frames(played, some)).proofs.lacking) == wanted - set(some)


def test_certificates_may_come_at_the_end() -> None:
    played, frames = a_game(ALL)
    data = with_frames(played, {}, last=[frame for of in reversed([*frames.values()]) for frame in of])
    report = played.audit(data)
    assert (report.verdict, report.proofs.lacking) == (Verdict.COMPLETE, ())


def test_a_verifier_that_knows_nothing_of_them_reads_the_file() -> None:
    played, frames = a_game(ALL)
    verifier = second.Verifier(with_frames(played, frames), str(SIGNER.verifier))
    assert verifier.game_id == played.record.game_id
    assert verifier.entries == played.entries


def test_who_does_not_know_the_game_skips_them() -> None:
    played, frames = a_game(ALL)
    stranger = replace(played, engines=replace(installed(), provable=lambda rules_id, version: None))
    report = stranger.audit(with_frames(played, {**frames, 0: [b"nonsense"]}))
    assert report.verdict is Verdict.COMPLETE
    assert report.proofs.checked == 0


# --- what is wrong (46) --------------------------------------------------------------------------------------


def changed(frames: Certificates, seq: int, *of_it: bytes) -> Certificates:
    return {**frames, seq: list(of_it)}


def test_a_certificate_of_another_entry() -> None:
    played, frames = a_game(ALL)
    first, made = min(frames), claims(played)
    second = next(seq for seq in sorted(frames) if made[seq] != made[first])
    swapped = with_certificate(frames[first][0], proof_of(frames[second][0]).certificate)
    report = played.audit(with_frames(played, changed(frames, first, swapped)))
    assert failing(report) == (Verdict.CORRUPT, Code.PROOF, first)
    assert report.proofs.lacking == (first,)
    assert report.proofs.failed == 1
    assert "1 does not" in report.as_text()


def test_any_byte_of_a_certificate_flipped() -> None:
    played, frames = a_game(ALL)
    seq = min(refused(played) & set(frames))
    certificate = proof_of(frames[seq][0]).certificate
    for at in range(len(certificate)):
        flipped = bytearray(certificate)
        flipped[at] ^= 1 << at % 8
        try:
            claim = PROVABLE.check(bytes(flipped)).claim
        except ValueError:
            continue
        assert PROVABLE.fingerprint(claim) != PROVABLE.fingerprint(claims(played)[seq][0]), f"byte {at}"
    middle = bytearray(certificate)
    middle[len(middle) // 2] ^= 1
    report = played.audit(with_frames(played, changed(frames, seq, with_certificate(frames[seq][0], bytes(middle)))))
    assert failing(report) == (Verdict.CORRUPT, Code.PROOF, seq)


def test_a_wrong_leaf() -> None:
    played, frames = a_game(ALL)
    seq = sorted(frames)[3]
    proof = proof_of(frames[seq][0])
    wrong = encode_proof(seq, bytes(32), proof.certificate)
    assert failing(played.audit(with_frames(played, changed(frames, seq, wrong)))) == (
        *(Verdict.CORRUPT, Code.PROOF),
        seq,
    )


def test_a_certificate_for_a_join_and_for_nothing() -> None:
    played, frames = a_game(ALL)
    some = proof_of(frames[min(frames)][0])
    for seq in (0, 1, 5):
        leaf = leaf_hash(played.entries[seq])
        frame = encode_proof(seq, leaf, some.certificate)
        report = played.audit(with_frames(played, {**frames, seq: [frame]}))
        assert failing(report) == (Verdict.CORRUPT, Code.PROOF, seq)
        assert "claims nothing" in report.findings[0].expected


def test_a_certificate_before_its_entry() -> None:
    played, frames = a_game(ALL)
    seq = min(frames)
    report = played.audit(with_frames(played, {**changed(frames, seq), seq - 1: frames[seq]}))
    assert failing(report) == (Verdict.CORRUPT, Code.PROOF, None)
    assert f"for entry {seq}" in report.findings[0].what


@pytest.mark.parametrize("payload", [b"\xff", b"\x08", encode_proof(7, b"short", b"x"), b"\x08\x80\x00"])
def test_a_frame_that_is_no_proof(payload: bytes) -> None:
    played, frames = a_game(ALL)
    report = played.audit(with_frames(played, frames, last=[payload]))
    assert failing(report) == (Verdict.CORRUPT, Code.MALFORMED, None)


def test_doubled_certificates_are_not_looked_at() -> None:
    """However many frames there are, each certificate is checked once, and none if nothing is left to prove."""
    played, frames = a_game(ALL)
    seq, calls = min(frames), list[bytes]()

    class Counting:
        claims = staticmethod(PROVABLE.claims)
        is_of_move = staticmethod(PROVABLE.is_of_move)
        fingerprint = staticmethod(PROVABLE.fingerprint)
        request = staticmethod(PROVABLE.request)
        file = staticmethod(PROVABLE.file)

        @staticmethod
        def check(data: bytes) -> Any:
            calls.append(data)
            return PROVABLE.check(data)

    counting = replace(played, engines=replace(installed(), provable=lambda rules_id, version: Counting()))
    junk = with_certificate(frames[seq][0], b"x" * 60_000)
    report = counting.audit(with_frames(played, changed(frames, seq, *[junk] * 500, frames[seq][0])))
    assert failing(report) == (Verdict.CORRUPT, Code.PROOF, seq)
    assert len(calls) == sum(map(len, frames.values())) + 1
    assert (report.proofs.failed, report.proofs.lacking) == (500, ())
    twice = counting.audit(with_frames(played, changed(frames, seq, *frames[seq] * 2)))
    assert failing(twice) == (Verdict.CORRUPT, Code.PROOF, seq)
    calls.clear()
    others = [with_certificate(frames[seq][0], b"%d" % number) for number in range(9)]
    late = counting.audit(with_frames(played, changed(frames, seq, frames[seq][0], *others)))
    assert failing(late) == (Verdict.CORRUPT, Code.PROOF, seq)
    assert len(calls) == sum(map(len, frames.values()))


def test_another_failure_decides_before_a_bad_certificate() -> None:
    """A referee cannot hide its deeds behind a frame that it added."""
    played, frames = a_game(ALL)
    seq = min(frames)
    wrong = with_certificate(frames[seq][0], b"x")
    flipped = bytearray(with_frames(played, changed(frames, seq, wrong)))
    at = flipped.index(b"\x01", flipped.index(played.entries[20]) + 60)
    flipped[at] ^= 1
    report = played.audit(bytes(flipped))
    assert report.decisive is not None
    assert report.decisive.layer is Layer.FRAMES


# --- the referee against its own certificates -------------------------------------------------------------------


def test_a_legal_move_that_was_refused() -> None:
    """The rules layer says so, and the certificate does, too."""
    played, frames = a_game(ALL)
    seq = next(seq for seq in sorted(frames) if seq not in refused(played))

    def refuse(entries: list[log_pb2.Entry]) -> None:
        signed = entries[seq].signed
        part = log_pb2.Refused(intent=signed.intent, signature=signed.signature, key_id=signed.key_id)
        part.rule_ids.append("ALH-A5")
        entries[seq].refused.CopyFrom(part)
        entries[seq].state_digest = entries[seq - 1].state_digest

    leaves = evil.entries(played)
    refuse(leaves)
    data = evil.relinked(leaves, players=True)
    forged = replace(played, entries=data, notes=[evil.head(played, data)])
    moved = {
        i: [encode_proof(i, leaf_hash(data[i]), proof_of(frame).certificate) for frame in of]
        for i, of in frames.items()
    }
    report = forged.audit(with_frames(forged, moved))
    assert report.verdict is Verdict.RULES
    found = {finding.layer: (finding.code, finding.entry) for finding in report.findings}
    assert found[Layer.RULES] == (Code.RULES, seq)
    assert found[Layer.PROOFS] == (Code.DISPROVED, seq)
    assert "the referee judged it illegal (ALH-A5), but it is proved legal" in report.as_text()
    later = sum(len(of) for i, of in moved.items() if i > seq)
    assert report.proofs.not_compared == later > 0
    assert any(f"{later} certificates belong to entries whose position is not known" in r for r in report.remarks)


@needs_source
def test_an_engine_that_is_wrong_is_found_out() -> None:
    """Its own auditor finds nothing wrong with the moves; the certificate of one does."""
    engines = replace(installed(), game=lambda rules_id, version: LenientGame())
    played, slipped = a_game_with_a_slip(engines)
    first = min(claims(played))
    frames = certificates(played, {first, slipped})
    assert played.audit().verdict is Verdict.PREFIX
    report = played.audit(with_frames(played, frames))
    (failure,) = [finding for finding in report.findings if not finding.is_shortfall]
    assert (report.verdict, failure.layer, failure.code, failure.entry) == (
        *(Verdict.RULES, Layer.PROOFS, Code.DISPROVED),
        slipped,
    )
    assert "the referee judged it legal, but it is proved illegal (ALH-A2)" in report.as_text()
    # A bad frame before it does not hide it.
    report = played.audit(with_frames(played, changed(frames, first, with_certificate(frames[first][0], b"x"))))
    assert report.verdict is Verdict.RULES
    assert report.proofs.failed == 2
    # Nor do bad ones of the same entry, however many: junk, and what is true of another.
    (frame,) = frames[slipped]
    other = with_certificate(frame, proof_of(frames[first][0]).certificate)
    junk = [with_certificate(frame, b"%d" % number) for number in range(20)]
    report = played.audit(with_frames(played, changed(frames, slipped, *junk, other, other, frame)))
    assert report.verdict is Verdict.RULES
    assert report.proofs.failed == 23


def a_game_with_a_slip(engines: Engines) -> tuple[Played, int]:
    """Up to the first placement that is wrong, and its entry."""
    components = CODEC.encode_components(COMPONENTS)
    for seed in range(30):
        opened = game_open(HEADER, seats=2, rules=("alhambra", 2), tables=components, proofs=ALL)
        played = start(opened, header=HEADER, engines=engines)
        join_and_reveal(played)
        record, choose = played.record, at_random(seed)
        while True:
            state: Any = record.game.position.state
            move = slip(state)
            if move is not None:
                data = CODEC.encode_move(move, COMPONENTS)
                played.admit(intent.move(record.place, Author(Role.SEAT, state.seat), seat_key(state.seat), data))
                return played, played.record.size - 1
            if not step(played, choose):
                break
    raise AssertionError("no tile can be laid wrongly")


@pytest.mark.parametrize("seed", [3, 4])
def test_the_hand_out_is_claimed_once(seed: int) -> None:
    """The entry after which the market's rest is handed out claims the receivers."""
    played = alhambra(seats=3)
    join_and_reveal(played)
    choose = at_random(seed)
    while step(played, choose):
        pass
    ((seq, claim),) = [(seq, of[-1]) for seq, of in claims(played).items() if isinstance(of[-1], HandOutClaim)]
    after = [decode_entry(data) for data in played.entries[seq + 1 :]]
    moves = [log_pb2.Intent.FromString(entry.signed.intent).move for entry in after if entry.HasField("signed")]
    names = {COMPONENTS.names[CODEC.decode_move(move, COMPONENTS).tile] for move in moves}
    assert names == {slot.tile for slot in claim.slots if slot.seat is not None}, "what is disposed of after it"
    state: Any = played.record.game.position.state
    cards = [sorted((k // 9, k % 9 + 1) for k in range(36) for _ in range(hand[k])) for hand in state.hands]
    assert [sorted(hand) for hand in claim.hands] == cards, "nothing is paid"
    (frame,) = certificates(played, {seq})[seq][-1:]
    report = played.audit(with_frames(played, {seq: [frame]}))
    assert (report.verdict, report.proofs.checked) == (Verdict.COMPLETE, 1)
