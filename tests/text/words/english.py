"""The English texts that the translations are made of, wherever they lie."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from referee.games import registry
from referee.games.table_rules import CATALOGUE as TABLE_RULES
from referee.text.words import catalogue
from referee.text.words.catalogue import ENGLISH, Text, load
from referee.tournament.rules import TOURNAMENT
from referee.v1.game_service_pb2 import ErrorReason
from referee_clients.web.refusals import OWN_REASONS
from tests.text.words.phrases import in_code

FOLDER = Path(catalogue.__file__).parent
PARTS = sorted({path.stem for path in FOLDER.glob("*/*.json")})
GAMES = (each.catalogue for each in (*registry.newest(), TOURNAMENT))
RULES = {rule.id: rule.text for rules in (*GAMES, TABLE_RULES) for rule in rules}
REASONS = {name.removeprefix("ERROR_REASON_") for name in ErrorReason.keys()[1:]} | OWN_REASONS
BESIDE_REASONS = {"LIMIT_FOR_GOOD", "QUOTED"}
"""A limit that no waiting helps against, and how a message is quoted that is no phrase."""
ENGLISH_ELSEWHERE: dict[str, Callable[[], Mapping[str, Text]]] = {
    "rules": lambda: RULES,
    # All translations have the same places.
    "refusals": lambda: {reason: load("refusals", "cs").texts.get(reason, "") for reason in REASONS | BESIDE_REASONS},
    "phrases": lambda: {text: text for text in in_code()},
}
"""Rules are where they are judged, refusals and phrases where they are made."""


@cache
def english_of(part: str) -> Mapping[str, Text]:
    """Return what is translated."""
    return ENGLISH_ELSEWHERE.get(part, lambda: catalogue._read(part, ENGLISH))()


def places(text: str) -> set[str]:
    """Return the names of its places; one that begins a sentence has the name of one that does not."""
    return {name.lower() for name in re.findall(r"\{(\w+)\}", text)}
