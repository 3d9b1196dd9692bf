"""Questions about layouts and scores, and their answers. Knows no game."""

from __future__ import annotations

from typing import Any, Final

from referee.notation import alhambra_inspect, lines

_GAMES: Final[lines.Answerers] = {"alhambra": alhambra_inspect.answer}


def answer(line: bytes) -> dict[str, Any]:
    """The answer to one line; never raises."""
    return lines.answer(line, _GAMES)
