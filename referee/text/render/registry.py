"""The drawing of each game's positions. Knows no game."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Protocol

from referee.games import registry
from referee.games.game import Cell


class Renderer(Protocol):
    """The functions that a game's package offers."""

    def position_text(
        self,
        state: Any,
        seats: Sequence[int] | None = None,
        *,
        names: Sequence[str] = (),
        awaits: bool = True,
        marked: Collection[Cell] = (),
        ascii_only: bool = False,
    ) -> str:
        """Write the pieces on the table, and those of these seats (None: all).

        ``names``: the players' names by seat, empty for none. ``awaits``: begin with the awaited act. ``marked``: cells
        to be marked with ! on the board of the first of these seats.
        """

    def boards_text(self, state: Any, seats: Sequence[int] | None = None, *, ascii_only: bool = False) -> str:
        """Write what these seats (None: all) have at the end of a game of which nothing but the boards is known."""

    def seat_svg(self, state: Any, seat: int, title: str) -> str:
        """Draw the seat's board."""

    def pieces(self) -> tuple[str, ...]:
        """Return SVG definitions, ``<defs>`` elements, that a page can draw boards with; their ids are the game's own.

        Games may have a definition in common.
        """

    def components(self) -> dict[str, Any]:
        """Return what a position is put together from, tiles, dominoes or a sheet, as JSON for a page."""


def renderer(rules_id: str) -> Renderer:
    """Return the game's package. Raise ``UnknownRules``."""
    found: Renderer = registry.part(__package__, rules_id)
    return found
