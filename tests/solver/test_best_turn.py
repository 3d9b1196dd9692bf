"""The best turn: the same as by trying everything, and Z3 refutes that any is better."""

from __future__ import annotations

import random
from bisect import bisect_left

import pytest

from referee.games.alhambra.tiles import NAMES, parse_tile
from referee.games.game import Cell
from referee.wire.certificates.alhambra.claims import Add, Place, Remove, Reserve, Swap, TurnClaim, TurnMove
from referee_solver.alhambra import cuts
from referee_solver.alhambra.best_turn import NODE, BestTurn, _Search, best_turn
from referee_solver.alhambra.better_turn import Masks, Outcome, improvement
from referee_solver.z3run import DEFAULT_RLIMIT, Budget, OutOfBudget
from tests.games import oracle
from tests.games.layouts import HABITS, grow
from tests.games.oracle import HOME, START, Board
from tests.sizes import campaign, sample_of
from tests.solver import slow_turns

KINDS = {Add: "add", Remove: "remove", Swap: "swap", Place: "place", Reserve: "reserve"}


def position(seed: str, tiles: int, reserve: int, bought: int) -> tuple[Board, list[str], list[str]]:
    """Return a random legal layout of about ``tiles`` tiles, and others."""
    rng = random.Random(seed)
    names = rng.sample(NAMES, len(NAMES))
    board = grow(rng, names[: len(NAMES) - 8], rng.choice(list(HABITS.values())), tiles)[-1]
    return board, names[-reserve or len(names) :], names[-8 : -8 + bought]


def without_fountain(board: Board) -> dict[Cell, str]:
    return {cell: name for cell, name in board.items() if cell != HOME}


def masks(board: Board) -> Masks:
    return {cell: parse_tile(name).walls for cell, name in without_fountain(board).items()}


def walls(names: list[str]) -> list[int]:
    return [parse_tile(name).walls for name in names]


def words(moves: tuple[TurnMove, ...]) -> tuple[slow_turns.Move, ...]:
    return tuple((KINDS[type(move)], getattr(move, "tile", ""), getattr(move, "at", ())) for move in moves)


def played(board: Board, reserve: list[str], bought: list[str], moves: tuple[TurnMove, ...]) -> Board:
    """Return the layout after the moves, each of them judged by the oracle."""
    stock, hand = set(reserve), set(bought)
    for number, move in enumerate(moves):
        match move:
            case Add(tile, at):
                assert number == 0
                assert tile in stock
                assert not oracle.placing(board, tile, at)
                board = {**board, at: tile}
            case Swap(tile, at):
                assert number == 0
                assert tile in stock
                assert not oracle.swapping(board, tile, at)
                board = {**board, at: tile}
            case Remove(at):
                assert number == 0
                assert not oracle.removing(board, at)
                board = {cell: name for cell, name in board.items() if cell != at}
            case Place(tile, at):
                assert not oracle.placing(board, tile, at)
                hand.remove(tile)
                board = {**board, at: tile}
            case Reserve(tile):
                hand.remove(tile)
            case _:
                raise AssertionError(move)
    assert not hand
    return board


def replayed(layout: Masks, reserve: list[int], bought: list[int], outcome: Outcome) -> tuple[int, int]:
    """Wall and tiles after what Z3 found, each step judged by the oracle; tiles are named after their walls."""
    letters = {mask: "".join("NESW"[i] for i in range(4) if mask >> i & 1) for mask in range(15)}
    name = {mask: f"tower-1-{sides}" if sides else "tower-1" for mask, sides in letters.items()}
    board: Board = {**START, **{cell: name[mask] for cell, mask in layout.items()}}
    if rebuild := outcome.rebuild:
        if rebuild.mask is None:
            assert not oracle.removing(board, rebuild.at)
            board = {cell: tile for cell, tile in board.items() if cell != rebuild.at}
        else:
            assert rebuild.mask in reserve
            judge = oracle.swapping if rebuild.at in board else oracle.placing
            assert not judge(board, name[rebuild.mask], rebuild.at)
            board = {**board, rebuild.at: name[rebuild.mask]}
    assert len({number for number, _ in outcome.placed}) == len(outcome.placed)
    for number, cell in outcome.placed:
        assert not oracle.placing(board, name[bought[number]], cell)
        board = {**board, cell: name[bought[number]]}
    return oracle.longest_wall(board), len(board) - 1


