"""The contents of a contested game, by name, so that they can be counted."""

from __future__ import annotations

from collections import Counter

from referee.log.entry import decode_entry
from referee.log.intent import decode_intent
from referee.log.v1 import log_pb2
from tests.contested.games import Contested

RULINGS = tuple(field.name for field in log_pb2.Rule.DESCRIPTOR.oneofs_by_name["ruling"].fields)
ACTS = ("join", "move", "resign", "consent", "protest", "appeal", "take_back")
EVENTS = ("open", "stand_in", "refused", "absent", "interrupted", "end", "recovered", "timeout")
EVERYWHERE = {
    *(f"entry {name}" for name in (*ACTS, *EVENTS, "reveal", "chance", "declare", "correct", "disclose")),
    *(f"ruling {name}" for name in RULINGS),
}
"""Kinds of entries that there are in games of all rules."""


def contents(made: Contested) -> Counter[str]:
    """Return entries by kind, rulings, how the game ended and whether that was entered, and what was taken back."""
    found: Counter[str] = Counter()
    for data, truth in zip(made.entries, made.truth, strict=True):
        entry = decode_entry(data)
        kind = str(entry.WhichOneof("event"))
        if kind == "signed":
            intent = decode_intent(entry.signed.intent)
            kind = str(intent.WhichOneof("act"))
            if kind == "rule":
                kind = str(intent.rule.WhichOneof("ruling"))
                found[f"ruling {kind}"] += 1
            else:
                found[f"entry {kind}"] += 1
        else:
            found[f"entry {kind}"] += 1
        if kind == "accept":
            found.update(f"accepted {rule_id}" for rule_id in truth.broken)
            found["accepted, taken back"] += not truth.stands
        if truth.back_to is not None:
            found[f"back by {kind}"] += 1
    last = made.truth[-1]
    if last.result is None:
        found["left unfinished"] += 1
    else:
        found[f"{last.result.ending.name} {'entered' if last.is_ended else 'held'}"] += 1
    return found
