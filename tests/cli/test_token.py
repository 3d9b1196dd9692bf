"""``referee token`` as an organiser runs it, against a real server."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path

from referee.log.v1.log_pb2 import Seat
from referee.v1 import game_service_pb2 as pb
from tests.cli.command import NOBODY
from tests.cli.inside import referee
from tests.service.certificates import Authority
from tests.service.conftest import running
from tests.service.player import bearer, refused


async def test_from_issue_to_revocation(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (server, client):

        async def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
            there = ("--server", server.address, "--data", tmp_path / "data")
            return await asyncio.to_thread(referee, *words, *there)

        done = await run("token", "issue", "club", "--scope", "organise", "--scope", "audit", "--lifetime", "12h")
        assert done.returncode == 0
        (secret,) = done.stdout.splitlines()
        identity, principal, scopes, where, until = done.stderr.strip().split(", ")
        assert (principal, scopes, where) == ("club", "organise audit", "everywhere")
        assert until.startswith("until 2")
        created = await client.games.CreateGame(
            pb.CreateGameRequest(rules_id="alhambra", seats=[Seat(), Seat()]), metadata=bearer(secret)
        )

        words = ("token", "issue", "ani", "--scope", "play", "--game", created.game.id, "--seat", "1")
        assert f"game {created.game.id}, seat 1, until revoked" in (await run(*words)).stderr
        ani = Authority(tmp_path).issue("ani")
        done = await run("token", "issue", "ani", "--scope", "play", "--cert", ani.certificate)
        assert (done.returncode, done.stdout) == (0, "")
        assert "certificate, until revoked" in done.stderr

        done = await run("new", "--principal", "ani", "--principal", "-")
        assert [line.split(":")[0] for line in done.stdout.splitlines()][2:] == ["seat 1"]

        listed = await run("token", "list", "--json")
        assert secret not in listed.stdout
        tokens = json.loads(listed.stdout)
        assert [found["principal"] for found in tokens] == ["ani", "ani", "club", "organiser"]
        assert tokens[2] | {"issued_ms": 0, "expires_ms": 0} == {
            "id": identity,
            "principal": "club",
            "scopes": ["organise", "audit"],
            "game": None,
            "seat": None,
            "certificate": False,
            "issued_ms": 0,
            "expires_ms": 0,
            "revoked_ms": None,
        }
        assert tokens[2]["expires_ms"] - tokens[2]["issued_ms"] == 12 * 3600 * 1000
        assert identity in (await run("token", "list", "--principal", "club")).stdout

        done = await run("token", "revoke", identity)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith(f"{identity}, club, organise audit, everywhere, revoked 2")
        assert (await refused(client.games.ListGames(pb.ListGamesRequest(), metadata=bearer(secret)))).message == (
            "the token was revoked"
        )
        assert json.loads((await run("token", "list", "--principal", "club", "--json")).stdout) == []
        every = json.loads((await run("token", "list", "--all", "--json")).stdout)
        assert [found["principal"] for found in every] == ["", "ani", "ani", "", "", "club", "organiser"]

        for wrong, code, message in (
            (("issue", "Ani", "--scope", "play"), 1, "INVALID_ARGUMENT: principal: expected 1 to 64 of a-z"),
            (("issue", "ani", "--scope", "play", "--seat", "1"), 1, "INVALID_ARGUMENT: seat: expected none without"),
            (("issue", "ani", "--scope", "king"), 2, "'king' is not one of 'organise', 'play'"),
            (("issue", "ani"), 2, "expected PRINCIPAL and --scope, or --event and --entrant"),
            (("issue", "ani", "--scope", "play", "--lifetime", "1 day"), 2, "--lifetime '1 day': expected a number"),
            (("issue", "ani", "--scope", "play", "--cert", ani.key), 2, "expected a certificate in PEM"),
            (("revoke", "0" * 16), 1, "INVALID_ARGUMENT: id: expected that of a token that was issued here"),
            (("revoke", "?"), 1, "INVALID_ARGUMENT: id: expected 16 lower-case hexadecimal digits"),
        ):
            done = await run("token", *wrong)
            assert (done.returncode, done.stdout) == (code, ""), wrong
            assert message in done.stderr
            assert done.stderr.count("\n") == 1


def test_without_a_referee(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("x" * 43)
    done = referee("token", "list", "--server", "127.0.0.1:1", "--token-file", tmp_path / "token")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"referee: 127.0.0.1:1: {NOBODY}\n"
    done = referee("new", "--principal", "ani", "--token-file", tmp_path / "token")
    assert done.stderr == "referee: --principal: 1 given; expected 2, one for each seat\n"
