"""One act over gRPC, durable and signed for, against a bare echo of the same size: medians of round trips."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import grpc

from clients.sdk.organiser import organiser
from referee.games.game import Decision
from referee.log import intent
from referee.log.intent import Author, Role, SignedIntent
from referee.log.keys import PrivateKey
from referee.log.replay import Record
from referee.v1 import game_service_pb2 as pb
from referee.v1 import game_service_pb2_grpc as pb_grpc
from tests.bench.measure import Figure

SEATS = 3
ECHOES = 2000
ECHO = """
import asyncio, grpc
async def echo(request, context):
    return request
async def main():
    server = grpc.aio.server()
    handler = grpc.unary_unary_rpc_method_handler(echo)
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("Echo", {"Echo": handler})])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"listening on 127.0.0.1:{port}", flush=True)
    await server.wait_for_termination()
asyncio.run(main())
"""


@asynccontextmanager
async def running(*command: str) -> AsyncIterator[str]:
    """The address of a server in a process of its own."""
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    try:
        yield (await process.stdout.readline()).decode().removeprefix("listening on ").strip()
    finally:
        process.terminate()
        await process.wait()


async def echo_trips(size: int) -> list[float]:
    """Seconds of each bare round trip."""
    async with running(sys.executable, "-c", ECHO) as address, grpc.aio.insecure_channel(address) as channel:
        call: Any = channel.unary_unary("/Echo/Echo")
        body, trips = bytes(size), []
        for _ in range(ECHOES):
            start = perf_counter()
            await call(body)
            trips.append(perf_counter() - start)
    return trips


class Game:
    """All seats of one game in one client that follows the log and decides at random."""

    def __init__(self, stub: pb_grpc.GameServiceAsyncStub, game_id: str, tokens: list[str]) -> None:
        self.stub, self.game_id = stub, game_id
        self.tokens = [(("authorization", f"Bearer {token}"),) for token in tokens]
        self.keys = [PrivateKey.generate() for _ in tokens]
        self.seeds = [key.public.raw for key in self.keys]
        self.trips: list[float] = []
        self.sizes: list[int] = []
        self.rng = random.Random(1)

    async def submit(self, seat: int, signed: SignedIntent) -> None:
        request = pb.SubmitIntentRequest(game_id=self.game_id, intent=signed.intent, signature=signed.signature)
        start = perf_counter()
        response = await self.stub.SubmitIntent(request, metadata=self.tokens[seat])
        self.trips.append(perf_counter() - start)
        self.sizes.append(request.ByteSize())
        if not response.HasField("accepted"):
            raise AssertionError(response)

    async def play(self) -> None:
        record: Record | None = None
        async for message in self.stub.WatchGame(pb.WatchGameRequest(game_id=self.game_id, after_seq=-1)):
            if not message.HasField("commit"):
                continue
            if record is None:
                game = await self.stub.GetGame(pb.GetGameRequest(game_id=self.game_id))
                record = Record(game.game.open)
            for entry in message.commit.entries:
                record.read(entry)
            await self.act(record)

    async def act(self, record: Record) -> None:
        """What is due from a seat now, if anything is."""
        course, place = record.course, record.place
        if record.phase.value == "joining":
            seat = len(course.joins)
            await self.submit(seat, intent.join(place, seat, self.keys[seat], self.seeds[seat]))
        elif record.phase.value == "revealing":
            seat = len(course.seeds)
            await self.submit(seat, intent.reveal(place, seat, self.keys[seat], self.seeds[seat]))
        elif record.phase.value == "playing" and isinstance(awaited := course.pending()[0], Decision):
            move = self.rng.choice(list(course.state.legal_moves()))
            data = course.codec.encode_move(move, course.tables)
            signed = intent.move(place, Author(Role.SEAT, awaited.seat), self.keys[awaited.seat], data)
            await self.submit(awaited.seat, signed)


async def act_trips(folder: Path) -> tuple[list[float], int]:
    """Seconds of each act of a whole game, and the median size of a request."""
    serve = [str(Path(sys.executable).parent / "referee"), "serve", "--listen", "127.0.0.1:0"]
    async with running(*serve, "--data", str(folder)) as address, grpc.aio.insecure_channel(address) as channel:
        token = (folder / "organiser.token").read_text().strip()
        async with organiser(address, token) as calls:
            opened = await calls.open_game("alhambra", SEATS)
        game = Game(pb_grpc.GameServiceStub(channel), opened.game_id, [join.token for join in opened.joins])
        await game.play()
    return game.trips, int(median(game.sizes))


def figures() -> Iterator[Figure]:
    """Round trips a second, one client."""
    with TemporaryDirectory() as folder:
        trips, size = asyncio.run(act_trips(Path(folder)))
    bare = asyncio.run(echo_trips(size))
    name = f"SubmitIntent, one game of {len(trips)} acts, median"
    yield Figure(name, 1 / median(trips), floor=1 / median(bare))
