"""A position of Roll & Write as text: the sheet's name, the round, completed types, and what every seat has."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from referee.games.game import Cell
from referee.games.rollwrite import TYPES, State
from referee.games.rollwrite.phases import Phase
from referee.games.rollwrite.position import Award
from referee.text.render.rollwrite.grid import ABBREVIATIONS, text
from referee.text.render.words import awaited, listed, seat_words, wrapped


def position_text(
    state: State,
    seats: Sequence[int] | None = None,
    *,
    names: Sequence[str] = (),
    awaits: bool = True,
    marked: Collection[Cell] = (),  # noqa: ARG001 - no rule of this game names cells
    ascii_only: bool = False,
) -> str:
    """Write the whole position, or with ``seats`` the dice and these seats only; ends in a newline."""
    first = [awaited(state.pending()[0])] if awaits else []
    lines = [*wrapped([*first, *_table(state)]), ""]
    for seat in range(state.seats) if seats is None else seats:
        drawn = text(state.sheet, state.built[seat], state.blue[seat], state.yellow[seat], ascii_only=ascii_only)
        lines += [*wrapped(_seat(state, seat, names)), "", drawn]
    return "\n".join(lines)


def boards_text(state: State, seats: Sequence[int] | None = None, *, ascii_only: bool = False) -> str:
    """Write the sheets of these seats, the completed types and the virtual players; ends in a newline."""
    lines = [*wrapped([_sheet(state), *_completed(state)]), ""]
    for seat in range(state.seats) if seats is None else seats:
        points = f"{seat_words(seat, ())}: {state.scores[seat]} points; coins {state.coins[seat]}"
        drawn = text(state.sheet, state.built[seat], (), (), ascii_only=ascii_only)
        lines += [*wrapped([points, f"  built: {_counts(state, state.counts(seat))}"]), "", drawn]
    return "\n".join(lines)


def _table(state: State) -> Iterable[str]:
    yield _sheet(state)
    yield f"round {state.round} of {state.rounds}; turns ended: {state.turns}"
    yield from _completed(state)


def _sheet(state: State) -> str:
    return state.sheet.provenance or f"sheet {state.sheet.name}"


def _completed(state: State) -> Iterable[str]:
    for award in state.awards:
        yield _award(award, against=state.is_against)
    scores = state.virtual_scores
    for player, counts in enumerate(state.virtual):
        points = f"{scores[player]} points; " if state.is_against else ""
        yield f"virtual {player}: {points}{_counts(state, counts)}"


def _award(award: Award, *, against: bool) -> str:
    seats = [f"seat {seat}" for seat in award.seats]
    players = [*seats, *(f"virtual {player}" for player in award.virtual)]
    # Of boards alone the round need not be known.
    when = f" in round {award.round}" if award.round else ""
    words = f"completed{when}: {TYPES[award.type]} by {' and '.join(players)}"
    paid = players if against else seats
    return words + (f", {award.each} points for {' and '.join(paid)}" if paid else "")


def _seat(state: State, seat: int, names: Sequence[str]) -> Iterable[str]:
    start = "; start seat" if seat == state.start and state.phase > Phase.START_SEAT else ""
    coins = f"coins {state.coins[seat]}, circled {state.circled[seat]} of {state.sheet.coin_track}"
    now = "" if state.phase is Phase.OVER else " now"
    yield f"{seat_words(seat, names)}: {state.scores[seat]} points{now}; {coins}{start}"
    yield f"  built: {_counts(state, state.counts(seat))}"
    blue, yellow = (listed(map(str, dice[seat])) for dice in (state.blue, state.yellow))
    yield f"  dice: blue {blue}, yellow {yellow}"


def _counts(state: State, counts: Sequence[int]) -> str:
    """Write what is built of each type, and how many boxes there are."""
    boxes = zip(ABBREVIATIONS, counts, state.sheet.boxes, strict=True)
    return ", ".join(f"{name} {count}/{most}" for name, count, most in boxes)
