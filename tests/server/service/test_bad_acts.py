"""Everything that can be wrong with an act: the status, the reason, and that nothing has changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.log import intent
from referee.log.events import Author, Role
from referee.log.intent import SignedIntent, intent_encoding
from referee.log.keys import PrivateKey
from referee.log.v1 import log_pb2
from referee.v1 import game_service_pb2 as pb
from tests.server.service.conftest import running
from tests.server.service.player import (
    IDENTITY_POINT,
    SCRIBE,
    SMALL_ORDER_POINT,
    Client,
    Play,
    against_the_rules,
    bearer,
    refused,
    seat_key,
    seat_seed,
    token_of,
)

OTHER = PrivateKey(bytes(32))


async def whole(play: Play) -> tuple[bytes, bytes]:
    """Everything that the world can see of a game."""
    game = await play.client.games.GetGame(pb.GetGameRequest(game_id=play.id))
    return game.SerializeToString(deterministic=True), await play.client.log(play.id)


def signed(play: Play, key: PrivateKey, **fields: Any) -> SignedIntent:
    """For the head, but for what is said otherwise."""
    place = {"game_id": play.place.game_id, "seq": play.place.seq, "prev": play.place.prev}
    return intent.sign(log_pb2.Intent(**{**place, **fields}), key)


# --- acts ----------------------------------------------------------------------------------------------------

Make = Callable[[Play, int], SignedIntent]
"""From a game and the seat on turn to an act."""


def by(play: Play, seat: int, **fields: Any) -> SignedIntent:
    """By the seat, with any legal move if no other act is given."""
    acts = {"take_back", "protest", "change_key", "declare", "move"}
    fields = fields if acts & fields.keys() else {"move": play.a_move(), **fields}
    return signed(play, seat_key(seat), seat=seat, **fields)


def body(play: Play, seat: int, data: bytes) -> SignedIntent:
    """Any bytes, with the seat's good signature."""
    key = seat_key(seat)
    return SignedIntent(data, key.sign(intent_encoding(data)), key.public.id)


def good(play: Play, seat: int) -> bytes:
    return by(play, seat).intent


MALFORMED: dict[str, tuple[Make, str]] = {
    "not protobuf": (lambda p, s: body(p, s, b"\xff\xff\xff"), "MALFORMED_INTENT"),
    "nothing": (lambda p, s: body(p, s, b""), "MALFORMED_INTENT"),
    "an unknown field": (lambda p, s: body(p, s, good(p, s) + b"\xf8\x07\x01"), "MALFORMED_INTENT"),
    "a field twice": (lambda p, s: body(p, s, good(p, s)[:18] + good(p, s)), "MALFORMED_INTENT"),
    "no author": (lambda p, s: signed(p, seat_key(s), move=p.a_move()), "MALFORMED_INTENT"),
    "no act": (lambda p, s: signed(p, seat_key(s), seat=s), "MALFORMED_INTENT"),
    "too large": (lambda p, s: by(p, s, move=bytes(16 * 1024)), "MALFORMED_INTENT"),
    "no move": (lambda p, s: by(p, s, move=b""), "MALFORMED_MOVE"),
    "another game's move": (lambda p, s: by(p, s, move=b"\x7a\x02\x08\x01"), "MALFORMED_MOVE"),
    "an unknown tile": (lambda p, s: by(p, s, move=b"\x3a\x05\x0a\x03xxx"), "MALFORMED_MOVE"),
    "a move with more in it": (lambda p, s: by(p, s, move=p.a_move() + b"\xf8\x07\x01"), "MALFORMED_MOVE"),
}
OUT_OF_PLACE: dict[str, tuple[Make, str]] = {
    "another prev": (lambda p, s: by(p, s, prev=bytes(32)), "STALE_HEAD"),
    "a later seq": (lambda p, s: by(p, s, seq=p.place.seq + 1), "STALE_HEAD"),
    "an earlier seq": (lambda p, s: by(p, s, seq=p.place.seq - 1), "STALE_HEAD"),
    "seq 0": (lambda p, s: by(p, s, seq=0), "STALE_HEAD"),
    "another game in the intent": (lambda p, s: by(p, s, game_id=bytes(16)), "WRONG_GAME"),
    "joining again": (lambda p, s: intent.join(p.place, s, seat_key(s), seat_seed(s)), "NOT_AWAITED"),
    "revealing again": (lambda p, s: p.reveal(s), "NOT_AWAITED"),
    "chance by a seat": (lambda p, s: by(p, s, declare=b"\x0a\x00"), "NOT_AWAITED"),
    "a take-back against the terms": (lambda p, s: by(p, s, take_back=log_pb2.TakeBack(to_seq=5)), "NOT_AWAITED"),
    "a protest without an arbiter": (
        lambda p, s: by(p, s, protest=log_pb2.Protest(against_seq=5, rule_id="ALH-A1")),
        "NOT_AWAITED",
    ),
    "changing a key of a seat that it names": (
        lambda p, s: by(p, s, change_key=log_pb2.ChangeKey(seat=s, key=bytes(32))),
        "NOT_AWAITED",
    ),
    "changing to a weak key": (lambda p, s: by(p, s, change_key=log_pb2.ChangeKey(key=bytes(32))), "WEAK_KEY"),
}
FORGED: dict[str, tuple[Make, str]] = {
    "of other bytes": (lambda p, s: by(p, s)._replace(signature=by(p, s, prev=bytes(32)).signature), "BAD_SIGNATURE"),
    "by the other seat": (lambda p, s: signed(p, seat_key(1 - s), seat=s, move=p.a_move()), "BAD_SIGNATURE"),
    "empty": (lambda p, s: by(p, s)._replace(signature=bytes(64)), "BAD_SIGNATURE"),
    "short": (lambda p, s: by(p, s)._replace(signature=bytes(63)), "INVALID_ARGUMENT"),
    "for the other seat": (lambda p, s: by(p, 1 - s), "PERMISSION_DENIED"),
    "by a scribe": (
        lambda p, s: intent.move(p.place, Author(Role.SCRIBE, 0), SCRIBE, p.a_move()),
        "PERMISSION_DENIED",
    ),
}


