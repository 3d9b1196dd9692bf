"""What a worker of the gateway answers: questions about positions as ``referee inspect`` does, final scorings as
``referee score`` does.

Legality and points come from there alone, so a page, a program and a command say the same of a position.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from referee.games.game import InputError
from referee.notation.errors import NotationError
from referee.notation.inspect import answer
from referee.notation.lines import encode, parse_object
from referee.notation.strict_json import QueryError, only, required, shown


def answers(method: str, message: bytes, _seconds: float) -> Iterator[bytes]:
    """Yield the answer to one question, both JSON. ``method``: ``judge`` or ``score``."""
    yield encode(answer(message) if method == "judge" else _score(message))


def _score(message: bytes) -> dict[str, Any]:
    """Return the score sheet of ``{"text": …}``, boards alone in the notation; or ``{"error": …}``."""
    from referee.report.model import score_value  # noqa: PLC0415 - most workers are never asked for a score
    from referee.report.sheet import read  # noqa: PLC0415

    try:
        told = read(_text(parse_object(message)))
        return score_value(told, told.sheet())
    except (QueryError, NotationError, InputError) as error:
        return {"error": str(error)}


def _text(question: dict[str, Any]) -> str:
    only(question, frozenset(("text",)))
    text = required(question, "text", "question")
    if type(text) is not str:
        raise QueryError(f"text: {shown(text)}; expected a string")
    return text
