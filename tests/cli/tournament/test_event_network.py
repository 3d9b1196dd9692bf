"""``referee event open``, ``result --all`` and ``run`` against a real server; tokens of entrants; ``audit --event``."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from referee.cli.tournament.network import Taking
from referee.log.keys import PrivateKey
from referee.server.live.opening import entrant_principal
from referee.tournament.file import EventFile
from referee.tournament.rules.acts import OpenTable
from referee.v1 import access_service_pb2 as access_pb
from referee.v1 import game_pb2
from referee.v1 import game_service_pb2 as pb
from referee.v1.access_service_pb2_grpc import AccessServiceStub
from referee_clients import play_all, play_async
from referee_clients.bots import maker
from referee_clients.sdk.channel import Security
from tests.addresses import free_address
from tests.cli.command import REFEREE
from tests.cli.inside import referee
from tests.server.service.conftest import running
from tests.server.service.player import Client, bearer, connected, refused
from tests.server.service.process import serve
from tests.tournament.check import game as log_of_game
from tests.waiting import waiting_for

Run = Callable[..., Awaitable[subprocess.CompletedProcess[str]]]


@asynccontextmanager
async def organising(tmp_path: Path) -> AsyncIterator[tuple[Client, Run, str]]:
    """Yield a server, commands with its organiser's token in a folder, and its address."""
    async with running(tmp_path / "data", solver_workers=0) as (server, client):

        async def run(*words: object, code: int = 0) -> subprocess.CompletedProcess[str]:
            done = await asyncio.to_thread(referee, *words, cwd=tmp_path)
            assert done.returncode == code, (words, done.stdout, done.stderr)
            return done

        yield client, run, server.address


async def begin(run: Run, address: str, *names: str, rules: str = "kingdomino", sizes: str = "2") -> None:
    points = "; ".join(f"{size}: {','.join(map(str, range(int(size) - 1, -1, -1)))}" for size in sizes.split(","))
    new = ("--rules", rules, "--sizes", sizes, "--points", points, "--rounds", "2")
    await run("event", "new", "e.eventlog", *new, "--server", address, "--data", "data")
    if names:
        await run("event", "enter", "e.eventlog", *names)
        await run("event", "checkin", "e.eventlog", "--all")


async def publish(run: Run) -> None:
    await run("event", "pair", "e.eventlog")
    await run("event", "publish", "e.eventlog")


def state_of(tmp_path: Path) -> Any:
    return EventFile.read_only(tmp_path / "e.eventlog").log.state


async def games_of(client: Client) -> list[Any]:
    found = await client.games.ListGames(pb.ListGamesRequest(), metadata=bearer(client.organiser))
    return list(found.games)


async def bots(client: Client, address: str, tokens: list[str], games: int) -> None:
    """Play ``games`` games with these tokens, one for each bot."""
    left = asyncio.Semaphore(0)
    tasks = [
        asyncio.create_task(play_all(address, token, maker("greedy", seed), lambda _, __: left.release()))
        for seed, token in enumerate(tokens)
    ]
    async with waiting_for("games to end"):
        for _ in range(2 * games):
            await left.acquire()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_round_is_opened_once(tmp_path: Path) -> None:
    async with organising(tmp_path) as (client, run, address):
        await begin(run, address, "Ani", "Bob", "Cid", "Dee")
        where = ("--data", "data")
        done = await run("event", "open", "e.eventlog", *where, code=2)
        assert "none is being played" in done.stderr
        await publish(run)
        done = await run("event", "open", "e.eventlog", "--options", '{"castles": true}', *where, code=2)
        assert "options" in done.stderr
        done = await run("event", "open", "e.eventlog", *where)
        assert "table 1: opened, game " in done.stdout
        assert all(name in done.stdout for name in ("Ani", "Bob", "Cid", "Dee"))
        assert "#" not in done.stdout  # no tokens: seats are the entrants'
        again = await run("event", "open", "e.eventlog", *where)
        assert [line.split(",")[0] for line in again.stdout.splitlines()] == [
            "table 1: there already",
            "table 2: there already",
        ]
        games = {game.table: game.id for game in await games_of(client)}
        assert {n: game.hex() for n, game in state_of(tmp_path).rounds[0].games.items()} == games
        done = await run("event", "result", "e.eventlog", "--all", code=1)
        assert [line.split(" ")[-2:] for line in done.stdout.splitlines()] == [["not", "over"]] * 2


