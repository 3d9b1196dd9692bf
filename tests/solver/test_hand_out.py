"""ALH-F9 at the end: the engine, Z3 and the checker of certificates hand out the same tiles."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
import z3

from referee.alhambra.v1 import proof_pb2 as pb
from referee.games.alhambra.money import CURRENCY, KINDS, VALUE, copies
from referee.games.alhambra.options import Options
from referee.games.alhambra.state import State
from referee.games.alhambra.tiles import NAMES, tile_set
from referee.games.game import Violation
from referee.wire.certificates.alhambra.certificate import check
from referee.wire.certificates.alhambra.claims import HandOutClaim, Slot, message_of
from referee.wire.certificates.registry import BadCertificate
from referee_solver.alhambra.prover import prove as prove_any
from referee_solver.alhambra.prover import prove_hand_out
from tests.sizes import campaign, sample_of

TILES = ("garden-10-N", "tower-12", "arcades-9", "pavilion-8")
HANDS = (((0, 9), (0, 3), (1, 5)), ((0, 6), (1, 5), (2, 1)), ((0, 6), (0, 5), (0, 1), (3, 2)))
"""Money by seat and currency: 12 5 0 0, 6 5 1 0, 12 0 0 2."""


def claim(*seats: int | None) -> HandOutClaim:
    """Return the claim that the tiles of the slots, in order, go to these seats."""
    return HandOutClaim(HANDS, tuple(Slot(i, TILES[i], seat) for i, seat in enumerate(seats)))


def wrong(slot: int, seat: int | str, expected: int | str, money: str) -> Violation:
    return Violation("ALH-F9", facts={"tile": TILES[slot], "seat": seat, "expected": expected, "money": money})


@pytest.mark.parametrize(
    ("seats", "violations"),
    [
        ((None, None, 1, 2), ()),
        ((None, None, 1), ()),
        ((), ()),
        ((0, None, 1, 2), (wrong(0, 0, "no seat", "12 6 12"),)),  # a tie for the most
        ((None, None, None, 2), (wrong(2, "no seat", 1, "0 1 0"),)),
        (
            (1, 2, 0, 0),
            (
                wrong(0, 1, "no seat", "12 6 12"),
                wrong(1, 2, "no seat", "5 5 0"),
                wrong(2, 0, 1, "0 1 0"),
                wrong(3, 0, 2, "0 0 2"),
            ),
        ),
    ],
)
def test_an_allocation(seats: tuple[int | None, ...], violations: tuple[Violation, ...]) -> None:
    proof = prove_hand_out(claim(*seats))
    assert (proof.holds, proof.violations) == (not violations, violations)
    checked = check(proof.certificate)
    assert (checked.claim, checked.holds, checked.violations) == (claim(*seats), proof.holds, violations)
    assert bool(proof.core) == bool(violations)


def test_nobody_holds_any_money() -> None:
    empty = HandOutClaim(((), ()), (Slot(0, "tower-12", None),))
    assert prove_hand_out(empty).holds
    assert not prove_hand_out(replace(empty, slots=(Slot(0, "tower-12", 1),))).holds


def test_the_core_names_what_contradicts_the_claim() -> None:
    assert prove_hand_out(claim(None, None, 0, 2)).core in {("ALH-F9 ducat seat 0",), ("ALH-F9 ducat seat 1",)}


def test_the_questions_can_be_read_by_any_solver() -> None:
    for seats in ((None, None, 1, 2), (0, 1, 2, None)):
        proof = prove_any(claim(*seats), smt_lib=True)
        assert [file.expected for file in proof.smt_lib] == (["sat", "unsat"] if proof.holds else ["unsat", "sat"])
        for file in proof.smt_lib:
            solver = z3.Solver()
            solver.from_string(file.text)
            assert str(solver.check()) == file.expected
            assert "(check-sat)" in file.text
            assert ":named |ALH-F9 denar seat 0|" in file.text


def test_a_budget_that_runs_out_leaves_it_undecided() -> None:
    proof = prove_hand_out(claim(None, None, 1, 2), rlimit=1)
    assert (proof.holds, proof.certificate) == (None, b"")


def random_hands(rng: random.Random) -> list[list[int]]:
    """Cards by seat, of as many as there are: few, as then ties and no money at all are frequent."""
    seats = rng.randint(2, 6)
    cards = rng.sample([kind for kind in range(KINDS) for _ in range(copies(seats))], rng.choice((0, 4, 12, 30, 72)))
    hands: list[list[int]] = [[] for _ in range(seats)]
    for kind in cards:
        rng.choice(hands).append(kind)
    return hands


def by_the_engine(hands: list[list[int]], tiles: dict[int, str]) -> HandOutClaim:
    """Return the engine's hand-out as a claim; ``tiles`` by slot."""
    state = State(len(hands), Options(), tile_set())
    for seat, cards in enumerate(hands):
        for kind in cards:
            state.hands[seat][kind] += 1
    for slot, tile in tiles.items():
        state.market[slot] = state.tile_set.numbers[tile]
    state._hand_out()
    slots = []
    for slot, tile in tiles.items():
        winners = [seat for seat, won in enumerate(state.won) if won >> state.tile_set.numbers[tile] & 1]
        assert len(winners) <= 1
        slots.append(Slot(slot, tile, winners[0] if winners else None))
    return HandOutClaim(tuple(tuple((CURRENCY[kind], VALUE[kind]) for kind in hand) for hand in hands), tuple(slots))