SMALL = [(f"small {seed}", seed % 6, seed % 3, 1 + seed % 7 // 6) for seed in range(900)]
MEDIUM = [(f"medium {seed}", 4 + seed % 8, seed % 2, 1) for seed in range(80)]
LARGE = [(f"large {seed}", 14 + seed % 12, 1, 1) for seed in range(20)]


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "cases",
    [
        SMALL[:60] + MEDIUM[:8] + LARGE[:2],
        *(campaign(SMALL[::2]), campaign(SMALL[1::2]), campaign(MEDIUM + LARGE)),
    ],
    ids=["some", "small", "small too", "larger"],
)
def test_as_by_trying_everything(cases: list[tuple[str, int, int, int]]) -> None:
    for case in cases:
        board, reserve, bought = position(*case)
        moves, wall, tiles = slow_turns.best_turn(board, reserve, bought)
        found = best_turn(without_fountain(board), reserve, bought)
        assert (words(found.moves), found.wall, found.tiles) == (moves, wall, tiles), case
        assert (found.bound, found.proven) == (wall, True), case


@pytest.mark.timeout(300)
@pytest.mark.parametrize("boards", [6, campaign(30)])
def test_search_and_z3_agree_on_three_tiles(boards: int) -> None:
    for seed in range(boards):
        board, reserve, bought = position(f"three {seed}", 2 + seed % 15, seed % 3, 3)
        found = best_turn(without_fountain(board), reserve, bought)
        after = played(board, reserve, bought, found.moves)
        assert found.proven, seed
        assert (found.wall, found.tiles) == (oracle.longest_wall(after), len(after) - 1), seed


@pytest.mark.parametrize("seed", sample_of(range(12), 5))
def test_z3_improves_on_whatever_is_not_best(seed: int) -> None:
    board, reserve, bought = position(f"worse {seed}", 6 + seed, 2, 2)
    best = best_turn(without_fountain(board), reserve, bought)
    assert best.proven
    question = masks(board), walls(reserve), walls(bought)
    rebuilt = isinstance(best.moves[0], Add | Remove | Swap)
    assert improvement(*question, (best.wall, best.tiles, rebuilt), Budget(DEFAULT_RLIMIT)) is None
    assert best.wall
    for wall, tiles in ((best.wall - 1, 54), (best.wall, best.tiles - 1)):
        outcome = improvement(*question, (wall, tiles, False), Budget(DEFAULT_RLIMIT))
        assert outcome is not None
        assert (wall, tiles) < replayed(*question, outcome) <= (best.wall, best.tiles)


def test_a_rebuild_that_gains_nothing_is_not_best() -> None:
    board: Board = {**START, (0, -1): "tower-12"}
    question = masks(board), walls(["tower-11"]), walls(["garden-10"])
    outcome = improvement(*question, (0, 2, True), Budget(DEFAULT_RLIMIT))
    assert outcome is not None
    assert outcome.rebuild is not None
    assert improvement(*question, (0, 3, True), Budget(DEFAULT_RLIMIT)) is None
    plain = improvement(masks(board), [], walls(["garden-10"]), (0, 2, True), Budget(DEFAULT_RLIMIT))
    assert plain is not None
    assert plain.rebuild is None


def test_a_bought_tile_may_fill_the_gap_of_the_removed_one() -> None:
    layout = {(-1, 0): "chambers-8-NW", (-1, 1): "tower-11"}
    found = best_turn(layout, [], ["seraglio-3-ESW"])
    assert found == BestTurn((Remove((-1, 1)), Place("seraglio-3-ESW", (-1, 1))), 5, 2, 5, True)


def test_one_tile_to_a_cell() -> None:
    """Two tiles with the same walls for the gap of a removed one: together they would count twice."""
    layout = {(-1, 0): "chambers-8-NW", (-1, 1): "tower-11"}
    found = best_turn(layout, [], ["seraglio-3-ESW", "garden-6-ESW"])
    assert found.proven
    assert played({**START, **layout}, [], ["seraglio-3-ESW", "garden-6-ESW"], found.moves)
    best = slow_turns.best_turn({**START, **layout}, [], ["seraglio-3-ESW", "garden-6-ESW"])
    assert (words(found.moves), found.wall, found.tiles) == best


def test_no_tile_closes_a_pocket() -> None:
    """A ring but for one cell, which the tile would fit: it would make the wall longer and close a hole."""
    ring = {cell: f"tower-{n}" for n, cell in enumerate([(1, 0), (2, 0), (2, 1), (2, 2), (1, 2), (0, 2)], 1)}
    assert not oracle.placing({**START, **ring}, "garden-1-E", (0, 1)).keys() - {"ALH-A5"}
    assert "ALH-A5" in oracle.placing({**START, **ring}, "garden-1-E", (0, 1))
    found = best_turn(ring, [], ["garden-1-E"])
    assert Place("garden-1-E", (0, 1)) not in found.moves
    assert found.proven
    assert slow_turns.best_turn({**START, **ring}, [], ["garden-1-E"]) == (words(found.moves), found.wall, found.tiles)


def test_no_order_will_do() -> None:
    """Two tiles fit into a corridor and lengthen the wall. The inner one can be walked to over the outer one alone, and
    the outer one, if it comes first, shuts the cell of the inner one in.
    """
    arms = {(-1, 0): "tower-7-SW", (0, 1): "tower-1-EW", (2, 1): "tower-5-EW", (2, 0): "tower-6-NE"}
    bend = START | arms | {(0, 2): "tower-2-SW", (1, 2): "tower-3-NS", (2, 2): "tower-4-ES"}
    bought = ["garden-1-ESW", "garden-2-N"]
    filled = bend | {(1, 1): bought[0], (1, 0): bought[1]}
    assert slow_turns.legal(filled)
    found = best_turn(without_fountain(bend), [], bought)
    assert (words(found.moves), found.wall, found.tiles) == slow_turns.best_turn(bend, [], bought)
    assert found.proven
    assert found.wall < oracle.longest_wall(filled)


@pytest.mark.parametrize("seed", [16, 19, 78])
def test_a_pocket_that_only_several_tiles_close(seed: int) -> None:
    """Each of the tiles may be placed, and the wall would be longer with all of them, around a hole."""
    board, reserve, bought = position(f"p{seed}", 8 + seed % 12, 1, 2 + seed % 2)
    best = best_turn(without_fountain(board), reserve, bought)
    assert best.proven
    question = masks(board), walls(reserve), walls(bought)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuts, "pockets", lambda there: iter(()))
        outcome = improvement(*question, (best.wall, best.tiles, True), Budget(DEFAULT_RLIMIT))
    # Without the instances of the rule there is a better turn, and it is illegal.
    assert outcome is not None
    with pytest.raises(AssertionError):
        replayed(*question, outcome)


