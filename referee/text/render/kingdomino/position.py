"""A position of Kingdomino as text: what lies on the table and every seat's kingdom."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from referee.games.game import Cell
from referee.games.kingdomino import State
from referee.games.kingdomino.dominoes import UNKNOWN
from referee.text.render.kingdomino.boxes import text
from referee.text.render.words import awaited, listed, seat_words, wrapped


def position_text(
    state: State,
    seats: Sequence[int] | None = None,
    *,
    names: Sequence[str] = (),
    awaits: bool = True,
    marked: Collection[Cell] = (),
    ascii_only: bool = False,
) -> str:
    """Write the whole position, or with ``seats`` the offer and these seats only; ends in a newline."""
    first = [awaited(state.pending()[0])] if awaits else []
    lines = [*wrapped([*first, *_table(state)]), "", *_seats(state, seats, names, marked, ascii_only)]
    return "\n".join(lines)


def boards_text(state: State, seats: Sequence[int] | None = None, *, ascii_only: bool = False) -> str:
    """Write the kingdoms of these seats; ends in a newline."""
    return "\n".join(_seats(state, seats, (), (), ascii_only))


def _seats(
    state: State, seats: Sequence[int] | None, names: Sequence[str], marked: Collection[Cell], ascii_only: bool
) -> Iterable[str]:
    for seat in range(state.seats) if seats is None else seats:
        yield from wrapped(_seat(state, seat, names))
        yield ""
        yield text(state.kingdoms[seat], state.domino_set, marked=marked, ascii_only=ascii_only)
        marked = ()


def _table(state: State) -> Iterable[str]:
    dominoes = state.domino_set.dominoes
    yield f"lines drawn: {state.lines} of {state.lines_in_all}; dominoes to come: {state.undrawn()}"
    if state.order and state.lines <= 1:
        yield f"first order: {listed(map(str, state.order))}"
    for number, seat in state.kings:
        yield f"to be placed: {dominoes[number - 1]}, seat {seat}"
    for number in state.offer:
        seat_on_it = state.claims.get(number)
        yield f"line: {dominoes[number - 1]}, {'free' if seat_on_it is None else f'seat {seat_on_it}'}"
    if state.removed:
        yield f"left over and removed: {listed(map(str, state.removed))}"


def _seat(state: State, seat: int, names: Sequence[str]) -> Iterable[str]:
    kingdom = state.kingdoms[seat]
    bonus = state.score(seat) - kingdom.score()
    points = f"{state.score(seat)} points" + (f", {bonus} of them bonus" if bonus else "")
    yield f"{seat_words(seat, names)}: {points}; largest area {kingdom.largest_area()}; crowns {kingdom.crowns()}"
    if kingdom.castle is not None:
        yield f"  castle in column {kingdom.castle[0]}, row {kingdom.castle[1]} of the frame"
    if named := [number for number in state.discarded[seat] if number != UNKNOWN]:
        yield f"  discarded: {listed(map(str, named))}"
