"""Two referees on one database as processes of their own: stopped, killed and started again while bots play."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import grpc
import psycopg
import pytest

from referee.log.audit import audit
from referee.log.file import entries
from referee.log.merkle import Tree, leaf_hash
from referee.log.note import VerifierKey
from referee.log.verdict import Policy, Verdict
from referee.v1 import access_service_pb2 as access
from referee.v1 import game_service_pb2 as pb
from referee_clients import GameResult, play_async
from referee_clients.bots import load, maker
from referee_clients.sdk.ledger import Ledger
from referee_clients.sdk.organiser import Opened, organiser
from referee_clients.sdk.player import play_all
from tests.addresses import free_address
from tests.cli.command import REFEREE
from tests.crash.journal import Told
from tests.server.service.access import Office
from tests.server.service.nodes import directories
from tests.server.service.player import Client, bearer, connected, refused
from tests.server.service.process import Referee, serve
from tests.server.store.postgres import Postgres
from tests.waiting import until

pytestmark = pytest.mark.long

GAMES = 2


@dataclass
class Cluster:
    """Nodes by name; each has one address whenever it runs."""

    url: str
    folder: Path
    addresses: dict[str, str] = field(default_factory=lambda: {"a": free_address(), "b": free_address()})
    nodes: dict[str, Referee] = field(default_factory=dict)

    async def start(self, name: str) -> None:
        own = self.addresses[name]
        others = [address for other, address in self.addresses.items() if other != name]
        words = ("--listen", own, "--public", ",".join([own, *others]), "--store", self.url)
        self.nodes[name] = await serve(self.folder / name, self.folder / f"{name}.log", *words, "--solver-workers", "0")

    async def stop(self, name: str, how: signal.Signals = signal.SIGTERM) -> None:
        process = self.nodes.pop(name).process
        process.send_signal(how)
        await process.wait()

    async def oldest(self) -> int:
        """Return the number of the node that has run for longest."""
        with psycopg.connect(self.url) as connection:
            found = connection.execute("SELECT min(id) FROM nodes WHERE NOT dead").fetchone()
        assert found is not None
        return int(found[0])

    async def is_taken_over(self, name: str) -> None:
        """Return when the node that hangs has no games."""
        own = """SELECT count(*) FROM games JOIN nodes ON nodes.id = owner
            WHERE state = 0 AND NOT dead AND nodes.name LIKE %s"""
        process = f"%process {self.nodes[name].process.pid}"
        await until(lambda: self.ask(own, process) == [(0,)], "its games to be taken over", every_s=0.05)

    async def give(self, name: str) -> None:
        """Have the other nodes hand their games over to this one, and take games again."""
        process = f"%process {self.nodes[name].process.pid}"
        await until(
            lambda: self.ask("SELECT 1 FROM nodes WHERE name LIKE %s AND address <> '' AND NOT dead", process),
            "the node to be there",
            every_s=0.05,
        )
        self.ask("UPDATE nodes SET draining = name NOT LIKE %s WHERE NOT dead RETURNING 1", process)
        elsewhere = """SELECT 1 FROM games JOIN nodes ON nodes.id = owner WHERE state = 0 AND nodes.name NOT LIKE %s"""
        await until(lambda: not self.ask(elsewhere, process), "all games to be handed over", every_s=0.05)
        self.ask("UPDATE nodes SET draining = false WHERE NOT dead RETURNING 1")

    def ask(self, sql: str, *values: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            return connection.execute(sql.encode(), values).fetchall()

    @property
    def token(self) -> str:
        return (self.folder / "a" / "organiser.token").read_text().strip()


@pytest.fixture
async def cluster(tmp_path: Path, postgres: Postgres) -> AsyncIterator[Cluster]:
    url = postgres.new()
    await directories(url, tmp_path / "a", tmp_path / "b")
    made = Cluster(url, tmp_path)
    for name in made.addresses:
        await made.start(name)
    yield made
    for name in list(made.nodes):
        await made.stop(name, signal.SIGKILL)


async def open_games(cluster: Cluster, rules_id: str = "kingdomino", games: int = GAMES) -> list[Opened]:
    """Half of them at each node, with both addresses in their join strings."""
    opened: list[Opened] = []
    for first, second in (("a", "b"), ("b", "a")):
        addresses = f"{cluster.addresses[first]},{cluster.addresses[second]}"
        async with organiser(addresses, cluster.token) as organising:
            opened += [await organising.open_game(rules_id, 2) for _ in range(games // 2)]
    return opened


async def open_for_principals(cluster: Cluster) -> tuple[dict[str, str], list[str]]:
    """Games of ani and ben, half of them at each node; return their tokens and the games."""
    games: list[str] = []
    tokens: dict[str, str] = {}
    for address in cluster.addresses.values():
        async with connected(address, cluster.token) as client:
            for who in {"ani", "ben"} - set(tokens):
                tokens[who] = (await Office(client).issue(who, access.SCOPE_PLAY)).secret
            made = [await client.create(2, rules_id="kingdomino", principals=["ani", "ben"]) for _ in range(GAMES // 2)]
            games += [each.game.id for each in made]
    return tokens, games


async def sizes(cluster: Cluster) -> int:
    """Return entries of all games, as any node lists them."""
    address = next(iter(cluster.nodes.values())).address
    async with connected(address, cluster.token) as client:
        return sum(game.size for game in (await client.games.ListGames(pb.ListGamesRequest())).games)


Ends = list[tuple[str, GameResult | Exception]]


def following(cluster: Cluster, tokens: dict[str, str], verifier: str, ended: Ends) -> list[asyncio.Task[Any]]:
    """Play all games of ani and of ben, who ask the nodes in different orders; each that ends is in ``ended``."""
    addresses = list(cluster.addresses.values())
    return [
        asyncio.create_task(
            play_all(
                ",".join(asked),
                tokens[who],
                maker("greedy"),
                lambda game, result: ended.append((game, result)),
                key_file=lambda join: cluster.folder / f"{join.game_id}-{join.seat}.key",
                verifier=verifier,
            )
        )
        for who, asked in (("ani", addresses), ("ben", addresses[::-1]))
    ]


async def drained_stopped_killed_and_started(cluster: Cluster, are_over: Callable[[], bool]) -> None:
    """Do all that happens to nodes, one thing after another while games are played."""

    async def grown(by: int) -> None:
        size = await sizes(cluster)
        while not are_over() and await sizes(cluster) < size + by:  # noqa: ASYNC110 - no signal
            await asyncio.sleep(0.05)

    await grown(20)
    drain = ("cluster", "drain", "--data", str(cluster.folder / "a"), str(await cluster.oldest()))
    assert await (await asyncio.create_subprocess_exec(REFEREE, *drain)).wait() == 0
    await cluster.stop("a")
    await grown(20)
    await cluster.start("a")
    await grown(20)
    await cluster.stop("b", signal.SIGKILL)
    await grown(20)
    await cluster.start("b")


async def test_bots_play_on_while_nodes_are_drained_stopped_killed_and_started(cluster: Cluster) -> None:
    """The bots have join strings, or a token that gets the games of all nodes."""
    opened = await open_games(cluster)
    tokens, games = await open_for_principals(cluster)
    ended: Ends = []
    playing = [
        asyncio.create_task(play_async(join, load("greedy", "kingdomino"), verifier=game.verifier))
        for game in opened
        for join in game.joins
    ]
    all_games = following(cluster, tokens, opened[0].verifier, ended)

    def are_over() -> bool:
        failed = [task for task in (*playing, *all_games) if task.done() and task.exception() is not None]
        return bool(failed) or (all(task.done() for task in playing) and len(ended) == 2 * len(games))

    await drained_stopped_killed_and_started(cluster, are_over)
    await until(are_over, "all games to be over", every_s=0.05)
    for task in all_games:
        task.cancel()
    await asyncio.gather(*playing)
    assert {game for game, _ in ended} == set(games)
    assert all(isinstance(result, GameResult) for _, result in ended)
    policy = Policy(VerifierKey.parse(opened[0].verifier))
    for name in cluster.nodes:
        async with connected(cluster.nodes[name].address, cluster.token) as client:
            for game in [*(each.game_id for each in opened), *games]:
                report = audit(BytesIO(await client.log(game)), policy)
                assert report.verdict is Verdict.COMPLETE, report.as_text()


@dataclass
class Seat:
    """The messages to one seat: on the stream that its bot plays on, and by WatchSeat at one node after another."""

    opened: Opened
    seat: int
    told: Told
    receipts: list[bytes] = field(default_factory=list)
    """The bot's proofs of its acts."""

    async def play(self) -> GameResult:
        join = self.opened.joins[self.seat]
        return await play_async(join, load("greedy", "alhambra"), verifier=self.opened.verifier, on_commit=self._keep)

    def _keep(self, ledger: Ledger) -> None:
        for seq, data in enumerate(ledger.entries):
            self.told.see(seq, data)
        self.receipts = list(ledger.receipts)

    async def watch(self, addresses: list[str]) -> None:
        """To the end of the game. No stream sends an entry twice or out of order, and none contradicts another."""
        seq, is_over = -1, False
        while not is_over:
            for address in addresses:
                async with connected(address, "") as client:
                    with suppress(grpc.aio.AioRpcError):
                        seq, is_over = await self._follow(client, seq)
                if is_over:
                    break
            await asyncio.sleep(0.05)

    async def _follow(self, client: Client, seq: int) -> tuple[int, bool]:
        resume = [pb.ResumePoint(game_id=self.opened.game_id, after_seq=seq)]
        metadata = bearer(self.opened.joins[self.seat].token)
        try:
            async for message in client.games.WatchSeat(pb.WatchSeatRequest(resume=resume), metadata=metadata):
                update = message.update
                if message.game_id != self.opened.game_id:
                    continue  # of the stream as a whole
                if not (update.HasField("commit") or update.HasField("snapshot") or update.HasField("closing")):
                    continue
                if update.HasField("commit"):
                    assert update.seq == seq + len(update.commit.entries), "an entry is missing, or comes twice"
                    for number, data in enumerate(update.commit.entries, seq + 1):
                        self.told.see(number, data)
                    self.told.note(update.seq + 1, update.commit.checkpoint)
                assert update.seq >= seq, "what was told is told again"
                seq = update.seq
                if update.closing.reason == pb.CLOSING_REASON_GAME_OVER:
                    return seq, True
        except grpc.aio.AioRpcError:
            pass  # the node is gone, or hangs: the next one continues from here
        return seq, False


