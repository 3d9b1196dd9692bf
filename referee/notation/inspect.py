"""Questions about layouts and scores, one JSON object a line, and their answers. Knows no game and no server.

A question names its ``game``; everything else in it is the game's own. An ``id``, any JSON scalar, comes back with the
answer. What cannot be answered gets ``{"error": "…"}`` in its place.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from referee.notation import alhambra_inspect
from referee.notation.strict_json import MAX_LINE_BYTES, QueryError, parse, shown

_GAMES: Final[dict[str, Callable[[dict[str, Any]], dict[str, Any]]]] = {
    "alhambra": alhambra_inspect.answer,
}
"""For each game: the answer to a question, which comes without ``game`` and ``id``. Raises ``QueryError``."""

_encode: Final = json.JSONEncoder(separators=(",", ":")).encode


def answer(line: bytes) -> dict[str, Any]:
    """The answer to one line; never raises."""
    echoed: dict[str, Any] = {}
    try:
        found = _answer(_object(line), echoed)
    except QueryError as error:
        found = {"error": str(error)}
    return {**echoed, **found}


def _object(line: bytes) -> dict[str, Any]:
    question = parse(line)
    if type(question) is not dict:
        raise QueryError(f"line: {shown(question)}; expected an object")
    return question


def _answer(question: dict[str, Any], echoed: dict[str, Any]) -> dict[str, Any]:
    if "id" in question:
        identity = question.pop("id")
        if isinstance(identity, dict | list):
            raise QueryError(f"id: {shown(identity)}; expected a string, a number, true, false or null")
        echoed["id"] = identity
    if "game" not in question:
        raise QueryError(f"game is missing; expected {_expected()}")
    game = question.pop("game")
    if type(game) is not str or game not in _GAMES:
        raise QueryError(f"game: {shown(game)}; expected {_expected()}")
    return _GAMES[game](question)


def encode(found: dict[str, Any]) -> bytes:
    """An answer as a line of ASCII."""
    return _encode(found).encode("ascii") + b"\n"


def _expected() -> str:
    return " or ".join(f'"{name}"' for name in sorted(_GAMES))


class Lines:
    """Cuts what comes in pieces into lines; of a line that is too long it keeps what tells so."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that are now whole, without their ends."""
        *lines, rest = data.split(b"\n")
        if lines:
            lines[0] = self._rest + lines[0]
            self._rest = rest
        else:
            self._rest += rest
        self._rest = self._rest[: MAX_LINE_BYTES + 1]
        return lines

    def end(self) -> list[bytes]:
        """A last line without an end."""
        return [self._rest] if self._rest else []
