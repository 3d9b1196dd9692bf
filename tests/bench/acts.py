"""Acts over gRPC, durable and signed for, against bare echoes: scribes enter whole declared games, a stream or a call
for each act.

A declared game is known before it begins, so the client only signs: the server is what is measured. Server and client
have a processor each where there are two.
"""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory, TemporaryFile
from time import perf_counter
from typing import Any

import grpc
from nacl.signing import SigningKey

from referee.games import registry
from referee.games.game import Chance, Forced, ForcedPass, Over
from referee.harness import Shuffler
from referee.log import intent
from referee.log.events import Author, Role
from referee.log.intent import Place, SignedIntent
from referee.log.keys import PrivateKey
from referee.log.v1 import log_pb2
from referee.v1 import game_service_pb2 as pb
from referee.v1 import game_service_pb2_grpc as pb_grpc
from referee.wire.registry import codec as codec_of
from tests.bench.measure import Figure

SEATS = 3
SCRIPTS = 4
SCRIBE = PrivateKey.generate()
PROCESSORS = sorted(os.sched_getaffinity(0))
REFEREE = str(Path(sys.executable).parent / "referee")


def pin(pid: int, processor: int) -> None:
    """Have the process run on this processor only."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(task.name), {processor})


def processor_s(pid: int) -> float:
    """Return seconds of processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Running:
    """A server in a process of its own."""

    pid: int
    address: str


@asynccontextmanager
async def running(
    *command: str, on: tuple[int, int] | None = None, env: Mapping[str, str] | None = None
) -> AsyncIterator[Running]:
    """Yield a server on the first processor, and us on the last; or ``on`` these. It may be killed."""
    server, client = on or (PROCESSORS[0], PROCESSORS[-1])
    with TemporaryFile() as said:
        process = await asyncio.create_subprocess_exec(
            *command, stdout=subprocess.PIPE, stderr=said, env=None if env is None else {**os.environ, **env}
        )
        assert process.stdout is not None
        try:
            line = (await process.stdout.readline()).decode()
            if not line:
                said.seek(0)
                raise AssertionError(f"it did not start: {said.read().decode()}")
            pin(process.pid, server)
            pin(os.getpid(), client)
            yield Running(process.pid, line.removeprefix("listening on ").strip())
        finally:
            with suppress(ProcessLookupError):
                process.terminate()
            await process.wait()


Script = tuple[tuple[bool, bytes], ...]
"""A whole game: of each act whether it is a move or a draw, and its exact bytes."""


@lru_cache
def script(seed: int, seats: int = SEATS) -> Script:
    """Return a random game."""
    rng, game, codec = random.Random(seed), registry.get("alhambra"), codec_of("alhambra", 2)
    components = codec.decode_components(codec.encode_components(None))
    state, dealer = game.new(seats), game.dealer(seats, None, None, Shuffler(rng))
    found: list[tuple[bool, bytes]] = []
    event: Any
    while not isinstance(pending := state.pending()[0], Over):
        if isinstance(pending, Chance):
            event = dealer.outcome(state)
            found.append((False, codec.encode_outcome(event, components)))
        elif isinstance(pending, Forced):
            event = ForcedPass(pending.seat)
        else:
            event = rng.choice(list(state.legal_moves()))
            found.append((True, codec.encode_move(event, components)))
        state.apply(event)
    return tuple(found)


@dataclass
class Desk:
    """A scribe's game: the next act of its script, signed for the head that the last answer gave."""

    game_id: str
    token: str
    place: Place
    acts: Script
    at: int = 0
    trips: list[float] = field(default_factory=list)

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        return (("authorization", f"Bearer {self.token}"),)

    def signed(self) -> SignedIntent:
        is_move, data = self.acts[self.at]
        self.at += 1
        if is_move:
            return intent.move(self.place, Author(Role.SCRIBE, 0), SCRIBE, data)
        return intent.declare(self.place, 0, SCRIBE, data)

    def took(self, accepted: pb.Accepted, start: float) -> None:
        self.trips.append(perf_counter() - start)
        self.place = Place(self.place.game_id, accepted.size, accepted.head)