@dataclass
class Tables:
    """Games that are played one after the other at a few tables, until there is enough."""

    games: list[Opened]
    addresses: list[str]
    seats: dict[str, list[Seat]] = field(default_factory=dict)
    """The seats of the games that were begun, by game."""
    at_play: set[str] = field(default_factory=set)
    is_enough: bool = False

    async def play(self) -> None:
        while self.games and not self.is_enough:
            game = self.games.pop()
            told = Told(game.game_id, VerifierKey.parse(game.verifier))
            seats = self.seats[game.game_id] = [Seat(game, seat, told) for seat in range(len(game.joins))]
            self.at_play.add(game.game_id)
            async with asyncio.TaskGroup() as group:
                for seat in seats:
                    group.create_task(seat.play())
                    group.create_task(seat.watch(self.addresses[seat.seat :] + self.addresses[: seat.seat]))
            self.at_play.remove(game.game_id)

    async def go_on(self) -> None:
        """Return when every game that is played now has advanced, or is over."""
        before = {game_id: len(self.seats[game_id][0].told.seen) for game_id in self.at_play}
        assert before, "the games are over before everything happened"

        def goes_on() -> bool:
            return all(
                game_id not in self.at_play or len(self.seats[game_id][0].told.seen) > size
                for game_id, size in before.items()
            )

        await until(goes_on, "every game to go on", every_s=0.02)


