"""Placements and discards proved: held against a slow checker, certificates against every kind of damage."""

from __future__ import annotations

import random
import subprocess
import sys
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.game import Violation
from referee.games.kingdomino.dominoes import DOMINOES, Domino, parse_half
from referee.kingdomino.v1 import proof_pb2 as pb
from referee.wire.certificates.kingdomino.certificate import check, check_legal
from referee.wire.certificates.kingdomino.claims import (
    Claim,
    DiscardClaim,
    Frame,
    Kingdom,
    Placed,
    PlacementClaim,
    claim_of,
    message_of,
)
from referee.wire.certificates.registry import MAX_BYTES, BadCertificate
from referee_solver.kingdomino.prover import prove
from referee_solver.z3run import DEFAULT_RLIMIT, Budget
from tests.games.slow_kingdomino import SlowKingdom
from tests.laboratory.differential.kingdomino import grown, steps
from tests.sizes import Part, in_parts


def domino(number: int, left: str, right: str) -> Domino:
    return Domino(number, parse_half(left), parse_half(right))


WHEAT = domino(1, "wheat:1", "wheat")
LAKE = domino(2, "lake", "forest:2")
MINE = domino(3, "mine:3", "swamp")
FIXED, RELATIVE = Frame(5, (2, 2)), Frame(5, None)
ROW = (Placed(WHEAT, (1, 0), (2, 0)), Placed(LAKE, (-1, 0), (-2, 0)))


def around(frame: Frame) -> Kingdom:
    """All around the castle is wheat: nothing else can be laid."""
    pieces = [domino(number, "wheat", "wheat") for number in range(10, 14)]
    cells = [((0, -1), (1, -1)), ((1, 0), (1, 1)), ((0, 1), (-1, 1)), ((-1, 0), (-1, -1))]
    return Kingdom(frame, tuple(Placed(piece, *at) for piece, at in zip(pieces, cells, strict=True)))


CLAIMS: tuple[Claim, ...] = (
    PlacementClaim(Kingdom(FIXED), Placed(MINE, (0, 1), (0, 2))),
    PlacementClaim(Kingdom(FIXED, ROW), Placed(MINE, (3, 0), (3, 1))),
    PlacementClaim(Kingdom(RELATIVE, ROW), Placed(domino(9, "wheat", "mine"), (3, 0), (2, 0))),
    PlacementClaim(Kingdom(RELATIVE, ROW), Placed(domino(9, "wheat", "mine"), (2, 1), (2, 1))),
    PlacementClaim(Kingdom(RELATIVE, ROW), Placed(MINE, (2**31 - 1, 0), (-(2**31), 0))),
    DiscardClaim(Kingdom(FIXED, ROW), MINE),
    DiscardClaim(around(FIXED), MINE),
    DiscardClaim(around(RELATIVE), MINE),
    DiscardClaim(around(FIXED), domino(48, "mine", "wheat")),
)


@cache
def certificates() -> tuple[bytes, ...]:
    return tuple(prove(claim).certificate for claim in CLAIMS)


def slow(kingdom: Kingdom) -> SlowKingdom:
    found = SlowKingdom(kingdom.frame.size, kingdom.frame.castle)
    for placed in kingdom.dominoes:
        found.lay(halves(placed.domino), placed.left, placed.right)
    return found


def halves(piece: Domino) -> tuple[str, str]:
    return str(piece.left), str(piece.right)


# --- what is proved ------------------------------------------------------------------------------------------


def test_what_certificates_say() -> None:
    found = [check(data) for data in certificates()]
    assert [each.claim for each in found] == [*CLAIMS]
    both = ((3, 0), (3, 1))
    assert [each.violations for each in found[:5]] == [
        (),
        (Violation("KDO-14", both), Violation("KDO-16", both)),
        (Violation("KDO-16", ((3, 0),)), Violation("KDO-18", ((2, 0),))),
        (Violation("KDO-19", ((2, 1), (2, 1))),),
        tuple(Violation(rule, ((2**31 - 1, 0), (-(2**31), 0))) for rule in ("KDO-14", "KDO-16", "KDO-19")),
    ]
    assert [(each.holds, each.counterexample) for each in found[5:8]] == [
        (False, Placed(MINE, (-1, -1), (0, -1))),
        (True, None),
        (True, None),
    ]
    assert found[5].violations == (Violation("KDO-13", ((-1, -1), (0, -1))),)
    assert found[8].counterexample is not None