@pytest.mark.parametrize("cases", [MALFORMED, OUT_OF_PLACE, FORGED], ids=["malformed", "out of place", "forged"])
async def test_acts_in_play(play: Play, cases: dict[str, tuple[Make, str]]) -> None:
    seat = play.seat_on_turn()
    before = await whole(play)
    for case, (make, reason) in cases.items():
        found = await refused(play.submit(make(play, seat), token_of(play, seat)))
        assert found.reason == reason, case
        if reason == "STALE_HEAD":
            assert found.metadata == {"size": str(play.record.size), "head": play.record.head.hex()}
        if reason == "NOT_AWAITED":
            assert found.metadata == {"awaited": f"move by player {seat + 1}"}
    assert await whole(play) == before
    await play.step()


async def test_not_on_turn(play: Play) -> None:
    seat = play.seat_on_turn()
    before = await whole(play)
    found = await refused(play.submit(by(play, 1 - seat), token_of(play, 1 - seat)))
    assert (found.reason, found.metadata) == ("NOT_AWAITED", {"awaited": f"move by player {seat + 1}"})
    assert await whole(play) == before


async def test_tokens_that_do_not_admit(play: Play) -> None:
    seat = play.seat_on_turn()
    before = await whole(play)
    other = await play.client.play()
    for token, reason in (
        (token_of(play, 1 - seat), "PERMISSION_DENIED"),
        (token_of(other, seat), "PERMISSION_DENIED"),
        (play.client.organiser, "PERMISSION_DENIED"),
        ("x" * 43, "UNAUTHENTICATED"),
        ("x", "UNAUTHENTICATED"),
        (token_of(play, seat) + " x", "UNAUTHENTICATED"),
    ):
        assert (await refused(play.submit(by(play, seat), token))).reason == reason
    act = by(play, seat)
    request = pb.SubmitIntentRequest(game_id=play.id, intent=act.intent, signature=act.signature)
    assert (await refused(play.client.games.SubmitIntent(request))).reason == "UNAUTHENTICATED"
    assert await whole(play) == before


async def test_acts_after_the_end(play: Play) -> None:
    seat = play.seat_on_turn()
    act = play.move(seat, play.a_move())
    await play.client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(play.client.organiser))
    found = await refused(play.submit(act, token_of(play, seat)))
    assert found.reason == "GAME_OVER"
    request = pb.AbortGameRequest(game_id=play.id)
    found = await refused(play.client.games.AbortGame(request, metadata=bearer(play.client.organiser)))
    assert found.reason == "GAME_OVER"


async def waiting_for_seats(client: Client) -> tuple[Play, tuple[bytes, bytes]]:
    """Return a game that waits for its seats, and what its log has."""
    play = await client.play()
    await play.catch_up(1)
    return play, await whole(play)