def handed_out(seed: int, count: int) -> Iterator[tuple[random.Random, HandOutClaim]]:
    rng = random.Random(seed)
    for _ in range(count):
        slots = sorted(rng.sample(range(4), rng.randint(0, 4)))
        yield rng, by_the_engine(random_hands(rng), dict(zip(slots, rng.sample(NAMES, len(slots)), strict=True)))


def changed(rng: random.Random, right: HandOutClaim) -> HandOutClaim:
    """Return the claim with one tile given to another seat, or to none."""
    at = rng.randrange(len(right.slots))
    slot = right.slots[at]
    seat = rng.choice([seat for seat in (None, *range(len(right.hands))) if seat != slot.seat])
    return replace(right, slots=(*right.slots[:at], replace(slot, seat=seat), *right.slots[at + 1 :]))


@pytest.mark.parametrize("count", [60, campaign(400)])
def test_what_the_engine_hands_out_is_the_only_allocation(count: int) -> None:
    nobody = some = 0
    for rng, right in handed_out(seed=1, count=count):
        assert prove_hand_out(right).holds, right
        nobody += any(slot.seat is None for slot in right.slots)
        some += any(slot.seat is not None for slot in right.slots)
        if right.slots:
            other = changed(rng, right)
            found = prove_hand_out(other).violations
            expected = [("no seat" if slot.seat is None else slot.seat) for slot in right.slots]
            differ = [slot.tile for slot, before in zip(other.slots, right.slots, strict=True) if slot != before]
            assert [violation.facts["tile"] for violation in found] == differ
            assert all(violation.facts["expected"] in expected for violation in found)
    assert nobody > count // 4
    assert some > count // 4


def certificate(about: HandOutClaim) -> bytes:
    """Made without a solver: the claim's own cards decide."""
    message = pb.Certificate(claim=message_of(about), hand_out=pb.HandOutEvidence())
    return message.SerializeToString(deterministic=True)


@pytest.mark.parametrize("seed", sample_of(range(2, 5), 1))
def test_the_checker_agrees_with_the_engine(seed: int) -> None:
    for rng, right in handed_out(seed, count=1000):
        assert check(certificate(right)).holds, right
        assert not right.slots or not check(certificate(changed(rng, right))).holds, right


BAD = {
    "one seat": (replace(claim(), hands=((),)), "hands: 1 seats, expected 2 to 6"),
    "seven seats": (replace(claim(), hands=((),) * 7), "hands: 7 seats, expected 2 to 6"),
    "a value of 0": (replace(claim(), hands=(((0, 0),), ())), "value 0; expected"),
    "a value of 10": (replace(claim(), hands=(((0, 10),), ())), "value 10; expected"),
    "a fifth currency": (replace(claim(), hands=(((4, 1),), ())), "currency 4, value 1; expected"),
    "no currency": (replace(claim(), hands=(((-1, 1),), ())), "currency -1, value 1; expected"),
    "a card four times": (
        replace(claim(), hands=(((0, 5), (0, 5)), ((0, 5), (0, 5)), ())),
        "currency 0, value 5 4 times, expected at most 3 with 3 seats",
    ),
    "a card three times with two seats": (
        replace(claim(), hands=(((0, 5), (0, 5)), ((0, 5),))),
        "currency 0, value 5 3 times, expected at most 2 with 2 seats",
    ),
    "a seat that is not there": (claim(3), "seat 3 for garden-10-N, expected 0 to 2"),
    "a slot of no currency": (
        replace(claim(), slots=(Slot(4, "tower-12", None),)),
        "currency 4 for tower-12, expected 0 to 3",
    ),
    "a currency twice": (replace(claim(), slots=(Slot(0, "tower-12", None), Slot(0, "arcades-9", None))), "twice"),
    "a tile twice": (replace(claim(), slots=(Slot(0, "tower-12", None), Slot(1, "tower-12", None))), "twice"),
    "five slots": (
        replace(claim(None, None, 1, 2), slots=(*claim(None, None, 1, 2).slots, Slot(0, "tower-11", None))),
        "twice",
    ),
    "no tile": (replace(claim(), slots=(Slot(0, "castle-12", None),)), "castle-12"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_no_game_has_is_one_line(name: str) -> None:
    bad, words = BAD[name]
    with pytest.raises(ValueError, match=re.escape(words)) as raised:
        prove_hand_out(bad)
    assert "\n" not in str(raised.value)


def test_a_hostile_certificate_is_refused() -> None:
    good = pb.Certificate.FromString(prove_hand_out(claim(None, None, 1, 2)).certificate)

    def refused(change: str, edit: pb.Certificate) -> None:
        with pytest.raises(BadCertificate) as raised:
            check(edit.SerializeToString(deterministic=True))
        assert "\n" not in str(raised.value), change

    def edited() -> pb.Certificate:
        copy = pb.Certificate()
        copy.CopyFrom(good)
        return copy

    bad = edited()
    bad.claim.hand_out.hands[0].cards[0].value = 10
    refused("a value of 10", bad)
    bad = edited()
    bad.claim.hand_out.hands[0].cards[0].currency = 0  # type: ignore[assignment]
    refused("no currency", bad)
    bad = edited()
    bad.claim.hand_out.slots[2].seat = 2**32 - 1
    refused("a seat that is not there", bad)
    bad = edited()
    bad.claim.hand_out.slots.add(currency=1, tile="tower-11")
    refused("five slots", bad)
    bad = edited()
    for _ in range(3):
        bad.claim.hand_out.hands[2].cards.add(currency=1, value=6)
    refused("a card five times", bad)
    bad = edited()
    bad.ClearField("hand_out")
    refused("no evidence", bad)
