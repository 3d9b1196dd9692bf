"""Seats that can still win a game of Alhambra: bounds against every end of small games, and play that tests them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise, product

import pytest

from referee.games.alhambra import GAME, Options, State
from referee.games.alhambra.layout import Layout, index_of
from referee.games.alhambra.moves import Buy, Move, PlaceTile, RebuildAdd, RebuildRemove, ReserveTile
from referee.games.alhambra.options import LoopRule
from referee.games.alhambra.position import FREE, Phase
from referee.games.alhambra.scoring import award_type
from referee.games.alhambra.tiles import NAMES, bits_of, tile_set
from referee.games.game import Chance, Forced, ForcedPass, Over
from referee.harness import Shuffler, evenly
from referee_solver.alhambra import leads
from referee_solver.alhambra.endings import ends, lead, longest_after, longest_at_least, runs, widest
from referee_solver.alhambra.leads import after_actions
from referee_solver.leads import Decided, Open, decide
from tests.games.positions import DEAR_MARKET, number, position
from tests.sizes import campaign
from tests.solver.alhambra_endgames import CHEAP, TooMany, compare, endgame, finals, gap
from tests.solver.alhambra_leads import changed, eager, hold_against_play, midgame

# Against every end


@pytest.mark.long
@pytest.mark.parametrize(("seed", "positions"), [(2, 40), campaign(3, 220)])
def test_endgames(seed: int, positions: int) -> None:
    """In the last turn and after it, bounds and verdict are exact; before, they are sound."""
    counters = compare(random.Random(seed), positions)
    last = {name: count for name, count in counters.positions.items() if "open" not in name}
    assert {"action", "place", "row", "refill", "hand_out"} <= set(last)
    for name, count in last.items():
        assert counters.exact[name] == count, f"{name}: {count - counters.exact[name]} positions with wide bounds"
        assert counters.decided[name] == counters.truly[name]
    assert 0 < sum(counters.decided[name] for name in last) < sum(last.values())
    assert len(last) < len(counters.positions), "no position from before the last turn"


def test_a_small_budget_makes_bounds_wider_and_no_less_sound() -> None:
    rng = random.Random(4)
    wider = 0
    for _ in range(60):
        state = endgame(rng)
        try:
            ends_of, _ = finals(state, 300)
        except TooMany:
            continue
        for leader in range(state.seats):
            with_all, with_none = leads.bounds(state, leader), leads.bounds(state, leader, 0)
            for one, other in zip(with_all.gaps, with_none.gaps, strict=True):
                assert gap(ends_of, one.seat, leader) <= one.most <= other.most
                wider += one.most < other.most
    assert wider


# Against play


@pytest.mark.parametrize("seats", [2, 3, 4, 6])
def test_no_play_ends_beyond_the_bounds(seats: int) -> None:
    rng = random.Random(seats)
    decided = [hold_against_play(rng, midgame(rng, seats)) for _ in range(14)]
    assert any(decided)


# Bounds that are attained, before the last turn


def board(*names: str) -> dict[tuple[int, int], str]:
    """Tiles in a column below the fountain."""
    return {(0, place + 1): name for place, name in enumerate(names)}


def two_turns_left() -> State:
    """Seat 0 is on turn, and seat 1, which can pay for the whole market, after it; then the game ends stalled."""
    state: State = GAME.new(3, Options(max_turns=22), tile_set(CHEAP))
    known = state.tile_set
    state.phase, state.seat, state.turns = Phase.ACTION, 0, 20
    names: dict[int, list[str]] = {0: ["chambers-1", "chambers-2", "arcades-1"], 1: ["tower-1", "chambers-4"], 2: []}
    for seat, own in names.items():
        layout = Layout.of(known, {cell: known.numbers[name] for cell, name in board(*own).items()})
        state.layouts[seat] = layout
    state.reserves[1] = 1 << known.numbers["chambers-5"]
    state.market = [known.numbers[name] for name in ("pavilion-2", "garden-4", "tower-5", "seraglio-7")]
    for kind in (1, 9 + 3, 18 + 4, 27 + 6):  # each slot's tile exactly
        state.hands[1][kind] = 1
    state.row, state.bag, state.deck = [0], 0, bytearray(36)
    state.a_at, state.b_at, state.stack, state.turned = 5, 14, 20, 20
    state.scorings = 2
    return state


def test_a_bound_of_two_turns_is_attained() -> None:
    """The leader takes its arcades down; the other buys four tiles, and lays the chambers of its reserve."""
    state = two_turns_left()
    (found,) = (gap for gap in leads.bounds(state, leader=0).gaps if gap.seat == 1)
    number = state.tile_set.numbers
    events: list[Move] = [
        RebuildRemove((0, 3)),
        *(Buy(slot, (kind,)) for slot, kind in enumerate((1, 9 + 3, 18 + 4, 27 + 6))),
        RebuildAdd(number["chambers-5"], (0, 3)),
        *(PlaceTile(number[name], (0, y)) for name, y in (("pavilion-2", 4), ("garden-4", 5))),
        *(PlaceTile(number[name], (0, y)) for name, y in (("tower-5", 6), ("seraglio-7", 7))),
    ]
    for event in events:
        assert not state.check(event), event
        state.apply(event)
    assert state.phase is Phase.OVER
    assert state.scores == [(19 + 11) // 2, 16 + 17 + (19 + 11) // 2 + 20 + 21, 0]
    assert found.most == state.scores[1] - state.scores[0]


@pytest.mark.parametrize(("max_turns", "removed"), [(21, 1), (23, 1), (24, 2), (27, 3)])
def test_the_leader_can_take_down_a_tile_in_each_of_its_turns(max_turns: int, removed: int) -> None:
    """Alone with its three gardens, which are worth 20 points as long as there is one."""
    state = two_turns_left()
    state.options = Options(max_turns=max_turns).for_seats(3)
    own = {(0, 1): state.tile_set.numbers["garden-1"], (0, 2): state.tile_set.numbers["garden-2"]}
    own[0, 3] = state.tile_set.numbers["garden-3"]
    state.layouts = [Layout.of(state.tile_set, own), Layout(state.tile_set), Layout(state.tile_set)]
    state.reserves = [0, 0, 0]
    state.hands = [bytearray(36) for _ in range(3)]
    state.market = [state.tile_set.numbers[name] for name in ("pavilion-9", "pavilion-8", "pavilion-7", "pavilion-6")]
    most = {found.seat: found.most for found in leads.bounds(state, leader=0).gaps}
    pavilions = 16 if max_turns > 21 else 0  # seat 1 has no turn then, and no money
    assert most[1] == pavilions - (20 if removed < 3 else 0)


def test_the_neutral_player_can_be_given_what_costs_the_leader_its_place() -> None:
    """Towers: 4 of the leader, or 3 once it took one down; 3 of the neutral player, or 4 with the one just bought."""
    state: State = GAME.new(2, Options(max_turns=22), tile_set(CHEAP))
    towers = [state.tile_set.numbers[f"tower-{cost}"] for cost in range(1, 10)]
    state.phase, state.seat, state.turns = Phase.PLACE, 1, 20
    state.layouts[0] = Layout(state.tile_set, {index_of((0, y)): towers[y] for y in range(1, 5)})
    state.layouts[1] = Layout(state.tile_set, {index_of((0, 1)): towers[0]})
    state.neutral, state.bought = bits_of(towers[5:8]), 1 << towers[8]
    state.market = [state.tile_set.numbers[f"pavilion-{cost}"] for cost in range(1, 5)]
    state.bag, state.a_at, state.b_at, state.stack, state.turned = 0, 5, 14, 20, 20
    (found,) = leads.bounds(state, leader=0).gaps
    assert found.most == 6 - 13 + 16  # and all the pavilions of the market


# Parts


def test_more_tiles_are_never_worse_and_third_seats_are_at_their_worst() -> None:
    """Over all counts in the ranges of two seats and of two others."""
    rng = random.Random(7)
    for _ in range(120):
        ranges = [tuple(sorted(rng.choices(range(5), k=2))) for _ in range(4)]
        round_, type_ = rng.choice((1, 2, 3)), rng.randrange(6)
        (_, most), (least, _), *others = ranges
        worst = max(
            sum(line.each * ((0 in line.players) - (1 in line.players)) for line in award_type(round_, type_, counts))
            for counts in product(*(range(low, high + 1) for low, high in ranges))
        )
        assert lead(round_, type_, most, least, tuple(others)) == worst


def test_rebuilds_are_shared_among_the_types() -> None:
    """One tile that the leader takes down costs it one place, not one of each type."""
    none, one = [0] * 6, [1] * 6
    held = sum(range(16, 22))
    for rebuilds, taken in ((0, 0), (1, 21), (2, 41), (6, held), (9, held)):
        won = widest(3, most=none, added=one, additions=rebuilds, least=none, removals=0, others=[()] * 6)
        kept = widest(3, most=none, added=none, additions=0, least=one, removals=rebuilds, others=[()] * 6)
        assert (won, kept) == (taken, taken - held)


def test_walls_after_some_changes() -> None:
    rng = random.Random(9)
    kept = made = 0
    for _ in range(400):
        layout, spare = grown(rng)
        for rule in LoopRule:
            assert runs(layout)[:1] == ([layout.wall()[0]] if layout.wall()[0] else [])
            after, placed, rebuilds = changed(rng, layout, spare, rng.choice((1, 1, 2, 3)))
            longest, sides = after.wall()
            length = longest - (rule is LoopRule.ONE_LESS and longest == sides)
            least = longest_at_least(layout, len(placed), rebuilds, rule)
            most = longest_after(layout, placed, rebuilds)
            assert least <= length <= most
            kept += least > 0
            made += length == most
    assert kept > 10
    assert made > 10


def grown(rng: random.Random) -> tuple[Layout, list[int]]:
    known = tile_set()
    tiles = rng.sample(range(len(NAMES)), len(NAMES))
    layout = Layout(known)
    for _ in range(rng.choice((2, 5, 12, 25))):
        tile = tiles.pop()
        if cells := layout.placeable_cells(known.walls[tile]):
            layout = layout.placed(tile, index_of(rng.choice(cells)))
    return layout, tiles


# Verdicts


def test_a_game_that_is_over_is_decided_but_for_a_draw() -> None:
    state = position(phase=Phase.OVER, scores=[30, 41, 40])
    verdict = decide(state, leads)
    assert isinstance(verdict, Decided)
    assert verdict.leader == 1
    assert [(found.seat, found.most) for found in verdict.bounds.gaps] == [(0, -11), (2, -1)]
    state.scores = [30, 41, 41]
    assert isinstance(decide(state, leads), Open)


def test_the_last_tile_decides() -> None:
    """Seat 1 wins a tower in the hand-out: alone with two it is 21 points to 13, with one 17 to 17."""
    state = position(
        phase=Phase.HAND_OUT,
        seat=1,
        boards=[board("tower-12"), board("tower-11"), {}],
        won={1: ["tower-13-E"]},
        scores=[40, 35, 3],
        bag=[],
    )
    verdict = decide(state, leads)
    assert isinstance(verdict, Open)
    assert (verdict.leader, verdict.bounds.most) == (0, 21 - 13 - 5 + 1)  # and its wall
    state.scores[0] = 44
    assert isinstance(decide(state, leads), Open), "a draw is possible"
    state.scores[0] = 45
    assert isinstance(decide(state, leads), Decided)
    state.apply(ReserveTile(number("tower-13-E")))
    assert state.scores == [62, 52, 3]


@pytest.mark.parametrize(("rule", "length"), [(LoopRule.FULL, 12), (LoopRule.ONE_LESS, 11)])
def test_a_wall_that_closes_on_itself_counts_as_the_options_say(rule: LoopRule, length: int) -> None:
    """Seat 1 wins the fourth tile around its fountain."""
    state = position(
        phase=Phase.HAND_OUT,
        seat=1,
        boards=[{}, {(0, -1): "pavilion-2-NEW", (1, 0): "arcades-4-NES", (0, 1): "seraglio-3-ESW"}, {}],
        won={1: ["chambers-5-NSW"]},
        options=Options(loop_rule=rule),
    )
    (found, _) = leads.bounds(state, leader=0).gaps
    assert found.most == 16 + 18 + 17 + 19 + length
    state.apply(PlaceTile(number("chambers-5-NSW"), (-1, 0)))
    assert longest_at_least(state.layouts[1], 0, 0, rule) == length


def test_far_from_the_end_hardly_any_lead_suffices() -> None:
    """The leader may take everything down, another seat may build everything there is: 79 walls of the tiles' 80."""
    state = position(boards=[board("tower-10-W"), {}, {}])
    (first, *_) = leads.bounds(state, leader=0).gaps
    rounds = [part.points for part in first.parts if part.what.startswith("majorities")]
    assert rounds == [sum(range(base, base + 6)) for base in (1, 8, 16)]
    assert [part.points for part in first.parts if part.what.startswith("walls")] == [79] * 3
    state.scores[0] = 1 + first.most
    assert isinstance(decide(state, leads), Decided)
    state.scores[0] -= 1
    assert isinstance(decide(state, leads), Open)