async def test_acts_that_are_no_join(client: Client) -> None:
    play, empty = await waiting_for_seats(client)
    for act, reason in (
        (signed(play, seat_key(0), seat=0, move=b"\x0a\x00"), "NOT_AWAITED"),
        (intent.join(play.place, 7, seat_key(7), seat_seed(7)), "PERMISSION_DENIED"),
        (intent.join(play.place, 0, seat_key(0), None), "MALFORMED_INTENT"),
    ):
        assert (await refused(play.submit(act, token_of(play, 0)))).reason == reason
    assert await whole(play) == empty


async def test_keys_that_are_weak_or_not_possessed(client: Client) -> None:
    play, empty = await waiting_for_seats(client)
    for weak in (IDENTITY_POINT, SMALL_ORDER_POINT, bytes(32), b"\xff" * 32):
        join = log_pb2.Join(key=weak, commitment=bytes(32))
        # Over the identity point this would be a valid signature of anything, for OpenSSL.
        act = SignedIntent(signed(play, OTHER, seat=0, join=join).intent, IDENTITY_POINT + bytes(32), bytes(8))
        assert (await refused(play.submit(act, token_of(play, 0)))).reason == "WEAK_KEY"
    stolen = log_pb2.Join(key=seat_key(1).public.raw, commitment=bytes(32))
    found = await refused(play.submit(signed(play, OTHER, seat=0, join=stolen), token_of(play, 0)))
    assert found.reason == "BAD_SIGNATURE", "a key has to be possessed"
    assert await whole(play) == empty


async def test_no_seat_has_the_key_of_another_or_reveals_before_all_have_joined(client: Client) -> None:
    play, _ = await waiting_for_seats(client)
    await play.act(play.join(0), token_of(play, 0))
    joined = await whole(play)
    same_key = intent.join(play.place, 1, seat_key(0), seat_seed(1))
    assert (await refused(play.submit(same_key, token_of(play, 1)))).reason == "WEAK_KEY"
    found = await refused(play.submit(play.reveal(0), token_of(play, 0)))
    assert (found.reason, found.metadata["awaited"]) == ("NOT_AWAITED", "join by player 2")
    assert await whole(play) == joined


async def test_no_seat_plays_with_the_key_of_an_arbiter_of_a_scribe_or_of_the_referee(tmp_path: Path) -> None:
    """The seat joins with that key or changes to it, also by a ruling. At a declared table the scribe may play."""
    async with running(tmp_path / "data", log=tmp_path / "log") as (server, client):
        assert server.public_log is not None
        own = [server.data.signer.verifier.key, server.public_log.verifier.key]
        await _keeps_roles_apart(client, own)


async def _keeps_roles_apart(client: Client, own: list[bytes]) -> None:
    """``own``: the referee's keys."""
    arbiter, scribe = OTHER, SCRIBE
    for raw in own:
        for field in ({"arbiter_keys": [raw]}, {"scribe_keys": [raw]}, {"declaring_scribe_key": raw}):
            assert "none of the referee's own keys" in (await refused(client.create(**field))).message
    found = await refused(client.create(arbiter_keys=[scribe.public.raw], scribe_keys=[scribe.public.raw]))
    assert (found.reason, "none that is a scribe's key as well" in found.message) == ("INVALID_ARGUMENT", True)
    terms = log_pb2.Terms(table_rules=2)
    play = await client.play(arbiter_keys=[arbiter.public.raw], scribe_keys=[scribe.public.raw], terms=terms)
    await play.catch_up(1)
    empty = await whole(play)
    for other, words in ((arbiter, "the key of arbiter 0 of this game"), (scribe, "the key of scribe 0 of this game")):
        found = await refused(play.submit(intent.join(play.place, 0, other, seat_seed(0)), token_of(play, 0)))
        assert found.reason == "WEAK_KEY"
        assert words in found.message
    for raw in own:
        join = log_pb2.Join(key=raw, commitment=bytes(32))
        found = await refused(play.submit(signed(play, OTHER, seat=0, join=join), token_of(play, 0)))
        assert (found.reason, "a key of the referee's own" in found.message) == ("WEAK_KEY", True)
    assert await whole(play) == empty
    await play.until_play()
    before = await whole(play)
    for raw in (arbiter.public.raw, scribe.public.raw, *own):
        change = by(play, 0, change_key=log_pb2.ChangeKey(key=raw))
        assert (await refused(play.submit(change, token_of(play, 0)))).reason == "WEAK_KEY"
        ruled = signed(play, arbiter, arbiter=0, change_key=log_pb2.ChangeKey(seat=0, key=raw))
        assert (await refused(play.submit(ruled, play.created.arbiter_token))).reason == "WEAK_KEY"
    assert await whole(play) == before


