"""The claims of events: which events have any, and that the engine and the certificates agree on them."""

from __future__ import annotations

from typing import Any

import pytest

from referee.games.alhambra import Options
from referee.games.alhambra.moves import (
    Buy,
    GiveTile,
    MarketTiles,
    PlaceTile,
    RebuildAdd,
    RebuildRemove,
    RebuildSwap,
    ReserveTile,
    TakeMoney,
)
from referee.games.alhambra.position import Phase
from referee.log.certificates import contradicts
from referee.wire.certificates.alhambra import provable
from referee.wire.certificates.alhambra.certificate import check
from referee.wire.certificates.alhambra.claims import Claim, HandOutClaim, Place, Remove, Slot, Step, StepClaim, Swap
from referee_solver.alhambra.prover import prove
from tests.games.positions import TILE_SET, number, position

TOWER, ARCH = number("tower-11"), number("tower-7-NEW")
BOARD = {(1, 0): "tower-12", (2, 0): "garden-11"}
FAR = 2**31 - 1
CELLS = [(FAR, 0), (-FAR - 1, FAR), (55, 0), (54, 0), (0, 0), (1, 0), (2, 0), (3, 0), (0, 1), (5, 5)]


def acting(board: dict[tuple[int, int], str]) -> Any:
    return position(phase=Phase.ACTION, boards=[board], reserves=[["tower-11", "tower-7-NEW"]])


def placing(board: dict[tuple[int, int], str]) -> Any:
    return position(phase=Phase.PLACE, boards=[board], bought=["tower-11"])


@pytest.mark.parametrize("board", [{}, BOARD], ids=["the fountain alone", "two tiles"])
@pytest.mark.parametrize("cell", CELLS)
def test_every_step_is_claimed_wherever_it_leads(board: dict[tuple[int, int], str], cell: tuple[int, int]) -> None:
    steps: list[tuple[Any, Any, Step]] = [
        (acting(board), RebuildAdd(TOWER, cell), Place("tower-11", cell)),
        (acting(board), RebuildRemove(cell), Remove(cell)),
        (acting(board), RebuildSwap(ARCH, cell), Swap("tower-7-NEW", cell)),
        (placing(board), PlaceTile(TOWER, cell), Place("tower-11", cell)),
    ]
    for state, event, step in steps:
        assert provable.claims(state, event) == (StepClaim(board, step),)
        refused = tuple(sorted({violation.rule_id for violation in state.check(event)})) or None
        checked = check(prove(StepClaim(board, step)).certificate)
        assert contradicts(checked, refused) == ""
        assert provable.fingerprint(checked.claim) == provable.fingerprint(StepClaim(board, step))
        opposite = None if refused else ("ALH-A2",)
        assert contradicts(checked, opposite) != ""


@pytest.mark.parametrize(
    ("state", "event"),
    [
        (placing({}), PlaceTile(ARCH, (1, 0))),  # not in hand
        (acting({}), PlaceTile(TOWER, (1, 0))),  # not the time
        (acting({}), RebuildAdd(number("tower-12"), (1, 0))),  # not in the reserve
        (acting({}), RebuildSwap(number("tower-12"), (1, 0))),
        (placing({}), RebuildRemove((1, 0))),
        (placing({}), PlaceTile(-1, (1, 0))),
        (placing({}), ReserveTile(TOWER)),
        (placing({}), GiveTile(TOWER)),
        (acting({}), TakeMoney(())),
        (acting({}), Buy(0, ())),
    ],
)
def test_what_other_rules_decide_claims_nothing(state: Any, event: Any) -> None:
    assert provable.claims(state, event) == ()


def test_fingerprints_differ_as_claims_do() -> None:
    place = Place("tower-11", (1, 0))
    some: list[Claim] = [
        StepClaim(BOARD, place),
        StepClaim(BOARD, Swap("tower-11", (1, 0))),
        StepClaim(BOARD, Place("tower-11", (0, 1))),
        StepClaim({}, place),
        HandOutClaim(((),), ()),
    ]
    assert len({provable.fingerprint(claim) for claim in some}) == len(some)
    assert provable.fingerprint(StepClaim(dict(reversed(BOARD.items())), place)) == provable.fingerprint(some[0])


def test_one_placement_can_bring_the_hand_out() -> None:
    """No money is left to be turned and the bag is empty: the last placement makes both claims."""
    state = position(
        2,
        phase=Phase.PLACE,
        bought=["tower-11"],
        market=["", "garden-11", "chambers-10", ""],
        row=["denar-1"],
        hands=[["dirham-5"], ["ducat-2", "ducat-3"]],
        bag=(),
        deck=(),
    )
    step, hand_out = provable.claims(state, PlaceTile(TOWER, (1, 0)))
    assert step == StepClaim({}, Place("tower-11", (1, 0)))
    assert hand_out == HandOutClaim((((1, 5),), ((2, 2), (2, 3))), (Slot(1, "garden-11", 0), Slot(2, "chambers-10", 1)))
    assert check(prove(hand_out).certificate).holds
    refused = provable.claims(state, PlaceTile(TOWER, (3, 3)))
    assert [type(claim) for claim in refused] == [StepClaim], "a refused one brings nothing"


def test_the_last_tiles_drawn_are_handed_out_with_the_others() -> None:
    """A seat that alone has the most gets them; no seat pays. A stalled game hands out nothing."""
    state = position(
        3,
        phase=Phase.REFILL,
        market=["", "garden-11", "", ""],
        hands=[["denar-5"], ["denar-5"], ["dirham-1"]],
        bag=["tower-12"],
    )
    drawn = MarketTiles((TILE_SET.numbers["tower-12"],))
    (claim,) = provable.claims(state, drawn)
    assert isinstance(claim, HandOutClaim)
    assert claim.slots == (Slot(0, "tower-12", None), Slot(1, "garden-11", 2))
    assert check(prove(claim).certificate).holds
    stalled = position(
        2,
        phase=Phase.ACTION,
        options=Options(max_turns=1),
        market=["", "garden-11", "", ""],
        row=["denar-1"],
        bag=(),
        deck=(),
    )
    assert provable.claims(stalled, TakeMoney((0,))) == ()
