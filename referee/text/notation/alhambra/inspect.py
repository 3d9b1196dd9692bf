"""Questions about Alhambra, their tiles and layouts in JSON, and the answers.

A question is about a layout (is it legal, and what can be done on it) or about a round (what does everybody score).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from referee.games.alhambra import GAME
from referee.games.alhambra.catalogue import CATALOGUE
from referee.games.alhambra.layout import REACH, Layout, index_of, wall_points
from referee.games.alhambra.options import MAX_SEATS, MIN_SEATS, Options
from referee.games.alhambra.outline import longest_wall
from referee.games.alhambra.scoring import NEUTRAL, score_round
from referee.games.alhambra.tiles import TYPES, E, N, S, W, tile_set
from referee.games.alhambra.violations import AsPlayed, layout_violations
from referee.games.game import Cell, Violation
from referee.text.notation.options import options_of_question
from referee.text.notation.questions import (
    QueryError,
    a_boolean,
    an_array,
    an_integer,
    an_object,
    only,
    required,
    shown,
)
from referee.text.notation.violations import sentence

TILE_SET: Final = tile_set()

_RULES: Final = {rule.id: rule for rule in CATALOGUE}

_LAYOUT_FIELDS: Final = frozenset(("cells", "layout", "options", "tile"))
_SCORE_FIELDS: Final = frozenset(("score",))
_OPTIONS: Final = frozenset(("loop_rule",))
_SIDES: Final = {N: "N", E: "E", S: "S", W: "W"}
_ROUND_FIELDS: Final = frozenset(("round", "players", "neutral"))
_PLAYER_FIELDS: Final = frozenset(("counts", "wall"))

_IN_GAME: Final = {type_: TILE_SET.types.count(number) for number, type_ in enumerate(TYPES)}
_WALL_SIDES: Final = sum(walls.bit_count() for walls in TILE_SET.walls)


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a question about a layout or, with ``score``, about a round. Raise ``QueryError``."""
    if "score" in question:
        only(question, _SCORE_FIELDS)
        return _score(an_object(question["score"], "score"))
    only(question, _LAYOUT_FIELDS)
    return _layout(question)


# A layout


class _Judged(NamedTuple):
    """A layout with the facts that are asked of it again and again, for any tile. Nothing in it may be changed."""

    layout: Layout
    """The layout, with its illegal tiles as an arbiter let them stand."""
    violations: list[dict[str, Any]]
    is_whole: bool
    """True if more than its counts can be said: no tile is apart from the others."""
    counts: dict[str, int]
    removable: list[Cell]
    """Empty unless ``is_whole``."""


def _layout(question: dict[str, Any]) -> dict[str, Any]:
    given = an_object(question.get("layout", {}), "layout")
    # Other values in place of a name are refused anyway, and some of them cannot be keys.
    judge = _judged if set(map(type, given.values())) <= {str} else _judged.__wrapped__
    layout, violations, is_whole, counts, removable = judge(tuple(given), tuple(given.values()))
    tile = tile_number(question["tile"], "tile") if "tile" in question else None
    cells = a_boolean(question.get("cells", False), "cells")
    options = options_of_question(Options, an_object(question.get("options", {}), "options"), _OPTIONS)
    if not is_whole:
        return {"valid": False, "violations": violations, "counts": counts}
    wall = wall_points(*layout.wall(), options.loop_rule)
    found = {"valid": not violations, "violations": violations, "wall": wall, "counts": counts}
    if cells:
        found["wall_sides"] = [(*cell, _SIDES[side]) for cell, side in longest_wall(layout)]
    if tile is not None:
        found["placements"] = layout.placeable_cells(TILE_SET.walls[tile])
    found["removable"] = removable
    if tile is not None:
        found["swappable"] = _others(layout, tile)
    return found


@lru_cache(maxsize=16)
def _judged(cells: tuple[str, ...], names: tuple[Any, ...]) -> _Judged:
    """Judge a layout as the question has it. Raise ``QueryError``. Kept: questions about one layout are about many
    tiles."""
    layout = Layout.of(TILE_SET, layout_numbers(dict(zip(cells, names, strict=True)), "layout"))
    counts = _counts(layout)
    broken = layout_violations(layout)
    is_whole = {found.rule_id for found in broken} <= GAME.waivable
    if broken and is_whole:
        layout = AsPlayed.of_layout(layout)
    removable = layout.removable_cells() if is_whole else []
    return _Judged(layout, [_violation(found) for found in broken], is_whole, counts, removable)


def _counts(layout: Layout) -> dict[str, int]:
    counts = [0] * len(TYPES)
    for tile in layout.tiles.values():
        counts[TILE_SET.types[tile]] += 1
    return {type_: count for type_, count in zip(TYPES, counts, strict=True) if count}


def _others(layout: Layout, tile: int) -> list[tuple[int, int]]:
    """Return where the tile may replace another one."""
    cells = layout.swappable_cells(TILE_SET.walls[tile])
    if tile in layout.tiles.values():
        cells = [cell for cell in cells if layout.tiles[index_of(cell)] != tile]
    return cells


def _violation(violation: Violation) -> dict[str, Any]:
    return {
        "rule": violation.rule_id,
        "cells": violation.cells,
        **violation.facts,
        "text": sentence(violation, _RULES),
    }


