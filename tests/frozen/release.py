"""Writes the frozen data of a release: all that an installation of it leaves on a disk, in one archive.

``python -m tests.frozen.release`` refuses to touch an archive that is there. The archive of a version has

- ``data``: a referee's directory with games of all rules, over, in play and in dispute, with marks and tokens;
- ``copy``: what ``referee backup`` made of it;
- ``postgresql.sql`` and ``postgresql``: a database with games (``pg_dump``), and the directory of its referee;
- ``event``: an event in a file of its own, in its first round;
- ``match``: a match that lacks its last game;
- ``desk``: the folder of a desk with a game in play;
- ``referee.toml``: a file with options of ``referee serve``;
- ``game.txt``: a record with an illegal line, and ``game.gamelog``, which an adjudication made of it;
- ``certificates.jsonl``: answers of ``referee prove`` with their certificates.

``release.json`` in it says what tests need: the games as their players know them, and how large they were.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tarfile
from base64 import b64encode
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import referee as program
from referee.cli.board.desk import _components
from referee.games import registry
from referee.log.events import Author, Role
from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner
from referee.log.v1 import log_pb2
from referee.server.service.server import Config, Server
from referee.telling.game_file import GameFile, as_text
from referee.text.notation.game_text import write
from referee.tournament.rules.acts import EnterResult
from referee.v1 import access_service_pb2, access_service_pb2_grpc
from referee.v1.game_service_pb2 import NamePlayerRequest, PlayerName
from referee_clients.sdk.channel import Security
from referee_clients.terminal.desk.app import DeskApp
from referee_clients.terminal.desk.folder import Folder, Place
from tests.cli.inside import referee
from tests.clients.desk.desk import Desk
from tests.frozen.said import faulty
from tests.server.service.arbiter import Table
from tests.server.service.conftest import running
from tests.server.service.event import event_until
from tests.server.service.player import Client, Play, bearer
from tests.server.store.postgres import Postgres
from tests.server.store.postgres import running as running_postgres
from tests.text.notation.setups import PLAIN

HERE: Final = Path(__file__).parent
ORIGIN: Final = "club.example"
"""The name of every referee in it."""
NAME: Final = "Ada"
"""The player at seat 0 of each game in play."""
SEATS: Final = {"alhambra": 2, "kingdomino": 2, "rollwrite": 1}
TERMS: Final = {"kingdomino": log_pb2.Terms(proofs=log_pb2.PROOF_POLICY_ALL)}
"""The certificates of these are made by this release, or by the next one."""
QUESTIONS: Final = (
    {"game": "kingdomino", "frame": {"size": 5, "castle": None}, "kingdom": [[1, 1, 0, 2, 0]], "discard": 48},
    {"game": "kingdomino", "frame": {"size": 5, "castle": None}, "kingdom": [], "place": [48, 0, 1, 0, 2]},
)
"""One is refuted and one is proven."""
TOML: Final = """\
[serve]
listen = "127.0.0.1:0"
origin = "club.example"
web-origin = ["https://club.example"]
log-format = "json"
"""


def archive(version: str) -> Path:
    return HERE / f"release-{version}.tar.xz"


def _done(*words: object, stdin: str = "") -> str:
    done = referee(*words, stdin=stdin)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def _kept(play: Play) -> dict[str, Any]:
    """Return what the players of a game know."""
    created = b64encode(play.created.SerializeToString()).decode()
    return {"created": created, "size": play.record.size, "root": play.record.root().hex()}


async def _named(play: Play) -> None:
    request = NamePlayerRequest(game_id=play.id, player=PlayerName(seat=0, name=NAME))
    await play.client.games.NamePlayer(request, metadata=bearer(play.client.organiser))


async def _games(client: Client) -> dict[str, Any]:
    """Play games of all kinds of rules, and leave them in every state that can last."""
    games: dict[str, Play] = {}
    for rules_id in (game.rules_id for game in registry.newest()):
        terms = TERMS.get(rules_id)
        games[f"{rules_id} over"] = over = await client.play(SEATS[rules_id], rules_id=rules_id, terms=terms)
        await over.to_the_end()
        games[f"{rules_id} in play"] = played = await client.play(SEATS[rules_id], rules_id=rules_id)
        await _named(played)
        await played.until_play()
        await played.steps(6)
        games[f"{rules_id} joining"] = joining = await client.play(SEATS[rules_id], rules_id=rules_id)
        await joining.catch_up(1)
    for name in ("in dispute", "paused"):
        table = await Table.dealt(client)
        await table.play.steps(4)
        games[name] = table.play
        if name == "in dispute":
            protest = log_pb2.Protest(against_seq=table.play.record.size - 1, rule_id="KDO-1")
            await table.act(Author(Role.SEAT, 0), protest, "the line is another one")
        else:
            await table.rule(pause=log_pb2.Pause(), rule_id="")
    return {name: _kept(play) for name, play in games.items()}


async def _of_sqlite(folder: Path) -> dict[str, Any]:
    async with running(folder / "data", origin=ORIGIN) as (_, client):
        games = await _games(client)
        event = await event_until(client, EnterResult)
        access: Any = access_service_pb2_grpc.AccessServiceStub(client.channel)
        request = access_service_pb2.IssueTokenRequest(principal="ada", scopes=[access_service_pb2.SCOPE_AUDIT])
        issued = await access.IssueToken(request, metadata=bearer(client.organiser))
        return {"games": games, "event": _kept(event), "token": issued.secret}


async def _of_postgresql(folder: Path, server: Postgres) -> dict[str, Any]:
    url = server.new()
    async with running(folder / "postgresql", origin=ORIGIN, store=url) as (_, client):
        games = {}
        for name, steps in (("over", None), ("in play", 6)):
            play = await client.play(rules_id="kingdomino")
            await _named(play)
            await play.until_play()
            await (play.to_the_end() if steps is None else play.steps(steps))
            games[name] = _kept(play)
    words = ("--no-owner", "--no-privileges", "-h", str(server.folder), "-U", "referee", server.name_in(url))
    (folder / "postgresql.sql").write_text(server.run("pg_dump", *words), encoding="utf-8")
    return games


async def _at_a_desk(folder: Path) -> None:
    files = Folder(folder / "desk")
    server = await Server.start(Config(files.referee, origin=ORIGIN, solver_workers=0))
    try:
        token = server.data.token_path.read_text(encoding="ascii").strip()
        app = DeskApp(files, Place(server.address, token, Security()), _components)
        async with app.run_test(size=(80, 24)) as pilot:
            desk = Desk(app, pilot)
            await desk.has_game(PLAIN[1], "Redwing, Bluebell")
            await desk.goes_on(["0: castle 2,2", "1: castle 1,1", "first order: 1 0 1 0", "line: 3 4 17 22"])
    finally:
        await server.stop()


def _event(folder: Path) -> None:
    (folder / "event").mkdir()
    event = folder / "event" / "spring.eventlog"
    _done("event", "new", event, "--rules", "kingdomino", "--rounds", "2")
    _done("event", "enter", event, "Anna", "Ben", "Cara", "Dan", "Eva", "Finn", "Gina")
    _done("event", "checkin", event, "--all")
    for command in ("draw", "pair", "publish"):
        _done("event", command, event)
    _done("event", "result", event, 1, "1,2,3,4")


def _match(folder: Path) -> None:
    words = ("--game", "kingdomino", "--bots", "greedy,random", "--games", "4", "--seed", "7", "--in-process")
    _done("match", "--out", folder / "match", *words, "--logs", "sample:1")
    journal = folder / "match" / "games.jsonl"
    lines = journal.read_text(encoding="utf-8").splitlines(keepends=True)
    journal.write_text("".join(lines[:-1]), encoding="utf-8")


def _files(folder: Path) -> dict[str, int]:
    """Return the exit codes of two commands."""
    (folder / "referee.toml").write_text(TOML, encoding="utf-8")
    log = (HERE / "kingdomino-1-dealt-2-duel-attempts.gamelog").read_bytes()
    text = faulty(write(as_text(GameFile.read(BytesIO(log)))), "kingdomino-1-dealt-2-duel-attempts")
    (folder / "game.txt").write_text(text, encoding="utf-8")
    with TemporaryDirectory() as made:
        scribe, own, arbiter = (Path(made) / f"{name}.pem" for name in ("scribe", "referee", "arbiter"))
        for key in (scribe, own, arbiter):
            _done("keys", key, "--new")
        keys = ("--key", scribe, "--referee-key", own, "--arbiter-key", arbiter, "--origin", ORIGIN)
        words = ("--on-illegal", "skip", "--out", folder / "game.gamelog", *keys)
        referee("adjudicate", folder / "game.txt", *words)
        signer = CheckpointSigner(ORIGIN, PrivateKey.load(own))
    (folder / "game.vkey").write_text(f"{signer.verifier}\n", encoding="ascii")
    answers = _done("prove", stdin="".join(json.dumps(each) + "\n" for each in QUESTIONS))
    (folder / "certificates.jsonl").write_text(answers, encoding="utf-8")
    audited = referee("audit", folder / "game.gamelog", "--key", folder / "game.vkey")
    listed = referee("adjudicate", folder / "game.txt", "--list")
    return {"audit": audited.returncode, "adjudicate": listed.returncode}


def main() -> None:
    """Write the archive of this version, unless it is there."""
    path = archive(program.__version__)
    if path.exists():
        print(f"{path.name} is frozen")
        return
    with TemporaryDirectory() as made, running_postgres() as server:
        folder = Path(made)
        assert server is not None, "expected PostgreSQL on this machine"
        facts = asyncio.run(_of_sqlite(folder))
        facts["postgresql"] = asyncio.run(_of_postgresql(folder, server))
        asyncio.run(_at_a_desk(folder))
        _done("backup", folder / "copy", "--data", folder / "data")
        _event(folder)
        _match(folder)
        facts["codes"] = _files(folder)
        (folder / "release.json").write_text(json.dumps(facts, indent=1), encoding="utf-8")
        for file in [*folder.rglob("address*"), *folder.rglob("log")]:
            file.unlink()
        shutil.rmtree(folder / "__pycache__", ignore_errors=True)
        with tarfile.open(path, "w:xz") as tar:
            for name in sorted(file.name for file in folder.iterdir()):
                tar.add(folder / name, name)
    print(f"wrote {path.name}, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
