"""Roll & Write on paper: a seat's sheet as text or as SVG, a position as text. Judges nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from referee.games.game import Cell
from referee.games.rollwrite import TYPES, Sheet, State
from referee.games.rollwrite.position import Award, Phase
from referee.games.rollwrite.sheet import DICE, FACES, cells_of, index_of, sheet
from referee.text.render.drawing import (
    COLOURS,
    HEAD,
    INK,
    PALE,
    awaited,
    cells_drawn,
    definitions,
    listed,
    picture,
    player_words,
    words,
    wrapped,
)

ABBREVIATIONS: Final = tuple(type_[:3] for type_ in TYPES)

_WIDTH_TEXT: Final = 7
"""Characters of a cell."""
_LABEL: Final = 13
"""Characters of a row's number and its dice."""
_DIE_TEXT: Final = "●"


def cell_at(sheet: Sheet, row: int, column: int) -> tuple[int, int]:
    """Return what the blue and the yellow die show for a cell of the printed sheet; rows and columns count from 0."""
    return (row + 1, column + 1) if sheet.rows_are == DICE[0] else (column + 1, row + 1)


def text(sheet: Sheet, built: int, blue: tuple[int, ...], yellow: tuple[int, ...], *, ascii_only: bool = False) -> str:
    """Write the types as the sheet has them, ``[tow]`` a built tower; ``●`` a die. Ends in a newline.

    Six rows of six cells, with their dice above and on the left.
    """
    along, across = (blue, yellow) if sheet.rows_are == DICE[0] else (yellow, blue)
    die = "*" if ascii_only else _DIE_TEXT
    columns = DICE[1 - DICE.index(sheet.rows_are)]
    lines = [
        " " * _LABEL + "".join(f"{die * across.count(value):^{_WIDTH_TEXT}}" for value in range(1, FACES + 1)),
        f"{columns:>{_LABEL}}" + "".join(f"{value:^{_WIDTH_TEXT}}" for value in range(1, FACES + 1)),
    ]
    for row in range(FACES):
        label = f"{sheet.rows_are:>{_LABEL - 5}} {row + 1} {die * along.count(row + 1):<2}"
        lines.append(label + "".join(_cell_text(sheet, built, cell_at(sheet, row, column)) for column in range(FACES)))
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _cell_text(sheet: Sheet, built: int, cell: tuple[int, int]) -> str:
    name = ABBREVIATIONS[sheet.type_at(*cell)]
    return f"{f'[{name}]' if built >> index_of(*cell) & 1 else name:^{_WIDTH_TEXT}}"


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
        points = f"{player_words(seat)}: {state.scores[seat]} points; coins {state.coins[seat]}"
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
        yield f"virtual {player + 1}: {points}{_counts(state, counts)}"


def _award(award: Award, *, against: bool) -> str:
    seats = [player_words(seat) for seat in award.seats]
    players = [*seats, *(f"virtual {player + 1}" for player in award.virtual)]
    # Boards alone need not say the round.
    when = f" in round {award.round}" if award.round else ""
    words = f"completed{when}: {TYPES[award.type]} by {' and '.join(players)}"
    paid = players if against else seats
    return words + (f", {award.each} points for {' and '.join(paid)}" if paid else "")


def _seat(state: State, seat: int, names: Sequence[str]) -> Iterable[str]:
    start = "; start seat" if seat == state.start and state.phase > Phase.START_SEAT else ""
    coins = f"coins {state.coins[seat]}, circled {state.circled[seat]} of {state.sheet.coin_track}"
    now = "" if state.phase is Phase.OVER else " now"
    yield f"{player_words(seat, names)}: {state.scores[seat]} points{now}; {coins}{start}"
    yield f"  built: {_counts(state, state.counts(seat))}"
    blue, yellow = (listed(map(str, dice[seat])) for dice in (state.blue, state.yellow))
    yield f"  dice: blue {blue}, yellow {yellow}"


def _counts(state: State, counts: Sequence[int]) -> str:
    """Write what is built of each type, and how many boxes there are."""
    boxes = zip(ABBREVIATIONS, counts, state.sheet.boxes, strict=True)
    return ", ".join(f"{name} {count}/{most}" for name, count, most in boxes)


_CELL: Final = 84
_MARGIN: Final = 34
_AXIS: Final = 112
"""Room for the dice and the numbers of rows on the left, of columns above."""
_LEFT: Final = _MARGIN + _AXIS
_TOP: Final = HEAD + _AXIS
_WIDTH: Final = _LEFT + FACES * _CELL + _MARGIN + 12
_BOX: Final = 18
"""Width of a box of a type, with the gap after it."""
_ROW: Final = 40
"""Height of a type's boxes."""
_COIN: Final = 30
"""Width of a coin of the track, with the gap after it."""
_COINS_IN_ROW: Final = 20
_FOOT: Final = 66