async def test_a_round_is_played_with_entrants_tokens_and_taken(tmp_path: Path) -> None:
    """From names to results that are pinned to audited logs; every command can be repeated."""
    async with organising(tmp_path) as (client, run, address):
        await begin(run, address, "Ani", "Bob", "Cid", "Dee")
        await publish(run)
        where = ("--data", "data")
        await run("event", "open", "e.eventlog", *where)
        games = {game.table: game.id for game in await games_of(client)}
        tokens = [
            (await run("token", "issue", "--event", "e.eventlog", "--entrant", n, "--server", address, *where)).stdout
            for n in range(1, 5)
        ]
        listed = await run("token", "list", "--json", "--server", address, *where)
        assert [each["scopes"] for each in json.loads(listed.stdout)][:4] == [["play"]] * 4
        await bots(client, address, [token.strip() for token in tokens], 2)
        done = await run("event", "result", "e.eventlog", "--all")
        assert "table 1: places " in done.stdout
        results = state_of(tmp_path).rounds[0].results
        assert {n: result.log.game_id.hex() for n, result in results.items()} == games
        keys = ("--key", "e.vkey", "--games", "e.games", "--games-key", "e.vkey")
        assert "results: 2 with an audited log" in (await run("event", "check", "e.eventlog", *keys, code=3)).stdout
        await publish(run)
        await run("event", "result", "e.eventlog", "--all", code=1)
        await run("event", "open", "e.eventlog", *where)
        assert len(await games_of(client)) == 4


@pytest.mark.parametrize("again", ["the same tables", "other tables"])
async def test_a_round_that_is_paired_again_gets_other_games(tmp_path: Path, again: str) -> None:
    """Games of the pairing that was annulled stay that; those of the new one are there when asked again."""
    async with organising(tmp_path) as (client, run, address):
        await begin(run, address, "Ani", "Bob", "Cid", "Dee")
        await publish(run)
        await run("event", "open", "e.eventlog", "--data", "data")
        annulled = state_of(tmp_path).rounds[0]
        (a, b), (c, d) = annulled.tables
        await run("event", "reopen", "e.eventlog", "--reason", "wrong lists")
        tables = f"{a},{b}; {c},{d}" if again == "the same tables" else f"{a},{c}; {b},{d}"
        await run("event", "pair", "e.eventlog", "--tables", tables, "--reason", "by hand")
        await run("event", "publish", "e.eventlog")
        done = await run("event", "open", "e.eventlog", "--data", "data")
        assert done.stdout.count(": opened, game") == 2
        games = state_of(tmp_path).rounds[0].games
        assert set(games.values()).isdisjoint(annulled.games.values())
        done = await run("event", "open", "e.eventlog", "--data", "data")
        assert done.stdout.count(": there already, game") == 2
        assert (state_of(tmp_path).rounds[0].games, len(await games_of(client))) == (games, 4)


async def test_a_game_that_was_named_by_hand_stays_the_tables(tmp_path: Path) -> None:
    """Though another was opened for the table before."""
    async with organising(tmp_path) as (client, run, address):
        await begin(run, address, "Ani", "Bob")
        await publish(run)
        await run("event", "open", "e.eventlog", "--data", "data")
        number = EventFile.read_only(tmp_path / "e.eventlog").log.event_id
        mine = (await client.create(2, rules_id="kingdomino", event_id=number, round=1, table=1)).game.id
        await run("event", "open", "e.eventlog", 1, mine, "--data", "data")
        done = await run("event", "open", "e.eventlog", "--data", "data")
        assert f"table 1: there already, game {mine}" in done.stdout
        assert state_of(tmp_path).rounds[0].games[1].hex() == mine
        await client.games.AbortGame(pb.AbortGameRequest(game_id=mine), metadata=bearer(client.organiser))
        done = await run("event", "open", "e.eventlog", "--data", "data")
        assert "table 1: opened, game" in done.stdout