async def test_at_a_declared_table_the_scribe_may_play(client: Client) -> None:
    play = await client.play(2, rules_id="kingdomino", declaring_scribe_key=SCRIBE.public.raw)
    await play.catch_up(1)
    await play.act(intent.join(play.place, 0, SCRIBE, None), token_of(play, 0))


async def test_another_seed_than_the_committed_one_is_not_revealed(client: Client) -> None:
    play, _ = await waiting_for_seats(client)
    for seat in range(2):
        await play.act(play.join(seat), token_of(play, seat))
    joined = await whole(play)
    for seed in (seat_seed(1), bytes(32)):
        found = await refused(play.submit(intent.reveal(play.place, 0, seat_key(0), seed), token_of(play, 0)))
        assert found.reason == "COMMITMENT_MISMATCH"
    assert await whole(play) == joined
    await play.until_play()


async def test_declared_chance(client: Client) -> None:
    play = await client.play(3, declaring_scribe_key=SCRIBE.public.raw)
    await play.until_play()
    before = await whole(play)
    game = (await client.games.GetGame(pb.GetGameRequest(game_id=play.id))).game
    assert (game.scribe_awaited, list(game.awaited_seats)) == (True, [])
    course = play.record.game
    (outcome, _) = next(iter(course.position.state.chance_outcomes()))
    data = course.position.codec.encode_outcome(outcome, course.position.components)
    cases: tuple[tuple[Callable[[], SignedIntent], str, str], ...] = (
        (lambda: play.move(0, b"\x0a\x00"), token_of(play, 0), "NOT_AWAITED"),
        (lambda: intent.declare(play.place, 0, SCRIBE, data), token_of(play, 0), "PERMISSION_DENIED"),
        (lambda: intent.declare(play.place, 0, SCRIBE, b""), play.created.scribe_token, "MALFORMED_MOVE"),
        (lambda: intent.declare(play.place, 1, SCRIBE, data), play.created.scribe_token, "NOT_AWAITED"),
        (lambda: intent.declare(play.place, 0, OTHER, data), play.created.scribe_token, "BAD_SIGNATURE"),
    )
    for make, token, reason in cases:
        found = await refused(play.submit(make(), token))
        assert found.reason == reason
    assert await whole(play) == before
    twice = course.position.codec.encode_outcome(
        type(outcome)((outcome.tiles[0],) * len(outcome.tiles)), course.position.components
    )
    answer = await play.submit(intent.declare(play.place, 0, SCRIBE, twice), play.created.scribe_token)
    assert [v.rule_id for v in answer.refused.violations] == ["ALH-F13"]
    assert await whole(play) == before


# --- moves against the rules -----------------------------------------------------------------------------------


async def test_a_refused_move_is_an_answer(play: Play) -> None:
    before = await whole(play)
    seat = play.seat_on_turn()
    act = play.move(seat, against_the_rules(play)), token_of(play, seat)
    answer = await play.submit(*act)
    assert answer.WhichOneof("verdict") == "refused"
    assert not answer.refused.HasField("recorded")
    violation = answer.refused.violations[0]
    assert violation.rule_id.startswith("ALH-")
    assert violation.text.startswith(violation.rule_id)
    assert await play.submit(*act) == answer, "the same bytes, the same answer"
    assert await whole(play) == before
    await play.step()


async def test_a_recorded_attempt(client: Client) -> None:
    play = await client.play(terms=log_pb2.Terms(illegal_moves=log_pb2.ILLEGAL_MOVE_POLICY_RECORDED))
    await play.until_play()
    seat = play.seat_on_turn()
    act = play.move(seat, against_the_rules(play)), token_of(play, seat)
    answer = await play.submit(*act)
    recorded = answer.refused.recorded
    assert (recorded.seq, recorded.size) == (play.record.size, play.record.size + 1)
    await play.catch_up(recorded.size)
    assert play.notes[recorded.size] == recorded.checkpoint
    assert await play.submit(*act) == answer
    await play.steps(3)
    assert await play.submit(*act) == answer, "also when the game has gone on"
    assert (await client.games.GetGame(pb.GetGameRequest(game_id=play.id))).game.size == play.record.size