_DIE: Final = 30
_FILL: Final = {"blue": "#2f6db5", "yellow": "#f3c22f"}
_PIP: Final = {"blue": "#ffffff", "yellow": "#3b2c20"}
_CROSS: Final = "#7a1f14"
_GOLD: Final = "#f0b429"

_LOW, _MIDDLE, _HIGH = 8, 15, 22
_CORNERS: Final = ((_LOW, _LOW), (_HIGH, _HIGH), (_LOW, _HIGH), (_HIGH, _LOW), (_LOW, _MIDDLE), (_HIGH, _MIDDLE))


def seat_svg(state: State, seat: int, title: str) -> str:
    """Draw a seat's sheet in a game: the crossed-out cells, the dice along their axes, boxes by type, coins."""
    sheet = state.sheet
    boxes_top = _TOP + FACES * _CELL + 30
    coins_top = boxes_top + 3 * _ROW + 16
    coin_rows = -(-sheet.coin_track // _COINS_IN_ROW)
    height = coins_top + coin_rows * _COIN + _FOOT
    parts = [
        f"<defs>\n{definitions()}</defs>",
        *_axes(sheet, state.blue[seat], state.yellow[seat]),
        *(_cell(sheet, row, column, state.built[seat]) for row in range(FACES) for column in range(FACES)),
        *_boxes(sheet, state.counts(seat), boxes_top),
        *_coins(state.coins[seat], state.circled[seat], sheet.coin_track, coins_top),
        words(_WIDTH / 2, height - 37, f"{state.scores[seat]} points", 20, bold=True),
        words(_WIDTH / 2, height - 17, _named(sheet), 12, colour=PALE),
    ]
    return picture(title, _description(state, seat), _WIDTH, height, parts)


def pieces() -> tuple[str, ...]:
    """Return definitions for a page to draw sheets with: ``rnw-piece-tower`` and so on, each a cell of 100 by 100."""
    drawn = {
        type_: f'<rect width="100" height="100" fill="url(#alh-ground-{type_})"/>'
        f'<use href="#alh-{type_}" x="13" y="12" width="74" height="74"/>'
        for type_ in TYPES
    }
    return f"<defs>{definitions()}</defs>", f"<defs>{cells_drawn('rnw-piece', drawn)}</defs>"


def _description(state: State, seat: int) -> str:
    """Describe the picture in words, for readers who cannot see it."""
    sheet = state.sheet
    built = "; ".join(f"{TYPES[sheet.type_at(*cell)]} at {cell[0]},{cell[1]}" for cell in cells_of(state.built[seat]))
    blue, yellow = (" ".join(map(str, dice[seat])) or "none" for dice in (state.blue, state.yellow))
    coins = f"{state.coins[seat]}, {state.circled[seat]} of {sheet.coin_track} circled"
    return (
        f"{_named(sheet)}. Built, by blue and yellow die: {built or 'nothing'}. Blue dice: {blue}; yellow dice:"
        f" {yellow}. Coins: {coins}. Points: {state.scores[seat]}."
    )


def _named(sheet: Sheet) -> str:
    return sheet.provenance or f"sheet {sheet.name}"


# The grid


def _axes(sheet: Sheet, blue: Sequence[int], yellow: Sequence[int]) -> Iterable[str]:
    """Draw what the dice of the rows and the columns show, and the dice beside it."""
    rows_are = sheet.rows_are
    (columns_are,) = (die for die in DICE if die != rows_are)
    dice = {"blue": blue, "yellow": yellow}
    for value in range(1, FACES + 1):
        middle = (value - 1) * _CELL + _CELL / 2
        yield _number(rows_are, value, _LEFT - 24, _TOP + middle)
        for i in range(dice[rows_are].count(value)):
            yield _die(rows_are, value, _LEFT - 44 - (i + 1) * (_DIE + 4), _TOP + middle - _DIE / 2)
        yield _number(columns_are, value, _LEFT + middle, _TOP - 24)
        count = dice[columns_are].count(value)
        for i in range(count):
            x = _LEFT + middle + (i - count / 2) * (_DIE + 4) + 2
            yield _die(columns_are, value, x, _TOP - 48 - _DIE)


def _number(die: str, value: int, x: float, y: float) -> str:
    return (
        f'<circle cx="{x:g}" cy="{y:g}" r="15" fill="{_FILL[die]}" fill-opacity=".25" stroke="{_FILL[die]}"'
        ' stroke-width="2"/>' + words(x, y + 6, str(value), 17, bold=True)
    )


def _die(die: str, value: int, x: float, y: float) -> str:
    at = [(_MIDDLE, _MIDDLE)] if value % 2 else []
    at += _CORNERS[: value - value % 2]
    pips = "".join(f'<circle cx="{cx}" cy="{cy}" r="3"/>' for cx, cy in at)
    return (
        f'<g transform="translate({x:g} {y:g})"><title>{die} die: {value}</title><rect width="{_DIE}" height="{_DIE}"'
        f' rx="7" fill="{_FILL[die]}" stroke="{INK}" stroke-width="1.5"/><g fill="{_PIP[die]}">{pips}</g></g>'
    )


def _cell(sheet: Sheet, row: int, column: int, built: int) -> str:
    """Draw the building where two dice meet: pale, or crossed out."""
    cell = cell_at(sheet, row, column)
    type_ = TYPES[sheet.type_at(*cell)]
    crossed = built >> index_of(*cell) & 1
    ink = COLOURS[type_].ink
    drawn = (
        f'<g transform="translate({_LEFT + column * _CELL} {_TOP + row * _CELL})">'
        f"<title>{type_} at {cell[0]},{cell[1]}{', built' if crossed else ''}</title>"
        f'<g opacity="{1 if crossed else 0.5}"><rect x="3" y="3" width="{_CELL - 6}" height="{_CELL - 6}" rx="8"'
        f' fill="url(#alh-ground-{type_})" stroke="{ink}" stroke-width="1.5"/>'
        f'<use href="#alh-{type_}" x="19" y="9" width="46" height="46"/>'
        + words(_CELL / 2, 72, type_, 12, colour=ink, bold=True)
        + "</g>"
    )
    if crossed:
        path = '<path d="M14 13L70 54M70 13L14 54" stroke-linecap="round"'
        drawn += f'{path} stroke="#fff8e6" stroke-width="10"/>{path} stroke="{_CROSS}" stroke-width="5.5"/>'
    return drawn + "</g>"


# Below it


def _boxes(sheet: Sheet, counts: Sequence[int], top: int) -> Iterable[str]:
    """Draw each type's boxes, as many crossed as there are buildings; two types in a row."""
    for type_, (name, count, most) in enumerate(zip(TYPES, counts, sheet.boxes, strict=True)):
        x, y = _MARGIN + type_ % 2 * (_WIDTH - 2 * _MARGIN) // 2, top + type_ // 2 * _ROW
        ink = COLOURS[name].ink
        boxes = "".join(f"M{50 + i * _BOX} 9h14v14h-14z" for i in range(most))
        crosses = "".join(f"M{51 + i * _BOX} 10l12 12m0 -12l-12 12" for i in range(count))
        yield (
            f'<g transform="translate({x} {y})"><title>{name}: {count} of {most}</title><circle cx="18" cy="16" r="17"'
            f' fill="{COLOURS[name].chip}" stroke="{ink}" stroke-width="1.2"/>'
            f'<use href="#alh-{name}" x="7" y="4" width="22" height="22"/>'
            f'<path d="{boxes}" fill="#fffaf0" stroke="{ink}" stroke-width="1.3"/>'
            f'<path d="{crosses}" stroke="{_CROSS}" stroke-width="2.4" stroke-linecap="round"/></g>'
        )


def _coins(coins: int, circled: int, track: int, top: int) -> Iterable[str]:
    """Draw the coin track: spent coins are crossed out, coins that are left are golden."""
    left = (_WIDTH - min(track, _COINS_IN_ROW) * _COIN) / 2 + _COIN / 2
    spent = circled - coins
    for i in range(track):
        x, y = left + i % _COINS_IN_ROW * _COIN, top + i // _COINS_IN_ROW * _COIN + _COIN / 2
        kind = "spent" if i < spent else "left" if i < circled else "free"
        fill, line = ("none", "#cdb88e") if kind == "free" else ("#e9ddc2" if kind == "spent" else _GOLD, INK)
        cross = f'<path d="M{x - 8:g} {y - 8:g}l16 16m0 -16l-16 16" stroke="{_CROSS}" stroke-width="2.6"/>'
        yield (
            f'<g><title>coin {i + 1}: {kind}</title><circle cx="{x:g}" cy="{y:g}" r="12" fill="{fill}" stroke="{line}"'
            f' stroke-width="1.6"/>{cross if kind == "spent" else ""}</g>'
        )


def components() -> dict[str, Any]:
    """Return types, and of the default sheet its grid (a row for each value of the blue die, a column for the yellow),
    boxes by type and coins.
    """
    own = sheet()
    rows = [own.grid[row * FACES : (row + 1) * FACES] for row in range(FACES)]
    return {
        "types": TYPES,
        "grid": [[TYPES[type_] for type_ in row] for row in rows],
        "boxes": own.boxes,
        "coins": own.coin_track,
    }
