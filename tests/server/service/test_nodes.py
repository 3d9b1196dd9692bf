"""Several referees on one PostgreSQL database: a game's owner, its successor when a node dies, shared knowledge."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
from asyncio.subprocess import PIPE
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from io import BytesIO, StringIO
from pathlib import Path
from time import time
from typing import Any

import psycopg
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from referee.log.entry import decode_entry
from referee.log.file import entries
from referee.log.keys import PrivateKey
from referee.server.live import node_games
from referee.server.live.live_games import LiveGames
from referee.server.live.refusals import Unsound
from referee.server.live.watch import Ending
from referee.server.service import play_stream
from referee.server.service.data import DataError
from referee.server.service.forwarder import Forwarder
from referee.server.service.play_stream import SeatStreams
from referee.server.service.server import Config, Server
from referee.server.store import postgres_nodes, postgres_opening
from referee.server.store.nodes import Node
from referee.server.store.postgres_cluster import PostgresNodes
from referee.server.store.store import Cause, StoreFailed
from referee.v1 import access_service_pb2 as access
from referee.v1 import game_pb2
from referee.v1 import game_service_pb2 as pb
from tests.cli.command import REFEREE
from tests.cli.inside import referee
from tests.server.service.access import SHORT, Office, closing, with_principal
from tests.server.service.conftest import running
from tests.server.service.engines import PostgreSQL
from tests.server.service.facts import status
from tests.server.service.nodes import CLOCKS, directories
from tests.server.service.player import Client, Play, bearer, connected, refused, token_of
from tests.server.service.process import serve
from tests.server.service.resend import audited, moved, send_all_again
from tests.server.store.postgres import Postgres
from tests.waiting import until, waiting_for

pytestmark = pytest.mark.usefixtures("unhurried")


@pytest.fixture
def url(postgres: Postgres) -> str:
    return postgres.new()


class Two:
    """Two nodes in this process, with a client each."""

    def __init__(self, servers: list[Server], clients: list[Client]) -> None:
        self.servers, self.clients = servers, clients
        self._stopped: set[int] = set()

    async def stop(self, place: int) -> None:
        await self.servers[place].stop(grace_s=0)
        self._stopped.add(place)

    async def end(self) -> None:
        for place in {*range(len(self.servers))} - self._stopped:
            await self.stop(place)

    def node(self, place: int) -> int:
        nodes = self.servers[place].data.store.nodes
        assert isinstance(nodes, PostgresNodes)
        return nodes.node

    def words(self, place: int) -> str:
        """Return the node as operators see it."""
        return f"{self.node(place)} ({socket.gethostname()}, process {os.getpid()})"

    async def owned(self, play: Play, place: int) -> None:
        """Return when the node has the game, read back."""
        live = self.servers[place].live_games
        await until(lambda: live.running(bytes.fromhex(play.id)), "the game to be taken up", every_s=0.01)


async def two(stack: AsyncExitStack, url: str, tmp_path: Path) -> Two:
    paths = [tmp_path / "one", tmp_path / "two"]
    await directories(url, *paths)
    token = (paths[0] / "organiser.token").read_text()
    both = Two([], [])
    stack.push_async_callback(both.end)
    for path in paths:
        both.servers.append(await Server.start(Config(path)))
    for server in both.servers:
        both.clients.append(await stack.enter_async_context(connected(server.address, token.strip())))
        nodes = server.data.store.nodes
        await until(partial(getattr, nodes, "others"), "the nodes to see each other", every_s=0.01)
    return both


def asked(url: str, sql: str, *values: Any) -> list[Any]:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(sql.encode(), values).fetchall()


async def test_a_game_is_its_owners_and_every_node_shows_it(url: str, tmp_path: Path) -> None:
    """A list takes nothing up and plays no clock: it leads to no entry."""
    async with AsyncExitStack() as stack:
        both = await two(stack, url, tmp_path)
        here, there = both.clients
        plays = [await here.play(terms=CLOCKS), await there.play()]
        for play in plays:
            await play.until_play()
            await play.steps(3)

        async def listed(client: Client) -> dict[str, tuple[int, int]]:
            games = (await client.games.ListGames(pb.ListGamesRequest())).games
            return {game.id: (game.size, game.state) for game in games}

        def wanted(play: Play) -> tuple[int, int]:
            return play.record.size, game_pb2.GAME_STATE_PLAYING

        expected = {play.id: wanted(play) for play in plays}
        for client in both.clients:
            async with waiting_for("the other's games to be shown as they are"):
                while await listed(client) != expected:  # noqa: ASYNC110 - no signal
                    await asyncio.sleep(0.05)
        for place, play in enumerate(plays):
            other = both.servers[1 - place]
            assert other.live_games.running(bytes.fromhex(play.id)) is None
            owner = await other.live_games.elsewhere(bytes.fromhex(play.id))
            assert owner is not None
            assert (owner.id, owner.address) == (both.node(place), both.servers[place].node_address)
            assert await both.servers[place].live_games.elsewhere(bytes.fromhex(play.id)) is None
            assert len(play.entries) == play.record.size
            for client in both.clients:
                (game,) = (await status(client, game_id=play.id)).games
                assert (game.id, game.size) == (play.id, play.record.size), "whichever node is asked"
                assert (await status(client, game_id=play.id)).server.node == both.words(place), "its own node answers"
        for client in both.clients:
            request = pb.ListGamesRequest()
            games = (await client.games.ListGames(request, metadata=bearer(client.organiser))).games
            assert {game.id: game.node for game in games} == {
                play.id: both.words(place) for place, play in enumerate(plays)
            }
            assert not any(game.node for game in (await client.games.ListGames(request)).games), "no stranger sees it"
        sizes = asked(url, "SELECT count(*) FROM entries GROUP BY game ORDER BY game")
        assert sizes == [(play.record.size,) for play in plays]


def moves_in(logged: StringIO) -> list[tuple[str, str, str, str]]:
    """Return the log lines about games that changed hands."""
    lines = [json.loads(line) for line in logged.getvalue().splitlines()]
    return [
        (line["event"], line["game"], line["from_node"], line["to_node"])
        for line in lines
        if line["level"] == "info" and "from_node" in line
    ]


async def test_a_node_that_stops_gives_its_games_to_the_others(url: str, tmp_path: Path, logged: StringIO) -> None:
    """The clocks stood still meanwhile, and are handed over; no node continues a game that it has given away."""
    async with AsyncExitStack() as stack:
        both = await two(stack, url, tmp_path)
        play = await both.clients[0].play(terms=CLOCKS, options=SHORT)
        await play.until_play()
        await play.steps(3)
        size = play.record.size
        names = both.words(0), both.words(1)
        await both.stop(0)
        await both.owned(play, 1)
        assert moves_in(logged) == [("game handed over", play.id, *names)]
        moved(play, both.clients[1])
        await send_all_again(play)
        await play.catch_up(size + 1)
        assert decode_entry(play.entries[size]).HasField("interrupted")
        await play.to_the_end()
        await audited(play)


async def test_a_game_of_a_dead_node_changes_hands_in_one_line_of_the_log(
    url: str, tmp_path: Path, logged: StringIO
) -> None:
    async with AsyncExitStack() as stack:
        both = await two(stack, url, tmp_path)
        play = await both.clients[0].play()
        over = await both.clients[0].play()
        abort = pb.AbortGameRequest(game_id=over.id)
        await both.clients[0].games.AbortGame(abort, metadata=bearer(both.clients[0].organiser))
        asked(url, "UPDATE nodes SET dead = true WHERE id = %s RETURNING id", both.node(0))
        await both.owned(play, 1)
        assert moves_in(logged) == [("game taken over", play.id, both.words(0), both.words(1))]


async def test_a_drained_node_hands_its_games_over_while_they_are_played(
    url: str, tmp_path: Path, logged: StringIO
) -> None:
    async with AsyncExitStack() as stack:
        both = await two(stack, url, tmp_path)
        plays = [await both.clients[0].play(seed=seed, options=SHORT) for seed in range(2)]
        for play in plays:
            await play.until_play()
            await play.steps(2)
        asked(url, "UPDATE nodes SET draining = true WHERE id = %s RETURNING id", both.node(0))
        for play in plays:
            await both.owned(play, 1)
            assert both.servers[0].live_games.running(bytes.fromhex(play.id)) is None
            moved(play, both.clients[1])
            await send_all_again(play)
            await play.steps(2)
        await play.to_the_end()
        await audited(play)
        late = await both.clients[0].play()
        await both.owned(late, 1)
        await until(lambda: len(moves_in(logged)) == 3, "that they are logged", every_s=0.01)
        names = both.words(0), both.words(1)
        assert sorted(moves_in(logged)) == sorted(("game handed over", each.id, *names) for each in [*plays, late])
        assert asked(url, "SELECT count(*) FROM games WHERE owner = %s", both.node(0)) == [(0,)]


async def test_a_node_through_which_others_games_were_played_takes_them_up(url: str, tmp_path: Path) -> None:
    """The node takes them up although it knew their owner."""
    async with AsyncExitStack() as stack:
        both = await two(stack, url, tmp_path)
        play = await both.clients[0].play(options=SHORT)
        await play.until_play()
        moved(play, both.clients[1])
        await play.steps(1)
        asked(url, "UPDATE nodes SET draining = true WHERE id = %s RETURNING id", both.node(0))
        await both.owned(play, 1)
        moved(play, both.clients[1])
        await play.steps(2)


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("token", ["of the seat", "of the player", "of a scribe, who names the game"])
async def test_a_stream_of_a_seat_follows_the_game_to_another_node_and_back(
    token: str, place: int, url: str, tmp_path: Path
) -> None:
    """Each time with an end and a picture; no entry is missing, and none comes twice."""
    async with AsyncExitStack() as stack:
        both = await two(stack, url, tmp_path)
        if token == "of the player":
            issued = await Office(both.clients[0]).issue("ani", access.SCOPE_PLAY)
            play = await with_principal(both.clients[0], issued.secret)
        else:
            play = await both.clients[0].play(options=SHORT)
        await play.until_play()
        if token.startswith("of a scribe"):
            secret = (await Office(both.clients[0]).issue("eve", access.SCOPE_SCRIBE)).secret
            told = Told(play.id, [pb.ResumePoint(game_id=play.id, after_seq=-1)])
        else:
            secret, told = token_of(play, 0), Told(play.id)
        watching = asyncio.create_task(told.read(both.clients[place], secret))
        stack.callback(watching.cancel)
        for old, new in ((0, 1), (1, 0)):
            size = play.record.size
            await until(lambda size=size: told.seq == size - 1, "the picture", every_s=0.01)  # type: ignore[misc]
            asked(url, "UPDATE nodes SET draining = (id = %s) RETURNING id", both.node(old))
            await both.owned(play, new)
            moved(play, both.clients[new])
            await send_all_again(play)
            await play.steps(3)
        await play.to_the_end()
        await until(lambda: told.is_over, "the end", every_s=0.01)
        assert told.seq == play.record.size - 1
        assert told.closings[-1] == pb.CLOSING_REASON_GAME_OVER
        # On a machine that is too busy for a sign of life, the other one takes the game without an end of this stream.
        assert {*told.closings[:-1]} <= {pb.CLOSING_REASON_DRAINING}
        assert not watching.done(), "the stream is of all games"


class Held:
    """A gate that holds the first call of its kind up, until the test opens it."""

    def __init__(self) -> None:
        self.there, self.goes_on = asyncio.Event(), asyncio.Event()

    async def _hold(self) -> None:
        if not self.there.is_set():
            self.there.set()
            await self.goes_on.wait()

    def before(self, real: Any, matches: Callable[..., bool]) -> Any:
        async def held(*arguments: Any, **named: Any) -> Any:
            if matches(*arguments):
                await self._hold()
            return await real(*arguments, **named)

        return held

    def after(self, real: Any, matches: Callable[..., bool]) -> Any:
        async def held(*arguments: Any, **named: Any) -> Any:
            found = await real(*arguments, **named)
            if matches(*arguments):
                await self._hold()
            return found

        return held

    def before_the_first(self, real: Any, matches: Callable[..., bool]) -> Any:
        async def held(*arguments: Any) -> Any:
            if matches(*arguments):
                await self._hold()
            async for each in real(*arguments):
                yield each

        return held


def any_(*_: Any) -> bool:
    return True


def at(live_games: LiveGames) -> Callable[..., bool]:
    """Return whether a call is one of these games, or of a stream of theirs, or has them as its first argument."""
    return lambda this, *_: this is live_games or getattr(this, "_live_games", None) is live_games


def elsewhere(_: Any, node_id: int, __: bytes) -> bool:
    return node_id != play_stream.HERE


HOW: dict[str, tuple[Any, str, Any, Any]] = {
    "games are listed": (SeatStreams, "run", Held.before, at),
    "a game is looked for": (LiveGames, "game", Held.before, at),
    "a game is found": (play_stream, "begin", Held.before, at),
    "a picture is sent": (play_stream, "begin", Held.after, at),
    "another node is to be asked": (Forwarder, "messages", Held.before_the_first, any_),
    "another node speaks": (play_stream.Together, "tell", Held.before, elsewhere),
    "what nobody tells is looked for": (play_stream.SeatsElsewhere, "_tell_of_the_rest", Held.before, any_),
}
"""Moments in which a stream is being set up: what is held up then, and how."""
MOMENTS = [
    *(("the owner", "the owner", moment) for moment in [*HOW][:5]),
    *(("another", who, moment) for who in ("the owner", "another") for moment in [*HOW][:2]),
    *(("another", "the owner", moment) for moment in [*HOW][2:4]),
    *(("another", "another", moment) for moment in [*HOW][4:]),
]
"""The node that is asked, the node at which a call is held up, and the moment."""


@pytest.mark.long
@pytest.mark.parametrize("is_resumed", [False, True])
@pytest.mark.parametrize(("asked_at", "held_at", "moment"), MOMENTS)
async def test_a_game_that_moves_while_a_stream_of_its_seat_is_set_up_is_told_whole(
    asked_at: str,
    held_at: str,
    moment: str,
    *,
    is_resumed: bool,
    url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In any moment of that; it is played on meanwhile, and afterwards. No entry is missing, and none comes twice."""
    async with AsyncExitStack() as stack:
        both = await two(stack, url, tmp_path)
        play = await both.clients[0].play(options=SHORT)
        await play.until_play()
        where, name, hold, which = HOW[moment]
        held = Held()
        of = which(both.servers[held_at == "another"].live_games) if which is at else which
        monkeypatch.setattr(where, name, hold(held, getattr(where, name), of))
        secret, told = token_of(play, 0), Told(play.id)
        if is_resumed:
            told = Told(play.id, [pb.ResumePoint(game_id=play.id, after_seq=-1)])
        watching = asyncio.create_task(told.read(both.clients[asked_at == "another"], secret))
        stack.callback(watching.cancel)
        await until(held.there.is_set, "the stream to be held up", every_s=0.01)
        asked(url, "UPDATE nodes SET draining = true WHERE id = %s RETURNING id", both.node(0))
        await both.owned(play, 1)
        moved(play, both.clients[1])
        await send_all_again(play)
        await play.steps(2)
        held.goes_on.set()
        await until(lambda: told.seq == play.record.size - 1 or watching.done(), "all to be told", every_s=0.01)
        await play.to_the_end()
        await until(lambda: told.is_over or watching.done(), "the end", every_s=0.01)
        assert not watching.done(), watching.exception()
        assert told.seq == play.record.size - 1
        assert {*told.closings[:-1]} <= {pb.CLOSING_REASON_DRAINING}


