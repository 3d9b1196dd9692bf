"""The coding of an environment's game: a number for each move, and an array for each position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.int8]
Planes = NDArray[np.uint8]
Facts = NDArray[np.int16]

CANONICAL: Final = 5000
"""Actions where numbers follow the list of legal moves; of a longer list the rest cannot be chosen."""


class Actions(Protocol):
    """The meaning of the numbers of actions."""

    size: int

    def mask(self, state: Any, moves: Sequence[Any]) -> Mask:
        """Return 1 for each action that is legal. ``moves``: the list of legal moves."""

    def move(self, state: Any, moves: Sequence[Any], action: int) -> Any:
        """Return the move that a legal action stands for."""

    def action(self, state: Any, moves: Sequence[Any], move: Any) -> int:
        """Return the number of a move of the list."""


class Canonical:
    """Action k is the k-th legal move in canonical order: it means something else in every position."""

    size = CANONICAL

    def mask(self, state: Any, moves: Sequence[Any]) -> Mask:  # noqa: ARG002 - the list is all there is
        """Return as many ones as there are moves."""
        mask = np.zeros(CANONICAL, np.int8)
        mask[: len(moves)] = 1
        return mask

    def move(self, state: Any, moves: Sequence[Any], action: int) -> Any:  # noqa: ARG002
        """Return the move at this place."""
        return moves[action]

    def action(self, state: Any, moves: Sequence[Any], move: Any) -> int:  # noqa: ARG002
        """Return the place of the move."""
        return moves.index(move)


class View(Protocol):
    """A seat's view of a position: every seat is at the same place of it, the observer first."""

    planes: Sequence[str]
    """Names of the planes; those of one seat after those of the other, from the observer on."""
    shape: tuple[int, int]
    facts: Sequence[tuple[str, int]]
    """Names of the facts, and how many numbers each has."""

    def observe(self, state: Any, seat: int) -> tuple[Planes, Facts]:
        """Return what the seat sees."""


def seats_from(seat: int, seats: int) -> list[int]:
    """Return all seats in turn, this one first."""
    return [(seat + step) % seats for step in range(seats)]


def facts_of(layout: Sequence[tuple[str, int]], found: Sequence[Sequence[int]]) -> Facts:
    """Return the facts in one array. Raise ``ValueError`` if they are not as many as the layout says."""
    flat = [number for numbers in found for number in numbers]
    if [length for _, length in layout] != [len(numbers) for numbers in found]:
        raise ValueError("the facts are not those of the layout")
    return np.array(flat, np.int16)


def bits_of(bits: int, length: int, first: int = 0) -> list[int]:
    """Return bits as numbers, from number ``first`` on."""
    return [bits >> number & 1 for number in range(first, first + length)]


def one_hot(index: int, length: int) -> list[int]:
    """Return zeros with a one at the index."""
    found = [0] * length
    found[index] = 1
    return found
