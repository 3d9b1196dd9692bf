"""Placing and scoring against a slow checker that was written apart; the dominoes; kingdoms as values."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from referee.games.game import Cell, SetupError
from referee.games.kingdomino.dominoes import (
    DOMINOES,
    TERRAINS,
    Domino,
    DominoSet,
    Half,
    domino_set,
    parse_half,
)
from referee.games.kingdomino.kingdom import Kingdom
from tests.games.kingdomino_positions import DOMINO_SET, domino, kingdom, names, random_kingdom, slow
from tests.games.slow_kingdomino import SlowKingdom, sides
from tests.rules import Mutation
from tests.sizes import campaign

FRAMES: list[tuple[int, Cell | None]] = [
    (5, None), (5, (2, 2)), (5, (0, 0)), (5, (4, 1)), (7, None), (7, (3, 3)), (7, (6, 0)), (7, (2, 5)),
]  # fmt: skip

WILD = (-1 << 70, -300, -257, -256, -17, -16, -9, -8, -7, 7, 8, 9, 15, 16, 17, 240, 255, 256, 1 << 40)


def cells(rng: random.Random, taken: list[Cell]) -> tuple[Cell, Cell]:
    """Where somebody might try to put a domino: by far most pairs are nearly right."""
    near = rng.choice([side for cell in taken for side in sides(cell)])
    left = rng.choice([near, near, near, rng.choice(sides(near)), rng.choice(taken)])
    if rng.random() < 0.03:
        left = rng.choice(WILD), rng.choice((0, *WILD))
    x, y = left
    odd = [(x + 1, y + 1), (x, y), (x + 2, y), (-x, -y), near, (rng.choice(WILD), y), rng.choice(taken)]
    odd += [(x + rng.choice((-7, -5, 5, 7)), y), (x, y + rng.choice((-7, -5, 5, 7)))]
    right = rng.choice(odd) if rng.random() < 0.15 else rng.choice(sides(left))
    return (left, right) if rng.random() < 0.5 else (right, left)


def agree_on_placing(made: Kingdom, slowly: SlowKingdom, piece: Domino, left: Cell, right: Cell) -> bool:
    """Return True if it is legal; both must agree on that, and on every broken rule."""
    found = [violation.rule_id for violation in made.violations(piece, left, right)]
    assert len(found) == len(set(found))
    assert set(found) == slowly.faults(names(piece), left, right), (made.dominoes, piece, left, right)
    return not found


def agree_on_lists(made: Kingdom, slowly: SlowKingdom, piece: Domino) -> int:
    listed = made.placements(piece)
    assert listed == slowly.placements(names(piece)), (made.dominoes, piece)
    assert made.fits(piece) is bool(listed)
    return len(listed)


def agree_on_worth(made: Kingdom, slowly: SlowKingdom) -> None:
    assert made.score() == slowly.score()
    assert made.largest_area() == slowly.largest_area()
    assert made.crowns() == slowly.crowns()
    assert made.is_central() is slowly.is_central()
    found = [(TERRAINS[a.terrain], a.squares, a.crowns, list(a.cells)) for a in made.areas()]
    expected = sorted(slowly.areas(), key=lambda area: (TERRAINS.index(area[0]), area[3]))
    assert found == expected


def compare(rng: random.Random, kingdoms: int, placings: int) -> Iterator[bool]:
    """For random kingdoms some placings, the list of a domino, the areas and the points."""
    for _ in range(kingdoms):
        size, castle = rng.choice(FRAMES)
        made = random_kingdom(rng, rng.randint(0, 13 if size == 5 else 26), size, castle)
        slowly = slow(made)
        agree_on_worth(made, slowly)
        free = [piece for piece in DOMINOES if piece.number not in {number for number, _, _ in made.dominoes}]
        agree_on_lists(made, slowly, rng.choice(free))
        for _ in range(placings):
            piece = rng.choice(free)
            left, right = cells(rng, slowly.taken())
            if rng.random() < 0.2 and (places := made.placements(piece)):
                ax, ay, bx, by = rng.choice(places)
                left, right = ((ax, ay), (bx, by)) if rng.random() < 0.5 else ((bx, by), (ax, ay))
            yield agree_on_placing(made, slowly, piece, left, right)


@pytest.mark.parametrize(("seed", "kingdoms"), [(1, 150), campaign(2, 4_000)])
def test_placings_agree_with_the_slow_checker(seed: int, kingdoms: int) -> None:
    """The campaign has a hundred thousand cases."""
    verdicts = Counter(compare(random.Random(seed), kingdoms, 25))
    assert verdicts.total() == 25 * kingdoms
    assert min(verdicts.values()) > 2.5 * kingdoms


SLIPS = {
    "any half may touch for the other": Mutation(
        "kingdom.Kingdom.violations",
        "self._touch[half.terrain]",
        "(self._touch[domino.left.terrain] | self._touch[domino.right.terrain])",
    ),
    "the same in lists": Mutation(
        "kingdom.Kingdom._find_steps",
        "left_touches, right_touches = self._touch[left[0]] & room, self._touch[right[0]] & room",
        "left_touches = right_touches = (self._touch[left[0]] | self._touch[right[0]]) & room",
    ),
    "only the left half touches": Mutation(
        "kingdom.Kingdom._find_steps", "left_touches | right_touches >> STRIDE", "left_touches"
    ),
    "only the first half moves a relative frame": Mutation(
        "kingdom.Kingdom.placed", "windows[first] & windows[second]", "windows[first]"
    ),
    "an area forgets those that it does not join": Mutation("kingdom._joined", "apart.append(area)", "pass"),
    "taken cells may be covered": Mutation("kingdom.Kingdom.placed", "(_BITS[first] | _BITS[second])", "_BITS[first]"),
    "the castle has no touch": Mutation("kingdom.Kingdom.__init__", "(_NEAR[index_of(CASTLE)],)", "(0,)"),
}


@pytest.mark.parametrize("mutation", SLIPS.values(), ids=SLIPS)
def test_the_slow_checker_finds_a_slip(mutation: Mutation) -> None:
    """Some are those of other implementations."""
    with mutation.applied("referee.games.kingdomino"), pytest.raises(AssertionError):
        list(compare(random.Random(1), 150, 25))


def test_every_pair_of_cells_around_a_kingdom_agrees() -> None:
    """Nothing that is legal lies outside of what the random cases try."""
    rng = random.Random(3)
    for size, castle in FRAMES[:3]:
        made = random_kingdom(rng, 5, size, castle)
        slowly, piece = slow(made), domino(rng.choice((16, 22, 48)))
        near = range(-size, size + 1)
        legal = [
            (ax, ay, bx, by)
            for ax in near
            for ay in near
            for bx in range(ax - 1, ax + 2)
            for by in range(ay - 1, ay + 2)
            if agree_on_placing(made, slowly, piece, (ax, ay), (bx, by))
        ]
        assert made.placements(piece) == legal


def test_the_first_domino_has_24_encodings_and_12_pictures_if_its_halves_are_equal() -> None:
    assert len(Kingdom(5).placements(domino(48))) == 24
    assert len(Kingdom(5).placements(domino(1))) == 12
    assert len(Kingdom(5, (0, 0)).placements(domino(48))) == 8
    first = kingdom([(1, (0, 1), (0, 2))])
    assert first == kingdom([(1, (0, 2), (0, 1))])
    assert hash(first) == hash(kingdom([(1, (0, 2), (0, 1))]))
    assert kingdom([(48, (0, 1), (0, 2))]) != kingdom([(48, (0, 2), (0, 1))])


def test_every_placing_of_the_fixed_frame_is_one_of_the_relative_frame() -> None:
    rng = random.Random(4)
    for _ in range(200):
        fixed = random_kingdom(rng, rng.randint(0, 10), 5, rng.choice(((2, 2), (0, 0), (1, 3))))
        relative = kingdom(fixed.dominoes, castle=None)
        piece = domino(rng.randint(1, 48))
        assert set(fixed.placements(piece)) <= set(relative.placements(piece))


def test_kingdoms_are_values() -> None:
    before = kingdom([(1, (0, 1), (0, 2))])
    look, points = repr(before), before.placements(domino(48))
    after = before.placed(domino(48), (1, 0), (2, 0))
    assert repr(before) == look
    assert before.placements(domino(48)) == points
    assert [number for number, _, _ in after.dominoes] == [1, 48]
    assert after == kingdom([(48, (1, 0), (2, 0)), (1, (0, 1), (0, 2))]), "the order of placing is no part of the look"
    assert after != kingdom(after.dominoes, castle=None)
    assert after != "after"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((6,), "frame: expected 5 or 7 cells, got 6"),
        ((5, (5, 0)), "castle: expected column and row from 0 to 4, got 5, 0"),
        ((7, (0, -1)), "castle: expected column and row from 0 to 6, got 0, -1"),
    ],
)
def test_a_frame_that_there_is_not(arguments: Any, message: str) -> None:
    with pytest.raises(SetupError, match=message):
        Kingdom(*arguments)


# The dominoes


def test_the_default_set_has_the_squares_and_crowns_of_kingdomino() -> None:
    """Checksums of the published set."""
    halves = [half for piece in DOMINOES for half in (piece.left, piece.right)]
    squares = Counter(TERRAINS[half.terrain] for half in halves)
    crowns = Counter({name: sum(h.crowns for h in halves if TERRAINS[h.terrain] == name) for name in TERRAINS})
    assert squares == {"wheat": 26, "forest": 22, "lake": 18, "meadow": 14, "swamp": 10, "mine": 6}
    assert crowns == {"wheat": 5, "forest": 6, "lake": 6, "meadow": 6, "swamp": 6, "mine": 10}
    assert [piece.number for piece in DOMINOES] == list(range(1, 49))
    assert [str(DOMINOES[n - 1]) for n in (1, 12, 13, 19, 27, 40, 45, 48)] == [
        "1 wheat/wheat", "12 swamp/swamp", "13 wheat/forest", "19 wheat:1/forest", "27 forest:1/wheat",
        "40 mine:1/wheat", "45 mine:2/wheat", "48 wheat/mine:3",
    ]  # fmt: skip


def test_dominoes_are_numbered_by_what_they_are_worth() -> None:
    """Numbers ascend with the crowns, so that a better domino makes its owner choose later."""
    crowns = [piece.left.crowns + piece.right.crowns for piece in DOMINOES]
    assert crowns == sorted(crowns)


@pytest.mark.parametrize("name", ["wheat", "mine:3", "swamp:1"])
def test_a_half_is_read_as_it_is_written(name: str) -> None:
    assert str(parse_half(name)) == name


@pytest.mark.parametrize("name", ["", "sea", "wheat:", "wheat:0", "wheat:4", "wheat:1:1", "Wheat", "wheat:01"])
def test_what_is_no_half_is_refused(name: str) -> None:
    with pytest.raises(SetupError, match="expected terrain or terrain:crowns"):
        parse_half(name)


@pytest.mark.parametrize(
    ("dominoes", "message"),
    [
        (DOMINOES[:-1], "expected the numbers 1 to 48"),
        (DOMINOES[::-1], "expected the numbers 1 to 48"),
        ((*DOMINOES[:-1], Domino(48, Half(6, 0), Half(0, 0))), "domino 48: expected terrain 0 to 5"),
        ((*DOMINOES[:-1], Domino(48, Half(0, 0), Half(0, 4))), "0 to 3 crowns, got 0 and 4"),
    ],
)
def test_a_set_that_nobody_can_play_with(dominoes: tuple[Domino, ...], message: str) -> None:
    with pytest.raises(SetupError, match=message):
        DominoSet(dominoes)


def test_equal_sets_are_one_object() -> None:
    assert domino_set((*DOMINOES,)) is domino_set(DOMINOES)
    assert [DOMINO_SET.get(number) for number in (0, 49, -1, 1 << 70)] == [None] * 4