async def test_nothing_is_lost_or_told_twice_while_nodes_hang_and_are_killed(cluster: Cluster) -> None:
    """Each hangs for longer than its lease in turn, and finds that its games are another's; each is killed in turn."""
    tables = Tables(await open_games(cluster, "alhambra", 40), list(cluster.addresses.values()))
    async with asyncio.TaskGroup() as group:
        for _ in range(4):
            group.create_task(tables.play())
        await asyncio.sleep(0)  # until they have begun
        for name, how in (("b", signal.SIGSTOP), ("a", signal.SIGKILL), ("a", signal.SIGSTOP), ("b", signal.SIGKILL)):
            await tables.go_on()
            process = cluster.nodes[name].process
            if how is signal.SIGSTOP:
                process.send_signal(how)
                await cluster.is_taken_over(name)
                await tables.go_on()
                process.send_signal(signal.SIGCONT)
                assert await process.wait() == 3
            else:
                await cluster.stop(name, how)
                await tables.go_on()
            await cluster.start(name)
            await cluster.give(name)
        tables.is_enough = True
    async with connected(tables.addresses[0], cluster.token) as client:
        for game_id, seats in tables.seats.items():
            log = await client.log(game_id)
            assert broken_entries(seats[0].told, log) == []
            receipts = tuple(note for seat in seats for note in seat.receipts)
            assert len(receipts) > 20
            report = audit(BytesIO(log), Policy(seats[0].told.verifier, receipts=receipts))
            assert report.verdict is Verdict.COMPLETE, report.as_text()