async def test_a_game_is_named_for_the_table_that_it_was_opened_for(tmp_path: Path) -> None:
    """Or for any table, if it was opened for none."""
    async with organising(tmp_path) as (client, run, address):
        await begin(run, address, "Ani", "Bob", "Cid", "Dee")
        await publish(run)
        number = EventFile.read_only(tmp_path / "e.eventlog").log.event_id

        async def created(rules: str = "kingdomino", **fields: Any) -> str:
            return (await client.create(2, rules_id=rules, **fields)).game.id

        for game, told in (
            ("0123456789abcdef" * 2, "the referee refused"),
            (await created("alhambra"), "a game of alhambra; expected kingdomino (EVT-G1)"),
            (await created(event_id=number, round=1, table=2), "round 1, table 2 (EVT-G1)"),
            (await created(event_id=number, round=2, table=1), "round 2, table 1 (EVT-G1)"),
            (await created(event_id=5, round=1, table=1), "opened for event 5, round 1, table 1 (EVT-G1)"),
        ):
            done = await run("event", "open", "e.eventlog", 1, game, "--data", "data", code=1)
            assert told in done.stderr
        game = await created()
        done = await run("event", "open", "e.eventlog", 1, game, "--data", "data")
        assert done.stdout == f"round 1, table 1: game {game}\n"
        done = await run("event", "open", "e.eventlog", 2, game, "--data", "data", code=8)
        assert "the game is another table's (EVT-G1" in done.stderr


def by_hand(tmp_path: Path, *games: bytes) -> EventFile:
    """Return the event of the file alone, whose round is published, with these games named for its tables."""
    with EventFile.opened(tmp_path / "e.eventlog") as event:
        for table, game in enumerate(games, 1):
            event.log.enter(OpenTable(1, table, game))
        event.save()
    return event


async def test_a_game_that_cannot_be_had_is_no_hindrance_to_the_others(tmp_path: Path) -> None:
    async with organising(tmp_path) as (client, run, address):
        await run("event", "new", "e.eventlog", "--rules", "kingdomino", "--sizes", "2", "--points", "2: 1,0")
        await run("event", "enter", "e.eventlog", "Ani", "Bob", "Cid", "Dee")
        await run("event", "checkin", "e.eventlog", "--all")
        await publish(run)
        goes_on = (await client.create(2, rules_id="kingdomino")).game.id
        by_hand(tmp_path, bytes(16), bytes.fromhex(goes_on))
        done = await run("event", "result", "e.eventlog", "--all", "--server", address, code=1)
        first, second = done.stdout.splitlines()
        assert first.startswith(f"table 1: NOT ENTERED, game {bytes(16).hex()}: the referee refused: ")
        assert second == f"table 2: game {goes_on} is not over"
        # No referee keeps the event, so no key for its games was given.
        assert "the key of the games' referee is not known" in done.stderr


async def test_games_at_another_referee_than_the_events_need_its_key(tmp_path: Path) -> None:
    """The key that the event knows is compared with, however the games' referee is called."""
    async with organising(tmp_path) as (_, run, address), running(tmp_path / "other", solver_workers=0) as (other, _):
        await begin(run, address, "Ani", "Bob")
        await publish(run)
        where = ("--server", other.address, "--data", "other")
        await run("event", "open", "e.eventlog", "--joins", "joins", *where)
        (joins,) = (tmp_path / "joins").iterdir()
        async with waiting_for("the game to end"):
            await asyncio.gather(*(play_async(join, maker("greedy", 1)) for join in joins.read_text().splitlines()))
        done = await run("event", "result", "e.eventlog", "--all", *where, code=1)
        assert "NOT ENTERED" in done.stdout
        assert "UNTRUSTED_KEY" in done.stdout
        (key,) = (tmp_path / "other").glob("*.vkey")
        done = await run("event", "result", "e.eventlog", "--all", "--games-key", key, *where)
        assert "table 1: places " in done.stdout
        assert not done.stderr


def lying(told: str, log: bytes) -> grpc.GenericRpcHandler:
    """Return a referee whose answer names that game, and has that log."""

    async def game_told(request: pb.GetGameRequest, _: object) -> pb.GetGameResponse:
        return pb.GetGameResponse(game=game_pb2.Game(id=told, state=game_pb2.GAME_STATE_OVER))

    async def log_told(request: pb.GetLogRequest, _: object) -> AsyncIterator[pb.GetLogResponse]:
        yield pb.GetLogResponse(chunk=log)

    handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
        "GetGame": grpc.unary_unary_rpc_method_handler(
            game_told, pb.GetGameRequest.FromString, pb.GetGameResponse.SerializeToString
        ),
        "GetLog": grpc.unary_stream_rpc_method_handler(
            log_told, pb.GetLogRequest.FromString, pb.GetLogResponse.SerializeToString
        ),
    }
    return grpc.method_handlers_generic_handler("referee.v1.GameService", handlers)


