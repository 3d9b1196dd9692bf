"""Certificates: nothing but the one certificate of a claim is accepted, and it takes no solver to see that."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.alhambra.v1 import proof_pb2 as pb
from referee.games.game import Cell, Violation
from referee.wire.certificates.alhambra.certificate import candidates, check
from referee.wire.certificates.alhambra.claims import (
    Add,
    Claim,
    DistanceClaim,
    HandOutClaim,
    NoPlacementClaim,
    Place,
    Remove,
    Reserve,
    Slot,
    StepClaim,
    Swap,
    TurnClaim,
    TurnMove,
    claim_of,
    message_of,
)
from referee.wire.certificates.registry import MAX_BYTES, BadCertificate
from referee_solver.alhambra import building
from referee_solver.alhambra.building import check_legal
from referee_solver.alhambra.prover import prove
from tests.laboratory.differential.alhambra import engine, grown, steps
from tests.sizes import campaign

ROW = {(1, 0): "arcades-9", (2, 0): "garden-10-N", (3, 0): "tower-11"}
# Around (1, 1); a tile on (0, 1) shuts it in but for the corner at (0, 2).
HOOK = {(1, 0): "arcades-9", (2, 0): "garden-10", (2, 1): "tower-11", (2, 2): "tower-12", (1, 2): "chambers-10"}
RING = {**HOOK, (0, 2): "chambers-11"}
# Where seraglio-8-S could only lie at (0, -2), and would shut in (0, -1) but for a corner.
POCKET = {
    (-1, -1): "pavilion-5-NW",
    (-1, 0): "chambers-7-SW",
    (0, 1): "pavilion-4-ES",
    (1, -2): "garden-8-NE",
    (1, -1): "arcades-8-E",
    (1, 0): "seraglio-6-ES",
}
HANDS = (((0, 3), (0, 4)), ((0, 9), (1, 2)), ((1, 2),))
TURN: tuple[TurnMove, ...] = (Add("tower-12", (0, 1)), Place("pavilion-8", (4, 0)))
IN_REACH = {**ROW, (4, 0): "pavilion-8"}

CLAIMS: tuple[Claim, ...] = (
    StepClaim(ROW, Place("pavilion-8", (4, 0))),
    StepClaim(ROW, Place("pavilion-8", (2, -1))),
    StepClaim(ROW, Place("pavilion-8", (90, 0))),
    StepClaim(ROW, Remove((1, 0))),
    StepClaim(ROW, Swap("pavilion-7-E", (1, 0))),
    StepClaim(HOOK, Place("pavilion-8", (0, 1))),
    StepClaim(RING, Place("pavilion-8", (0, 1))),
    TurnClaim(ROW, ("tower-12",), ("pavilion-8", "garden-10"), (*TURN, Reserve("garden-10"))),
    TurnClaim(ROW, ("tower-12",), ("pavilion-8", "garden-10"), (*TURN, Place("garden-10", (9, 9)))),
    TurnClaim(ROW, ("tower-12",), ("pavilion-8", "garden-10"), TURN),
    NoPlacementClaim(ROW, "pavilion-8"),
    NoPlacementClaim(POCKET, "seraglio-8-S"),
    HandOutClaim(HANDS, (Slot(0, "tower-12", 1), Slot(1, "garden-12-S", None))),
    HandOutClaim(HANDS, (Slot(0, "tower-12", 0), Slot(1, "garden-12-S", None))),
)
DISTANCES = (
    (DistanceClaim(ROW, ("pavilion-8",), IN_REACH, 1), (Add("pavilion-8", (4, 0)),), 1),
    (DistanceClaim(ROW, ("pavilion-8",), IN_REACH, 7), (Add("pavilion-8", (4, 0)),), 0),
    (DistanceClaim(ROW, ("pavilion-8",), IN_REACH, 0), (), 1),
    (DistanceClaim(ROW, ("pavilion-8",), ROW, 0), (), 0),
    (DistanceClaim({}, (), {(0, 1): "garden-10"}, 1), (), 2),
)


@cache
def certificates() -> tuple[bytes, ...]:
    return (*(prove(claim).certificate for claim in CLAIMS), *(building.of_distance(*each) for each in DISTANCES))


def rule_ids(violations: tuple[Violation, ...]) -> list[str]:
    return [violation.rule_id for violation in violations]


def test_what_certificates_say() -> None:
    found = [check(data) for data in certificates()]
    assert [each.claim for each in found] == [*CLAIMS, *(claim for claim, _, _ in DISTANCES)]
    assert [rule_ids(each.violations) for each in found[:7]] == [
        [],
        ["ALH-A2", "ALH-A4"],
        ["ALH-A8"],
        ["ALH-A3", "ALH-A4"],
        ["ALH-A2", "ALH-A4"],
        ["ALH-A6"],
        ["ALH-A5"],
    ]
    assert [rule_ids(each.violations) for each in found[7:10]] == [[], ["ALH-A3", "ALH-A4"], ["ALH-C7"]]
    assert [(each.holds, each.counterexample) for each in found[10:12]] == [
        (False, Place("pavilion-8", (-1, 0))),
        (True, None),
    ]
    assert [rule_ids(each.violations) for each in found[12:14]] == [[], ["ALH-F9"]]
    assert [(each.holds, bool(each.assumed)) for each in found[14:]] == [
        (True, False),
        (False, False),
        (False, False),
        (True, False),
        (False, True),
    ]


def accepted_is_true(data: bytes) -> bool:
    """Return True if the checker accepts the bytes. If so, they are what a proof of the same claim gives."""
    try:
        checked = check(data)
    except BadCertificate:
        return False
    claim = checked.claim
    if isinstance(claim, DistanceClaim):
        return True  # its lower bound is taken on trust, and the checker says so
    if not isinstance(claim, HandOutClaim):
        try:
            check_legal("layout", claim.layout)
        except ValueError:
            return True  # about a layout that cannot be: what follows from it is of no consequence
    assert prove(claim).certificate == data
    return True


def test_equal_claims_have_equal_certificates() -> None:
    for claim, data in zip(CLAIMS, certificates(), strict=False):
        if not isinstance(claim, HandOutClaim | DistanceClaim):
            mixed = list(claim.layout.items())
            random.Random(0).shuffle(mixed)
            again = type(claim)(dict(mixed), *[getattr(claim, name) for name in claim.__slots__[1:]])
            assert prove(again).certificate == data


def test_every_bit_counts() -> None:
    """One bit changed: refused, or the certificate of another claim that is true."""
    accepted = 0
    for data in certificates():
        for at in range(len(data)):
            changed = bytearray(data)
            changed[at] ^= 1 << at % 8
            accepted += accepted_is_true(bytes(changed))
    assert accepted, "some of them are certificates of other claims"


def evidence_lists(message: Any) -> Iterator[Any]:
    """Yield every list of numbers in a certificate's evidence."""
    for field, value in message.ListFields():
        if field.message_type is None and field.is_repeated:
            yield value
        elif field.message_type is not None:
            for each in value if field.is_repeated else [value]:
                yield from evidence_lists(each)


