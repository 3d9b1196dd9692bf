"""How each game's positions are drawn. Knows no game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol

from referee.games.game import UnknownRules
from referee.render import alhambra


class Renderer(Protocol):
    """What a game's package offers."""

    def position_text(self, state: Any, seats: Sequence[int] | None = None, *, ascii_only: bool = False) -> str:
        """What lies on the table, and what these seats (without them: all) have."""

    def seat_svg(self, state: Any, seat: int, title: str) -> str:
        """The seat's board as a picture."""


_RENDERERS: Final[dict[str, Renderer]] = {"alhambra": alhambra}


def renderer(rules_id: str) -> Renderer:
    """Raises ``UnknownRules``."""
    try:
        return _RENDERERS[rules_id]
    except KeyError:
        raise UnknownRules(f"no pictures for {rules_id!r}") from None
