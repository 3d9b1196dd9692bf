"""The Alhambras at the end of a game as one line, where nothing else of the game is known.

before 31 laid tower-9-NE 1,0 garden-10-N -1,0 | before 30 laid tower-10-W 0,1 | neutral pavilion-8

The points before the last scoring are those of the scoring track, of every seat or of none. With two seats the neutral
player's tiles are the last part.
"""

from __future__ import annotations

from typing import Any, NoReturn

from referee.games.alhambra import State
from referee.games.alhambra.phases import Phase
from referee.games.alhambra.scoring import place_points, score_position
from referee.games.alhambra.tiles import TYPES, tiles_of
from referee.text.notation.alhambra.position import draw, read_laid, up_to, write_laid
from referee.text.notation.errors import Kind, NotationError
from referee.text.notation.grammar import place_of
from referee.text.words.catalogue import Said

_LAST = 3


def _most_before(state: State) -> int:
    """Return a bound of two rounds: every first place (ALH-E1), every side that has a wall (ALH-B8)."""
    firsts = sum(place_points(round_, type_)[0] for round_ in range(1, _LAST) for type_ in range(len(TYPES)))
    return firsts + (_LAST - 1) * sum(mask.bit_count() for mask in state.tile_set.walls)


def write(state: State) -> str:
    """Return the line; ``state`` is scored."""
    last, _ = score_position(state, _LAST)
    parts = []
    for layout, score, points in zip(state.layouts, state.scores, last, strict=True):
        before = f"before {score - points} " if state.scorings > 1 else ""
        parts.append(before + write_laid(layout, state))
    if state.seats == 2:
        parts.append(" ".join(("neutral", *(state.tile_set.names[tile] for tile in tiles_of(state.neutral)))))
    return " | ".join(parts)


def read(tree: Any, state: State) -> tuple[Said, ...]:
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


def _refuse(tree: Any, what: str, expected: str) -> NoReturn:
    raise NotationError(Kind.ILLEGAL, place_of(tree), what, expected)
