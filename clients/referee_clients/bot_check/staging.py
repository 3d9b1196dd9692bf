"""Brings a game at a referee to a position: plays both seats, and declares what is drawn. Knows no bot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import grpc

from referee.games import registry
from referee.games.game import Decision, ForcedPass
from referee.log import intent
from referee.log.intent import Author, Place, Role, SignedIntent
from referee.log.keys import PrivateKey
from referee.v1 import game_service_pb2 as pb
from referee.v1 import game_service_pb2_grpc as pb_grpc
from referee.wire import registry as wire
from referee_clients.sdk.channel import bearer, open_channel
from referee_clients.sdk.errors import answer_of, denied
from referee_clients.sdk.organiser import Opened

CALL_S = 15.0


async def bring(
    opened: Opened, rules_id: str, events: Sequence[Any], *, keys: Sequence[PrivateKey], scribe: PrivateKey
) -> int:
    """Have each seat join under its key, then have all these events happen. Return the number of entries.

    ``opened``: a game with default options that nobody has joined, whose chance ``scribe`` declares. ``events``: moves,
    outcomes and forced passes, from the beginning of play on. Raise ``Denied``.
    """
    async with open_channel(opened.joins[0].address) as channel:
        stage = _Stage(channel, opened)
        await stage.begin()
        for seat, key in enumerate(keys):
            await stage.enter(intent.join(stage.place, seat, key, None), opened.joins[seat].token)
        rules = registry.get(rules_id)
        codec, components = wire.codec(rules_id, rules.version), rules.default_components()
        state = rules.new(len(keys), None, None)
        for event in events:
            match state.pending()[0]:
                case _ if isinstance(event, ForcedPass):
                    pass  # the referee enters it by itself
                case Decision(seat):
                    move = codec.encode_move(event, components)
                    signed = intent.move(stage.place, Author(Role.SEAT, seat), keys[seat], move)
                    await stage.enter(signed, opened.joins[seat].token)
                case _:
                    outcome = codec.encode_outcome(event, components)
                    await stage.enter(intent.declare(stage.place, 0, scribe, outcome), opened.scribe_token)
            state.apply(event)
        return stage.place.seq


class _Stage:
    """A game, and its head after the newest act."""

    place: Place

    def __init__(self, channel: grpc.aio.Channel, opened: Opened) -> None:
        self._stub = pb_grpc.GameServiceStub(channel)
        self._opened = opened

    async def begin(self) -> None:
        """Ask for the head. Raise ``Denied``."""
        game_id = self._opened.game_id
        try:
            told = await self._stub.GetGame(pb.GetGameRequest(game_id=game_id), timeout=CALL_S, wait_for_ready=True)
        except grpc.aio.AioRpcError as error:
            raise denied(answer_of(error)) from None
        self.place = Place(bytes.fromhex(game_id), told.game.size, told.game.head)

    async def enter(self, signed: SignedIntent, token: str) -> None:
        """Have the act entered. Raise ``Denied``."""
        request = pb.SubmitIntentRequest(game_id=self._opened.game_id, intent=signed.intent, signature=signed.signature)
        try:
            told = await self._stub.SubmitIntent(request, timeout=CALL_S, metadata=bearer(token))
        except grpc.aio.AioRpcError as error:
            raise denied(answer_of(error)) from None
        self.place = Place(self.place.game_id, told.accepted.size, told.accepted.head)
