"""The cost of a public log to players, and the time until a game that is over has its proof.

Two referees, one with a log that two witnesses sign: acts at both in turn, in short slices of the same run, while at
both a game is opened and ended in every slice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import grpc

from referee.v1 import game_service_pb2 as pb
from referee.v1 import game_service_pb2_grpc as pb_grpc
from tests.bench.acts import REFEREE, Client, Stream, compared, desks, opened, processor_s, rate, running, script
from tests.bench.measure import Figure
from tests.server.publishing.witness import SmallWitness, serving

GAMES, ROUNDS, ACTS, ENDS = 8, 17, 25, 9
_LOOKS_S = 0.02


class _Referee:
    """One of the two."""

    def __init__(self, stub: pb_grpc.GameServiceAsyncStub, organiser: str, pid: int) -> None:
        self.stub, self.pid = stub, pid
        self._organiser = organiser

    async def clients(self, games: int) -> list[Client]:
        found: list[Client] = [Stream(self.stub, desk) for desk in await desks(self.stub, self._organiser, games)]
        for client in found:
            await client.begin()
        return found

    async def end_a_game(self) -> str:
        """Open one and end it; return its id."""
        desk = await opened(self.stub, self._organiser, script(0))
        bearer = (("authorization", f"Bearer {self._organiser}"),)
        await self.stub.AbortGame(pb.AbortGameRequest(game_id=desk.game_id), metadata=bearer)
        return desk.game_id


async def measured(games: int, rounds: int, times: int, ends: int) -> list[Figure]:
    """Rates with the log and without, then the time to a proof."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        witnesses = [stack.enter_context(serving(SmallWitness(f"w{number}.example"))) for number in (1, 2)]
        names = [f"w{number}" for number in (1, 2)]
        lines = [f"witness {name} {each.verifier} {each.url}" for name, each in zip(names, witnesses, strict=True)]
        (folder / "policy").write_text("\n".join([*lines, f"group both all {' '.join(names)}", "quorum both", ""]))
        referees: dict[str, _Referee] = {}
        for way, words in (("without", ()), ("with", ("--log", folder / "log", "--log-policy", folder / "policy"))):
            data = folder / way
            options = map(str, ("--listen", "127.0.0.1:0", "--data", data, *words))
            process = await stack.enter_async_context(running(REFEREE, "serve", *options))
            channel = await stack.enter_async_context(grpc.aio.insecure_channel(process.address))
            organiser = (data / "organiser.token").read_text().strip()
            referees[way] = _Referee(pb_grpc.GameServiceStub(channel), organiser, process.pid)
        clients = {way: await referee.clients(games) for way, referee in referees.items()}
        rates: dict[str, list[float]] = {way: [] for way in referees}
        spent = dict.fromkeys(referees, 0.0)
        for way in referees:
            await rate(clients[way], 5)
        for _ in range(rounds):
            for way, referee in referees.items():
                before = processor_s(referee.pid)
                found, _ = await asyncio.gather(rate(clients[way], times), referee.end_a_game())
                rates[way].append(found)
                spent[way] += processor_s(referee.pid) - before
        waits = [await _until_proved(referees["with"]) for _ in range(ends)]
    a_act = {way: 1e6 * seconds / (rounds * times * games) for way, seconds in spent.items()}
    return [
        compared(f"PlayGame, {games} games, with a public log, of one without", rates["with"], rates["without"], 0.98),
        Figure("processor time of the referee with a log, µs an act", a_act["with"], None, a_act["without"]),
        Figure("from the end of a game to its cosigned proof, s", median(waits), at_most=3.0),
    ]


async def _until_proved(referee: _Referee) -> float:
    """Return how long it takes, in seconds."""
    game = await referee.end_a_game()
    start = perf_counter()
    while True:
        try:
            proof = await referee.stub.GetLogProof(pb.GetLogProofRequest(game_id=game))
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.FAILED_PRECONDITION:
                raise
        else:
            if proof.size > 1:  # of its end
                return perf_counter() - start
        await asyncio.sleep(_LOOKS_S)


def figures() -> Iterator[Figure]:
    """One size."""
    yield from asyncio.run(measured(GAMES, ROUNDS, ACTS, ENDS))
