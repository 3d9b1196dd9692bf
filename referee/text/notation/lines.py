"""Questions, one JSON object a line, and their answers, each one line. Knows no game.

A question names its ``game``; everything else in it is the game's own. An ``id``, any JSON scalar, comes back with the
answer. What cannot be answered gets ``{"error": "…"}`` in its place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from referee.text.notation.strict_json import MAX_LINE_BYTES, QueryError, parse, shown

Answerers = Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]
"""For each game: the answer to a question, which comes without ``game`` and ``id``. Raises ``QueryError``."""

_encode: Final = json.JSONEncoder(separators=(",", ":")).encode


def answer(line: bytes, games: Answerers) -> dict[str, Any]:
    """Return the answer to one line; no line makes it raise."""
    echoed: dict[str, Any] = {}
    try:
        found = _answer(parse_object(line), echoed, games)
    except QueryError as error:
        found = {"error": str(error)}
    return {**echoed, **found}


def parse_object(line: bytes, most: int = MAX_LINE_BYTES) -> dict[str, Any]:
    """Return the line's one object. Raise ``QueryError``."""
    question = parse(line, most)
    if type(question) is not dict:
        raise QueryError(f"{shown(question)}; expected an object", "line")
    return question


def _answer(question: dict[str, Any], echoed: dict[str, Any], games: Answerers) -> dict[str, Any]:
    if "id" in question:
        identity = question.pop("id")
        if isinstance(identity, dict | list):
            raise QueryError(f"id: {shown(identity)}; expected a string, a number, true, false or null")
        echoed["id"] = identity
    return games[named_game(question, games)](question)


def named_game(question: dict[str, Any], games: Mapping[str, object]) -> str:
    """Return the game that the question names, which is taken out of it. Raise ``QueryError``."""
    if "game" not in question:
        raise QueryError(f"game is missing; expected {_one_of(games)}")
    game = question.pop("game")
    if type(game) is not str or game not in games:
        raise QueryError(f"game: {shown(game)}; expected {_one_of(games)}")
    return game


def _one_of(games: Mapping[str, object]) -> str:
    return " or ".join(f'"{name}"' for name in sorted(games))


def encode(found: dict[str, Any]) -> bytes:
    """Return an answer as a line of ASCII."""
    return _encode(found).encode("ascii") + b"\n"


class Lines:
    """Cuts what comes in pieces into lines; of a line that is too long it keeps what tells so."""

    def __init__(self, most: int = MAX_LINE_BYTES) -> None:
        self._most = most
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that are now whole, without their ends."""
        *lines, rest = data.split(b"\n")
        if lines:
            lines[0] = self._rest + lines[0]
            self._rest = rest
        else:
            self._rest += rest
        self._rest = self._rest[: self._most + 1]
        return lines

    def end(self) -> list[bytes]:
        """Return a last line without an end."""
        return [self._rest] if self._rest else []
