"""Moves whose last part is left out: they stand for the one legal move that begins so, or for none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeVar

from referee.text.notation.errors import Kind, NotationError
from referee.text.notation.grammar import place_of
from referee.text.words.catalogue import Said

_T = TypeVar("_T")

_MOST_NAMED: Final = 6


def the_only(tree: Any, written: str, moves: Sequence[_T], words: Sequence[str]) -> _T:
    """Return the one of the legal moves that is meant. ``words``: those of the moves. Raise ``NotationError``."""
    if not moves:
        raise NotationError(Kind.ILLEGAL, place_of(tree), Said("line.no_legal", {"move": written}))
    if len(moves) > 1:
        named = "; ".join(words[:_MOST_NAMED]) + ("; …" if len(moves) > _MOST_NAMED else "")
        raise NotationError(Kind.AMBIGUOUS, place_of(tree), f"{written} can be {len(moves)} moves", named)
    return moves[0]