def test_every_number_counts() -> None:
    """One number more, less or other, and the certificate proves nothing."""
    tried = 0
    for data in certificates():
        message = pb.Certificate.FromString(data)
        for numbers in evidence_lists(getattr(message, str(message.WhichOneof("evidence")))):
            kept = list(numbers)
            for at, number in enumerate(kept):
                for other in {0, 1, number - 1, number + 1, 2**32 - 1} - {number, -1}:
                    numbers[at] = other
                    with pytest.raises(BadCertificate):
                        check(building.serialized(message))
                    tried += 1
                numbers[at] = number
            for changed in ([*kept, 1], [*kept, 0], kept[:-1]):
                if changed != kept:
                    numbers[:] = changed
                    with pytest.raises(BadCertificate):
                        check(building.serialized(message))
            numbers[:] = kept
        assert building.serialized(message) == data
    assert tried > 300


def test_no_legal_cell_is_passed_over() -> None:
    """Evidence for every cell, a legal one among them, does not prove that there is none."""
    claim = NoPlacementClaim(ROW, "pavilion-8")
    layouts = [building.of_layout({**ROW, cell: "pavilion-8"}) for cell in candidates(claim)]
    assert len(layouts) > 2
    for count in range(len(layouts) + 1):
        message = pb.Certificate(claim=message_of(claim))
        message.no_placement.cells.extend(layouts[:count])
        message.no_placement.SetInParent()
        if count == 1:
            assert check(building.serialized(message)).counterexample == Place("pavilion-8", candidates(claim)[0])
        else:
            with pytest.raises(BadCertificate, match=r"no placement: \d+ layouts"):
                check(building.serialized(message))


def test_a_cell_left_out_leaves_it_open() -> None:
    message = pb.Certificate.FromString(prove(NoPlacementClaim(POCKET, "seraglio-8-S")).certificate)
    whole = building.serialized(message)
    for cells in ([], [*message.no_placement.cells] * 2):
        message = pb.Certificate.FromString(whole)
        del message.no_placement.cells[:]
        message.no_placement.cells.extend(cells)
        with pytest.raises(BadCertificate, match=r"no placement: \d+ layouts"):
            check(building.serialized(message))