async def opened(
    stub: pb_grpc.GameServiceAsyncStub,
    organiser: str,
    acts: Script,
    options: bytes = b"",
    seats: int = SEATS,
    terms: log_pb2.Terms | None = None,
) -> Desk:
    """Return a new game, with nothing entered."""
    response = await stub.CreateGame(
        pb.CreateGameRequest(
            rules_id="alhambra",
            options=options,
            seats=[log_pb2.Seat(scribed=True)] * seats,
            declaring_scribe_key=SCRIBE.public.raw,
            terms=terms,
        ),
        metadata=(("authorization", f"Bearer {organiser}"),),
    )
    game = response.game
    return Desk(game.id, response.scribe_token, Place(bytes.fromhex(game.id), game.size, game.head), acts)


async def desks(stub: pb_grpc.GameServiceAsyncStub, organiser: str, games: int) -> list[Desk]:
    """So many of them."""
    return [await opened(stub, organiser, script(number % SCRIPTS)) for number in range(games)]


class Stream:
    """A desk's acts on one stream."""

    def __init__(self, stub: pb_grpc.GameServiceAsyncStub, desk: Desk) -> None:
        self.desk = desk
        self._call: Any = stub.PlayGame(metadata=desk.metadata)

    async def begin(self) -> None:
        enter = pb.Enter(game_id=self.desk.game_id, after_seq=self.desk.place.seq - 1)
        await self._call.write(pb.PlayGameRequest(enter=enter))
        await self._call.read()  # the turn

    async def once(self) -> None:
        signed = self.desk.signed()
        start = perf_counter()
        await self._call.write(pb.PlayGameRequest(act=pb.SignedAct(intent=signed.intent, signature=signed.signature)))
        while (message := await self._call.read()).HasField("heartbeat"):
            pass
        if not message.answer.HasField("accepted"):
            raise AssertionError(message)
        self.desk.took(message.answer.accepted, start)


class Calls:
    """A desk's acts, a call for each."""

    def __init__(self, stub: pb_grpc.GameServiceAsyncStub, desk: Desk) -> None:
        self.desk, self._stub = desk, stub

    async def begin(self) -> None:
        pass

    async def once(self) -> None:
        signed = self.desk.signed()
        start = perf_counter()
        response = await self._stub.SubmitIntent(
            pb.SubmitIntentRequest(game_id=self.desk.game_id, intent=signed.intent, signature=signed.signature),
            metadata=self.desk.metadata,
        )
        if not response.HasField("accepted"):
            raise AssertionError(response)
        self.desk.took(response.accepted, start)


class Echoes:
    """A bare message and its answer, on one stream or a call for each."""

    def __init__(self, channel: grpc.aio.Channel, message: bytes, *, stream: bool) -> None:
        self._message = message
        self._unary: Any = None if stream else channel.unary_unary("/Floor/Call")
        self._call: Any = channel.stream_stream("/Floor/Call")() if stream else None

    async def begin(self) -> None:
        pass

    async def once(self) -> None:
        if self._call is None:
            await self._unary(self._message)
        else:
            await self._call.write(self._message)
            await self._call.read()


Client = Stream | Calls | Echoes


async def rate(clients: list[Client], times: int) -> float:
    """Return the acts a second of all clients together, ``times`` each, one after the other."""

    async def work(client: Client) -> None:
        for _ in range(times):
            await client.once()

    start = perf_counter()
    await asyncio.gather(*(work(client) for client in clients))
    return len(clients) * times / (perf_counter() - start)


def message_for_composite() -> bytes:
    """Return a signed message as long as an act."""
    key = SigningKey.generate()
    return bytes(key.verify_key) + (signed := key.sign(bytes(230))).signature + signed.message


