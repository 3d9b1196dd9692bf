"""Small endgames of Alhambra, and every way in which they can end: played out with the engine, one event at a time.

It knows nothing of bounds. Where the engine lists less than the rules allow, it adds the rest: payments with cards to
spare (ALH-C2), which change who is the richest in the hand-out.

    python -m tests.solver.alhambra_endgames [POSITIONS [SEED]]

compares the bounds of POSITIONS more positions with all their ends.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

from referee.games.alhambra import GAME, Options, State
from referee.games.alhambra.layout import FOUNTAIN, Layout, index_of
from referee.games.alhambra.money import KINDS, SCORING_A, SCORING_B, VALUE, VALUES, Currency, copies, scoring_cards_fit
from referee.games.alhambra.moves import Buy, MoneyRow
from referee.games.alhambra.options import EndRule, LoopRule
from referee.games.alhambra.position import FREE, SLOTS, Phase
from referee.games.alhambra.scoring import places
from referee.games.alhambra.tiles import NAMES, TYPES, bits_of, tile_set
from referee.games.alhambra.violations import AsPlayed, flood
from referee.games.game import Decision, Ending, Forced, ForcedPass, Over
from referee.games.results import Contest
from referee_solver.alhambra import leads
from referee_solver.alhambra.endings import ends
from referee_solver.leads import Decided, decide
from tests.solver.endings import PLAIN

Scores = tuple[int, ...]

SHUFFLED = tuple(random.Random(1).sample(NAMES, len(NAMES)))
CHEAP = tuple(f"{type_}-{cost}" for type_ in TYPES for cost in range(1, VALUES + 1))
"""Tiles that one card pays for, none with a wall."""

PHASES = (Phase.ACTION, Phase.ACTION, Phase.PLACE, Phase.ROW, Phase.REFILL, Phase.HAND_OUT)


TURN = (Phase.ACTION, Phase.PLACE)
"""In the others the turn is already counted."""


class TooMany(Exception):
    """More states than were to be looked at."""


def finals(state: State, most: int) -> tuple[set[Scores], bool]:
    """The scores of every end that can be reached, and whether there may be another turn. Raises ``TooMany``."""
    seen = {state.encode()}
    todo = [state]
    found = set()
    goes_on = False
    while todo:
        here = todo.pop()
        goes_on |= here.phase is Phase.ACTION and here.turns > state.turns - (state.phase not in TURN)
        if len(seen) > most:
            raise TooMany
        (awaited,) = here.pending()
        if isinstance(awaited, Over):
            found.add(awaited.scores)
            continue
        for event in _events(here, awaited):
            after = here.copy()
            after.apply(event)
            if (key := after.encode()) not in seen:
                seen.add(key)
                todo.append(after)
    return found, goes_on


def _events(state: State, awaited: Any) -> Iterator[Any]:
    if isinstance(awaited, Forced):
        yield ForcedPass(awaited.seat)
    elif isinstance(awaited, Decision):
        yield from state.legal_moves()
        if state.phase is Phase.ACTION:
            yield from _spendthrift(state)
    elif state.phase is Phase.ROW and ends(state):  # no money is taken any more
        yield from _rows(state)
    else:
        for outcome, _ in state.chance_outcomes():
            yield outcome


def _spendthrift(state: State) -> Iterator[Buy]:
    """Payments with cards to spare."""
    listed = set(state.legal_moves())
    hand = state.hands[state.seat]
    for slot, tile in enumerate(state.market):
        if tile == FREE:
            continue
        first = state.options.slot_currencies[slot] * VALUES
        kinds = range(first, first + VALUES)
        for counts in product(*(range(hand[kind] + 1) for kind in kinds)):
            cards = tuple(kind for kind, count in zip(kinds, counts, strict=True) for _ in range(count))
            if sum(VALUE[kind] for kind in cards) >= state.tile_set.costs[tile] and Buy(slot, cards) not in listed:
                yield Buy(slot, cards)


def _rows(state: State) -> Iterator[MoneyRow]:
    """For each choice of scoring cards and of the places where they come, one row of any cards."""
    deck, discard = bytearray(state.deck), bytearray(state.discard)
    cards: list[int] = []
    while len(cards) < SLOTS - len(state.row) and (any(deck) or any(discard)):
        if not any(deck):
            deck, discard = discard, bytearray(KINDS)
        cards.append(next(kind for kind in range(KINDS) if deck[kind]))
        deck[cards[-1]] -= 1
    for scoring in ((), (SCORING_A,), (SCORING_B,), (SCORING_A, SCORING_B)):
        for at in combinations(range(len(cards) + len(scoring)), len(scoring)):
            row = list(cards)
            for place, kind in zip(at, scoring, strict=True):
                row.insert(place, kind)
            if not state.check(MoneyRow(tuple(row))):
                yield MoneyRow(tuple(row))


# Positions: few tiles and cards anywhere, and the last turns


def endgame(rng: random.Random, illegal: float = 0.1) -> State:
    """Return a position with few continuations, of any number of seats and any options; legal, if seldom met.

    ``illegal``: how often something stands in an Alhambra that breaks the rules of building.
    """
    seats = rng.choice((2, 2, 3, 3, 4, 5, 6))
    phase = rng.choice(PHASES)
    left = rng.choice((1, 1, 1, 2)) if rng.random() < 0.5 else 300
    turns = 20
    known = tile_set(rng.choice((NAMES, SHUFFLED, CHEAP)))
    options = Options(
        max_turns=turns + left,
        loop_rule=(LoopRule.FULL, LoopRule.ONE_LESS)[rng.random() < 0.3],
        end_rule=(EndRule.MARKET_UNFILLED, EndRule.BAG_EMPTY)[rng.random() < 0.3],
        slot_currencies=tuple(rng.sample(list(Currency), 4)),
    )
    state = GAME.new(seats, options, known)
    state.phase, state.seat, state.turns = phase, rng.randrange(seats), turns
    tiles = rng.sample(range(len(NAMES)), len(NAMES))
    for seat in range(seats):
        state.layouts[seat] = _grown(rng, state, tiles, rng.choice((0, 1, 2, 4, 7)))
        if rng.random() < illegal:
            state.layouts[seat] = _with_something_illegal(rng, state.layouts[seat], tiles)
        state.reserves[seat] = bits_of([tiles.pop() for _ in range(rng.choice((0, 0, 0, 1)))])
    if seats == 2:
        state.neutral = bits_of([tiles.pop() for _ in range(rng.randint(0, 8))])
    _lay_out(rng, state, tiles)
    _deal(rng, state)
    state.scores = [rng.randint(0, 40) for _ in range(seats)]
    return state


def _grown(rng: random.Random, state: State, tiles: list[int], count: int) -> Layout:
    layout = Layout(state.tile_set)
    for _ in range(count):
        tile = tiles.pop()
        if cells := layout.placeable_cells(state.tile_set.walls[tile]):
            layout = layout.placed(tile, index_of(rng.choice(cells)))
    return layout


def _with_something_illegal(rng: random.Random, layout: Layout, tiles: list[int]) -> Layout:
    """After a few placements, swaps and removals, whatever the walls and the cells shut in and cut off."""
    made: Layout = AsPlayed.of_layout(layout)
    for _ in range(rng.choice((1, 1, 2, 3))):
        kind = rng.choice(("place", "place", "swap", "remove")) if made.tiles else "place"
        if kind == "place":
            made = made.placed(tiles.pop(), rng.choice(_beside(made)))
        elif kind == "swap":
            made = made.swapped(tiles.pop(), rng.choice(sorted(made.tiles)))
        else:
            rest = made.removed(rng.choice(sorted(made.tiles)))
            if rest.occupied == flood(FOUNTAIN, rest.occupied):  # ALH-A3 is never waived
                made = rest
    return made


def _beside(layout: Layout) -> list[int]:
    """Empty cells beside a tile or the fountain."""
    steps = index_of((0, 1)) - index_of((0, 0)), 1
    taken = {index_of((0, 0)), *layout.tiles}
    return sorted({cell + way * step for cell in taken for step in steps for way in (-1, 1)} - taken)


def _lay_out(rng: random.Random, state: State, tiles: list[int]) -> None:
    """Market, bag and tiles in hand, as they can be in the phase."""
    if state.phase is Phase.HAND_OUT:
        for _ in range(rng.randint(1, 4)):
            state.won[rng.randrange(state.seats)] |= 1 << tiles.pop()
        state.seat = next(seat for seat in range(state.seats) if state.won[seat])
        return
    few = rng.randint(0, 2)
    state.bag = bits_of([tiles.pop() for _ in range(few)])
    state.market = [tiles.pop() for _ in range(SLOTS)]
    gone = rng.randint(0, 2) if state.phase is Phase.ACTION else rng.randint(1, 3)
    for slot in rng.sample(range(SLOTS), gone):
        state.market[slot] = FREE
    if state.phase is Phase.PLACE or (state.phase is Phase.ACTION and rng.random() < 0.3):
        state.bought = bits_of([tiles.pop() for _ in range(rng.randint(1, 2))])
    if state.phase is Phase.REFILL:
        state.bag |= 1 << tiles.pop()
        state.to_score = rng.choice(((), (), (1,), (2,), (1, 2)))


def _deal(rng: random.Random, state: State) -> None:
    """A few cards each, and somewhere the scoring cards."""
    cards = [kind for kind in range(KINDS) for _ in range(copies(state.seats))]
    rng.shuffle(cards)
    for hand in state.hands:
        for _ in range(rng.randint(0, 3)):
            hand[cards.pop()] += 1
    state.row = sorted(cards.pop() for _ in range(rng.choice((0, 1, 2)) if state.phase is Phase.ROW else 2))
    state.deck, state.discard = bytearray(KINDS), bytearray(KINDS)
    for _ in range(rng.choice((1, 2)) if state.phase is Phase.ROW else rng.choice((0, 1, 2))):
        (state.deck if rng.random() < 0.7 else state.discard)[cards.pop()] += 1
    state.stack = rng.randint(5, 20)
    while True:
        state.turned = rng.randint(0, state.stack)
        state.a_at, state.b_at = (rng.choice((-1, rng.randint(0, state.turned))) for _ in range(2))
        if scoring_cards_fit(state.cut, state.stack, state.turned, state.a_at, state.b_at):
            break
    if (1 in state.to_score and state.a_at < 0) or (2 in state.to_score and state.b_at < 0):
        state.to_score = ()
    state.scorings = (state.a_at >= 0 and 1 not in state.to_score) + (state.b_at >= 0 and 2 not in state.to_score)


# The comparison


@dataclass
class Counters:
    """The numbers of comparisons."""

    positions: Counter[str]
    exact: Counter[str]
    decided: Counter[str]
    truly: Counter[str]


def gap(ends: set[Scores], seat: int, leader: int) -> int:
    """Return the most that the seat ends ahead."""
    return max(scores[seat] - scores[leader] for scores in ends)


def winners_of(scores: Scores, contest: Contest = PLAIN) -> tuple[int, ...]:
    """Return the seats on the first place."""
    result = contest.result(len(scores), [Over(Ending.RULES, scores, places(scores))])
    assert result is not None
    return result.winners


def winner(ends: set[Scores], contest: Contest = PLAIN) -> int | None:
    """Return the seat that ends alone on the first place in every one."""
    first = {winners_of(scores, contest) for scores in ends}
    (seats, *others) = first
    return seats[0] if not others and len(seats) == 1 else None


def compare(
    rng: random.Random,
    positions: int,
    most: int = 2000,
    *,
    illegal: float = 0.1,
    contest: Callable[[random.Random, int], Contest] = lambda _, __: PLAIN,
) -> Counters:
    """Raise ``AssertionError`` for a bound that is too small, or a game wrongly found decided.

    ``contest``: at random, for a number of seats.
    """
    counters = Counters(Counter(), Counter(), Counter(), Counter())
    while sum(counters.positions.values()) < positions:
        state = endgame(rng, illegal)
        try:
            ends_of, goes_on = finals(state, most)
        except TooMany:
            continue
        assert not (ends(state) and goes_on), f"{describe(state)}: this need not be the last turn"
        if state.phase is not Phase.ACTION and state.seats > 2:
            assert ends(state) or goes_on, f"{describe(state)}: this is the last turn"
        compare_one(state, ends_of, counters, contest(rng, state.seats))
    return counters


def compare_one(state: State, ends_of: set[Scores], counters: Counters, contest: Contest) -> None:
    """Every pair of seats, and the verdict. Raises ``AssertionError``."""
    name = state.phase.name.lower() + ("" if ends(state) else ", open")
    counters.positions[name] += 1
    tight = True
    for leader in range(state.seats):
        for found in leads.bounds(state, leader).gaps:
            true = gap(ends_of, found.seat, leader)
            assert true <= found.most, f"{describe(state)}: seat {found.seat} ends {true} ahead of {leader}: {found}"
            tight &= true == found.most
    counters.exact[name] += tight
    verdict = decide(state, leads, out=contest.out, points_off=contest.points_off)
    won = winner(ends_of, contest)
    if isinstance(verdict, Decided):
        assert won == verdict.leader, f"{describe(state)}: {verdict.leader} need not win"
        counters.decided[name] += 1
    counters.truly[name] += won is not None


def describe(state: State) -> str:
    """Describe the position for a person who has to find it again."""
    return f"{state!r} {state.encode().hex()}"


def main(arguments: Sequence[str]) -> None:
    """Prints how many there were of each kind, how many had exact bounds, and how many were decided."""
    positions, seed = (int(each) for each in (*arguments, *("1000", "1")[len(arguments) :]))
    counters = compare(random.Random(seed), positions)
    print(f"{'phase':<16}{'positions':>10}{'exact':>8}{'found decided':>15}{'decided':>9}")
    for name, count in sorted(counters.positions.items()):
        print(f"{name:<16}{count:>10}{counters.exact[name]:>8}{counters.decided[name]:>15}{counters.truly[name]:>9}")
    sums = [each.total() for each in (counters.positions, counters.exact, counters.decided, counters.truly)]
    print("{:<16}{:>10}{:>8}{:>15}{:>9}".format("all", *sums))


if __name__ == "__main__":
    main(sys.argv[1:])