def test_nothing_to_do() -> None:
    assert best_turn({}, [], []) == BestTurn((), 0, 0, 0, True)


def test_a_rebuild_alone() -> None:
    found = best_turn({(0, -1): "tower-12"}, ["pavilion-2-NEW"], [])
    assert found == BestTurn((Add("pavilion-2-NEW", (0, -2)),), 3, 2, 3, True)


@pytest.mark.parametrize("seed", sample_of(range(6), 3))
def test_an_exhausted_budget_answers_with_a_bound(seed: int) -> None:
    board, reserve, bought = position(f"budget {seed}", 14, 2, 3)
    best = best_turn(without_fountain(board), reserve, bought)
    for rlimit in (0, 1, 20_000):
        found = best_turn(without_fountain(board), reserve, bought, rlimit=rlimit)
        after = played(board, reserve, bought, found.moves)
        assert not found.proven
        assert (found.wall, found.tiles) == (oracle.longest_wall(after), len(after) - 1)
        assert found.wall <= best.wall <= found.bound


@pytest.mark.parametrize("seed", range(3))
def test_the_first_of_the_best_turns_is_looked_for_within_the_budget(seed: int) -> None:
    """Results found before that are known all the same."""
    board, reserve, bought = position(f"first {seed}", 8, 1, 2)
    claim = TurnClaim(without_fountain(board), tuple(sorted(reserve)), tuple(sorted(bought)), ())
    best = best_turn(without_fountain(board), reserve, bought)

    def searched(layouts: int) -> _Search:
        search = _Search(claim, layouts * NODE)
        search.best()
        return search

    enough = bisect_left(range(20_000), 1, key=lambda layouts: searched(layouts).complete)
    assert searched(enough).left == -NODE, "not one layout more"
    found = best_turn(without_fountain(board), reserve, bought, rlimit=2 * enough * NODE)
    after = played(board, reserve, bought, found.moves)
    assert (found.wall, found.tiles) == (oracle.longest_wall(after), len(after) - 1) == (best.wall, best.tiles)
    assert found.bound == best.wall


@pytest.mark.parametrize("seed", range(4))
def test_z3_goes_on_where_the_search_stopped(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    board, reserve, bought = position(f"goes on {seed}", 8, 2, 2)
    best = best_turn(without_fountain(board), reserve, bought)
    monkeypatch.setattr("referee_solver.alhambra.best_turn.NODE", DEFAULT_RLIMIT // 5)  # two layouts
    found = best_turn(without_fountain(board), reserve, bought)
    after = played(board, reserve, bought, found.moves)
    assert (found.wall, found.tiles) == (oracle.longest_wall(after), len(after) - 1)
    assert (found.wall, found.tiles, found.bound, found.proven) == (best.wall, best.tiles, best.bound, True)


def test_the_answer_is_the_same_every_time() -> None:
    board, reserve, bought = position("again", 16, 3, 3)
    layout = without_fountain(board)
    turned = dict(reversed(layout.items()))
    assert best_turn(layout, reserve, bought) == best_turn(turned, reserve[::-1], bought[::-1])


def test_a_budget_of_nothing_is_no_budget() -> None:
    with pytest.raises(OutOfBudget):
        improvement({}, [], [0], (0, 0, False), Budget(0))


@pytest.mark.parametrize(
    ("layout", "reserve", "bought", "message"),
    [
        ({(0, -1): "tower-12"}, ["tower-12"], [], "tower-12"),
        ({(0, 0): "tower-12"}, [], [], "fountain"),
        ({(0, -1): "tower-x"}, [], [], "tower-x"),
        ({(0, -1): "tower-10-S"}, [], [], "ALH-A2"),
        ({(1, 1): "tower-12"}, [], [], "ALH-A"),
        ({(0, -1): "tower-12"}, [], ["garden-10", "garden-10"], "garden-10"),
    ],
)
def test_nonsense_is_refused(layout: dict[Cell, str], reserve: list[str], bought: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        best_turn(layout, reserve, bought)
    assert "\n" not in str(caught.value)