@in_parts(4)
def test_a_slow_checker_agrees(part: Part) -> None:
    """Rule by rule, and on the first place of all."""
    seen = set[str]()
    for seed in part.of(range(24)):
        rng = random.Random(seed)
        kingdom, left = grown(rng)
        told = slow(kingdom)
        for _, step in zip(range(8), steps(rng, kingdom, left), strict=False):
            if isinstance(step, Placed):
                proof = prove(PlacementClaim(kingdom, step))
                faults = told.faults(halves(step.domino), step.left, step.right)
                assert {violation.rule_id for violation in proof.violations} == faults, (kingdom, step)
                assert proof.holds is not bool(faults)
                seen |= faults
        for piece in left[:2]:
            first = next(iter(told.placements(halves(piece))), None)
            found = prove(DiscardClaim(kingdom, piece)).counterexample
            assert (None if found is None else (*found.left, *found.right)) == first
    assert seen == {"KDO-14", "KDO-16", "KDO-18", "KDO-19"}


def test_nothing_is_proved_without_a_budget() -> None:
    for claim in CLAIMS:
        proof = prove(claim, rlimit=1)
        assert (proof.holds, proof.certificate, proof.violations) == (None, b"", ())


@pytest.mark.parametrize("seed", range(12))
def test_a_core_is_minimal_and_names_one_broken_rule(seed: int) -> None:
    """Its assertions contradict each other, and any one of them less does not."""
    rng = random.Random(seed)
    kingdom, left = grown(rng)
    for step in steps(rng, kingdom, left):
        if not isinstance(step, Placed):
            continue
        proof = prove(PlacementClaim(kingdom, step), smt_lib=True)
        assert bool(proof.core) is not proof.holds
        if proof.core:
            assert {name.split()[0] for name in proof.core} == {proof.violations[0].rule_id}
            reason = next(file.text for file in proof.smt_lib if file.name == "reason.smt2")
            assert not Budget(DEFAULT_RLIMIT).ask(only(reason, proof.core)).satisfiable
            for name in proof.core:
                rest = [other for other in proof.core if other != name]
                assert Budget(DEFAULT_RLIMIT).ask(only(reason, rest)).satisfiable
            return


def only(text: str, names: Any) -> str:
    """Return the question with these named assertions and no others."""
    return "\n".join(
        line for line in text.splitlines() if ":named" not in line or any(f":named |{name}|" in line for name in names)
    )


@pytest.mark.parametrize("number", range(7))
def test_another_solver_says_the_same(number: int) -> None:
    cvc5 = pytest.importorskip("cvc5", reason="cvc5 is not installed: nobody else to ask")
    claim = CLAIMS[number]
    files = prove(claim, smt_lib=True).smt_lib
    assert len({file.name for file in files}) == len(files) >= 2
    assert prove(claim).smt_lib == ()
    for file in files:
        solver = cvc5.Solver(cvc5.TermManager())
        parser = cvc5.InputParser(solver)
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, file.text, "question")
        said = ""
        while not (command := parser.nextCommand()).isNull():
            said += command.invoke(solver, parser.getSymbolManager())
        assert said.strip() == file.expected, file.name


# --- what is no claim ----------------------------------------------------------------------------------------

BAD: list[tuple[Claim, str]] = [
    (replace(CLAIMS[0], kingdom=Kingdom(Frame(6, None))), "frame: size 6, expected 5 or 7"),
    (replace(CLAIMS[0], kingdom=Kingdom(Frame(5, (5, 0)))), "frame: the castle in column 5, row 0, expected 0 to 4"),
    (DiscardClaim(Kingdom(FIXED, ROW), WHEAT), "kingdom: domino 1 twice, expected each domino once"),
    (DiscardClaim(Kingdom(FIXED), MINE._replace(number=49)), "discard: domino 49, expected 1 to 48"),
    (
        DiscardClaim(Kingdom(FIXED), MINE._replace(left=MINE.left._replace(crowns=4))),
        "discard: terrain 5 with 4 crowns, expected a terrain 0 to 5 with 0 to 3 crowns",
    ),
    (
        DiscardClaim(Kingdom(FIXED, (Placed(WHEAT, (1, 1), (2, 1)),)), MINE),
        r"kingdom\[0\]: breaks KDO-14 at \(1, 1\) and \(2, 1\); expected a legal kingdom",
    ),
    (PlacementClaim(Kingdom(FIXED), Placed(MINE, (2**31, 0), (0, 0))), "placed: the cell .* expected numbers of 32"),
]


