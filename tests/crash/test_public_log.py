"""A referee with a public log is killed again and again; a witness, a program of its own, sees one log all the time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from json import loads
from pathlib import Path
from subprocess import PIPE

import grpc
import psycopg
import pytest

from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner
from referee.log.public.checkpoint import LogPolicy, read_leaf
from referee.log.public.sources import Folder
from referee.log.public.tiles import read_leaves
from referee.server.service.files import LOG_KEY_FILE
from referee.v1 import game_service_pb2 as pb
from tests.cli.command import REFEREE
from tests.crash.process import Referee
from tests.server.publishing.club import published
from tests.server.service.nodes import directories
from tests.server.service.player import Client, bearer, connected
from tests.server.store.postgres import Postgres
from tests.sizes import campaign
from tests.waiting import until

ORIGIN = "referee.local"


@asynccontextmanager
async def witnessing(folder: Path, log_key: str) -> AsyncIterator[str]:
    """``referee witness`` for this log; gives its line for a policy."""
    logs = folder / "logs.policy"
    logs.write_text(f"log {log_key}\nquorum none\n")
    words = ("--new", "--name", "w1.example", "--key", folder / "w1.pem", "--logs", logs, "--data", folder / "w1.db")
    process = await asyncio.create_subprocess_exec(
        REFEREE, "witness", *words, "--listen", "127.0.0.1:0", "--json", stdout=PIPE
    )
    assert process.stdout is not None
    try:
        ready = loads(await process.stdout.readline())
        yield f"witness w1 {ready['verifier_key']} {ready['address']}"
    finally:
        process.terminate()
        await process.wait()


async def _play(client: Client, going: set[str], over: set[str]) -> None:
    """Open games and end them, until the referee is gone."""
    while True:
        play = await client.play(seed=len(going))
        going.add(play.id)
        if len(going) % 2:
            await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
            over.add(play.id)


def logged_once(folder: Path, trusted: LogPolicy) -> list[str]:
    """Return the ids of the games that the published leaves are of; no leaf is there twice."""
    size = published(folder, trusted).head.size
    heads = [read_leaf(data) for _, data in read_leaves(Folder(folder), 0, size)]
    assert len({(head.game_id, head.size) for head in heads}) == size
    return [head.game_id.hex() for head in heads]


@pytest.mark.long
@pytest.mark.parametrize("kills", [2, campaign(20)])
async def test_killed_again_and_again_it_has_one_log(kills: int, tmp_path: Path) -> None:
    """The log has every game that was opened and every end that was announced."""
    data, folder = tmp_path / "data", tmp_path / "log"
    data.mkdir(mode=0o700)
    key = PrivateKey.generate()
    key.save(data / LOG_KEY_FILE)
    verifier = CheckpointSigner(f"{ORIGIN}/log", key).verifier
    rng, opened, over = random.Random(kills), set[str](), set[str]()
    async with witnessing(tmp_path, str(verifier)) as line:
        (tmp_path / "policy").write_text(f"{line}\nquorum w1\n")
        trusted = LogPolicy.parse(f"log {verifier}\n{line}\nquorum w1\n".encode())
        referee = Referee(tmp_path, words=("--log", folder, "--log-policy", tmp_path / "policy"))
        try:
            for _ in range(kills):
                await referee.start()
                async with connected(referee.address, referee.token) as client:
                    playing = asyncio.create_task(_play(client, opened, over))
                    # At a moment of the second in which the sequencer goes to work, and of its work.
                    await asyncio.sleep(rng.uniform(0.6, 1.6))
                    await referee.kill()
                    with pytest.raises(grpc.aio.AioRpcError):
                        await playing
                if (folder / "checkpoint").exists():
                    published(folder, trusted)
            await referee.start()

            def is_whole() -> bool:
                found = published(folder, trusted).head.size if (folder / "checkpoint").exists() else 0
                return found >= len(opened) + len(over)

            await until(is_whole, "every head is published", every_s=0.1)
            await referee.stop()
        finally:
            await referee.put_down()
    logged = logged_once(folder, trusted)
    assert opened <= {*logged}
    assert {game for game in over if logged.count(game) < 2} == set()
    assert '"forked"' not in referee.logged()
    assert "log halted" not in referee.logged()


def _writer(url: str) -> int:
    """Return the process that writes the log, of the referees on this database."""
    with psycopg.connect(url) as connection:
        found = connection.execute(
            "SELECT name FROM nodes WHERE id::text = (SELECT convert_from(value, 'UTF8') FROM facts"
            " WHERE name = 'log writer') AND NOT dead"
        ).fetchone()
    return int(found[0].rpartition(" ")[2]) if found is not None else 0


async def _gone_on(url: str, folder: Path, trusted: LogPolicy, dead: int) -> None:
    """Return when another one writes the log, and something more is published."""
    await until(lambda: _writer(url) not in {0, dead}, "the other to write it", every_s=0.05)

    def size() -> int:
        return published(folder, trusted).head.size if (folder / "checkpoint").exists() else 0

    before = size()
    await until(lambda: size() > before, "the log to grow", every_s=0.05)


async def two_of(url: str, key: PrivateKey, folder: Path, top: Path) -> list[Referee]:
    """Two referees of one database, which publish one log in the folder with this key."""
    places = [top / "one", top / "two"]
    for place in places:
        place.mkdir()
    await directories(url, *(place / "data" for place in places))
    for place in places:
        key.save(place / "data" / LOG_KEY_FILE)
    return [Referee(place, words=("--store", url, "--log", folder)) for place in places]


@pytest.mark.long
@pytest.mark.parametrize("kills", [2, campaign(8)])
async def test_two_referees_have_one_log_whichever_is_killed(kills: int, tmp_path: Path, postgres: Postgres) -> None:
    """The killed one is always the writer of the log; the other continues it, and every head is there once."""
    url, folder = postgres.new(), tmp_path / "log"
    key = PrivateKey.generate()
    trusted = LogPolicy.parse(f"log {CheckpointSigner(f'{ORIGIN}/log', key).verifier}\nquorum none\n".encode())
    nodes = await two_of(url, key, folder, tmp_path)
    rng, opened, over = random.Random(kills), set[str](), set[str]()

    def is_whole() -> bool:
        found = published(folder, trusted).head.size if (folder / "checkpoint").exists() else 0
        return found >= len(opened) + len(over)

    try:
        for node in nodes:
            await node.start()
        for _ in range(kills):
            await until(lambda: _writer(url) in {node.pid for node in nodes}, "one to write the log", every_s=0.05)
            writer = next(node for node in nodes if node.pid == _writer(url))
            async with AsyncExitStack() as stack:
                clients = [await stack.enter_async_context(connected(node.address, nodes[0].token)) for node in nodes]
                playing = [asyncio.create_task(_play(client, opened, over)) for client in clients]
                await asyncio.sleep(rng.uniform(0.6, 1.6))
                await writer.kill()
                await _gone_on(url, folder, trusted, writer.pid)
                for task in playing:
                    task.cancel()
                ended = await asyncio.gather(*playing, return_exceptions=True)
            assert {type(each) for each in ended} <= {asyncio.CancelledError, grpc.aio.AioRpcError}
            await writer.start()
        await until(is_whole, "every head is published", every_s=0.1)
        for node in nodes:
            await node.stop()
    finally:
        for node in nodes:
            await node.put_down()
    logged = logged_once(folder, trusted)
    assert opened <= {*logged}
    assert {game for game in over if logged.count(game) != 2} == set()
    for node in nodes:
        assert "log halted" not in node.logged()
