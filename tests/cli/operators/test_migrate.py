"""``referee migrate``: a club's games move from their file into PostgreSQL, and the club continues unchanged."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from referee.log.v1 import log_pb2
from referee.server.service.files import STORE_ADDRESS_FILE, STORE_FILE
from referee.v1 import access_service_pb2 as access
from referee.v1 import game_service_pb2 as pb
from tests.cli.inside import referee
from tests.server.service.access import Office
from tests.server.service.conftest import running
from tests.server.service.player import bearer
from tests.server.service.resend import audited, moved, send_all_again
from tests.server.store.postgres import Postgres


async def test_games_go_on_in_another_database(tmp_path: Path, postgres: Postgres) -> None:
    data, url = tmp_path / "data", postgres.new()
    terms = log_pb2.Terms(illegal_moves=log_pb2.ILLEGAL_MOVE_POLICY_RECORDED)
    async with running(data) as (_, client):
        over, play = await client.play(seed=1, terms=terms), await client.play(seed=2, terms=terms)
        await over.to_the_end()
        await play.steps(9)
        token = (await Office(client).issue("ani", access.SCOPE_PLAY)).secret
        before = await client.games.ListGames(pb.ListGamesRequest())
        named = pb.NamePlayerRequest(game_id=over.id, player=pb.PlayerName(seat=1, name="Běla"))
        await client.games.NamePlayer(named, metadata=bearer(client.organiser))
        names = await client.games.GetNames(pb.GetNamesRequest(game_ids=[over.id]))
        assert [each.name for each in names.games[0].names] == ["Běla"]
        log = await client.log(over.id)
        size = play.record.size
    done = referee("migrate", "--data", data, "--to", url)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"2 games moved to {url}\n{data / STORE_FILE} is no longer used\n"
    (data / STORE_FILE).unlink()
    async with running(data) as (server, client):
        assert not server.live_games.aside
        assert await client.games.ListGames(pb.ListGamesRequest()) == before
        assert await client.log(over.id) == log
        assert await client.games.GetNames(pb.GetNamesRequest(game_ids=[over.id])) == names
        for each in (over, play):
            moved(each, client)
            await send_all_again(each)
        await audited(over)
        await play.steps(3)
        new = await client.play(seed=3)
        await new.steps(2)
        assert [game.id for game in (await client.games.ListGames(pb.ListGamesRequest())).games] == [
            new.id,
            play.id,
            over.id,
        ]
        assert (await client.games.ListGames(pb.ListGamesRequest(), metadata=bearer(token))).games
    assert play.record.size > size
    assert not (data / STORE_FILE).exists(), "nor does a later start make one"
    listed = referee("recover", "--data", data)
    assert (listed.returncode, listed.stdout) == (0, "every game can continue\n")


@pytest.mark.long
async def test_what_cannot_be_moved(tmp_path: Path, postgres: Postgres) -> None:
    """And leaves everything as it was."""
    data, other, url = tmp_path / "data", tmp_path / "other", postgres.new()

    def refusal(folder: Path, to: str) -> str:
        done = referee("migrate", "--data", folder, "--to", to)
        assert done.returncode in {1, 2}
        assert done.stderr.count("\n") == 1
        return done.stderr

    assert "referee.db: No such file; expected --data" in refusal(data, url)
    async with running(data) as (_, client):
        await (await client.play()).steps(1)
        assert "another referee is running on this directory" in refusal(data, url)
    async with running(other, store=url):
        pass
    assert "a referee has games there already; expected an empty database" in refusal(data, url)
    secret = refusal(data, "postgresql://referee:s3cret@db.example/club")
    assert "a password is in it" in secret
    assert "s3cret" not in secret
    nowhere = urlsplit(url)._replace(path="/nowhere").geturl()
    assert 'database "nowhere" does not exist' in refusal(data, nowhere)
    assert not (data / STORE_ADDRESS_FILE).exists()
    async with running(data):
        pass
    assert referee("migrate", "--data", data, "--to", (to := postgres.new())).returncode == 0
    (data / STORE_ADDRESS_FILE).unlink()  # as if it had been stopped just before
    assert referee("migrate", "--data", data, "--to", to).returncode == 0
    assert "its games are in postgresql://" in refusal(data, to)