def test_layouts_of_a_turn_are_neither_too_few_nor_too_many() -> None:
    whole = next(data for claim, data in zip(CLAIMS, certificates(), strict=False) if isinstance(claim, TurnClaim))
    for count in (0, 1, 3):
        message = pb.Certificate.FromString(whole)
        layouts = [*message.turn.steps, *message.turn.steps][:count]
        del message.turn.steps[:]
        message.turn.steps.extend(layouts)
        with pytest.raises(BadCertificate, match="turn: "):
            check(building.serialized(message))


@pytest.mark.parametrize(
    ("turns", "moves", "below"),
    [
        (1, (Add("pavilion-8", (4, 0)),), 0),  # nothing about shorter ways
        (1, (Add("pavilion-8", (4, 0)),), 2),  # a way that was refuted
        (7, (Add("pavilion-8", (4, 0)),), 1),
        (7, (), 7),  # too little refuted
        (7, (), 0),
        (0, (Add("pavilion-8", (4, 0)),), 0),  # more moves than claimed
        (1, (Add("pavilion-8", (-1, 0)),), 1),  # elsewhere
        (3, (Remove((1, 0)), Add("arcades-9", (1, 0)), Add("pavilion-8", (4, 0))), 3),  # cuts off the rest
        (3, (Add("tower-12", (0, 1)), Remove((0, 1)), Add("pavilion-8", (4, 0))), 3),  # a tile from nowhere
        (2, (Add("pavilion-8", (4, 0)), Swap("pavilion-8", (3, 0))), 2),  # a tile that lies already
        (3, (Add("pavilion-8", (4, 0)), Add("pavilion-8", (5, 0)), Remove((5, 0))), 3),
    ],
)
def test_distances_that_are_not_shown(turns: int, moves: tuple[Add | Remove | Swap, ...], below: int) -> None:
    data = building.of_distance(DistanceClaim(ROW, ("pavilion-8",), IN_REACH, turns), moves, below)
    with pytest.raises(BadCertificate):
        check(data)


def test_a_tile_that_was_taken_away_can_be_laid_again() -> None:
    goal = {(1, 0): "arcades-9", (2, 0): "garden-10-N", (0, 1): "tower-11"}
    claim = DistanceClaim(ROW, (), goal, 2)
    checked = check(building.of_distance(claim, [Remove((3, 0)), Add("tower-11", (0, 1))], 2))
    assert checked.holds
    assert not checked.assumed, "two cells differ, and a turn changes one"
    claim = DistanceClaim(ROW, ("pavilion-8",), goal, 3)
    way = (Swap("pavilion-8", (3, 0)), Remove((3, 0)), Add("tower-11", (0, 1)))
    assert "fewer than 3" in check(building.of_distance(claim, way, 3)).assumed