async def measured(games: int, rounds: int, times: int) -> list[Figure]:
    """Every way in turn, in short slices, so that the ratios hold while the machine's speed drifts."""
    floors = [sys.executable, "-m", "tests.bench.floors"]
    with TemporaryDirectory() as folder:
        async with (
            running(REFEREE, "serve", "--listen", "127.0.0.1:0", "--data", folder) as referee,
            running(*floors, "stream") as stream,
            running(*floors, "unary") as unary,
            running(*floors, "composite") as composite,
            grpc.aio.insecure_channel(referee.address) as channel,
            grpc.aio.insecure_channel(stream.address) as stream_channel,
            grpc.aio.insecure_channel(unary.address) as unary_channel,
            grpc.aio.insecure_channel(composite.address) as composite_channel,
        ):
            stub = pb_grpc.GameServiceStub(channel)
            organiser = (Path(folder) / "organiser.token").read_text().strip()
            message = message_for_composite()
            streams = [Stream(stub, desk) for desk in await desks(stub, organiser, games)]
            calls = [Calls(stub, desk) for desk in await desks(stub, organiser, games)]
            ways: dict[str, list[Client]] = {
                "play": [*streams],
                "submit": [*calls],
                "stream": [Echoes(stream_channel, message, stream=True) for _ in range(games)],
                "unary": [Echoes(unary_channel, message, stream=False) for _ in range(games)],
                "composite": [Echoes(composite_channel, message, stream=True) for _ in range(games)],
            }
            rates: dict[str, list[float]] = {way: [] for way in ways}
            servers = {"play": referee, "submit": referee, "stream": stream, "unary": unary, "composite": composite}
            spent = dict.fromkeys(ways, 0.0)
            for clients in ways.values():
                for client in clients:
                    await client.begin()
                await rate(clients, 5)
            for desk in (client.desk for client in streams):
                desk.trips.clear()
            for _ in range(rounds):
                for way, clients in ways.items():
                    before = processor_s(servers[way].pid)
                    rates[way].append(await rate(clients, times))
                    spent[way] += processor_s(servers[way].pid) - before
    what = f"{games} games" if games > 1 else "one game"
    trips = sorted(trip for client in streams for trip in client.desk.trips)
    return [
        compared(f"PlayGame, {what}, of a bare echo on a stream", rates["play"], rates["stream"], PLAY[games]),
        compared(f"PlayGame, {what}, of the composite floor", rates["play"], rates["composite"], COMPOSITE[games]),
        compared(f"SubmitIntent, {what}, of a bare unary echo", rates["submit"], rates["unary"], SUBMIT[games]),
        Figure(
            f"PlayGame, {what}: p99 of an act over its median",
            trips[len(trips) * 99 // 100] / median(trips),
            at_most=4.0,
        ),
        *(
            Figure(f"{name}, {what}: processor time of the server, µs", 1e6 * spent[way] / (rounds * times * games))
            for way, name in NAMES.items()
        ),
    ]


def compared(name: str, ours: list[float], floors: list[float], target: float | None) -> Figure:
    pairs = [our / floor for our, floor in zip(ours, floors, strict=True)]
    return Figure(name, median(ours), target, median(floors), median(pairs))


NAMES = {
    "play": "PlayGame",
    "composite": "composite floor",
    "stream": "bare echo on a stream",
    "submit": "SubmitIntent",
    "unary": "bare unary echo",
}
PLAY = {1: 0.33, 32: 0.32}
COMPOSITE = {1: 0.75, 32: 0.70}
SUBMIT = {1: 0.42, 32: 0.42}


def figures() -> Iterator[Figure]:
    """Both sizes."""
    yield from asyncio.run(measured(1, rounds=9, times=40))
    yield from asyncio.run(measured(32, rounds=9, times=40))


if __name__ == "__main__":
    for figure in figures():
        print(figure)
