"""The theorems about the engine hold, and each fails for an engine that is a little wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

import pytest

from referee.games.alhambra.layout import FOUNTAIN, STRIDE, Layout, index_of
from referee.games.alhambra.tiles import E, N, S, W
from referee.games.alhambra.violations import layout_violations
from tests.laboratory.theorems import THEOREMS, Theorem, boxes, counting
from tests.laboratory.theorems.__main__ import main
from tests.laboratory.theorems.engine import every_mask
from tests.sizes import campaign, sample_of

BY_NAME: Final = {theorem.name: theorem for theorem in THEOREMS}
LARGE: Final = {
    *("ring-test-is-exact-5x5", "placement-is-legal-placement-4x4", "no-pinch-5x5", "four-neighbours-are-a-hole-5x5"),
}
"""Theorems whose sample is the one of a smaller box."""
DEAR: Final = (
    *("swap-is-legal-swap-4x4", "rows-may-be-left-out", "what-is-removed-fits-again-4x4"),
    *("removal-is-legal-removal-3x3", "placement-is-legal-placement-3x3"),
    *("rules-are-the-same-at-the-rim", "four-neighbours-are-a-hole-4x4"),
)
"""Each takes longer to prove than most of the others together: two of them a day."""


@pytest.mark.parametrize(
    "theorem",
    [
        *sample_of((each for each in THEOREMS if not each.slow and each.name not in (*DEAR, *LARGE)), 8),
        *sample_of((BY_NAME[name] for name in DEAR), 2),
        *(campaign(BY_NAME[name]) for name in sorted(LARGE)),
    ],
    ids=lambda theorem: theorem.name,
)
def test_holds(theorem: Theorem) -> None:
    assert theorem.refute() is None


# Engines that are wrong. The methods are the engine's, with one thing left out or too much.


def ring_of_sides_only(self: Any) -> Any:
    """Return the ring test without the corners."""
    occ = self._occupied
    ring = (occ << STRIDE, occ >> 1, occ >> STRIDE, occ << 1)
    once = twice = 0
    before = ring[3]
    for here in ring:
        start = here & ~before
        twice |= once & start
        once |= start
        before = here
    return once & ~twice & ~occ


def any_number_of_blocks(self: Any) -> Any:
    """Return the ring test that finds a block and looks for no second one."""
    occ = self._occupied
    around = [occ << STRIDE, occ >> 1, occ >> STRIDE, occ << 1]
    return (around[0] | around[1] | around[2] | around[3]) & ~occ


def few_around(self: Any) -> Any:
    """Return the ring test that wants an empty cell to the north-west as well."""
    occ = self._occupied
    return one_block(self) & ~(occ << STRIDE << 1)


def two_away(self: Any) -> Any:
    """Return the ring test that wants an empty cell two to the east as well."""
    return one_block(self) & ~(self._occupied >> 2)


def not_in_the_corner(self: Any) -> Any:
    """Return the ring test for all cells but one, in the corner of the board."""
    return one_block(self) & ~(1 << index_of((54, 54)))


def first_row_is_empty(self: Any) -> Any:
    """Return the ring test that takes the first row that it knows for empty."""
    self._occupied = self._occupied >> STRIDE << STRIDE
    return one_block(self)


def nothing_in_the_first_row(self: Any) -> Any:
    """Return the ring test that fails everywhere in the first row that the engine has."""
    return one_block(self) >> STRIDE << STRIDE


def no_west(self: Any, walls: int) -> Any:
    """Return the comparison of walls on three sides."""
    n_wall, n_open, e_wall, e_open, s_wall, s_open, _, _ = self._facing()
    return (n_open if walls & N else n_wall) | (e_open if walls & E else e_wall) | (s_open if walls & S else s_wall)


def any_neighbour(self: Any, walls: int) -> Any:
    """Contact with a neighbour, wall or not."""
    occ = self._occupied
    return occ << STRIDE | occ >> STRIDE | occ << 1 | occ >> 1


def no_contact(self: Any, walls: int) -> Any:
    """No contact is asked for, on any cell."""
    return self._occupied | ~self._occupied


def taken_too(self: Any) -> Any:
    """Return the ring test for taken cells as well."""
    return one_block(self) | self._occupied


def also_shut_in(self: Any) -> Any:
    """Removal without the test of four neighbours."""
    return (self._occupied ^ FOUNTAIN >> self.base) & ~self._cut_cells()


def never_three(self: Any) -> Any:
    """Removal that takes three neighbours for a hole."""
    occ = self._occupied
    return may_remove(self) & ~(occ << STRIDE & occ >> STRIDE & occ << 1)


def only_corners(self: Any) -> Any:
    """Removal of tiles with an empty cell to the north and to the west alone."""
    occ = self._occupied
    return may_remove(self) & ~(occ << STRIDE) & ~(occ << 1)


def fountain_too(self: Any) -> Any:
    """Removal of the fountain, too."""
    occ = self._occupied
    return occ & ~(occ << STRIDE & occ >> STRIDE & occ << 1 & occ >> 1) & ~self._cut_cells()


def nothing_cut(self: Any) -> int:
    """No tile hangs on another."""
    return 0


def swap_anywhere(self: Any, walls: int) -> Any:
    """Swaps on empty cells and on the fountain."""
    return self._list(~self._clash(walls))


def swap_without_west(self: Any, walls: int) -> Any:
    """Swaps that compare walls on three sides."""
    return self._list((self._occupied ^ FOUNTAIN >> self.base) & ~no_west(self, walls))


def run_is_cut(self: Any) -> tuple[int, int]:
    """Return a wall that is cut: it counts less if it continues from the last side to the first."""
    longest, length = walk_outline(self)
    return longest - (longest > 3), length


def short_walk(self: Any) -> tuple[int, int]:
    """Return a walk that leaves out a side of long outlines."""
    longest, length = walk_outline(self)
    return longest, length - (length > 10)


def no_rule(*_: object) -> list[Any]:
    return []


def no_holes_found(empty: int, rim: int, beside: list[int]) -> bool:
    return False


one_block: Final = Layout._one_block
may_remove: Final = Layout.may_remove
walk_outline: Final = Layout._walk_outline

WRONG: Final[list[tuple[object, str, Callable[..., object], str]]] = [
    (Layout, "_one_block", ring_of_sides_only, "placement-rule"),
    (Layout, "_one_block", ring_of_sides_only, "ring-test-is-safe"),
    (Layout, "_one_block", ring_of_sides_only, "ring-test-is-exact-4x4"),
    (Layout, "_one_block", ring_of_sides_only, "placement-is-legal-placement-4x4"),
    (Layout, "_one_block", ring_of_sides_only, "placement-makes-no-pinch"),
    (Layout, "_one_block", any_number_of_blocks, "ring-test-is-safe"),
    (Layout, "_one_block", any_number_of_blocks, "outline-stays-one-curve"),
    (Layout, "_one_block", any_number_of_blocks, "outline-counts-blocks"),
    (Layout, "_one_block", few_around, "ring-test-is-exact-4x4"),
    (Layout, "_one_block", few_around, "placement-is-legal-placement-3x3"),
    (Layout, "_one_block", few_around, "what-is-removed-fits-again-4x4"),
    (Layout, "_one_block", taken_too, "placement-rule"),
    (Layout, "_one_block", taken_too, "placement-is-legal-placement-3x3"),
    (Layout, "_one_block", two_away, "rules-are-local"),
    (Layout, "_one_block", two_away, "rules-are-the-same-at-the-rim"),
    (Layout, "_one_block", not_in_the_corner, "rules-are-the-same-at-the-rim"),
    (Layout, "_one_block", not_in_the_corner, "placement-rule"),
    (Layout, "_one_block", first_row_is_empty, "rows-may-be-left-out"),
    (Layout, "_one_block", nothing_in_the_first_row, "rows-may-be-left-out"),
    (Layout, "_clash", no_west, "placement-rule"),
    (Layout, "_clash", no_west, "placement-keeps-reachability"),
    (Layout, "_clash", no_west, "placement-is-legal-placement-3x3"),
    (Layout, "_clash", no_west, "swap-rule"),
    (Layout, "_clash", no_west, "swap-keeps-passages"),
    (Layout, "_contact", any_neighbour, "placement-keeps-reachability"),
    (Layout, "_contact", any_neighbour, "placement-is-legal-placement-3x3"),
    (Layout, "_contact", no_contact, "outline-grows-by-two"),
    (Layout, "swappable_cells", swap_anywhere, "swap-rule"),
    (Layout, "swappable_cells", swap_anywhere, "swap-is-legal-swap-4x4"),
    (Layout, "swappable_cells", swap_without_west, "swap-is-legal-swap-4x4"),
    (Layout, "may_remove", also_shut_in, "removal-rule"),
    (Layout, "may_remove", also_shut_in, "four-neighbours-are-a-hole-4x4"),
    (Layout, "may_remove", also_shut_in, "removal-is-legal-removal-3x3"),
    (Layout, "may_remove", never_three, "four-neighbours-are-a-hole-4x4"),
    (Layout, "may_remove", fountain_too, "removal-rule"),
    (Layout, "_cut_cells", nothing_cut, "removal-is-legal-removal-3x3"),
    (Layout, "may_remove", only_corners, "open-layouts-can-be-taken-down-3x3"),
    (Layout, "_walk_outline", run_is_cut, "longest-wall-3x2"),
    (Layout, "_walk_outline", short_walk, "outline-is-one-walk-4x4"),
    # Facts about shapes, which ask nothing of the engine: false without the rule about holes.
    (boxes.Box, "no_hole", no_rule, "no-pinch-4x4"),
    (counting, "_hole", no_holes_found, "outline-length-4x4"),
]


def by_name(rows: list[tuple[object, str, Callable[..., object], str]]) -> list[object]:
    return [pytest.param(*row, id=f"{row[2].__name__}:{row[3]}") for row in rows]


@pytest.mark.parametrize(
    ("where", "what", "wrong", "name"),
    [
        *by_name([row for row in WRONG if row[3] not in DEAR]),
        *sample_of(by_name([row for row in WRONG if row[3] in DEAR]), 4),
    ],
)
def test_fails_for_a_wrong_engine(
    where: object, what: str, wrong: Callable[..., object], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, what, wrong)
    counterexample = BY_NAME[name].refute()
    assert counterexample is not None
    if not name.startswith(("rules-", "rows-")):  # those are about cells, not about a layout
        assert "#" in counterexample or "?" in counterexample, counterexample


def test_every_theorem_can_fail() -> None:
    def stem(name: str) -> str:
        return re.sub(r"-(\dx\d|at-the-rim|everywhere)$", "", name)

    assert {stem(name) for *_, name in WRONG} == {stem(name) for name in BY_NAME}


def test_an_engine_that_branches_is_not_taken_for_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Layout, "_one_block", lambda self: self._occupied or 0)
    with pytest.raises(TypeError, match="cannot be run on formulas"):
        BY_NAME["placement-rule"].refute()


def test_a_counterexample_is_drawn(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(Layout, "may_remove", also_shut_in)
    assert main(["--only", "four-neighbours-are-a-hole-4x4"]) == 1
    told = capsys.readouterr().out
    assert "REFUTED" in told
    assert "0 of 1 theorems proved" in told
    # The tile in question among its four neighbours, and the fountain.
    assert re.search(r"#\S? .*#\?.*#", told)
    assert "F" in told.split("REFUTED")[1]


def test_a_layout_can_be_locked() -> None:
    """The remark beside the theorem: all tiles but one are on the only way to it, and it has four neighbours."""
    ring = {(1, 0): E, (1, 1): 0, (2, 1): N, (3, 1): 0, (3, 0): W, (3, -1): 0, (2, -1): 0, (2, 0): E | S | W}
    tile_set = every_mask()
    layout = Layout.of(tile_set, ring)
    assert layout_violations(layout) == ()
    assert layout.removable_cells() == []
    assert Layout.of(tile_set, dict.fromkeys(ring, 0)).removable_cells() != []


def test_the_row_above_the_tiles_is_kept() -> None:
    """The theorem about rows that are left out assumes it, whichever way the tiles came."""
    layout = Layout(every_mask())
    for y in (-1, -2, -3, -4):
        layout = layout.placed(0, index_of((0, y)))
        assert layout.base <= index_of((0, y - 1)) - STRIDE // 2
        assert (0, y - 1) in layout.placeable_cells(0)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "swap-rule", "--only", "removal-rule"]) == 0
    told = capsys.readouterr().out
    assert BY_NAME["swap-rule"].formula in told
    assert told.count("  proved, ") == 2
    assert told.endswith("2 of 2 theorems proved\n")
    with pytest.raises(SystemExit):
        main(["--only", "riemann"])
    assert "no theorem riemann" in capsys.readouterr().err