@pytest.mark.parametrize(
    ("told", "wrong"),
    [("../../elsewhere", "answered with game '../../elsewhere'"), ("0" * 32, "gave the log of game")],
)
async def test_what_a_referee_says_of_another_game_is_not_taken(tmp_path: Path, told: str, wrong: str) -> None:
    """Nor is a file written where it says."""

    async def run(*words: object) -> None:
        done = await asyncio.to_thread(referee, *words, cwd=tmp_path)
        assert done.returncode == 0, (words, done.stdout, done.stderr)

    await run("event", "new", "e.eventlog", "--rules", "kingdomino", "--sizes", "2", "--points", "2: 1,0")
    await run("event", "enter", "e.eventlog", "Ani", "Bob")
    await run("event", "checkin", "e.eventlog", "--all")
    await run("event", "pair", "e.eventlog")
    await run("event", "publish", "e.eventlog")
    event = by_hand(tmp_path, bytes(16))
    log = log_of_game(tmp_path, event.log.event_id, 1, 1, seed=1)
    server = grpc.aio.server()
    server.add_generic_rpc_handlers([lying(told, log.read_bytes())])
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    try:
        (table,), results = await Taking(event, address, Security(), tmp_path / "kept" / "games", None).find()
    finally:
        await server.stop(None)
    assert str(table).startswith(f"table 1: NOT ENTERED, game {bytes(16).hex()}: {address}: {wrong}")
    assert results == []
    assert set(await asyncio.to_thread(lambda: [path.stem for path in tmp_path.rglob("*.gamelog")])) <= {
        "1",
        bytes(16).hex(),
    }


async def test_join_strings_for_who_has_no_token(tmp_path: Path) -> None:
    """In a file for each table; a file that a killed command left empty is no hindrance."""
    async with organising(tmp_path) as (client, run, address):
        await begin(run, address, "Ani", "Bob")
        await publish(run)
        number = EventFile.read_only(tmp_path / "e.eventlog").log.event_id
        left = tmp_path / "joins" / f"event-{number}-round-1-table-1.txt"
        left.parent.mkdir()
        left.touch()
        await run("event", "open", "e.eventlog", "--joins", "joins", "--data", "data")
        joins = left.read_text().splitlines()
        assert [join.partition("#")[0].rpartition("/")[2] for join in joins] == ["0", "1"]
        game = (await client.games.GetGame(pb.GetGameRequest(game_id=(await games_of(client))[0].id))).game
        assert not any(seat.principal for seat in game.seats)


async def test_an_entrants_token_is_for_the_entrants_seats_alone(tmp_path: Path) -> None:
    async with organising(tmp_path) as (client, run, address):
        await begin(run, address, "Ani", "Bob", "Cid", "Dee")
        await publish(run)
        await run("event", "open", "e.eventlog", "--data", "data")
        number = EventFile.read_only(tmp_path / "e.eventlog").log.event_id
        issued = await issue(client, event=str(number), entrant=1)
        principal = entrant_principal(number, 1)
        assert (issued.token.principal, list(issued.token.scopes)) == (principal, [access_pb.SCOPE_PLAY])
        mine = bearer(issued.secret)
        found = await client.games.ListGames(pb.ListGamesRequest(principal=principal), metadata=mine)
        (game,) = found.games
        stream = client.games.WatchSeat(pb.WatchSeatRequest(), metadata=mine)
        first = await stream.read()
        while not first.HasField("turn"):
            first = await stream.read()
        assert first.game_id == game.id
        table = state_of(tmp_path).rounds[0].tables[game.table - 1]
        assert first.turn.seat == table.index(1)
        (other,) = [each.id for each in await games_of(client) if each.id != game.id]
        entered = client.games.PlayGame(metadata=mine)
        await entered.write(pb.PlayGameRequest(enter=pb.Enter(game_id=other)))
        assert (await refused(entered)).reason == "PERMISSION_DENIED"
        for call in (
            client.games.CreateGame(pb.CreateGameRequest(rules_id="kingdomino"), metadata=mine),
            client.games.AbortGame(pb.AbortGameRequest(game_id=game.id), metadata=mine),
            access(client).IssueToken(access_pb.IssueTokenRequest(), metadata=mine),
            client.games.ListGames(pb.ListGamesRequest(principal=entrant_principal(number, 2)), metadata=mine),
        ):
            assert (await refused(call)).reason == "PERMISSION_DENIED"