@pytest.mark.parametrize("is_gone", [False, True])
async def test_the_end_of_a_game_is_told_by_another_node_if_its_own_does_not(
    is_gone: bool, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stream between the nodes breaks, and the game ends, unknown to others, before there is another stream."""
    async with AsyncExitStack() as stack:
        both = await two(stack, url, tmp_path)
        here, there = both.clients
        play = await here.play(options=SHORT)
        await play.until_play()
        told = Told(play.id)
        watching = asyncio.create_task(told.read(there, token_of(play, 0)))
        stack.callback(watching.cancel)
        await there.games.GetGame(pb.GetGameRequest(game_id=play.id))  # whose it is is known from now on
        await until(lambda: told.seq == play.record.size - 1, "the picture", every_s=0.01)
        monkeypatch.setattr(play_stream, "LOOK_S", 1.0)
        for feed in {feed for feeds in both.servers[0].live_games.feeds._feeds.values() for feed in feeds}:
            feed.end(Ending.DRAINING)
        aborted = await here.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(here.organiser))
        if is_gone:
            await both.stop(0)
        await until(lambda: told.is_over, "the end", every_s=0.01)
        assert told.seq == aborted.game.size - 1


class Told:
    """The messages of a WatchSeat stream about a game."""

    def __init__(self, game_id: str, resume: Sequence[pb.ResumePoint] = ()) -> None:
        self.game_id = game_id
        self.seq = -1
        self.closings: list[int] = []
        self._resume = resume
        self._is_told = bool(resume)

    @property
    def is_over(self) -> bool:
        return pb.CLOSING_REASON_GAME_OVER in self.closings

    async def read(self, client: Client, secret: str) -> None:
        """Take what comes, each entry after the one before it."""
        async for message in client.games.WatchSeat(pb.WatchSeatRequest(resume=self._resume), metadata=bearer(secret)):
            if message.game_id != self.game_id or not message.HasField("update"):
                continue
            update = message.update
            if update.HasField("snapshot"):
                assert not self._is_told
                assert update.seq >= self.seq
                self._is_told = True
            elif update.HasField("closing"):
                self.closings.append(update.closing.reason)
                self._is_told = False
            elif update.HasField("commit"):
                assert self._is_told
                assert decode_entry(update.commit.entries[0]).seq == self.seq + 1
            self.seq = update.seq


async def test_what_goes_wrong_once_does_not_end_the_sharing_of_games(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the fault: games are taken up, shown and handed over all the same."""

    def fails_once(name: str) -> list[str]:
        called: list[str] = []
        real = getattr(postgres_nodes, name)

        def failing(*arguments: Any) -> Any:
            called.append(name)
            if len(called) == 1:
                raise ValueError("something that nobody thought of")
            return real(*arguments)

        monkeypatch.setattr(postgres_nodes, name, failing)
        return called

    monkeypatch.setattr(node_games, "AGAIN_S", 0.05)
    async with AsyncExitStack() as stack:
        both = await two(stack, url, tmp_path)
        shown = fails_once("show")
        play = await both.clients[0].play(options=SHORT)
        await play.until_play()
        await until(lambda: len(shown) > 1, "games to be shown again", every_s=0.02)
        # On a machine that is too busy for a sign of life, it is the other one's by now.
        owner = 0 if both.servers[0].live_games.running(bytes.fromhex(play.id)) else 1
        handed_over, taken_up = fails_once("hand_over"), fails_once("alive_ms")
        asked(url, "UPDATE nodes SET draining = true WHERE id = %s RETURNING id", both.node(owner))
        await both.owned(play, 1 - owner)
        # One that was too busy for a sign of life is dead, and has nothing to hand over any more.
        is_dead = asked(url, "SELECT dead FROM nodes WHERE id = %s", both.node(owner)) == [(True,)]
        assert len(handed_over) == 2 or is_dead
        assert len(taken_up) == 2


async def test_a_game_that_cannot_be_handed_over_goes_on_where_it_was(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It continues unasked: its clock runs, and a watcher of all games gets it again."""
    async with AsyncExitStack() as stack:
        both = await two(stack, url, tmp_path)
        here = both.clients[0]
        play = await here.play(terms=CLOCKS)
        await play.until_play()
        told = Told(play.id)
        watching = asyncio.create_task(told.read(here, token_of(play, 0)))
        stack.callback(watching.cancel)
        await until(lambda: told.seq >= 0, "the picture", every_s=0.01)
        has_failed = asyncio.Event()

        async def fail(_: bytes, to: Node) -> None:
            has_failed.set()
            raise StoreFailed(f"node {to.id} is gone")

        monkeypatch.setattr(node_games, "AGAIN_S", 60.0)
        monkeypatch.setattr(both.servers[0].data.store.nodes, "hand_over", fail)
        asked(url, "UPDATE nodes SET draining = true WHERE id = %s RETURNING id", both.node(0))
        await until(has_failed.is_set, "the hand-over to fail", every_s=0.01)
        await until(lambda: told.closings and told._is_told, "the game to be told of again", every_s=0.01)
        assert told.closings == [pb.CLOSING_REASON_DRAINING]
        game = both.servers[0].live_games.running(bytes.fromhex(play.id))
        assert game is not None
        assert game._keeper._alarm is not None


async def test_a_node_that_stops_plays_no_clocks_of_games_that_it_is_given(url: str, tmp_path: Path) -> None:
    """The node takes no acts: a flag would fall of a player who could not move."""
    async with AsyncExitStack() as stack:
        both = await two(stack, url, tmp_path)
        play = await both.clients[0].play(terms=CLOCKS)
        await play.until_play()
        both.servers[1].live_games.refuse()
        asked(url, "UPDATE nodes SET draining = true WHERE id = %s RETURNING id", both.node(0))
        await both.owned(play, 1)
        game = both.servers[1].live_games.running(bytes.fromhex(play.id))
        assert game is not None
        assert game.due_ms is not None
        assert game._keeper._alarm is None


async def test_a_node_that_stops_is_given_no_games(url: str, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        both = await two(stack, url, tmp_path)
        play = await both.clients[1].play()
        nodes = both.servers[0].data.store.nodes
        health: Any = health_pb2_grpc.HealthStub(both.clients[1].channel)
        waits = health.Watch(health_pb2.HealthCheckRequest())
        await waits.read()
        stopping = asyncio.create_task(both.servers[1].stop())  # which gives the one that waits for the health a second
        await until(lambda: all(node.draining for node in nodes.others), "the other to decline", every_s=0.01)
        assert not stopping.done()
        assert asked(url, "SELECT count(*) FROM games WHERE owner = %s", both.node(1)) == [(1,)]
        await stopping
        waits.cancel()
        both._stopped.add(1)
        await both.owned(play, 0)
        assert asked(url, "SELECT dead, draining FROM nodes WHERE id = %s", both.node(1)) == [(True, True)]


async def test_a_token_that_is_revoked_at_one_node_is_good_at_none(url: str, tmp_path: Path) -> None:
    """Streams that came with it end, too."""
    async with AsyncExitStack() as stack:
        here, there = (await two(stack, url, tmp_path)).clients
        office = Office(here)
        issued = await office.issue("ani", access.SCOPE_PLAY)
        metadata = bearer(issued.secret)
        play = await there.play()
        watching = there.games.WatchGame(pb.WatchGameRequest(game_id=play.id, after_seq=-1), metadata=metadata)
        assert (await watching.read()).HasField("commit")
        await office.revoke(issued)
        async with waiting_for("the stream to end"):
            assert (await watching.read()).closing.reason == pb.CLOSING_REASON_REVOKED
        again = await refused(there.games.WatchSeat(pb.WatchSeatRequest(), metadata=metadata))
        assert again.reason == "UNAUTHENTICATED"


async def test_the_organisers_token_is_one_in_the_whole_cluster(url: str, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        both = await two(stack, url, tmp_path)
        for client in both.clients:
            await client.play()
        (tmp_path / "three").mkdir(mode=0o700)
        third = tmp_path / "three"
        for name in ("referee.pem", "referee.vkey", "seal.key", "store"):
            (third / name).write_bytes((tmp_path / "one" / name).read_bytes())
            (third / name).chmod(0o600)
        (third / "organiser.token").write_text("a-token-of-its-own-that-is-long-enough\n")
        with pytest.raises(DataError, match="not the organiser's token of the cluster"):
            await Server.start(Config(third))
        assert asked(url, "SELECT count(*) FROM nodes WHERE NOT dead") == [(2,)], "it takes no games either"
        for client in both.clients:
            await client.play()
        (third / "referee.pem").unlink()
        with pytest.raises(DataError, match="No such file, and without it no game can continue"):
            await Server.start(Config(third))
        PrivateKey.generate().save(third / "referee.pem")
        (third / "referee.vkey").unlink()
        with pytest.raises(DataError, match="its games are signed by"):
            async with running(third, origin="referee.local"):
                pass


async def test_a_machine_makes_a_token_when_the_one_that_had_it_is_lost(url: str, tmp_path: Path) -> None:
    """Referees run meanwhile; what came with the old token ends, but not what pages read with a token that is lent."""
    async with AsyncExitStack() as stack:
        both = await two(stack, url, tmp_path)
        play = await both.clients[1].play()
        metadata = bearer((tmp_path / "one" / "organiser.token").read_text().strip())
        lent = bearer(both.servers[1].gateway_token())
        watching, page = (
            both.clients[1].games.WatchGame(pb.WatchGameRequest(game_id=play.id, after_seq=-1), metadata=each)
            for each in (metadata, lent)
        )
        for stream in (watching, page):
            assert (await stream.read()).HasField("commit")
        done = await asyncio.to_thread(referee, "cluster", "token", "--data", tmp_path / "two")
        assert "the one before is void" in done.stdout, done
        async with waiting_for("the stream to end"):
            assert (await closing(watching)).reason == pb.CLOSING_REASON_REVOKED
        for server in both.servers:
            new = (tmp_path / "two" / "organiser.token").read_text().strip()
            async with connected(server.address, new) as client:
                await client.play()
        assert not page.done()
        page.cancel()
        again = await asyncio.to_thread(referee, "cluster", "token", "--data", tmp_path / "two")
        assert "this machine has the organiser's token" in again.stderr
        await both.stop(0)
        with pytest.raises(DataError, match="expected that of the other nodes, or none: remove the file"):
            await Server.start(Config(tmp_path / "one"))


async def test_a_clock_that_is_off_and_a_database_without_standby_are_refused(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await directories(url, tmp_path / "one")
    with pytest.raises(DataError, match="synchronous_standby_names is empty"):
        async with running(tmp_path / "one", require_standby=True):
            pass
    monkeypatch.setattr(postgres_opening, "time", lambda: time() + 10)
    with pytest.raises(DataError, match=r"clock is (10\.0|9\.9) s off the database's"):
        async with running(tmp_path / "one"):
            pass


async def test_who_would_open_a_game_is_told_that_the_standby_is_missing(
    url: str, postgres: Postgres, tmp_path: Path
) -> None:
    """Two referees run, and the database answers what reads; commits wait for a standby that there is not."""

    def waiting_for_names(names: str) -> None:
        postgres.ask("postgres", f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
        postgres.ask("postgres", "SELECT pg_reload_conf()")

    async with AsyncExitStack() as stack:
        both = await two(stack, url, tmp_path)
        waiting_for_names("gone")
        try:
            store = both.servers[0].data.store
            await until(lambda: store.known_cause is Cause.STANDBY, "the cause to be found", every_s=0.05)
            refusal = await refused(both.clients[0].create())
        finally:
            waiting_for_names("")
        assert refusal.reason == "STORE_FAILED"
        assert refusal.message.startswith("2 referees run, and none of them can enter anything now: the database waits")
        await until(lambda: both.servers[0].readiness.is_ready, "commits to go through again", every_s=0.05)
        await both.clients[0].play()


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
async def test_the_games_of_a_node_that_dies_or_hangs_go_on_at_another(
    how: signal.Signals, url: str, tmp_path: Path
) -> None:
    """Acts are under way; a node that wakes again finds that it has lost its games, and ends."""
    paths, log = [tmp_path / "one", tmp_path / "two"], tmp_path / "log"
    await directories(url, *paths)
    (paths[1] / "organiser.token").write_bytes((paths[0] / "organiser.token").read_bytes())
    first, second = [await serve(path, log) for path in paths]
    async with connected(first.address, first.token) as client, connected(second.address, second.token) as other:
        plays = [await client.play(seed=seed, options=SHORT) for seed in range(2)]
        theirs = await other.play(seed=9, options=SHORT)
        for play in [*plays, theirs]:
            await play.until_play()
            await play.steps(4)
        under_way = [(play, *due) for play in plays if (due := play.next_act()) is not None]
        calls = [asyncio.create_task(play.submit(act, token)) for play, act, token in under_way]
        await asyncio.sleep(0)
        first.process.send_signal(how)
        await theirs.steps(3)
        alive = "SELECT count(*) FROM games WHERE owner = (SELECT max(id) FROM nodes)"
        await until(lambda: asked(url, alive) == [(3,)], "the other to have all games", every_s=0.02)
        for play, act, token in under_way:
            moved(play, other)
            await play.accepted(await play.submit(act, token))
            await send_all_again(play)
        if how == signal.SIGSTOP:
            first.process.send_signal(signal.SIGCONT)
            assert await first.process.wait() == 3
            assert "another referee has taken over the games" in log.read_text()
        await asyncio.gather(*calls, return_exceptions=True)
        for play in [*plays, theirs]:
            await play.to_the_end()
            await audited(play)
    if how == signal.SIGKILL:
        await first.process.wait()
    second.process.terminate()
    assert await second.process.wait() == 0


async def test_a_database_that_went_back_leaves_open_games_in_doubt_at_every_node(
    postgres: Postgres, tmp_path: Path
) -> None:
    """The marks are lost with the machine: nothing else says what was let out. Decided once, for all of them."""
    paths = [tmp_path / "one", tmp_path / "two"]
    engine = PostgreSQL(paths[0], postgres)
    await directories(engine.place(paths[0]), *paths)
    async with running(paths[0]) as (_, client):
        play = await client.play()
        await play.steps(3)
    engine.back_up()
    async with running(paths[0]) as (_, client):
        moved(play, client)
        await play.steps(2)
        mark = (paths[0] / "cluster.mark").read_text()
        await until(lambda: (paths[0] / "cluster.mark").read_text() != mark, "a sign of life", every_s=0.05)
    engine.restore()
    for name in ("cluster.mark", "organiser.token"):
        shutil.copy2(paths[0] / name, paths[1])
    (paths[0] / "marks.db").unlink()

    async def recovered(*words: object) -> tuple[int, str]:
        done = await asyncio.to_thread(referee, "recover", *words)
        return done.returncode, done.stdout + done.stderr

    code, said = await recovered("--data", paths[0], "--accept-rollback")
    assert (code, f"game {play.id}" in said, "in doubt" in said) == (1, True, True), said
    shutil.copy2(paths[1] / "cluster.mark", tmp_path / "kept")
    (paths[1] / "cluster.mark").unlink()
    async with running(paths[1]) as (_, client):
        moved(play, client)
        act = play.next_act()
        assert act is not None
        assert (await refused(play.submit(*act))).reason == "IN_DOUBT"
    code, said = await recovered(play.id, "--continue", "--data", paths[0])
    assert code == 0, said
    shutil.copy2(tmp_path / "kept", paths[1] / "cluster.mark")
    code, said = await recovered("--data", paths[1], "--accept-rollback")
    assert (code, said.splitlines()[-1]) == (0, "every game can continue"), said
    code, said = await recovered("--data", paths[1], "--accept-rollback")
    assert (code, "in doubt" in said) == (1, True), "a directory that never knew the database cannot tell"
    async with running(paths[1]) as (_, client):
        log = await client.log(play.id)
        assert any(decode_entry(data).HasField("recovered") for data in entries(BytesIO(log)))


async def test_a_referee_learns_that_another_one_has_declared_what_its_marks_know(
    postgres: Postgres, tmp_path: Path
) -> None:
    """It learns so for each game, as it would have to sign a contradiction of its marks."""
    paths = [tmp_path / "one", tmp_path / "two"]
    engine = PostgreSQL(paths[0], postgres)
    await directories(engine.place(paths[0]), *paths)
    shutil.copy2(paths[0] / "organiser.token", paths[1])
    async with running(paths[0]) as (_, client):
        play = await client.play()
        await play.steps(3)
    async with running(paths[1]):
        pass
    engine.back_up()
    async with running(paths[1]) as (_, client):
        moved(play, client)
        await play.steps(2)
        lost = play.record.size
    engine.restore()

    async def recovered(path: Path, *words: object) -> str:
        done = await asyncio.to_thread(referee, "recover", *words, "--data", path)
        return done.stdout + done.stderr

    assert "in doubt" in await recovered(paths[0], "--accept-rollback")
    assert "continues" in await recovered(paths[0], play.id, "--continue")
    async with running(paths[0]) as (_, client):
        again = Play(client, play.created, play.rng)
        found = await client.games.GetGame(pb.GetGameRequest(game_id=play.id))
        await again.catch_up(found.game.size)
        while again.record.size <= lost:
            await again.step()
    said = await recovered(paths[1], "--accept-rollback")
    assert "every open game was put in doubt at" in said
    assert f"game {play.id}: its first {lost} entries are not those that were signed" in said
    assert "continues: its log declares what is lost" in await recovered(paths[1], play.id, "--continue")
    async with running(paths[1]) as (_, client):
        moved(again, client)
        await again.step()


@pytest.mark.long
async def test_a_database_that_went_back_is_gone_on_with_after_a_look(postgres: Postgres, tmp_path: Path) -> None:
    """With the marks of the node that let more out, the game that lacks entries is named."""
    paths = [tmp_path / "one", tmp_path / "two"]
    engine = PostgreSQL(paths[0], postgres)
    await directories(engine.place(paths[0]), *paths)
    async with running(paths[0]) as (_, client):
        play = await client.play()
        await play.steps(3)
        theirs = tmp_path / "theirs"
    shutil.copytree(paths[0], theirs)
    engine.back_up()
    async with running(paths[0]) as (_, client):
        moved(play, client)
        await play.steps(2)
        mark = (paths[0] / "cluster.mark").read_text()
        await until(lambda: (paths[0] / "cluster.mark").read_text() != mark, "a sign of life", every_s=0.05)
    engine.restore()
    with pytest.raises(DataError, match="the database went back"):
        async with running(paths[0]):
            pass

    async def recover(*words: str) -> tuple[int | None, str]:
        process = await asyncio.create_subprocess_exec(REFEREE, "recover", *words, stdout=PIPE)
        said, _ = await process.communicate()
        return process.returncode, said.decode()

    code, said = await recover("--data", str(paths[0]))
    assert code == 1
    assert "the database went back: it lacks all of" in said
    assert f"game {play.id}: 8 entries are lost" in said
    ours, behind = (str(path / "marks.db") for path in (paths[0], theirs))
    code, said = await recover("--data", str(paths[0]), "--marks", behind, "--marks", ours, "--accept-rollback")
    assert f"{ours}: knows newer heads of one game" in said
    assert f"game {play.id}: 8 entries are lost" in said
    async with running(paths[0]) as (server, _):
        with pytest.raises(Unsound, match="8 entries are lost"):
            await server.live_games.game(bytes.fromhex(play.id))
