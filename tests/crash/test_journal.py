"""The checker of logs finds what it is there to find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from referee.log.entry import decode_entry
from referee.log.note import VerifierKey
from referee.v1 import game_service_pb2 as pb
from tests.crash.journal import Act, Told, broken
from tests.server.service.player import Client, Play


@pytest.fixture
async def kept(play: Play) -> tuple[Told, list[bytes]]:
    """Return a client's messages about the beginning of a game, and its log."""
    await play.steps(6)
    told = Told(play.id, VerifierKey.parse(play.created.verifier_key))
    for request, _, response in play.sent:
        told.acts.append(act := Act(response.accepted.seq, request.intent, request.signature))
        told.acknowledge(act, response.accepted)
    return told, list(play.entries)


def without_the_last(told: Told, log: list[bytes]) -> list[bytes]:
    return log[:-1]


def without_one(told: Told, log: list[bytes]) -> list[bytes]:
    return log[:4] + log[5:]


def altered(told: Told, log: list[bytes]) -> list[bytes]:
    entry = decode_entry(log[-1])
    entry.referee_ms += 1
    return [*log[:-1], entry.SerializeToString()]


def twice(told: Told, log: list[bytes]) -> list[bytes]:
    return [*log, log[told.acts[-1].seq]]


def never_sent(told: Told, log: list[bytes]) -> list[bytes]:
    told.acts.pop()
    return log


def another_signature(told: Told, log: list[bytes]) -> list[bytes]:
    told.acts[-1] = replace(told.acts[-1], signature=bytes(64))
    return log


def denied(told: Told, log: list[bytes]) -> list[bytes]:
    told.acts[-1].is_denied = True
    return log


def shown_otherwise(told: Told, log: list[bytes]) -> list[bytes]:
    told.see(3, log[4])
    return log


def shown_more(told: Told, log: list[bytes]) -> list[bytes]:
    told.see(len(log), b"?")
    return log


def another_head(told: Told, log: list[bytes]) -> list[bytes]:
    sizes = sorted(told.notes)
    told.notes[sizes[0]] = told.notes[sizes[1]]
    return log


BREAKS: dict[str, Callable[[Told, list[bytes]], list[bytes]]] = {
    "entries; a head of": without_the_last,
    "does not follow": without_one,
    "another root than was signed": altered,
    "is there 2 times": twice,
    "nobody sent": never_sent,
    "was acknowledged and is not there": another_signature,
    "said to have come too late": denied,
    "another than was shown": shown_otherwise,
    "was shown and is lost": shown_more,
    "the note of size": another_head,
}


@pytest.mark.parametrize("what", BREAKS)
async def test_what_is_broken_is_found(what: str, kept: tuple[Told, list[bytes]]) -> None:
    told, log = kept
    assert broken(told, log) == []
    log = BREAKS[what](told, log)
    assert any(what in problem for problem in broken(told, log)), broken(told, log)


async def test_two_answers_are_noticed_at_once(client: Client) -> None:
    told = Told("0" * 32, VerifierKey.parse((await client.create()).verifier_key))
    told.see(0, b"a")
    with pytest.raises(AssertionError, match="two entries 0"):
        told.see(0, b"b")
    act = Act(1, b"", b"")
    told.acknowledge(act, pb.Accepted(seq=1, size=2, checkpoint=b"a"))
    with pytest.raises(AssertionError, match="two receipts"):
        told.acknowledge(act, pb.Accepted(seq=1, size=3, checkpoint=b"b"))
    with pytest.raises(AssertionError, match="two heads"):
        told.acknowledge(Act(1, b"", b""), pb.Accepted(seq=1, size=2, checkpoint=b"c"))
    with pytest.raises(AssertionError, match="became 2"):
        told.acknowledge(Act(1, b"", b""), pb.Accepted(seq=2, size=3, checkpoint=b"d"))