def access(client: Client) -> Any:
    return AccessServiceStub(client.channel)


async def issue(client: Client, **fields: Any) -> Any:
    return await access(client).IssueToken(access_pb.IssueTokenRequest(**fields), metadata=bearer(client.organiser))


async def test_no_other_game_and_no_other_token_is_an_entrants(tmp_path: Path) -> None:
    async with organising(tmp_path) as (client, run, address):
        await begin(run, address, "Ani", "Bob", "Cid", "Dee")
        await publish(run)
        await run("event", "open", "e.eventlog", "--data", "data")
        number = EventFile.read_only(tmp_path / "e.eventlog").log.event_id
        principal = entrant_principal(number, 1)
        game = (await games_of(client))[0].id
        elsewhere: tuple[dict[str, Any], ...] = ({}, {"event_id": number + 1})
        for event in elsewhere:
            found = await refused(client.create(2, rules_id="kingdomino", principals=[principal, ""], **event))
            assert found.metadata["field"] == "principals[0]"
        for fields, field in (
            ({"event": str(number), "entrant": 5}, "entrant"),
            ({"event": str(number)}, "entrant"),
            ({"event": "none", "entrant": 1}, "event"),
            ({"entrant": 1}, "event"),
            ({"event": str(number), "entrant": 1, "principal": "ani"}, "principal"),
            ({"event": str(number), "entrant": 1, "scopes": [access_pb.SCOPE_ADMIN]}, "scopes"),
            ({"event": str(number), "entrant": 1, "game_id": game}, "game_id"),
            ({"principal": principal, "scopes": [access_pb.SCOPE_ORGANISE]}, "scopes"),
        ):
            assert (await refused(issue(client, **fields))).metadata["field"] == field, fields
        assert (await refused(issue(client, event=str(number + 1), entrant=1))).reason == "UNKNOWN_GAME"


@pytest.mark.long
async def test_bots_play_an_event_to_its_end_and_seats_have_the_keys_that_were_registered(tmp_path: Path) -> None:
    async with organising(tmp_path) as (_, run, address):
        new = ("--rules", "kingdomino", "--sizes", "3,2", "--points", "3: 2,1,0; 2: 1,0", "--rounds", "2")
        await run("event", "new", "e.eventlog", *new, "--server", address, "--data", "data")
        play = ("event", "run", "e.eventlog", "--bots", "greedy,random", "--players", "5", "--data", "data")
        done = await run(*play)
        assert done.stdout.splitlines()[-1] == "e.eventlog: the event is over"
        assert (await run(*play)).stdout.splitlines()[-1] == "e.eventlog: the event is over"
        keys = ("--key", "e.vkey", "--games", "e.games", "--games-key", "e.vkey")
        assert "results: 4 with an audited log\n" in (await run("event", "check", "e.eventlog", *keys)).stdout
        listed = json.loads((await run("token", "list", "--json", "--server", address, "--data", "data")).stdout)
        assert [token["principal"] for token in listed] == ["organiser"]
        games = sorted((tmp_path / "e.games").iterdir())
        for game in games:
            assert "COMPLETE" in (await run("audit", game, "--key", "e.vkey", "--event", "e.eventlog")).stdout
        await run("event", "new", "other.eventlog", "--rules", "kingdomino")
        done = await run("audit", games[0], "--key", "e.vkey", "--event", "other.eventlog", code=2)
        assert "the game was opened for event" in done.stderr