def test_equal_cards_pay_together() -> None:
    market = ("garden-10", "", "tower-12", "chambers-11")
    state = position(market=market, bag=[], hands=[["denar-5", "denar-5"]])
    assert any(after.market[0] == FREE for after in after_actions(state))


def test_a_wall_is_no_longer_than_the_outline() -> None:
    """The eight tiles with three walls, and the fountain, have 24 walls, but nine cells have 20 sides outside."""
    steep = [name for name in NAMES if len(name.partition("-")[2].partition("-")[2]) == 3]
    state = position(market=steep[:4], bag=steep[4:], a_at=5, b_at=14)
    (found, _) = leads.bounds(state, leader=0).gaps
    assert len(steep) == 8
    assert [part.points for part in found.parts if part.what.startswith("walls")] == [20]


def test_a_round_whose_card_has_come_is_held_as_everything_lies() -> None:
    """Seat 1 has the only tower, seat 0 the only pavilion."""
    state = position(
        phase=Phase.REFILL, boards=[board("pavilion-8"), board("tower-12"), {}], market=["", *DEAR_MARKET[1:]], a_at=5
    )
    (before, _) = leads.bounds(state, leader=0).gaps
    state.to_score = (1,)
    (after, _) = leads.bounds(state, leader=0).gaps
    assert after.most - before.most == 6 - 1


