"""``referee token`` as an organiser runs it, against a real server."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from referee.log.v1.log_pb2 import Seat
from referee.v1 import game_service_pb2 as pb
from tests.cli.command import NOBODY
from tests.cli.inside import referee
from tests.server.service.certificates import Authority
from tests.server.service.conftest import running
from tests.server.service.player import Client, bearer, refused


@dataclass
class Office:
    """An organiser at a referee."""

    client: Client
    there: tuple[str | Path, ...]

    async def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        return await asyncio.to_thread(referee, *words, *self.there)

    async def issue(self, *words: str | Path) -> tuple[str, list[str]]:
        """Return the secret of a new token, and the lines printed about it."""
        done = await self.run("token", "issue", *words)
        assert done.returncode == 0
        (secret,) = done.stdout.splitlines()
        return secret, done.stderr.strip().split(", ")

    async def listed(self, *words: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads((await self.run("token", "list", "--json", *words)).stdout)
        return found


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with running(tmp_path / "data") as (server, client):
        yield Office(client, ("--server", server.address, "--data", tmp_path / "data"))


CLUB = ("club", "--scope", "organise", "--scope", "audit", "--lifetime", "12h")


async def test_what_is_issued_is_told_and_listed_without_its_secret(office: Office) -> None:
    secret, (identity, principal, scopes, where, until) = await office.issue(*CLUB)
    assert (principal, scopes, where) == ("club", "organise audit", "everywhere")
    assert until.startswith("until 2")
    listed = await office.run("token", "list", "--json")
    assert secret not in listed.stdout
    tokens = json.loads(listed.stdout)
    assert [found["principal"] for found in tokens] == ["club", "organiser"]
    assert tokens[0] | {"issued_ms": 0, "expires_ms": 0} == {
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
    assert tokens[0]["expires_ms"] - tokens[0]["issued_ms"] == 12 * 3600 * 1000
    assert identity in (await office.run("token", "list", "--principal", "club")).stdout


async def test_tokens_of_seats_and_of_certificates(office: Office, tmp_path: Path) -> None:
    secret, _ = await office.issue(*CLUB)
    created = await office.client.games.CreateGame(
        pb.CreateGameRequest(rules_id="alhambra", seats=[Seat(), Seat()]), metadata=bearer(secret)
    )
    words = ("token", "issue", "ani", "--scope", "play", "--game", created.game.id, "--seat", "1")
    assert f"game {created.game.id}, seat 1, until revoked" in (await office.run(*words)).stderr
    ani = Authority(tmp_path).issue("ani")
    done = await office.run("token", "issue", "ani", "--scope", "play", "--cert", ani.certificate)
    assert (done.returncode, done.stdout) == (0, "")
    assert "certificate, until revoked" in done.stderr

    done = await office.run("new", "--principal", "ani", "--principal", "-")
    assert [line.split(":")[0] for line in done.stdout.splitlines()][2:] == ["seat 1"]
    assert [found["principal"] for found in await office.listed()] == ["ani", "ani", "club", "organiser"]
    every = await office.listed("--all")
    assert [found["principal"] for found in every] == ["", "ani", "ani", "", "", "club", "organiser"]


async def test_all_that_were_issued_before_a_time(office: Office) -> None:
    """But the one that asks; after a restore those that were revoked since the copy are valid again."""
    old = [(await office.run("token", "issue", f"old{n}", "--scope", "play")).stderr.partition(",")[0] for n in (1, 2)]
    nothing = await office.run("token", "revoke", "--issued-before", "2020-01-01")
    assert nothing.stdout == "0 tokens revoked\n"
    done = await office.run("token", "revoke", "--issued-before", "2100-01-01T00:00+01:00")
    assert done.stdout.endswith(" tokens revoked\n"), done
    assert set(old) <= {line.partition(",")[0] for line in done.stdout.splitlines()}
    assert (await office.run("token", "list")).returncode == 0, "the organiser's own is still good"
    for words in ((), ("0" * 16, "--issued-before", "2020-01-01"), ("--issued-before", "yesterday")):
        assert (await office.run("token", "revoke", *words)).returncode == 2


async def test_what_is_revoked_is_refused_and_listed_no_longer(office: Office) -> None:
    secret, (identity, *_) = await office.issue(*CLUB)
    done = await office.run("token", "revoke", identity)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{identity}, club, organise audit, everywhere, revoked 2")
    call = office.client.games.ListGames(pb.ListGamesRequest(), metadata=bearer(secret))
    assert (await refused(call)).message == "the token was revoked"
    assert await office.listed("--principal", "club") == []
    assert [found["principal"] for found in await office.listed("--all")] == ["club", "organiser"]


async def test_what_is_wrong_is_one_line(office: Office, tmp_path: Path) -> None:
    key = Authority(tmp_path).issue("ani").key
    cases: list[tuple[tuple[str | Path, ...], int, str]] = [
        (("issue", "Ani", "--scope", "play"), 1, "INVALID_ARGUMENT: principal: expected 1 to 64 of a-z"),
        (("issue", "ani", "--scope", "play", "--seat", "1"), 1, "INVALID_ARGUMENT: seat: expected none without"),
        (("issue", "ani", "--scope", "king"), 2, '"king" for --scope. Choose from: "organise", "play"'),
        (("issue", "ani"), 2, "expected PRINCIPAL and --scope, or --event and --entrant"),
        (("issue", "ani", "--scope", "play", "--lifetime", "1 day"), 2, "--lifetime '1 day': expected a number"),
        (("issue", "ani", "--scope", "play", "--cert", key), 2, "expected a certificate in PEM"),
        (("revoke", "0" * 16), 1, "INVALID_ARGUMENT: id: expected that of a token that was issued here"),
        (("revoke", "?"), 1, "INVALID_ARGUMENT: id: expected 16 lower-case hexadecimal digits"),
    ]
    for wrong, code, message in cases:
        done = await office.run("token", *wrong)
        assert (done.returncode, done.stdout) == (code, ""), wrong
        assert message in done.stderr
        assert done.stderr.count("\n") == 1


def test_without_a_referee(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("x" * 43)
    done = referee("token", "list", "--server", "127.0.0.1:1", "--token-file", tmp_path / "token")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"referee: 127.0.0.1:1: {NOBODY}\n"
    done = referee("new", "--principal", "ani", "--token-file", tmp_path / "token")
    assert done.stderr == "referee: --principal: 1 given; expected 2, one for each player\n"