async def test_a_seat_that_was_played_with_another_key_is_found(tmp_path: Path) -> None:
    """A token without the key cannot join. A join string can: the result is not
    taken, and every check says why.
    """
    async with organising(tmp_path) as (client, run, address):
        await begin(run, address)
        PrivateKey.generate().save(tmp_path / "ani.pem")
        await run("event", "enter", "e.eventlog", "Ani", "--player-key", "ani.pem")
        await run("event", "enter", "e.eventlog", "Bob")
        await run("event", "checkin", "e.eventlog", "--all")
        await publish(run)
        await run("event", "open", "e.eventlog", "--data", "data")
        issue = ("token", "issue", "--event", "e.eventlog", "--server", address, "--data", "data", "--entrant", "1")
        token = (await run(*issue)).stdout.strip()
        ended = asyncio.get_running_loop().create_future()
        stolen = asyncio.create_task(
            play_all(address, token, maker("greedy", 1), lambda _, how: ended.set_result(str(how)))
        )
        async with waiting_for("the seat to be refused"):
            assert "the entrant has registered another key in the event" in await ended
        stolen.cancel()
        await asyncio.gather(stolen, return_exceptions=True)

        (first,) = await games_of(client)
        await client.games.AbortGame(pb.AbortGameRequest(game_id=first.id), metadata=bearer(client.organiser))
        await run("event", "open", "e.eventlog", "--joins", "joins", "--data", "data")
        (joins,) = (tmp_path / "joins").iterdir()
        async with waiting_for("the game to end"):
            await asyncio.gather(*(play_async(join, maker("greedy", 1)) for join in joins.read_text().splitlines()))
        done = await run("event", "result", "e.eventlog", "--all", code=1)
        assert "NOT ENTERED" in done.stdout
        assert re.search(r": player [12] signed with another key than entrant 1 registered \(EVT-G1\)", done.stdout)
        (game,) = (tmp_path / "e.games").iterdir()
        done = await run("audit", game, "--key", "e.vkey", "--event", "e.eventlog", code=5)
        assert "UNTRUSTED_KEY" in done.stdout


@pytest.mark.long
@pytest.mark.parametrize("kills", [1, 3])
async def test_a_command_that_is_killed_in_the_middle_of_opening_opens_the_rest_next_time(
    tmp_path: Path, kills: int
) -> None:
    """One game for each table, however often, and whenever it was killed."""
    process = await serve(tmp_path / "data", tmp_path / "log", "--solver-workers", "0")

    async def run(*words: object, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = await asyncio.to_thread(referee, *words, cwd=tmp_path)
        assert done.returncode == code, (words, done.stdout, done.stderr)
        return done

    await begin(run, process.address, *(f"P{number}" for number in range(40)))
    await publish(run)
    words = ("event", "open", "e.eventlog", "--data", "data")
    async with connected(process.address, process.token) as client:
        for kill in range(kills):
            command = await asyncio.create_subprocess_exec(REFEREE, *words, cwd=tmp_path)
            async with waiting_for("games to be opened"):
                while len(await games_of(client)) <= 4 * kill and command.returncode is None:
                    pass
            command.kill()
            await command.wait()
        await run(*words)
        games = await games_of(client)
        assert sorted(game.table for game in games) == list(range(1, 21))
        assert {game.table: bytes.fromhex(game.id) for game in games} == state_of(tmp_path).rounds[0].games
    process.process.terminate()
    await process.process.wait()


@pytest.mark.long
async def test_bots_and_the_referee_are_killed_in_the_middle_of_a_round(tmp_path: Path) -> None:
    """Both come back, and the event continues to its end: no act and no game is lost, and none is there twice."""
    address = free_address()
    server = ("--listen", address, "--solver-workers", "0")
    process = await serve(tmp_path / "data", tmp_path / "log", *server)

    async def run(*words: object, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = await asyncio.to_thread(referee, *words, cwd=tmp_path)
        assert done.returncode == code, (words, done.stdout, done.stderr)
        return done

    new = ("--rules", "kingdomino", "--sizes", "2", "--points", "2: 1,0", "--rounds", "3", "--server", address)
    await run("event", "new", "e.eventlog", *new, "--data", "data")
    play = ("event", "run", "e.eventlog", "--bots", "greedy,random", "--players", "4", "--data", "data")
    for killed in ("bots", "referee"):
        bots = await asyncio.create_subprocess_exec(REFEREE, *play, cwd=tmp_path, stdout=subprocess.PIPE)
        assert bots.stdout is not None
        async with waiting_for("a result of the round"):
            while b"places" not in await bots.stdout.readline():
                pass
        if killed == "referee":
            process.process.kill()
            await process.process.wait()
            process = await serve(tmp_path / "data", tmp_path / "log", *server)
            await bots.communicate()
            assert bots.returncode == 0
        else:
            bots.kill()
            await bots.communicate()
    assert (await run(*play)).stdout.splitlines()[-1] == "e.eventlog: the event is over"
    keys = ("--key", "e.vkey", "--games", "e.games", "--games-key", "e.vkey")
    assert "results: 6 with an audited log\n" in (await run("event", "check", "e.eventlog", *keys)).stdout
    async with connected(process.address, process.token) as client:
        assert len(await games_of(client)) == 6
    process.process.terminate()
    await process.process.wait()