def test_every_position_of_a_game_has_bounds_that_its_end_keeps() -> None:
    for seats in (2, 3, 5):
        states = list(game(seats, seed=seats))
        over = states[-1].pending()[0]
        assert isinstance(over, Over)
        verdicts = [isinstance(decide(state, leads), Decided) for state in states[-12:]]
        assert verdicts == sorted(verdicts), "once decided, always decided"
        assert verdicts[-1] == (over.places.count(1) == 1)
        for state in states[:: len(states) // 12]:
            for found in leads.bounds(state, leader=0).gaps:
                assert over.scores[found.seat] - over.scores[0] <= found.most
        assert any(ends(before) < ends(after) for before, after in pairwise(states))


def game(seats: int, seed: int) -> Iterator[State]:
    """Yield every position of a random game in which tiles are bought."""
    rng = random.Random(seed)
    state: State = GAME.new(seats, None, None)
    dealer = GAME.dealer(seats, state.options, state.tile_set, Shuffler(rng))
    while True:
        yield state.copy()
        match state.pending()[0]:
            case Over():
                return
            case Forced(who):
                state.apply(ForcedPass(who))
            case Chance():
                state.apply(dealer.outcome(state))
            case _:
                state.apply(evenly(rng, state, eager(list(state.legal_moves()))))