# A round


def _score(score: dict[str, Any]) -> dict[str, Any]:
    only(score, _ROUND_FIELDS, "score")
    round_ = an_integer(required(score, "round", "score"), 1, 3, "score.round")
    players = an_array(required(score, "players", "score"), "score.players")
    if not MIN_SEATS <= len(players) <= MAX_SEATS:
        raise QueryError(f"score.players: {len(players)} players; expected {MIN_SEATS} to {MAX_SEATS}")
    counts, walls = [], []
    for i, player in enumerate(players):
        where = f"score.players[{i}]"
        only(an_object(player, where), _PLAYER_FIELDS, where)
        counts.append(_type_counts(required(player, "counts", where), f"{where}.counts"))
        walls.append(an_integer(required(player, "wall", where), 0, _WALL_SIDES, f"{where}.wall"))
    neutral = None
    if "neutral" in score:
        neutral = _type_counts(score["neutral"], "score.neutral")
        if len(players) != 2:
            raise QueryError(f"score.neutral: with {len(players)} players; expected it with 2 players only")
    for type_, held in zip(TYPES, zip(*counts, *([neutral] if neutral else []), strict=True), strict=True):
        if sum(held) > _IN_GAME[type_]:
            raise QueryError(f"score: {sum(held)} {type_} tiles in all; expected {_IN_GAME[type_]} at most")
    points, lines = score_round(round_, counts, walls, neutral)
    return {
        "points": points,
        "lines": [
            {
                "type": TYPES[line.type],
                "place": line.place,
                "players": ["neutral" if player == NEUTRAL else player for player in line.players],
                "each": line.each,
            }
            for line in lines
        ],
    }


def _type_counts(value: Any, where: str) -> list[int]:
    counts = an_object(value, where)
    if not counts.keys() <= _IN_GAME.keys():
        unknown = next(name for name in counts if name not in _IN_GAME)
        raise QueryError(f"{where}: {shown(unknown)}; expected a type: {', '.join(TYPES)}")
    return [an_integer(counts.get(type_, 0), 0, _IN_GAME[type_], f"{where}.{type_}") for type_ in TYPES]


_COORDINATES: Final = {str(number): number for number in range(-REACH, REACH + 1)}
"""Every way to write a coordinate: there is one for each."""


def tile_number(name: Any, where: str) -> int:
    """Raise ``QueryError``."""
    tile = TILE_SET.numbers.get(name) if type(name) is str else None
    if tile is None:
        raise QueryError(f"{where}: {shown(name)}; expected the name of a tile, such as tower-8-NES or garden-10")
    return tile


def tile_name(name: Any, where: str) -> str:
    """Raise ``QueryError``."""
    return TILE_SET.names[tile_number(name, where)]


def tile_names(value: Any, where: str) -> tuple[str, ...]:
    """Return different tiles, in the order of the array. Raise ``QueryError``."""
    names = [tile_name(name, where) for name in an_array(value, where)]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise QueryError(f"{where}: tile {name} twice; expected each tile once, as the set has it")
    return tuple(names)


def cell(value: Any, where: str) -> Cell:
    """Read ``[x,y]``. Raise ``QueryError``."""
    numbers = an_array(value, where)
    if len(numbers) != 2:
        raise QueryError(f"{where}: {shown(value)}; expected [x,y]")
    x, y = (an_integer(number, -REACH, REACH, f"{where}[{i}]") for i, number in enumerate(numbers))
    return x, y


def layout_numbers(value: Any, where: str) -> dict[Cell, int]:
    """Return tile numbers by cell, of an object such as ``{"1,-2":"tower-12"}``. Raise ``QueryError``."""
    cells: dict[Cell, int] = {}
    lies_on: dict[int, str] = {}
    for written, name in an_object(value, where).items():
        at = _cell_of(written)
        if at is None:
            raise QueryError(
                f"{where}: cell {shown(written)}; expected x,y from -{REACH} to {REACH}, such as 1,-2, and nothing else"
            )
        if at == (0, 0):
            raise QueryError(f"{where}: cell 0,0 is the fountain's; expected no tile there")
        tile = TILE_SET.numbers.get(name) if type(name) is str else None
        if tile is None:
            tile = tile_number(name, f"{where}: cell {written}")  # which says what is wrong
        if tile in lies_on:
            raise QueryError(f"{where}: tile {name} on {lies_on[tile]} and on {written}; expected each tile once")
        lies_on[tile] = written
        cells[at] = tile
    return cells


@lru_cache(maxsize=4096)
def _cell_of(written: str) -> Cell | None:
    """Return the cell that is written ``x,y``; None if none is."""
    column, _, row = written.partition(",")
    x, y = _COORDINATES.get(column), _COORDINATES.get(row)
    return None if x is None or y is None else (x, y)


def layout_names(value: Any, where: str) -> dict[Cell, str]:
    """Return the same with the tiles' names. Raise ``QueryError``."""
    return {at: TILE_SET.names[tile] for at, tile in layout_numbers(value, where).items()}


def written_layout(layout: Mapping[Cell, str]) -> dict[str, str]:
    """Return tile names by cell as JSON has them, by column, then row."""
    return {f"{x},{y}": tile for (x, y), tile in sorted(layout.items())}
