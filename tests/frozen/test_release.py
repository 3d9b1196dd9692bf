"""Today's program opens, continues, audits and upgrades all that every release left on a disk."""

from __future__ import annotations

import json
import random
import tarfile
from base64 import b64decode
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from referee.cli.board.desk import _components
from referee.log.file import entries
from referee.log.game import Phase
from referee.log.merkle import leaf_hash, root
from referee.log.v1 import log_pb2
from referee.server.service.server import Config, Server
from referee.tournament.rules.acts import EnterResult
from referee.v1 import event_service_pb2, game_service_pb2, status_service_pb2, status_service_pb2_grpc
from referee_clients.sdk.channel import Security
from referee_clients.terminal.desk.app import DeskApp, Start
from referee_clients.terminal.desk.folder import Folder, Place
from referee_clients.terminal.desk.table import TableScreen
from tests.cli.inside import referee
from tests.clients.desk.desk import Desk
from tests.frozen.release import HERE, NAME, ORIGIN, archive
from tests.server.service.arbiter import Table
from tests.server.service.conftest import running
from tests.server.service.event import Desk as EventDesk
from tests.server.service.event import Events, acts_of, over_the_board
from tests.server.service.player import Client, Play, bearer
from tests.server.store.postgres import running as running_postgres

ARCHIVES = sorted(HERE.glob("release-*.tar.xz"))
MOST_BYTES = 400_000


