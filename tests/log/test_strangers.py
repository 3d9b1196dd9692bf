"""Acts of seats, scribes and arbiters that do not exist are refused for any signer, and nothing else happens."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pytest

from referee.log import intent
from referee.log.audit import audit
from referee.log.codec import read_act
from referee.log.entry import Clock, build_entry
from referee.log.errors import Code, LogError
from referee.log.events import Author, Role
from referee.log.intent import author_of
from referee.log.judge import take
from referee.log.v1 import log_pb2
from referee.log.verdict import Policy, Verdict
from tests.log import evil, seated
from tests.log.games import SIGNER, build_file, key

NOBODY = 9
RULINGS = [field.name for field in log_pb2.Rule.DESCRIPTOR.oneofs_by_name["ruling"].fields]


def acts() -> Iterator[tuple[str, Any]]:
    """Yield each kind of act, and each ruling, that somebody may put a number under."""
    for field in log_pb2.Intent.DESCRIPTOR.oneofs_by_name["act"].fields:
        name = field.name
        if name == "rule":
            for ruling in RULINGS:
                rule = log_pb2.Rule(rule_id="TBL-1")
                getattr(rule, ruling).SetInParent()
                yield name, rule
        elif name == "join":
            yield name, log_pb2.Join(key=key("stranger").public.raw, commitment=bytes(32))
        elif name == "reveal":
            yield name, log_pb2.Reveal(seed=bytes(32))
        elif field.message_type is None:
            yield name, b"\x01"
        else:
            yield name, getattr(log_pb2, field.message_type.name)()


def games_in_play() -> list[seated.Seated]:
    made = [seated.Seated("toy", seats=3, options=bytes([8])), seated.Seated("kingdomino", seats=2)]
    made.append(seated.Seated("kingdomino", seats=2, dealt=False, scribed=(0,)))
    for each in made:
        each.until()
    return made


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize(
    ("name", "act"), [pytest.param(name, act, id=f"{name}-{number}") for number, (name, act) in enumerate(acts())]
)
def test_nobody_acts(role: Role, name: str, act: Any) -> None:
    for game in games_in_play():
        record = game.record
        signed = sign(game, role, name, act)
        before = record.game.position.state, record.game.phase, dict(record.game.arbitration.out)
        with pytest.raises(LogError):
            record.check(signed)
        # Without the signature's being asked for, as the auditor follows a file whose authors are wrong.
        if name != "move" or record.opened.rules_id == "toy":
            refused(record, signed)
        assert before == (record.game.position.state, record.game.phase, dict(record.game.arbitration.out))
        message = log_pb2.Signed(intent=signed.intent, signature=signed.signature, key_id=signed.key_id)
        entry = build_entry(record.place, Clock(game.now), record.game.position.digest(), message)
        entries = [*game.played.entries, entry.data]
        data = build_file(game.played.header, entries, evil.head(game.played, entries))
        report = audit(BytesIO(data), Policy(SIGNER.verifier), engines=game.played.engines)
        assert report.verdict in (Verdict.CORRUPT, Verdict.UNSUPPORTED), report.as_text()
        assert report.decisive is not None
        assert report.decisive.entry == len(entries) - 1


def sign(game: seated.Seated, role: Role, name: str, act: Any) -> intent.SignedIntent:
    body = intent._intent(game.record.place, Author(role, NOBODY))
    if isinstance(act, bytes):
        setattr(body, name, act)
    else:
        getattr(body, name).CopyFrom(act)
        getattr(body, name).SetInParent()
    return intent.sign(body, key("stranger"))


def refused(record: Any, signed: intent.SignedIntent) -> None:
    with pytest.raises(LogError) as found:
        _entered(record, signed)
    assert found.value.code in (Code.NOT_AWAITED, Code.MALFORMED, Code.UNSUPPORTED)


def _entered(record: Any, signed: intent.SignedIntent) -> None:
    body = intent.decode_intent(signed.intent)
    take(record.game, read_act(body, author_of(body), record.game.position), record.size, Clock(record.last_ms))
