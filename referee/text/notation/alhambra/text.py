"""Alhambra's lines of text, as text.lark has them: events, a position, and the boards at the end of a game.

A position is read whole: every tile is in one place, every Alhambra is legal.

    action seat 1 start 0 turns 7 | scorings 0 due | piles 98 turned 5 | market tower-12 garden-9-E free pavilion-8
        | row denar-3 … | discard … | neutral … | bought | score 0 hand denar-1 … reserve won laid garden-8-NW 0,-1 | …

Pieces that are nowhere else are in the bag or in the deck, whose order is no part of a position. Where an arbiter let a
tile stand, the mark has the rules that the whole breaks now: laid garden-8-NW 0,-1 against ALH-A2.

The boards are all that is known of their game. The points before the last scoring are those of the scoring track, of
every seat or of none. With two seats the neutral player's tiles are the last part.

    before 31 laid tower-9-NE 1,0 garden-10-N -1,0 | before 30 laid tower-10-W 0,1 | neutral pavilion-8
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NoReturn

from referee.games.alhambra import GAME, State
from referee.games.alhambra.catalogue import CATALOGUE
from referee.games.alhambra.layout import Layout, on_board
from referee.games.alhambra.money import KINDS, SCORING_B, card_name, copies, scoring_cards_fit
from referee.games.alhambra.moves import (
    Buy,
    Event,
    GiveTile,
    Hand,
    MarketTiles,
    MoneyRow,
    NeutralTiles,
    PlaceTile,
    RebuildAdd,
    RebuildRemove,
    RebuildSwap,
    ReserveTile,
    TakeMoney,
)
from referee.games.alhambra.position import FREE, SLOTS, Phase
from referee.games.alhambra.scoring import place_points, score_position
from referee.games.alhambra.tiles import TYPES, tiles_of
from referee.games.alhambra.violations import AsPlayed, layout_violations
from referee.games.game import Ending, Violation
from referee.text.notation import grammar
from referee.text.notation.alhambra.words import describe
from referee.text.notation.grammar import cell, numbers, place_of, syntax_error, the_only
from referee.text.notation.violations import Kind, NotationError, either, illegal
from referee.text.words.catalogue import Said

TERMINALS: Final = {
    "TILE": "a tile, such as tower-8-NES",
    "CARD": "a card, such as denar-3",
    "SCORING": "scoring-A or scoring-B",
    "PHASE": "a phase, such as action",
}

RULES: Final = {rule.id: rule for rule in CATALOGUE}
CARDS: Final = {card_name(kind): kind for kind in range(SCORING_B + 1)}


def event(tree: Any, state: State) -> Event:
    """Return the event that is meant in this position. Raise ``NotationError``."""
    children = tree.children
    match tree.data:
        case "take":
            return TakeMoney(_any_order(children))
        case "buy":
            return _buy(tree, state)
        case "add":
            return RebuildAdd(tile_of(children[0], state), cell(children[1]))
        case "remove":
            return RebuildRemove(cell(children[0]))
        case "swap":
            return RebuildSwap(tile_of(children[0], state), cell(children[1]))
        case "place":
            return _place(tree, state)
        case "reserve":
            return ReserveTile(tile_of(children[0], state))
        case "give":
            return GiveTile(tile_of(children[0], state))
        case "neutral":
            return NeutralTiles(tiles_named(children, state))
        case "market":
            return MarketTiles(tiles_named(children, state))
        case "hand":
            return Hand(int(children[0]), cards_of(children[1:]))
        case "row":
            return MoneyRow(cards_of(children))
    raise AssertionError(tree.data)


def _buy(tree: Any, state: State) -> Buy:
    """Return the tile tells the slot."""
    name, slot, *cards = tree.children
    tile = tile_of(name, state)
    if tile not in state.market:
        away = Violation("ALH-C6", facts={"tile": name, "found": "not in the market"})
        raise illegal(place_of(tree), f"buy {name}", (away,), RULES)
    lies = state.market.index(tile)
    if slot is not None and int(slot) != lies + 1:
        raise syntax_error(slot, f"{name} in slot {slot}", f"slot {lies + 1}")
    return Buy(lies, _any_order(cards))


def _place(tree: Any, state: State) -> PlaceTile:
    """Return the placing of a tile, without a cell where there is one way to place it."""
    name, where = tree.children
    tile = tile_of(name, state)
    if where is not None:
        return PlaceTile(tile, cell(where))
    moves = [move for move in state.legal_moves() if isinstance(move, PlaceTile) and move.tile == tile]
    return the_only(tree, f"place {name}", moves, [describe(move, state) for move in moves])


def _any_order(tokens: Iterable[Any]) -> tuple[int, ...]:
    """Return the cards in the order of the game: cards taken or paid at once have none."""
    return tuple(sorted(cards_of(tokens)))


def cards_of(tokens: Iterable[Any]) -> tuple[int, ...]:
    """Return kinds of money, and of scoring cards."""
    return tuple(CARDS[token] for token in tokens)


def tiles_named(tokens: Iterable[Any], state: State) -> tuple[int, ...]:
    """Raise ``NotationError``."""
    return tuple(tile_of(token, state) for token in tokens)


def tile_of(token: Any, state: State) -> int:
    """Return the tile of a whole name: garden-10, garden-10-N and garden-10-W are three. Raise ``NotationError``."""
    tile = state.tile_set.numbers.get(token)
    if tile is None:
        kind = "-".join(token.split("-")[:2])
        like = [name for name in state.tile_set.names if name == kind or name.startswith(f"{kind}-")]
        raise syntax_error(token, f"there is no tile {token}", either(like))
    return tile


MOST_POINTS: Final = 0x7FFF
"""The most points that a text states for a seat."""


def write_position(state: State) -> str:
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
    return _words("laid", laid) + grammar.against(layout_violations(layout))


def _words(first: str, rest: Iterable[Any]) -> str:
    return " ".join((first, *map(str, rest)))


def _cards(counts: Sequence[int]) -> list[str]:
    return [card_name(kind) for kind, count in enumerate(counts) for _ in range(count)]


def _names(bits: int, state: State) -> list[str]:
    return [state.tile_set.names[tile] for tile in tiles_of(bits)]


def read_position(tree: Any, state: State) -> None:
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
    """Return a card out of the deck, which has the same number of copies of each (ALH-F4)."""
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
        grammar.check_against(mark, f"seat {seat}: laid", violations, GAME.waivable)
        layout = AsPlayed.of_layout(layout)
    elif violations:
        raise illegal(place_of(laid), f"seat {seat}: laid", violations, RULES)
    state.layouts[seat] = layout


def _check_phase(tree: Any, state: State) -> None:
    """Check that the awaited move or chance can happen."""
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


_LAST = 3


def _most_before(state: State) -> int:
    """Return a bound of two rounds: every first place (ALH-E1), every side that has a wall (ALH-B8)."""
    firsts = sum(place_points(round_, type_)[0] for round_ in range(1, _LAST) for type_ in range(len(TYPES)))
    return firsts + (_LAST - 1) * sum(mask.bit_count() for mask in state.tile_set.walls)


def write_boards(state: State) -> str:
    """Return the line; ``state`` is scored."""
    last, _ = score_position(state, _LAST)
    parts = []
    for layout, score, points in zip(state.layouts, state.scores, last, strict=True):
        before = f"before {score - points} " if state.scorings > 1 else ""
        parts.append(before + write_laid(layout, state))
    if state.seats == 2:
        parts.append(" ".join(("neutral", *(state.tile_set.names[tile] for tile in tiles_of(state.neutral)))))
    return " | ".join(parts)


def read_boards(tree: Any, state: State) -> tuple[Said, ...]:
    """Read into a state before the first event, then hold the last scoring; return what is missing.

    Raise ``NotationError``.
    """
    *layouts, neutral = tree.children
    if len(layouts) != state.seats:
        _refuse(tree, f"{len(layouts)} Alhambras", f"{state.seats}, one for each seat")
    told = [part.children[0] is not None for part in layouts]
    if any(told) != all(told):
        missing = told.index(False)
        _refuse(layouts[missing], f"no points before for seat {missing}", "before N for every seat, or for none")
    if (neutral is not None) != (state.seats == 2):
        what = "no part for the neutral player" if neutral is None else f"a neutral player with {state.seats} seats"
        _refuse(tree if neutral is None else neutral, what, "its tiles with two seats, and with two seats only")
    most = _most_before(state)
    for seat, part in enumerate(layouts):
        before, laid = part.children
        if before is not None:
            state.scores[seat] = up_to(before, most)
        read_laid(laid, seat, state)
    if neutral is not None:
        state.neutral = draw(neutral.children, state)
    last, _ = score_position(state, _LAST)
    state.scores = [before + points for before, points in zip(state.scores, last, strict=True)]
    state.scorings = _LAST if all(told) else 1
    state.phase = Phase.OVER
    return () if all(told) else (Said("remark.last_round"),)
