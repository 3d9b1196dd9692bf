"""Questions of ``referee inspect`` and ``prove``: JSON, one object a line, read strictly; and their answers.

A question names its ``game``; the other keys are the game's own. An ``id``, any JSON scalar, comes back with the
answer. A question without an answer gets ``{"error": "…"}`` in its place. Duplicate keys, NaN and the like are refused.
Knows no game.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, NoReturn

from referee.games import registry

MAX_LINE_BYTES: Final = 65_536
"""Thirty times what the largest question needs."""

_SHOWN: Final = 40


class QueryError(Exception):
    """A question that cannot be answered: the fault, the expected form, and the place, if known."""

    def __init__(self, what: str, where: str = "") -> None:
        super().__init__(f"{where}: {what}" if where else what)
        self.what = what


def shown(value: Any) -> str:
    """Return the value as JSON, short enough for a message."""
    try:
        written = json.dumps(value)
    except RecursionError:
        return "…"
    return written if len(written) <= _SHOWN else written[:_SHOWN] + "…"


def parse(line: bytes, most: int = MAX_LINE_BYTES) -> Any:
    """Return the line's one value. Raise ``QueryError``."""
    if len(line) > most:
        raise QueryError(f"longer than {most} bytes", "line")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise QueryError(f"not UTF-8 at byte {error.start + 1}", "line") from None
    if not text.strip():
        raise QueryError("empty; expected a JSON object", "line")
    if text[0] == "\ufeff":
        raise QueryError("begins with a byte order mark; expected a JSON object", "line")
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise QueryError(f"not JSON at character {error.pos + 1}: {error.msg}", "line") from None
    except RecursionError:
        raise QueryError("nested too deeply", "line") from None
    except ValueError:  # the interpreter's limit on the digits of an integer
        raise QueryError("a number with too many digits", "line") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen = set()
        for key, _ in pairs:
            if key in seen:
                raise QueryError(f"duplicate key {shown(key)}")
            seen.add(key)
    return found


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise QueryError(f"number {text[:_SHOWN]} is too large")
    return value


def _constant(text: str) -> NoReturn:
    raise QueryError(f"{text} is not JSON; expected a number")


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float, parse_constant=_constant)


# Parts of a question


def only(fields: dict[str, Any], allowed: frozenset[str], where: str = "") -> None:
    """Raise ``QueryError`` if there are other fields."""
    if not fields.keys() <= allowed:
        unknown = ", ".join(shown(name) for name in fields if name not in allowed)
        place = f"{where}: " if where else ""
        raise QueryError(f"{place}unknown field {unknown}; expected {', '.join(sorted(allowed))}")


def an_object(value: Any, where: str) -> dict[str, Any]:
    """Raise ``QueryError``."""
    if type(value) is not dict:
        raise QueryError(f"{where}: {shown(value)}; expected an object")
    return value


def an_array(value: Any, where: str) -> list[Any]:
    """Raise ``QueryError``."""
    if type(value) is not list:
        raise QueryError(f"{where}: {shown(value)}; expected an array")
    return value


def an_integer(value: Any, low: int, high: int, where: str) -> int:
    """Raise ``QueryError``."""
    if type(value) is not int or not low <= value <= high:
        raise QueryError(f"{where}: {shown(value)}; expected an integer from {low} to {high}")
    return value


def a_boolean(value: Any, where: str) -> bool:
    """Raise ``QueryError``."""
    if type(value) is not bool:
        raise QueryError(f"{where}: {shown(value)}; expected true or false")
    return value


def required(fields: dict[str, Any], name: str, where: str) -> Any:
    """Raise ``QueryError``."""
    if name not in fields:
        raise QueryError(f"{where}: {name} is missing")
    return fields[name]


Answerers = Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]
"""The answers of each game to a question, which comes without ``game`` and ``id``. Raises ``QueryError``."""

_encode: Final = json.JSONEncoder(separators=(",", ":")).encode


def answer_line(line: bytes, games: Answerers) -> dict[str, Any]:
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


def answer(line: bytes) -> dict[str, Any]:
    """Return the answer to one line; never raises."""
    return answer_line(line, _answerers())


@cache
def _answerers() -> Answerers:
    """``answer`` of each game's ``inspect``."""
    return {name: registry.part(__package__, name, "inspect").answer for name in registry.names()}