@pytest.mark.parametrize(("claim", "words"), BAD, ids=[words[:30] for _, words in BAD])
def test_what_cannot_be_claimed(claim: Claim, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        prove(claim)


def test_claims_are_read_as_they_were_written() -> None:
    for claim in CLAIMS:
        assert claim_of(message_of(claim)) == claim


# --- certificates against damage -------------------------------------------------------------------------------


def accepted_is_true(data: bytes) -> bool:
    """Return True if the checker accepts the bytes. If so, they are what a proof of the same claim gives."""
    try:
        checked = check(data)
    except BadCertificate:
        return False
    check_legal(checked.claim.kingdom)
    proof = prove(checked.claim)
    assert (proof.certificate, proof.holds, proof.violations) == (data, checked.holds, checked.violations)
    return True


@in_parts(3)
def test_every_bit_counts(part: Part) -> None:
    """One bit changed: refused, or the certificate of another claim that is true."""
    accepted = 0
    for data, at in part.of((whole, at) for whole in certificates() for at in range(len(whole))):
        changed = bytearray(data)
        changed[at] ^= 1 << at % 8
        accepted += accepted_is_true(bytes(changed))
    assert accepted, "some of them are certificates of other claims"


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_damage_is_refused_or_harmless(data: st.DataObject) -> None:
    """Pieces of certificates, cut and put together."""
    whole, other = (data.draw(st.sampled_from(certificates())) for _ in range(2))
    i, j = sorted((data.draw(st.integers(0, len(whole))), data.draw(st.integers(0, len(whole)))))
    k, m = sorted((data.draw(st.integers(0, len(other))), data.draw(st.integers(0, len(other)))))
    accepted_is_true(whole[:i] + other[k:m] + whole[j:])


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(BadCertificate):
        check(data)


def _the_right_half(message: pb.Certificate) -> None:
    message.placement.contact.half.y = 2


def _a_later_placement(message: pb.Certificate) -> None:
    message.discard.placed.left.y = 1
    message.discard.placed.right.y = 1
    message.discard.contact.half.y = 1


@pytest.mark.parametrize(
    ("which", "change", "words"),
    [
        (0, lambda m: m.ClearField("claim"), "claim: none is set, expected one"),
        (0, lambda m: m.ClearField("placement"), "evidence: none, expected placement"),
        (0, lambda m: m.discard.SetInParent(), "evidence: discard, expected placement"),
        (0, lambda m: m.placement.ClearField("contact"), "another contact or placement, expected the first"),
        (0, _the_right_half, "another contact or placement, expected the first"),
        (1, lambda m: m.placement.contact.half.SetInParent(), "another contact or placement, expected the first"),
        (5, lambda m: m.discard.ClearField("placed"), "another contact or placement, expected the first"),
        (5, _a_later_placement, "another contact or placement, expected the first"),
        (6, lambda m: m.discard.placed.CopyFrom(pb.PlacedDomino()), "another contact or placement, expected the first"),
        (1, lambda m: m.claim.placement.kingdom.dominoes[0].left.ClearField("x"), r"kingdom\[0\].left: no cell"),
        (1, lambda m: m.claim.placement.kingdom.frame.castle.ClearField("row"), "frame: no cell of the castle"),
        (1, lambda m: m.claim.placement.kingdom.dominoes.reverse(), "another contact|is true"),
    ],
)
def test_what_is_wrong_is_said(which: int, change: Any, words: str) -> None:
    message = pb.Certificate.FromString(certificates()[which])
    change(message)
    data = message.SerializeToString(deterministic=True)
    if "is true" in words:
        assert accepted_is_true(data), "another order in which the kingdom is legal"
    else:
        with pytest.raises(BadCertificate, match=words):
            check(data)


def test_one_encoding() -> None:
    data = certificates()[0]
    for other in (data + b"\xf8\x3e\x01", data + data, bytes(MAX_BYTES + 1)):
        with pytest.raises(BadCertificate):
            check(other)


def test_the_default_dominoes_are_nothing_special() -> None:
    """The claim states the halves, and they decide."""
    kingdom = Kingdom(FIXED, (Placed(DOMINOES[0], (1, 0), (2, 0)),))
    placed = Placed(domino(48, "wheat", "wheat"), (2, 1), (1, 1))
    assert prove(PlacementClaim(kingdom, placed)).holds
    assert not prove(PlacementClaim(kingdom, replace(placed, domino=domino(48, "mine", "mine")))).holds


def test_no_solver_is_loaded() -> None:
    program = "import sys, referee.wire.certificates.kingdomino.provable; sys.exit('z3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
