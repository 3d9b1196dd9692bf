"""Absurd moves and outcomes, in positions of whole games: judged, and no engine fails over any."""

from __future__ import annotations

import random
from typing import Any

import pytest

from referee.games import registry
from referee.log.entry import decode_entry
from referee.log.intent import decode_intent
from referee.log.replay import Record
from referee.wire.strict import MalformedError
from tests.attacks.corpus import game, whole_game
from tests.log import games
from tests.log.games import Played

_BYTES = (0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 24, 127, 255)


def events(played: Played) -> list[tuple[str, bytes]]:
    """Return every move and every outcome of the game, encoded."""
    found = []
    for data in played.entries:
        entry = decode_entry(data)
        if entry.HasField("chance"):
            found.append(("outcome", entry.chance.outcome))
        elif entry.HasField("signed"):
            act = decode_intent(entry.signed.intent)
            found += [("move", act.move)] if act.HasField("move") else []
            found += [("outcome", act.declare)] if act.HasField("declare") else []
    return found


def altered(data: bytes, rng: random.Random) -> bytes:
    """None, one or two bytes of it are others."""
    changed = bytearray(data)
    for _ in range(rng.choice((0, 1, 1, 2))):
        if changed:
            changed[rng.randrange(len(changed))] = rng.choice((*_BYTES, rng.randrange(256)))
    return bytes(changed)


@pytest.mark.parametrize("rules_id", registry.names())
def test_no_event_makes_an_engine_fail(rules_id: str) -> None:
    """Each is of some other position, or nearly so. An engine that fails would turn RULES into UNSUPPORTED."""
    rng, judged, refused = random.Random(5), 0, 0
    for played in (whole_game(rules_id), game(f"{rules_id}, declared")):
        pool = events(played)
        secret = games.SECRET if played.record.game.deal.is_dealt else None
        record = Record(decode_entry(played.entries[0]).open, secret=secret)
        course: Any = record.game
        for data in played.entries:
            record.read(data)
            for _ in range(2000 // len(played.entries)):
                kind, encoded = rng.choice(pool)
                decode = course.position.codec.decode_move if kind == "move" else course.position.codec.decode_outcome
                try:
                    event = decode(altered(encoded, rng), course.position.components)
                except MalformedError:
                    continue
                judged += 1
                refused += bool(course.position.state.check(event))
    assert judged > 500
    assert refused > judged // 2
