"""The streams PlayGame and WatchSeat, as a player reads them."""

from __future__ import annotations

from typing import Any

import grpc

from referee.log import intent
from referee.log.events import Author, Role
from referee.log.intent import SignedIntent
from referee.v1 import game_service_pb2 as pb
from tests.server.service.player import (
    CODE,
    Client,
    Play,
    bearer,
    seat_key,
    seat_seed,
    token_of,
)


class Stream:
    """One author's stream."""

    def __init__(self, play: Play, token: str, **enter: Any) -> None:
        self.call = play.client.games.PlayGame(metadata=bearer(token))
        self.enter = pb.Enter(game_id=play.id, **enter)
        self.ids = 0

    async def begin(self) -> pb.PlayGameResponse:
        await self.call.write(pb.PlayGameRequest(enter=self.enter))
        return await self.read()

    async def read(self) -> pb.PlayGameResponse:
        message = await self.call.read()
        assert isinstance(message, pb.PlayGameResponse), message
        return message

    async def act(self, signed: SignedIntent) -> int:
        self.ids += 1
        act = pb.SignedAct(intent=signed.intent, signature=signed.signature, id=self.ids)
        await self.call.write(pb.PlayGameRequest(act=act))
        return self.ids

    async def answer(self, signed: SignedIntent) -> pb.PlayGameResponse:
        """Return the message that has the answer."""
        number = await self.act(signed)
        while (message := await self.read()).answer.id != number:
            pass
        return message


async def play_seat(play: Play, seat: int, **enter: Any) -> list[bytes]:
    """Plays the seat to its end knowing nothing but what the stream says; returns the entries."""
    stream, key = Stream(play, token_of(play, seat), after_seq=-1, legal_moves=True, **enter), seat_key(seat)
    message, entries = await stream.begin(), list[bytes]()
    while not message.HasField("closing"):
        entries += message.commit.entries
        assert message.seq == len(entries) - 1
        if message.answer.HasField("accepted"):
            assert message.commit.checkpoint, "one message for the act and what became of it"
            assert not message.answer.accepted.checkpoint
            assert message.answer.accepted.size == len(entries)
        elif message.answer.HasField("failure"):
            # Another came first; then there is another turn.
            assert message.answer.failure.reason == pb.ERROR_REASON_STALE_HEAD
            assert message.answer.failure.code == CODE["STALE_HEAD"].value[0]
        if message.HasField("turn"):
            turn = message.turn
            assert (turn.size, turn.seat) == (len(entries), seat)
            place = intent.Place(bytes.fromhex(play.id), turn.size, turn.head)
            if turn.awaited == pb.AWAITED_JOIN:
                await stream.act(intent.join(place, seat, key, seat_seed(seat)))
            elif turn.awaited == pb.AWAITED_REVEAL:
                await stream.act(intent.reveal(place, seat, key, seat_seed(seat)))
            else:
                assert turn.awaited == pb.AWAITED_MOVE
                move = turn.moves[turn.size * 7919 % len(turn.moves)]
                await stream.act(intent.move(place, Author(Role.SEAT, seat), key, move))
        message = await stream.read()
    assert message.closing.reason == pb.CLOSING_REASON_GAME_OVER
    assert await stream.call.code() is grpc.StatusCode.OK
    return entries


async def watched(client: Client, game_id: str, after_seq: int | None = None) -> list[pb.WatchGameResponse]:
    """Everything up to Closing, heartbeats left out."""
    stream = client.games.WatchGame(pb.WatchGameRequest(game_id=game_id, after_seq=after_seq))
    messages = [message async for message in stream]
    assert messages[-1].WhichOneof("item") == "closing"
    return [message for message in messages if not message.HasField("heartbeat")]


async def rest(stream: Any) -> list[pb.WatchGameResponse]:
    """Return the unread messages, without heartbeats."""
    messages = []
    while (message := await stream.read()) is not grpc.aio.EOF:
        messages += [] if message.HasField("heartbeat") else [message]
    return messages