@pytest.fixture(params=ARCHIVES, ids=lambda path: path.name.removesuffix(".tar.xz"))
def release(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a folder with all that is in the archive."""
    with tarfile.open(request.param) as tar:
        tar.extractall(tmp_path, filter="fully_trusted")  # modes count: other users must not read keys
    return tmp_path


def facts(release: Path) -> Any:
    return json.loads((release / "release.json").read_text(encoding="utf-8"))


def done(*words: object, code: int = 0, **more: Any) -> str:
    found = referee(*words, **more)
    assert found.returncode == code, (words, found.stderr)
    return found.stdout


async def known(client: Client, kept: Any, of: Callable[[Any], Play], response: type[Any]) -> Play:
    """Return a game or an event whose entries are those that its players had."""
    play = of(response.FromString(b64decode(kept["created"])))
    log = await client.log(play.id)
    await play.catch_up(len([*entries(BytesIO(log))]))  # also those of its start
    assert root([leaf_hash(entry) for entry in play.entries[: kept["size"]]]).hex() == kept["root"]
    return play


async def names(client: Client, play: Play) -> list[str]:
    found = await client.games.GetNames(game_service_pb2.GetNamesRequest(game_ids=[play.id]))
    return [each.name for game in found.games for each in game.names]


def test_there_is_an_archive_of_every_release_from_1_0_on() -> None:
    assert archive("1.0.0rc1") in ARCHIVES
    assert all(path.stat().st_size < MOST_BYTES for path in ARCHIVES)


async def test_its_games_and_events_continue(release: Path) -> None:
    async with running(release / "data", origin=ORIGIN) as (_, client):
        games = {}
        for name, kept in facts(release)["games"].items():
            games[name] = await known(
                client,
                kept,
                lambda created: Play(client, created, random.Random(2)),
                game_service_pb2.CreateGameResponse,
            )
        dispute, paused = Table(client, games["in dispute"]), Table(client, games["paused"])
        ((protest, found),) = dispute.game.arbitration.disputes.items()
        assert found.ruled is None
        await dispute.rule(dismiss=log_pb2.Dismiss(), decides=protest, rule_id="KDO-1")
        await paused.rule(resume=log_pb2.Resume(), rule_id="")
        assert await names(client, games["alhambra in play"]) == [NAME]
        for name, play in games.items():
            assert (play.record.phase is Phase.CLOSED) == name.endswith(" over"), name
            await play.to_the_end()
            await Table(client, play).audited(client)
        await _continues(client, facts(release)["event"])
        stub: Any = status_service_pb2_grpc.StatusServiceStub(client.channel)
        await stub.GetStatus(status_service_pb2.GetStatusRequest(), metadata=bearer(facts(release)["token"]))


async def _continues(client: Client, kept: Any) -> None:
    """Enter a result in the event that the referee keeps."""
    events = Events(client)
    desk = await known(client, kept, lambda created: EventDesk(events, created), event_service_pb2.CreateEventResponse)
    assert isinstance(desk, EventDesk)
    whole = over_the_board(desk.state.terms, players=8)
    await desk.enter(next(act for act, _ in acts_of(whole) if isinstance(act, EnterResult)))
    await events.get(desk)


def test_its_backup_is_restored(release: Path) -> None:
    """Open games are in doubt, as the copy may lack entries; the games that are over are there."""
    new = release / "restored"
    done("restore", release / "copy", "--data", new, code=1)
    open_ = [name for name in facts(release)["games"] if not name.endswith(" over")]
    assert done("recover", "--data", new, code=1).count(": in doubt: ") == len([*open_, "the event"])
    done("recover", "--end", "--data", new)
    assert done("recover", "--data", new) == "every game can continue\n"


@pytest.mark.long
async def test_its_database_in_postgresql_continues(release: Path) -> None:
    with running_postgres() as server:
        if server is None:
            pytest.skip("PostgreSQL is not installed")
        url = server.new()
        sql = (release / "postgresql.sql").read_text(encoding="utf-8")
        server.run("psql", "-q", "-h", str(server.folder), "-U", "referee", "-d", server.name_in(url), given=sql)
        async with running(release / "postgresql", store=url, origin=ORIGIN) as (_, client):
            for kept in facts(release)["postgresql"].values():
                play = await known(
                    client,
                    kept,
                    lambda created: Play(client, created, random.Random(2)),
                    game_service_pb2.CreateGameResponse,
                )
                assert await names(client, play) == [NAME]
                await play.to_the_end()
                await Table(client, play).audited(client)


async def test_its_desk_continues(release: Path) -> None:
    files = Folder(release / "desk")
    server = await Server.start(Config(files.referee, origin=ORIGIN, solver_workers=0))
    try:
        token = server.data.token_path.read_text(encoding="ascii").strip()
        app = DeskApp(files, Place(server.address, token, Security()), _components)
        async with app.run_test(size=(80, 24)) as pilot:
            desk = Desk(app, pilot)
            await desk.games(2)
            (game,) = files.games("")
            app.screen.post_message(Start.Chosen(game))
            await desk.shows(TableScreen)
            await desk.is_at(5)
            await desk.goes_on(["1: choose 3"])
    finally:
        await server.stop()


def test_its_event_continues(release: Path) -> None:
    event = release / "event" / "spring.eventlog"
    check = ("event", "check", event, "--key", event.with_suffix(".vkey"))
    assert done(*check, code=3).startswith("PREFIX")
    done("event", "result", event, 2, "1,2,3")
    for command in ("pair", "publish"):
        done("event", command, event)
    for table, places in ((1, "1,2,3,4"), (2, "1,2,3")):
        done("event", "result", event, table, places)
    done("event", "close", event)
    assert done(*check).startswith("COMPLETE")


def test_its_match_is_resumed(release: Path) -> None:
    done("match", "--resume", release / "match")
    report = json.loads((release / "match" / "report.json").read_text(encoding="utf-8"))
    assert report["games"] == 4
    done("audit", next((release / "match" / "games").iterdir()), "--key", release / "match" / "match.vkey")


def test_its_options_are_read(release: Path) -> None:
    shown = done("serve", "--data", release / "data", "--config", release / "referee.toml", "--show-config")
    assert 'origin = "club.example"' in shown


def test_its_records_and_certificates_are_judged_as_they_were(release: Path) -> None:
    codes = facts(release)["codes"]
    done("audit", release / "game.gamelog", "--key", release / "game.vkey", code=codes["audit"])
    done("adjudicate", release / "game.txt", "--list", code=codes["adjudicate"])
    answers = [json.loads(line) for line in (release / "certificates.jsonl").read_text().splitlines()]
    assert all(each["certificate"] for each in answers)
    done("prove", "--check", release / "certificates.jsonl")
