"""Parts of messages that several services share: ids of games, page tokens, rules and violations."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from functools import lru_cache

from referee.games.game import Rule, Violation
from referee.log.engines import installed
from referee.log.intent import GAME_ID_TEXT, parse_game_id
from referee.server.live.refusals import BadField
from referee.text.notation.violations import sentence
from referee.v1 import game_pb2 as pb
from referee.v1 import rules_service_pb2

_PLACE = re.compile(r"[0-9]{1,15}\Z", re.ASCII)


def game_id_of(text: str) -> bytes:
    """Return the id that the field holds. Raise ``BadField``."""
    if (found := parse_game_id(text)) is None:
        raise BadField("game_id", GAME_ID_TEXT)
    return found


def page_token(kind: str, place: int) -> str:
    """Return a token that is opaque to the client and bound to the list that it continues."""
    return urlsafe_b64encode(f"{kind}:{place}".encode()).decode()


def page_of(token: str, kind: str) -> int:
    """Return where the page begins. Raise ``BadField``."""
    try:
        found, _, place = urlsafe_b64decode(token.encode()).decode().rpartition(":")
        if found == kind and _PLACE.match(place) and page_token(kind, int(place)) == token:
            return int(place)
    except (Base64Error, ValueError):
        pass
    raise BadField("page_token", "the one from the answer before, to the same question")


def rule_message(rule: Rule) -> rules_service_pb2.CatalogueRule:
    """Return the whole rule."""
    return rules_service_pb2.CatalogueRule(
        id=rule.id, text=rule.text, citation=rule.citation, kind=rule.kind.value, function=rule.function
    )


def violation_message(violation: Violation, rules_id: str, version: int) -> pb.Violation:
    """Return the violation, in words as well. Raise ``UnknownRules``."""
    message = pb.Violation(rule_id=violation.rule_id, text=sentence(violation, _rules(rules_id, version)))
    for x, y in violation.cells:
        message.cells.add(x=x, y=y)
    for key, value in violation.facts.items():
        message.facts.add(key=key, value=str(value))
    return message


def in_words(message: pb.Violation, rules_id: str) -> str:
    """Return the sentence for a message that has none, by the newest version of the rules. Raise ``UnknownRules``."""
    cells = tuple((cell.x, cell.y) for cell in message.cells)
    facts = {fact.key: fact.value for fact in message.facts}
    return sentence(Violation(message.rule_id, cells, facts), _rules(rules_id, 0))


@lru_cache(maxsize=64)
def _rules(rules_id: str, version: int) -> dict[str, Rule]:
    return {rule.id: rule for rule in installed().game(rules_id, version).catalogue}