def broken_entries(told: Told, log: bytes) -> list[str]:
    """Return the shown entries that the log does not keep."""
    kept = list(entries(BytesIO(log)))
    problems = [f"entry {seq} is another" for seq, data in told.seen.items() if kept[seq : seq + 1] != [data]]
    heads, tree = told.heads(), Tree()
    for data in kept:
        tree.append(leaf_hash(data))
        if heads.get(tree.size, tree.root()) != tree.root():
            problems.append(f"the first {tree.size} entries have another root than was signed")
    return problems


async def test_a_node_that_hangs_costs_its_own_games_only(cluster: Cluster) -> None:
    """A caller elsewhere gets an error for one of these, and does not wait until the call takes too long."""
    opened = await open_games(cluster)
    here, there = opened[0], opened[-1]
    async with connected(cluster.addresses["a"], cluster.token) as client:
        watching = client.games.WatchGame(pb.WatchGameRequest(game_id=there.game_id))
        assert (await watching.read()).HasField("snapshot")
        cluster.nodes["b"].process.send_signal(signal.SIGSTOP)
        try:
            asked = await refused(client.games.GetGame(pb.GetGameRequest(game_id=there.game_id)))
            assert (asked.reason, asked.retry_s) == ("NOT_OWNER", 0.2)
            assert (await refused(watching)).reason == "NOT_OWNER"
            await asyncio.gather(*(play_async(join, load("greedy", "kingdomino")) for join in here.joins))
            # And those are taken over, whichever address their players try first.
            await asyncio.gather(*(play_async(join, load("greedy", "kingdomino")) for join in there.joins))
        finally:
            cluster.nodes["b"].process.send_signal(signal.SIGCONT)


async def test_a_flood_through_one_node_starves_nobody(cluster: Cluster) -> None:
    opened = await open_games(cluster)
    flooded = opened[0]
    is_over, refusals = asyncio.Event(), 0

    async def flood() -> None:
        nonlocal refusals
        async with connected(cluster.addresses["b"], cluster.token) as client:
            while not is_over.is_set():
                calls = [
                    client.games.SubmitIntent(
                        pb.SubmitIntentRequest(game_id=flooded.game_id, intent=b"\x00", signature=bytes(64)),
                        metadata=bearer(flooded.joins[0].token),
                    )
                    for _ in range(50)
                ]
                found = await asyncio.gather(*calls, return_exceptions=True)
                refusals += sum(isinstance(each, Exception) for each in found)

    flooding = asyncio.create_task(flood())
    await until(lambda: refusals > 100, "the flood to begin")
    await asyncio.gather(
        *(play_async(join, load("greedy", "kingdomino")) for game in opened[1:] for join in game.joins)
    )
    is_over.set()
    await flooding