@pytest.mark.parametrize("turns", [2, 4])
def test_a_way_in_circles_is_not_a_shortest_one(turns: int) -> None:
    claim = DistanceClaim({}, ("tower-12",), {}, turns)
    way = (Add("tower-12", (1, 0)), Remove((1, 0))) * (turns // 2)
    with pytest.raises(BadCertificate, match=r"moves\[1\]: leads back to an earlier layout"):
        check(building.of_distance(claim, way, turns))


def test_a_layout_that_broke_a_rule_before_proves_nothing() -> None:
    layout = {(1, 0): "arcades-9", (2, 0): "tower-10-W"}
    claim = StepClaim(layout, Place("pavilion-8", (0, 1)))
    message = pb.Certificate(claim=message_of(claim), step=building.of_layout({**layout, (0, 1): "pavilion-8"}))
    with pytest.raises(BadCertificate, match="expected a layout that was legal"):
        check(building.serialized(message))


def test_nobody_has_money_of_the_currency() -> None:
    assert check(prove(HandOutClaim(HANDS, (Slot(3, "tower-12", None),))).certificate).holds
    assert not check(prove(HandOutClaim(HANDS, (Slot(3, "tower-12", 0),))).certificate).holds


def test_evidence_of_another_claim_is_refused() -> None:
    messages = [pb.Certificate.FromString(data) for data in certificates()]
    for claim in messages:
        for other in messages:
            mixed = pb.Certificate()
            mixed.CopyFrom(other)
            mixed.claim.CopyFrom(claim.claim)
            if mixed != claim:
                # Numbers may fit by chance, if the layouts are alike; what is said then is true all the same.
                accepted_is_true(building.serialized(mixed))


numbers = st.lists(st.integers(0, 6) | st.integers(0, 2**32 - 1), max_size=12)


@pytest.mark.parametrize("examples", [100, campaign(600)])
def test_no_evidence_makes_an_illegal_step_legal(examples: int) -> None:
    @settings(max_examples=examples, deadline=None)
    @given(st.integers(0, 400), st.integers(0, 19), numbers, numbers, numbers, numbers)
    def any_evidence(
        seed: int, which: int, foot: list[int], touch: list[int], out: list[int], corner: list[int]
    ) -> None:
        check_evidence(seed, which, foot, touch, out, corner)

    any_evidence()


def check_evidence(seed: int, which: int, foot: list[int], touch: list[int], out: list[int], corner: list[int]) -> None:
    """Fails if a step is said to be what the engine does not say, whatever the evidence."""
    rng = random.Random(seed)
    layout = grown(rng)
    step = list(steps(rng, layout))[which]
    claim = StepClaim(layout, step)
    true = building.of_layout(after) if (after := laid(claim)) is not None else pb.LayoutEvidence()
    for numbers in (
        pb.LayoutEvidence(foot=foot, touch=touch, out=out, corner=corner),
        pb.LayoutEvidence(foot=true.foot, touch=touch, out=out, corner=corner),
        pb.LayoutEvidence(foot=foot + list(true.foot)[len(foot) :], out=true.out),
        pb.LayoutEvidence(foot=[number or 1 for number in true.foot], out=[number or 1 for number in true.out]),
        true,
    ):
        try:
            checked = check(building.serialized(pb.Certificate(claim=message_of(claim), step=numbers)))
        except BadCertificate:
            assert numbers is not true
        else:
            assert checked.violations == engine(layout, step)


def laid(claim: StepClaim) -> dict[Cell, str] | None:
    """Return the layout after the step; None if nothing can be laid."""
    step, layout = claim.step, dict(claim.layout)
    if isinstance(step, Place):
        if step.at in layout or step.at == (0, 0) or max(map(abs, step.at)) > 54:
            return None
    elif step.at not in layout:
        return None
    if isinstance(step, Remove):
        del layout[step.at]
    else:
        layout[step.at] = step.tile
    return layout


@settings(max_examples=500, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(BadCertificate):
        check(data)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_damage_is_refused_or_harmless(data: st.DataObject) -> None:
    """Pieces of certificates, cut and put together."""
    whole = data.draw(st.sampled_from(certificates()))
    other = data.draw(st.sampled_from(certificates()))
    i, j = sorted((data.draw(st.integers(0, len(whole))), data.draw(st.integers(0, len(whole)))))
    k, m = sorted((data.draw(st.integers(0, len(other))), data.draw(st.integers(0, len(other)))))
    accepted_is_true(whole[:i] + other[k:m] + whole[j:])


def test_size_is_limited() -> None:
    with pytest.raises(BadCertificate, match="at most 65536"):
        check(bytes(MAX_BYTES + 1))


def test_one_encoding() -> None:
    data = certificates()[0]
    message = pb.Certificate.FromString(data)
    unknown = data + b"\xf8\x3e\x01"
    doubled = data + data
    tiles = list(message.claim.step.layout)
    del message.claim.step.layout[:]
    message.claim.step.layout.extend(reversed(tiles))
    for other in (unknown, doubled, message.SerializeToString()):
        with pytest.raises(BadCertificate, match=r"another encoding|two tiles"):
            check(other)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m.ClearField("claim"), "claim: none is set, expected one"),
        (lambda m: m.claim.step.ClearField("place"), "step: none is set, expected one"),
        (lambda m: m.claim.step.place.cell.ClearField("y"), "place: no cell, expected one with x and y"),
        (lambda m: m.claim.step.layout[0].ClearField("cell"), "layout: no cell, expected one with x and y"),
        (lambda m: setattr(m.claim.step.layout[0], "tile", "shed-1"), "expected type-cost"),
        (lambda m: setattr(m.claim.step.layout[0], "tile", "tower-11"), "tower-11 twice"),
        (lambda m: setattr(m.claim.step.layout[0].cell, "x", 0), "the fountain is there"),
        (lambda m: setattr(m.claim.step.layout[0].cell, "x", 55), "farther than 54"),
        (lambda m: m.turn.SetInParent(), "evidence: turn, expected step"),
        (lambda m: m.ClearField("step"), "evidence: none, expected step"),
        (lambda m: m.step.foot.append(1), "5 numbers, expected 4"),
    ],
)
def test_what_is_wrong_is_said(change: Any, words: str) -> None:
    message = pb.Certificate.FromString(certificates()[0])
    change(message)
    with pytest.raises(BadCertificate, match=words):
        check(building.serialized(message))


def test_claims_are_read_as_they_were_written() -> None:
    for claim in (*CLAIMS, *(each for each, _, _ in DISTANCES)):
        assert claim_of(message_of(claim)) == claim


def test_no_solver_is_loaded() -> None:
    program = "import sys, referee.wire.certificates.alhambra.certificate; sys.exit('z3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
