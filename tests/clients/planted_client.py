"""Clients over gRPC that are wrong in one way each: ``python -m tests.clients.planted_client FAULT JOIN KEY``.

Without a fault it is the client in Python, which is as it should be.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

from google.protobuf.unknown_fields import UnknownFieldSet

from referee.log.keys import PrivateKey
from referee.v1 import game_service_pb2 as pb
from referee_clients.bots import load
from referee_clients.join import Join, parse_join
from referee_clients.sdk import connection
from referee_clients.sdk.connection import Connection
from referee_clients.sdk.player import Player
from tests.clients import planted

AS = "as-"
"""Before the name of a planted bot, which the client plays with."""


class GivesUp(Exception):
    """An error that the program's author had not thought of."""


class _Planted(Player):
    fault = ""

    async def _take(self, message: pb.PlayGameResponse) -> None:
        reason = message.answer.failure.reason
        if self.fault == "gives-up-when-stale" and reason == pb.ERROR_REASON_STALE_HEAD:
            raise GivesUp("STALE_HEAD")
        if self.fault == "strict-fields" and len(UnknownFieldSet(message)):
            raise GivesUp("unknown fields")
        if self.fault == "waits-after-a-refusal" and message.answer.HasField("refused"):
            await asyncio.sleep(600)
        if self.fault == "signs-again" and self._sent is not None and self._sent_on != self.connection.reconnects:
            self._sent, self._deciding._choice = None, None
        await super()._take(message)


class _Closed(Connection):
    """Takes any closing for the end."""

    async def _next(self) -> Any:
        message = await super()._next()
        if message.HasField("closing") and message.closing.reason != pb.CLOSING_REASON_GAME_OVER:
            os._exit(0)
        return message


class _Reads(Connection):
    """A connection that asks for legal moves with its turns, and reads a limited number of them."""

    most = 0

    async def _write(self, message: pb.PlayGameRequest) -> None:
        if message.HasField("enter"):
            message.enter.legal_moves = True
        await super()._write(message)

    async def _next(self) -> Any:
        message = await super()._next()
        if len(message.turn.moves) > self.most:
            raise GivesUp(f"{len(message.turn.moves)} moves")
        return message


class _Impatient(connection.Pace):
    async def wait(self, why: str, at_least_s: float = 0.0) -> None:
        await asyncio.sleep(0.01)


class _Slow:
    def choose(self, observation: Any, legal_moves: Any) -> Any:
        time.sleep(1.5)
        return legal_moves[0]


class _Random:
    def choose(self, observation: Any, legal_moves: Any) -> Any:
        return random.choice(legal_moves)


def kept(fault: str, file: Path) -> PrivateKey:
    """Return the seat's key."""
    if file.exists():
        return PrivateKey.load(file)
    key = PrivateKey.generate()
    if fault != "forgets-its-key":
        key.save(file)
    return key


def lock(file: Path) -> None:
    """One at a time."""
    try:
        os.close(os.open(file, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        raise GivesUp("another one is running") from None


async def main(fault: str, place: Join, key: PrivateKey, told: str) -> None:
    """Play the seat. ``told``: what is in the key's file."""
    _Planted.fault = fault
    if fault == "never-joins":
        await asyncio.sleep(600)
    if fault == "impatient":
        connection.Pace = _Impatient  # type: ignore[misc]
    if fault == "tells-its-key":
        print(told)
    if fault == "tells-its-token":
        print(f"playing at {place.address} with {place.token}")
    bot: Any = {"slow": _Slow(), "signs-again": _Random()}.get(fault) or load("random", "kingdomino", 1)
    if fault.startswith(AS):
        bot = getattr(planted, fault.removeprefix(AS))()
    patience_s = {"one-stream": -1.0, "soon-gone": 0.3}.get(fault, 60.0)
    silence_s = 600.0 if fault == "waits-for-ever" else 1.0 if fault == "silence-1" else 30.0
    player = _Planted(place, bot, key=key, patience_s=patience_s, silence_s=silence_s)
    if fault == "any-closing":
        player.connection = _Closed(place.address, place.game_id, place.token)
    if fault.startswith("reads-"):
        player.connection = _Reads(place.address, place.game_id, place.token)
        player.connection.most = int(fault.removeprefix("reads-"))
    await player.run()
    if fault == "stays":
        await asyncio.sleep(600)
    if fault == "fails-at-the-end":
        raise GivesUp("I lost")


if __name__ == "__main__":
    named, join_file, key_file = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    if named == "one-at-a-time":
        lock(key_file.parents[1] / "lock")
    own = kept(named, key_file)
    text = key_file.read_text() if key_file.exists() else ""
    asyncio.run(main(named, parse_join(join_file.read_text()), own, text))
