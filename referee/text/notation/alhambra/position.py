"""A position of Alhambra as one line. What is read is whole: every tile is in one place, every Alhambra is legal.

    action seat 1 start 0 turns 7 | scorings 0 due | piles 98 turned 5 | market tower-12 garden-9-E free pavilion-8
        | row denar-3 … | discard … | neutral … | bought | score 0 hand denar-1 … reserve won laid garden-8-NW 0,-1 | …

What is nowhere is in the bag or in the deck, whose order is no part of a position. Where an
arbiter let a tile stand, the mark has what the whole breaks now: laid garden-8-NW 0,-1 against ALH-A2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NoReturn

from referee.games.alhambra import GAME, State
from referee.games.alhambra.as_played import AsPlayed
from referee.games.alhambra.layout import Layout, on_board
from referee.games.alhambra.money import KINDS, card_name, copies
from referee.games.alhambra.phases import FREE, SLOTS, Phase
from referee.games.alhambra.piles import scoring_cards_fit
from referee.games.alhambra.tiles import tiles_of
from referee.games.alhambra.violations import layout_violations
from referee.games.game import Ending
from referee.text.notation import accepted
from referee.text.notation.alhambra.text import CARDS, RULES, tile_of
from referee.text.notation.errors import Kind, NotationError, illegal
from referee.text.notation.grammar import cell, numbers, place_of

MOST_POINTS: Final = 0x7FFF
"""That a text states for a seat."""


def write(state: State) -> str:
    """Return the line."""
    names = state.tile_set.names
    head = f"{state.phase.name.lower()} seat {state.seat} start {state.start} turns {state.turns}"
    piles = f"piles {state.stack} turned {state.turned}"
    piles += "".join(f" {card} {at}" for card, at in (("A", state.a_at), ("B", state.b_at)) if at >= 0)
    parts = [
        head + (" stalled" if state.ending is Ending.STALLED else ""),
        _words(f"scorings {state.scorings} due", state.to_score),
        piles,
        _words("market", ("free" if tile == FREE else names[tile] for tile in state.market)),
        _words("row", map(card_name, state.row)),
        _words("discard", _cards(state.discard)),
        _words("neutral", _names(state.neutral, state)),
        _words("bought", _names(state.bought, state)),
    ]
    for seat in range(state.seats):
        pieces = (
            f"score {state.scores[seat]}",
            _words("hand", _cards(state.hands[seat])),
            _words("reserve", _names(state.reserves[seat], state)),
            _words("won", _names(state.won[seat], state)),
            write_laid(state.layouts[seat], state),
        )
        parts.append(" ".join(pieces))
    return " | ".join(parts)


def write_laid(layout: Layout, state: State) -> str:
    """Return ``laid garden-8-NW 0,-1``."""
    laid = (f"{state.tile_set.names[tile]} {x},{y}" for (x, y), tile in layout.cells().items())
    return _words("laid", laid) + accepted.write(layout_violations(layout))


def _words(first: str, rest: Iterable[Any]) -> str:
    return " ".join((first, *map(str, rest)))


def _cards(counts: Sequence[int]) -> list[str]:
    return [card_name(kind) for kind, count in enumerate(counts) for _ in range(count)]


def _names(bits: int, state: State) -> list[str]:
    return [state.tile_set.names[tile] for tile in tiles_of(bits)]


def read(tree: Any, state: State) -> None:
    """Read into a state before the first event. Raise ``NotationError``."""
    phase, seat, start, turns, ending, scorings, piles, market, row, discard, neutral, bought, *seats = tree.children
    if len(seats) != state.seats:
        _refuse(tree, f"{len(seats)} scores and hands", f"{state.seats}, one for each seat")
    state.phase = Phase[phase.upper()]
    state.seat, state.start = (up_to(token, state.seats - 1) for token in (seat, start))
    state.turns = up_to(turns, state.options.max_turns)
    state.ending = Ending.RULES if ending is None else Ending.STALLED
    _scorings(scorings, state)
    _piles(piles, state)
    if len(market.children) != SLOTS:
        _refuse(market, f"{len(market.children)} slots", str(SLOTS))
    for slot, token in enumerate(market.children):
        if token.type == "TILE":
            state.market[slot] = tiles_of(draw((token,), state))[0]
    for token in row.children:
        state.row.append(_turn(token, state))
    state.row.sort()
    _turn_all(discard, state.discard, state)
    state.neutral = draw(neutral.children, state)
    state.bought = draw(bought.children, state)
    for number, part in enumerate(seats):
        _seat(part, number, state)
    _check_phase(tree, state)


def up_to(token: Any, most: int) -> int:
    """Return the number. Raise ``NotationError`` if it is more than ``most``."""
    if int(token) > most:
        _refuse(token, f"found {token}", f"at most {most}")
    return int(token)


def _scorings(tree: Any, state: State) -> None:
    """ALH-E7: rounds held, and those whose card was turned."""
    held, *due = tree.children
    state.scorings = up_to(held, 3)
    state.to_score = numbers(due)
    if state.to_score not in ((), (1,), (2,), (1, 2)):
        _refuse(tree, f"rounds {_words('', state.to_score).strip()} due", "some of 1 2, ascending")


def _piles(tree: Any, state: State) -> None:
    """ALH-F3: scoring cards where they can lie."""
    stack, turned, *above = tree.children
    cards = KINDS * copies(state.seats)
    state.stack = up_to(stack, cards)
    state.turned = up_to(turned, state.stack)
    for one in above:
        name = "a_at" if one.data == "above_a" else "b_at"
        if getattr(state, name) >= 0:
            _refuse(one, "a scoring card twice", "each once")
        setattr(state, name, up_to(one.children[0], state.turned))
    came = max(state.a_at, state.b_at) >= 0
    if came > bool(state.stack) or (
        state.stack and not scoring_cards_fit(state.cut, state.stack, state.turned, state.a_at, state.b_at)
    ):
        _refuse(tree, "scoring cards where they cannot lie", "A in the second of five piles, B in the fourth")


def draw(tokens: Iterable[Any], state: State) -> int:
    """Return tiles that are not yet elsewhere, out of the bag (ALH-F13). Raise ``NotationError``."""
    drawn = 0
    for token in tokens:
        bit = 1 << tile_of(token, state)
        if not state.bag & bit:
            _refuse(token, f"tile {token} twice", "each tile once")
        state.bag ^= bit
        drawn |= bit
    return drawn


def _turn(token: Any, state: State) -> int:
    """Return a card out of the deck, which has so many copies of each (ALH-F4)."""
    kind = CARDS[token]
    if not state.deck[kind]:
        _refuse(token, f"{token} once more", f"{copies(state.seats)} of each card")
    state.deck[kind] -= 1
    return kind


def _turn_all(tree: Any, counts: bytearray, state: State) -> None:
    for token in tree.children:
        counts[_turn(token, state)] += 1


def _seat(tree: Any, seat: int, state: State) -> None:
    score, hand, reserve, won, laid = tree.children
    state.scores[seat] = up_to(score, MOST_POINTS)
    _turn_all(hand, state.hands[seat], state)
    state.reserves[seat] = draw(reserve.children, state)
    state.won[seat] = draw(won.children, state)
    read_laid(laid, seat, state)


def read_laid(laid: Any, seat: int, state: State) -> None:
    """Read what is laid: an Alhambra (ALH-A1 to ALH-A8), or what an arbiter let stand. Raise ``NotationError``."""
    cells = {}
    *tiles, mark = laid.children
    for one in tiles:
        where = cell(one.children[1])
        if where in cells or where == (0, 0) or not on_board(where):
            _refuse(one, f"a tile on {where[0]},{where[1]}", "a free cell of the board")
        cells[where] = tiles_of(draw(one.children[:1], state))[0]
    layout = Layout.of(state.tile_set, cells)
    violations = layout_violations(layout)
    if mark is not None:
        accepted.check(mark, f"seat {seat}: laid", violations, GAME.waivable)
        layout = AsPlayed.of_layout(layout)
    elif violations:
        raise illegal(place_of(laid), f"seat {seat}: laid", violations, RULES)
    state.layouts[seat] = layout


def _check_phase(tree: Any, state: State) -> None:
    """What is awaited can happen."""
    phase = state.phase
    begun = bool(state.stack)
    fine = begun == (phase > Phase.FIRST_ROW) and (state.seats == 2 or phase is not Phase.NEUTRAL_START)
    fine = fine and len(state.row) <= SLOTS and (begun or not state.row)
    match phase:
        case Phase.MARKET | Phase.REFILL:
            fine = fine and FREE in state.market and state.bag != 0
        case Phase.ROW:
            fine = fine and len(state.row) < SLOTS and (any(state.deck) or any(state.discard))
        case Phase.PLACE:
            fine = fine and state.bought != 0
        case Phase.HAND_OUT:
            fine = fine and state.won[state.seat] != 0
        case Phase.NEUTRAL:
            fine = fine and state.neutral_draws() > 0
    if phase not in (Phase.ACTION, Phase.PLACE):
        fine = fine and state.bought == 0
    if phase is not Phase.HAND_OUT:
        fine = fine and not any(state.won)
    if not fine:
        _refuse(tree, f"phase {phase.name.lower()}", "cards, tiles and a seat that fit it")


def _refuse(tree: Any, what: str, expected: str) -> NoReturn:
    raise NotationError(Kind.ILLEGAL, place_of(tree), what, expected)
