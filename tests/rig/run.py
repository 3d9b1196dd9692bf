"""One game through a broken network, and what the check finds in it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from io import BytesIO

import grpc

from referee.alhambra.v1.alhambra_pb2 import Options
from referee.log import file
from referee.log.audit import audit
from referee.log.note import VerifierKey
from referee.log.v1 import log_pb2
from referee.log.verdict import Policy, Verdict
from referee.v1 import game_service_pb2 as pb
from referee.v1.game_service_pb2_grpc import GameServiceStub
from referee_clients import ClientError, Join
from referee_clients.bot_check.relay import MOST_DAMAGE, Fault, Party, Plan, Relay, Way
from referee_clients.sdk.channel import bearer
from tests.rig.check import check
from tests.rig.history import History
from tests.rig.network import Network, random_mishaps
from tests.rig.referee import Referee
from tests.rig.witness import Witness

SILENCE_S = 2.0
"""When a client gives up a stream; the referee says something every 0.25 s."""


def random_plan(seed: object, gap: int) -> Plan:
    """About every ``gap``-th message suffers something."""

    def plan(way: Way, number: int) -> Fault | None:
        rng = random.Random(f"{seed}/{way.name}/{number}")
        return rng.choice(list(Fault)) if not rng.randrange(gap) else None

    return plan


@dataclass(slots=True)
class Report:
    """The outcome of one game."""

    name: str
    entries: int = 0
    faults: int = 0
    suffered: list[tuple[Way, int, Fault]] = field(default_factory=list)
    """In a relay: which messages, by the count of their party."""
    counts: dict[Way, int] = field(default_factory=dict)
    """In a relay: how many messages seat 0 had."""
    reconnects: int = 0
    history: History = field(default_factory=History)
    log: tuple[bytes, ...] = ()
    findings: list[str] = field(default_factory=list)


class Rig:
    """A referee, and the broken ways to it."""

    def __init__(self, referee: Referee, relay: Relay, relay_address: str, channel: grpc.aio.Channel) -> None:
        self.referee = referee
        self.relay = relay
        self.relay_address = relay_address
        self._stub = GameServiceStub(channel)
        self._metadata = bearer(referee.token)

    async def seeded(self, seed: int, gap: int = 20) -> Report:
        """Play a whole game; the seed fixes the number of seats, what is recorded, and the fault of each message.

        ``gap``: about one message of this many suffers something.
        """
        name, seats = str(seed), 2 + seed % 3
        created = await self._create(seats, recorded=seed % 4 == 2)
        if seed % 4 == 3:
            network = Network(self.referee.address, random_mishaps(seed))
            report = Report(name)
            async with network as address:
                await self._play(report, created, [address] * seats)
            report.faults = len(network.suffered)
            return report
        return await self._relayed(name, created, [random_plan(f"{seed}/{seat}", gap) for seat in range(seats)])

    async def planned(
        self, name: str, plans: Sequence[Plan], max_turns: int = 0, most_damage: int = MOST_DAMAGE
    ) -> Report:
        """Play a game in which each seat suffers its plan. ``max_turns``: it ends after this many."""
        options = Options(max_turns=max_turns).SerializeToString() if max_turns else b""
        return await self._relayed(name, await self._create(len(plans), options), plans, most_damage)

    async def _relayed(
        self,
        name: str,
        created: pb.CreateGameResponse,
        plans: Sequence[Plan],
        most_damage: int = MOST_DAMAGE,
    ) -> Report:
        report = Report(name)
        parties = [
            Party(f"{name}/{seat}", plan, most_damage, report.history.streams) for seat, plan in enumerate(plans)
        ]
        self.relay.parties.update(zip(created.seat_tokens, parties, strict=True))
        await self._play(report, created, [self.relay_address] * len(plans))
        report.suffered = [suffered for party in parties for suffered in party.suffered]
        report.faults = len(report.suffered)
        report.counts = parties[0].counts
        return report

    async def _create(self, seats: int, options: bytes = b"", *, recorded: bool = False) -> pb.CreateGameResponse:
        request = pb.CreateGameRequest(
            rules_id="alhambra", options=options, seats=[log_pb2.Seat() for _ in range(seats)]
        )
        if recorded:
            request.terms.illegal_moves = log_pb2.ILLEGAL_MOVE_POLICY_RECORDED
        response: pb.CreateGameResponse = await self._stub.CreateGame(request, metadata=self._metadata)
        return response

    async def _play(self, report: Report, created: pb.CreateGameResponse, addresses: Sequence[str]) -> None:
        game_id = created.game.id
        witnesses = [
            Witness(
                f"{report.name}/{seat}",
                Join(address, game_id, seat, token),
                created.verifier_key,
                report.history,
                silence_s=SILENCE_S,
                # Nothing in a refusal is signed: damage to its bytes would make it a lie that no client notices.
                submit_to=address if address == self.relay_address else self.referee.address,
            )
            for seat, (address, token) in enumerate(zip(addresses, created.seat_tokens, strict=True))
        ]
        players = [asyncio.create_task(witness.run()) for witness in witnesses]
        try:
            await asyncio.gather(*players)
        except (ClientError, AssertionError) as error:
            report.findings.append(f"{type(error).__name__}: {error}")
        finally:
            for player in players:
                player.cancel()
            await asyncio.gather(*players, return_exceptions=True)
        report.reconnects = sum(witness.connection.reconnects for witness in witnesses)
        await self._judge(report, game_id, created.verifier_key)

    async def _judge(self, report: Report, game_id: str, verifier: str) -> None:
        stream = self._stub.GetLog(pb.GetLogRequest(game_id=game_id))
        data = b"".join([part.chunk async for part in stream])
        report.log = tuple(file.entries(BytesIO(data)))
        report.entries = len(report.log)
        report.findings += await asyncio.to_thread(check, report.history, report.log)
        if not report.findings:
            policy = Policy(VerifierKey.parse(verifier), receipts=tuple(set(report.history.receipts)))
            verdict = await asyncio.to_thread(audit, BytesIO(data), policy)
            if verdict.verdict is not Verdict.COMPLETE:
                report.findings.append(verdict.as_text())


@asynccontextmanager
async def rig(referee: Referee) -> AsyncIterator[Rig]:
    """Yield the ways to the referee, while it lasts."""
    relay = Relay(referee.address)
    async with relay as address, grpc.aio.insecure_channel(referee.address) as channel:
        yield Rig(referee, relay, address, channel)


async def each(jobs: Sequence[Callable[[], Awaitable[Report]]], at_once: int) -> AsyncIterator[Report]:
    """Yield the reports in the order in which they are ready, ``at_once`` games at a time."""
    room = asyncio.Semaphore(at_once)

    async def one(job: Callable[[], Awaitable[Report]]) -> Report:
        async with room:
            return await job()

    for done in asyncio.as_completed([one(job) for job in jobs]):
        yield await done
