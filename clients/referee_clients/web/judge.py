"""The judging of positions, in a worker of the gateway, and the words of broken rules for pages. Knows no HTTP.

Positions are judged as ``referee inspect`` does it, and final scorings as ``referee score`` does: a page, a program and
a command say the same of a position. In another language than English the words are made of the same values: of a
violation its rule, cells and facts. English stands beside it, and decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from referee.games import registry
from referee.games.game import InputError, Rule, Violation
from referee.games.table_rules import CATALOGUE as TABLE_RULES
from referee.text.notation.questions import QueryError, answer, encode, only, parse_object, required, shown
from referee.text.notation.violations import NotationError, in_words
from referee.text.words.catalogue import ENGLISH, load_or_english
from referee.tournament.rules import TOURNAMENT
from referee.v1 import game_pb2


def violation_as_json(violation: Violation, english: str, language: str) -> dict[str, Any]:
    """Return a violation as pages get it: the rule, the place, the facts, and all of that in words.

    ``english``: the explanation by the judge of the move.
    """
    return {
        "rule": violation.rule_id,
        "cells": [list(cell) for cell in violation.cells],
        "facts": {key: str(value) for key, value in violation.facts.items()},
        **explained(violation, english, language),
    }


def of_referee(told: game_pb2.Violation, language: str) -> dict[str, Any]:
    """Return the same of a violation that the referee has sent."""
    cells = tuple((cell.x, cell.y) for cell in told.cells)
    facts = {fact.key: fact.value for fact in told.facts}
    return violation_as_json(Violation(told.rule_id, cells, facts), told.text, language)


def explained(violation: Violation, english: str, language: str) -> dict[str, str]:
    """Return ``text``, the words for the violation, empty where the language has no words for it, and ``english``
    beside it; in English the text alone.
    """
    say = load_or_english("report", language)
    if language == ENGLISH:
        return {"text": english}
    own = "" if say.language == ENGLISH else in_words(violation, _rules(), say)
    return {"text": own, "english": english}


@cache
def _rules() -> Mapping[str, Rule]:
    """Return the rules of all games by id; a version's English text of one comes with the violation."""
    games = (each.catalogue for each in (*registry.newest(), TOURNAMENT))
    return {rule.id: rule for rules in (*games, TABLE_RULES) for rule in rules}


# --- the worker ------------------------------------------------------------------------------------------------------


_BESIDE_FACTS: Final = ("rule", "cells", "text", "placement", "domino")
"""The keys of a violation in an answer besides its facts."""


def answers(method: str, message: bytes, _seconds: float) -> Iterator[bytes]:
    """Yield the answer to one question, both JSON. ``method``: ``judge`` or ``score``, a slash, and a language."""
    what, _, language = method.partition("/")
    yield encode(_judged(message, language) if what == "judge" else _score(message, language))


def _judged(message: bytes, language: str) -> dict[str, Any]:
    found = answer(message)
    # Answers are kept for the next who asks the same: another one is made here.
    return (
        found | {"violations": [_in(language, each) for each in found["violations"]]}
        if "violations" in found
        else found
    )


def _in(language: str, violation: Mapping[str, Any]) -> dict[str, Any]:
    facts = {name: fact for name, fact in violation.items() if name not in _BESIDE_FACTS}
    broken = Violation(violation["rule"], tuple(violation["cells"]), facts)
    return {**violation, **explained(broken, violation["text"], language)}


def _score(message: bytes, language: str) -> dict[str, Any]:
    """Return the score sheet of ``{"text": …}``, boards alone in the notation; or ``{"error": …}``."""
    from referee.text.report.model import score_value  # noqa: PLC0415 - most workers are never asked for a score
    from referee.text.report.sheet import read  # noqa: PLC0415

    try:
        told = read(_text(parse_object(message)))
        return score_value(told, told.sheet(say=load_or_english("report", language)))
    except (QueryError, NotationError, InputError) as error:
        return {"error": str(error)}


def _text(question: dict[str, Any]) -> str:
    only(question, frozenset(("text",)))
    text = required(question, "text", "question")
    if type(text) is not str:
        raise QueryError(f"text: {shown(text)}; expected a string")
    return text
