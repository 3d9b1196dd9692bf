"""Kingdomino's lines of text, as text.lark has them: events, a position, and the boards at the end of a game.

A position is read whole: every domino is in one place, every kingdom is legal. A domino that an arbiter let lie is
marked: placed 7 2,3 3,3 against KDO-14.

    place seat 1 turns 4 | order 0 1 1 0 | kings 3=1 17=0 | offer 4 8=1 22 30 | removed
        | castle 2,2 placed 5 0,1 1,1 discarded 9 | castle 0,4 discarded

The boards are all that is known of their game. A kingdom does not tell in which order its dominoes came, so they are
written in any order; only those that came before a marked one are written before it. Discarded dominoes may be left
out.

    castle 2,2 placed 48 1,0 1,1 placed 5 0,1 0,2 discarded 9 | castle 0,4 placed 7 2,3 3,3 against KDO-14
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final, NoReturn

from referee.games.game import Cell, SetupError
from referee.games.kingdomino import GAME, DominoSet, State, domino_set
from referee.games.kingdomino.catalogue import CATALOGUE
from referee.games.kingdomino.dominoes import UNKNOWN, Domino, parse_half
from referee.games.kingdomino.kingdom import Kingdom, in_frame
from referee.games.kingdomino.moves import (
    ChooseDomino,
    DiscardDomino,
    Event,
    FirstOrder,
    Line,
    PlaceCastle,
    PlaceDomino,
)
from referee.games.kingdomino.options import Frame, all_kings, kings_of
from referee.games.kingdomino.position import Phase
from referee.text.notation import grammar
from referee.text.notation.grammar import cell, numbers, place_of, shown, syntax_error, the_only
from referee.text.notation.kingdomino.words import describe
from referee.text.notation.violations import Kind, NotationError, illegal
from referee.text.words.catalogue import Said

RULES: Final = {rule.id: rule for rule in CATALOGUE}
TERMINALS: Final = {
    "HALVES": "the halves of the domino, such as wheat/mine:3",
    "PHASE": "a phase: castle, first_order, line, place, choose, over",
}


def write_components(table: DominoSet) -> str:
    """Return ``wheat/wheat wheat/wheat forest/forest …``: left and right half of each domino, from number 1 on."""
    return " ".join(f"{domino.left}/{domino.right}" for domino in table.dominoes)


def read_components(text: str) -> DominoSet:
    """Raise ``SetupError``."""
    dominoes = []
    for number, word in enumerate(text.split(" "), start=1):
        left, slash, right = word.partition("/")
        if not slash:
            raise SetupError(f"domino {number} {shown(word)}", "expected left and right half, such as wheat/mine:3")
        dominoes.append(Domino(number, parse_half(left), parse_half(right)))
    return domino_set(tuple(dominoes))


def event(tree: Any, state: State) -> Event:
    """Return the event that is meant in this position. Raise ``NotationError``."""
    children = tree.children
    match tree.data:
        case "castle":
            return PlaceCastle(*cell(children[0]))
        case "choose":
            return ChooseDomino(_domino(children[0], state))
        case "place":
            return _place(tree, state)
        case "discard":
            return DiscardDomino(_domino(children[0], state))
        case "first_order":
            return FirstOrder(numbers(children))
        case "line":  # in any order: it is laid out by the numbers
            return Line(tuple(sorted(numbers(children))))
    raise AssertionError(tree.data)


def _place(tree: Any, state: State) -> PlaceDomino:
    """Return the placing of a domino, without cells where there is one way to place it."""
    domino, left, right = tree.children
    number = _domino(domino, state)
    if left is not None:
        return PlaceDomino(number, cell(left), cell(right))
    moves = [move for move in state.legal_moves() if isinstance(move, PlaceDomino) and move.domino == number]
    return the_only(tree, f"place {number}", moves, [describe(move, state) for move in moves])


def _domino(tree: Any, state: State) -> int:
    """Return its number; its halves have to be as written, if they are. Raise ``NotationError``."""
    number, halves = int(tree.children[0]), tree.children[1]
    if halves is not None and (domino := state.domino_set.get(number)) is not None:
        there = f"{domino.left}/{domino.right}"
        if halves != there:
            raise syntax_error(halves, f"domino {number} with {halves}", there)
    return number


def write_position(state: State) -> str:
    """Return the line."""
    claims = [f"{number}={state.claims[number]}" if number in state.claims else str(number) for number in state.offer]
    parts = [
        f"{state.phase.name.lower()} seat {state.seat} turns {state.turns}",
        _words("order", state.order),
        _words("kings", (f"{number}={seat}" for number, seat in state.kings)),
        _words("offer", claims),
        _words("removed", state.removed),
    ]
    for kingdom, discarded in zip(state.kingdoms, state.discarded, strict=True):
        parts.append(f"{write_kingdom(kingdom, state)} {_words('discarded', discarded)}")
    return " | ".join(parts)


def write_kingdom(kingdom: Kingdom, state: State) -> str:
    """Return ``castle 2,2 placed 5 0,1 1,1``."""
    castle = "nowhere" if kingdom.castle is None else _cell(kingdom.castle)
    return " ".join(("castle", castle, *_placed(kingdom, state)))


def _placed(kingdom: Kingdom, state: State) -> Iterator[str]:
    """Yield the dominoes, each marked with the rules that it broke when it came."""
    before = Kingdom(kingdom.frame_size, kingdom.castle)
    for number, left, right in kingdom.dominoes:
        domino = state.domino_set.dominoes[number - 1]
        mark = grammar.against(before.violations(domino, left, right))
        yield f"placed {number} {_cell(left)} {_cell(right)}{mark}"
        before = before.placed(domino, left, right)


def _words(first: str, rest: Any) -> str:
    return " ".join((first, *map(str, rest)))


def _cell(where: Cell) -> str:
    return f"{where[0]},{where[1]}"


def read_position(tree: Any, state: State) -> None:
    """Read into a state before the first event. Raise ``NotationError``."""
    phase, seat, turns, order, kings, offer, removed, *kingdoms = tree.children
    if len(kingdoms) != state.seats:
        _refuse(tree, f"{len(kingdoms)} kingdoms", f"{state.seats}, one for each seat")
    state.phase = Phase[phase.upper()]
    state.seat = _seat(seat, state)
    most = (state.lines_in_all + 1) * state.seats * kings_of(state.seats)
    if int(turns) > most:
        _refuse(turns, f"{turns} turns", f"at most {most}")
    state.turns = int(turns)
    state.order = numbers(order.children)
    state.kings = [_king(king, state) for king in kings.children]
    for each in offer.children:
        number, claimed_by = (int(each), None) if isinstance(each, str) else _king(each, state)
        state.offer.append(number)
        if claimed_by is not None:
            state.claims[number] = claimed_by
    state.removed = list(numbers(removed.children))
    for number, kingdom in enumerate(kingdoms):
        _kingdom(kingdom, number, state)
    _count(tree, state)
    _check_order(order, state)
    _check_phase(tree, state)


def _seat(token: Any, state: State) -> int:
    seat = int(token)
    if seat >= state.seats:
        _refuse(token, f"seat {seat}", f"0 to {state.seats - 1}")
    return seat


def _king(tree: Any, state: State) -> tuple[int, int]:
    return int(tree.children[0]), _seat(tree.children[1], state)


def _kingdom(tree: Any, seat: int, state: State) -> None:
    """KDO-14 to KDO-19: every domino where it could be placed after those before it, or where an arbiter let it lie."""
    castle, *placed, discarded = tree.children
    kingdom = empty_kingdom(castle, state)
    for one in placed:
        kingdom = with_domino(kingdom, one, seat, state)
    state.kingdoms[seat] = kingdom
    state.discarded[seat] = list(numbers(discarded.children))


def empty_kingdom(castle: Any, state: State) -> Kingdom:
    """Return the castle alone (KDO-16, KDO-17). Raise ``NotationError``."""
    where = None if castle.type == "NOWHERE" else cell(castle)
    if where is not None and (state.options.frame is not Frame.FIXED or not in_frame(state.options.size(), where)):
        _refuse(castle, f"castle {castle}", "a cell of a fixed frame")
    return Kingdom(state.options.size(), where)


def with_domino(kingdom: Kingdom, placed: Any, seat: int, state: State) -> Kingdom:
    """Return the kingdom with the domino, which is legal there or marked with the rules that it breaks.

    Raise ``NotationError``.
    """
    number, left, right = int(placed.children[0]), cell(placed.children[1]), cell(placed.children[2])
    domino = state.domino_set.get(number)
    if domino is None:
        _refuse(placed, f"domino {number}", "1 to 48")
    words, violations = f"seat {seat}: {domino} {_cell(left)}", kingdom.violations(domino, left, right)
    if (mark := placed.children[3]) is not None:
        grammar.check_against(mark, words, violations, GAME.waivable)
    elif violations:
        raise illegal(place_of(placed), words, violations, RULES)
    return kingdom.placed(domino, left, right)


def _count(tree: Any, state: State) -> None:
    """KDO-3, KDO-12: whole lines, each domino once; dominoes that are nowhere are unseen."""
    seen = [number for number, _ in state.kings] + state.offer + state.removed
    seen += [number for discarded in state.discarded for number in discarded]
    seen += [placed[0] for kingdom in state.kingdoms for placed in kingdom.dominoes]
    for number, times in Counter(seen).items():
        if times > 1 or state.domino_set.get(number) is None:
            _refuse(tree, f"domino {number}" + (" twice" if times > 1 else ""), "each of 1 to 48 at most once")
        state.unseen ^= 1 << number
    state.lines, rest = divmod(len(seen), state.line_size())
    if rest or state.lines > state.lines_in_all:
        _refuse(tree, f"{len(seen)} dominoes", f"up to {state.lines_in_all} lines of {state.line_size()}")
    if state.kings != sorted(state.kings) or state.offer != sorted(state.offer):
        _refuse(tree, "kings or the offer out of order", "ascending dominoes")


def _check_order(tree: Any, state: State) -> None:
    """KDO-4: known from the first line on."""
    known = state.phase > Phase.FIRST_ORDER
    declared = state.options.declared_order
    right = Counter(state.order) == Counter(all_kings(state.seats)) if known and not declared else None
    if not (state.order == declared if right is None else right):
        _refuse(tree, f"order {' '.join(map(str, state.order)) or 'unknown'}", "each king once, or as it was declared")


def _check_phase(tree: Any, state: State) -> None:
    """Check KDO-6 to KDO-11, KDO-17: the awaited move or chance can happen."""
    fixed = state.options.frame is Frame.FIXED
    castles = state.seat if state.phase is Phase.CASTLE else state.seats
    for seat, kingdom in enumerate(state.kingdoms):
        if (kingdom.castle is not None) != (fixed and seat < castles):
            _refuse(tree, f"castle of seat {seat}", "castles in fixed frames, by seats that had their turn")
    due = {seat for _, seat in state.kings[:1]}
    match state.phase:
        case Phase.CASTLE:
            fine = fixed and not state.lines
        case Phase.FIRST_ORDER:
            fine = not state.lines and not state.seat
        case Phase.LINE:
            fine = state.lines < state.lines_in_all and not state.offer
            fine = fine and bool(state.kings) == bool(state.lines) and state.seat in (due or {state.order[0]})
        case Phase.PLACE:
            fine = bool(state.kings) and state.seat in due
        case Phase.CHOOSE:
            fine = len(state.claims) < len(state.offer) == state.line_size()
            fine = fine and len(state.claims) + len(state.kings) < len(state.order)
            if state.lines == 1:
                fine = fine and state.seat == state.order[len(state.claims)]
        case _:
            fine = state.lines == state.lines_in_all and not state.kings and not state.offer
    if not fine:
        _refuse(tree, f"phase {state.phase.name.lower()}", "kings, an offer and a seat that fit it")


def _refuse(tree: Any, what: str, expected: str) -> NoReturn:
    raise NotationError(Kind.ILLEGAL, place_of(tree), what, expected)


def write_boards(state: State) -> str:
    """Return the line."""
    parts = []
    for kingdom, discarded in zip(state.kingdoms, state.discarded, strict=True):
        known = [str(number) for number in discarded if number != UNKNOWN]
        parts.append(" ".join((write_kingdom(kingdom, state), *(["discarded", *known] if known else []))))
    return " | ".join(parts)


def read_boards(tree: Any, state: State) -> Iterator[Said]:
    """Read into a state before the first event; return what was counted as discarded. Raise ``NotationError``."""
    if len(tree.children) != state.seats:
        _refuse(tree, f"{len(tree.children)} kingdoms", f"{state.seats}, one for each seat")
    each = state.lines_in_all * kings_of(state.seats)
    for seat, part in enumerate(tree.children):
        _board(part, seat, each, state)
    state.phase = Phase.OVER
    state.lines = state.lines_in_all
    return _counted(state, each)


def _board(tree: Any, seat: int, each: int, state: State) -> None:
    """KDO-2, KDO-15: every seat gets ``each`` dominoes, and those not in its kingdom were discarded."""
    castle, *placed, discarded = tree.children
    named = () if discarded is None else discarded.children
    if len(placed) + len(named) > each:
        _refuse(tree, f"seat {seat}: {len(placed) + len(named)} dominoes", f"at most {each}, as many as a seat gets")
    for token in (*(one.children[0] for one in placed), *named):
        _take(token, state)
    kingdom = empty_kingdom(castle, state)
    if kingdom.castle is None and state.options.frame is Frame.FIXED:
        what = 'the castle\'s column and row in its frame, or a header for frames without: [frame "relative"]'
        _refuse(castle, f"seat {seat}: castle nowhere", what)
    state.kingdoms[seat] = _built(kingdom, placed, seat, state)
    unknown = each - len(placed) - len(named)
    state.discarded[seat] = [*map(int, named), *[UNKNOWN] * unknown]


def _take(token: Any, state: State) -> None:
    """KDO-2: each domino once on all boards."""
    number = int(token)
    if state.domino_set.get(number) is None:
        _refuse(token, f"domino {number}", "1 to 48")
    if not state.unseen >> number & 1:
        _refuse(token, f"domino {number} twice", "each domino once, in one kingdom or among the discarded ones")
    state.unseen ^= 1 << number


def _built(kingdom: Kingdom, placed: Sequence[Any], seat: int, state: State) -> Kingdom:
    """Return the kingdom; where a domino touches nothing that fits yet, the next ones are placed first.

    A domino that can be placed can be placed later as well, if the resulting kingdom is legal.
    """
    waiting = list(placed)
    while waiting:
        later = []
        for one in waiting:
            try:
                kingdom = with_domino(kingdom, one, seat, state)
            except NotationError as error:
                if one.children[3] is not None:
                    raise
                later.append((one, error))
        if len(later) == len(waiting):
            raise later[0][1]
        waiting = [one for one, _ in later]
    return kingdom


def _counted(state: State, each: int) -> Iterator[Said]:
    for seat, discarded in enumerate(state.discarded):
        if UNKNOWN in discarded:
            lie = len(state.kingdoms[seat].dominoes)
            yield Said("remark.in_kingdom", {"player": seat, "n": lie, "all": each})
