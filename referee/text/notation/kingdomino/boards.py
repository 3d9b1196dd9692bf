"""The kingdoms at the end of a game of Kingdomino as one line, where nothing else of the game is known.

castle 2,2 placed 48 1,0 1,1 placed 5 0,1 0,2 discarded 9 | castle 0,4 placed 7 2,3 3,3 against KDO-14

The dominoes are written in any order, as nobody can tell from a kingdom in which they came; only where one is marked
with what it broke, those that came before it are written before it. Discarded dominoes may be left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from referee.games.kingdomino import State
from referee.games.kingdomino.dominoes import UNKNOWN
from referee.games.kingdomino.kingdom import Kingdom
from referee.games.kingdomino.options import Frame, kings_of
from referee.games.kingdomino.phases import Phase
from referee.text.notation.errors import Kind, NotationError
from referee.text.notation.grammar import place_of
from referee.text.notation.kingdomino.position import empty_kingdom, with_domino, write_kingdom
from referee.text.words.catalogue import Said


def write(state: State) -> str:
    """Return the line."""
    parts = []
    for kingdom, discarded in zip(state.kingdoms, state.discarded, strict=True):
        known = [str(number) for number in discarded if number != UNKNOWN]
        parts.append(" ".join((write_kingdom(kingdom, state), *(["discarded", *known] if known else []))))
    return " | ".join(parts)


def read(tree: Any, state: State) -> Iterator[Said]:
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
    """KDO-2, KDO-15: every seat gets ``each`` dominoes, and what does not lie in its kingdom was discarded."""
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

    What can be placed can be placed later as well, if the kingdom that comes of it is legal.
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
            yield Said("remark.in_kingdom", {"seat": seat, "n": lie, "all": each})


def _refuse(tree: Any, what: str, expected: str) -> NoReturn:
    raise NotationError(Kind.ILLEGAL, place_of(tree), what, expected)
