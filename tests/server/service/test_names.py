"""Names of players: who may give one, to whom it is told, and what of it is in no log, list or stream."""

from __future__ import annotations

import random
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import structlog

from referee.log.names import Person
from referee.log.v1 import log_pb2
from referee.v1 import game_service_pb2 as pb
from tests.server.service.conftest import running
from tests.server.service.player import Client, Play, bearer, refused

ANNA, BELA = Person("Anna Erasmová", b"a" * 16), Person("Béla", b"b" * 16)


def request(*people: Person, commits: bool = True) -> pb.CreateGameRequest:
    asked = pb.CreateGameRequest(rules_id="kingdomino")
    for seat, person in enumerate(people):
        asked.seats.append(log_pb2.Seat(player=person.player if commits else b""))
        asked.names.add(seat=seat, name=person.name, salt=person.salt)
    return asked


async def create(client: Client, asked: pb.CreateGameRequest) -> pb.CreateGameResponse:
    created: pb.CreateGameResponse = await client.games.CreateGame(asked, metadata=bearer(client.organiser))
    return created


async def names_of(client: Client, *games: str) -> dict[str, dict[int, tuple[str, bytes, Any]]]:
    """Return what a stranger learns."""
    found = await client.games.GetNames(pb.GetNamesRequest(game_ids=games))
    return {
        game.game_id: {name.seat: (name.name, name.salt, name.source) for name in game.names} for game in found.games
    }


def naming(game: str, seat: int, name: str, salt: bytes = b"") -> pb.NamePlayerRequest:
    return pb.NamePlayerRequest(game_id=game, player=pb.PlayerName(seat=seat, name=name, salt=salt))


async def test_a_game_opens_with_names_that_it_commits_to(client: Client) -> None:
    created = await create(client, request(ANNA, BELA))
    other = await client.create()
    assert await names_of(client, other.game.id, created.game.id, "0" * 32) == {
        created.game.id: {
            0: (ANNA.name, ANNA.salt, pb.NAME_SOURCE_OPENING),
            1: (BELA.name, BELA.salt, pb.NAME_SOURCE_OPENING),
        }
    }


@pytest.mark.parametrize(
    ("change", "field", "expected"),
    [
        (lambda asked: asked.names[0].ClearField("salt"), "names[0].salt", "fits player"),
        (lambda asked: setattr(asked.seats[1], "player", ANNA.player), "names[1].salt", "fits player"),
        (lambda asked: setattr(asked.names[1], "seat", 0), "names[1].seat", "once"),
        (lambda asked: setattr(asked.names[1], "seat", 2), "names[1].seat", "once"),
        (lambda asked: setattr(asked.names[1], "name", " anna  ERASMOVÁ"), "names[1].name", "p1 already"),
        (lambda asked: setattr(asked.names[1], "name", "B\u202eéla"), "names[1].name", "none of them invisible"),
        (lambda asked: setattr(asked.names[1], "name", "n" * 81), "names[1].name", "1 to 80"),
        (lambda asked: setattr(asked.names[1], "name", "Be\u0301la"), "names[1].name", "NFC"),
    ],
    ids=["no salt", "another player", "seat twice", "no seat", "the same name", "bidi", "long", "not NFC"],
)
async def test_names_that_do_not_fit_open_nothing(client: Client, change: Any, field: str, expected: str) -> None:
    asked = request(ANNA, BELA)
    change(asked)
    found = await refused(client.games.CreateGame(asked, metadata=bearer(client.organiser)))
    assert (found.reason, found.metadata["field"]) == ("INVALID_ARGUMENT", field)
    assert expected in found.message


async def test_who_may_name_whom(client: Client) -> None:
    """A player names the own seat until a key has taken it; from then on the organiser does."""
    play, other = await client.play(2, rules_id="kingdomino"), await client.create()
    own, organiser = bearer(play.created.seat_tokens[0]), bearer(client.organiser)
    for token in (play.created.seat_tokens[1], other.seat_tokens[0]):
        found = await refused(client.games.NamePlayer(naming(play.id, 0, "Mallory"), metadata=bearer(token)))
        assert found.reason == "PERMISSION_DENIED"
    assert (await refused(client.games.NamePlayer(naming(play.id, 0, "Mallory")))).reason == "UNAUTHENTICATED"
    await client.games.NamePlayer(naming(play.id, 0, "Anna"), metadata=own)
    assert await names_of(client, play.id) == {play.id: {0: ("Anna", b"", pb.NAME_SOURCE_PLAYER)}}
    await play.until_play()
    found = await refused(client.games.NamePlayer(naming(play.id, 0, "Anna the Great"), metadata=own))
    assert (found.reason, "from then on the organiser" in found.message) == ("PERMISSION_DENIED", True)
    assert (await refused(client.games.NamePlayer(naming(play.id, 0, ""), metadata=own))).reason == "PERMISSION_DENIED"
    same = await refused(client.games.NamePlayer(naming(play.id, 1, "ANNA"), metadata=organiser))
    assert (same.metadata["field"], "p1 already" in same.message) == ("player.name", True)
    alike = await client.games.NamePlayer(naming(play.id, 1, "Аnnа"), metadata=organiser)
    assert list(alike.alike) == [0]
    assert (await names_of(client, play.id))[play.id][1] == ("Аnnа", b"", pb.NAME_SOURCE_ORGANISER)
    beyond = await refused(client.games.NamePlayer(naming(play.id, 2, "Cecil"), metadata=organiser))
    assert beyond.metadata["field"] == "player.seat"
    await client.games.NamePlayer(naming(play.id, 1, ""), metadata=organiser)
    assert [*(await names_of(client, play.id))[play.id]] == [0]


async def test_a_seat_that_commits_to_a_name_takes_no_other_from_its_player(client: Client) -> None:
    created = await create(client, request(ANNA, BELA))
    own, game = bearer(created.seat_tokens[0]), created.game.id
    for name, salt in (("Mallory", b""), ("Mallory", ANNA.salt), (ANNA.name, b""), (ANNA.name, b"x" * 16)):
        assert (await refused(client.games.NamePlayer(naming(game, 0, name, salt), metadata=own))).reason
    await client.games.NamePlayer(naming(game, 0, ""), metadata=own)
    await client.games.NamePlayer(naming(game, 0, ANNA.name, ANNA.salt), metadata=own)
    assert (await names_of(client, game))[game][0] == (ANNA.name, ANNA.salt, pb.NAME_SOURCE_OPENING)
    stand_in = naming(game, 0, "Cecil")
    await client.games.NamePlayer(stand_in, metadata=bearer(client.organiser))
    assert (await names_of(client, game))[game][0] == ("Cecil", b"", pb.NAME_SOURCE_ORGANISER)


async def test_a_name_is_in_no_log_list_stream_or_line_of_the_service(client: Client) -> None:
    lines = StringIO()
    structlog.configure(logger_factory=structlog.WriteLoggerFactory(lines))
    try:
        created = await create(client, request(ANNA, BELA))
        await client.games.NamePlayer(naming(created.game.id, 1, "Cecil"), metadata=bearer(client.organiser))
    finally:
        structlog.reset_defaults()
    assert created.game.id in lines.getvalue()
    play = Play(client, created, random.Random(1))
    await play.until_play()
    listed = await client.games.ListGames(pb.ListGamesRequest())
    got = await client.games.GetGame(pb.GetGameRequest(game_id=created.game.id))
    told = [lines.getvalue().encode(), await client.log(created.game.id), *play.entries, *play.notes.values()]
    told += [listed.SerializeToString(), got.SerializeToString()]
    for secret in (ANNA.name.encode(), BELA.name.encode(), b"Cecil", ANNA.salt, BELA.salt):
        assert not any(secret in each for each in told)


async def test_names_outlive_the_referee(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (_, client):
        created = await create(client, request(ANNA, BELA))
        before = await names_of(client, created.game.id)
        await client.games.NamePlayer(naming(created.game.id, 1, "Cecil"), metadata=bearer(client.organiser))
    async with running(tmp_path / "data") as (_, client):
        after = await names_of(client, created.game.id)
    assert after[created.game.id] == {
        0: before[created.game.id][0],
        1: ("Cecil", b"", pb.NAME_SOURCE_ORGANISER),
    }


async def test_how_many_games_one_call_may_name(client: Client) -> None:
    for games in ([], ["0" * 32] * 101, ["x"]):
        found = await refused(client.games.GetNames(pb.GetNamesRequest(game_ids=games)))
        assert found.reason == "INVALID_ARGUMENT"


@pytest.mark.usefixtures("nothing_refills")
async def test_names_cost_who_asks_and_who_gives_them(tmp_path: Path) -> None:
    async with running(tmp_path / "data", requests_per_s=12.0) as (_, client):  # 120 are held
        created = await create(client, request(ANNA, BELA))
        own = bearer(created.seat_tokens[0])
        ask = pb.GetNamesRequest(game_ids=[f"{n:032x}" for n in range(100)])
        for _ in range(17):  # 7.25 each
            await client.games.GetNames(ask, metadata=own)
        assert (await refused(client.games.GetNames(ask, metadata=own))).reason == "LIMIT"
        other = bearer(created.seat_tokens[1])
        for _ in range(11):  # 11 each
            await client.games.NamePlayer(naming(created.game.id, 1, BELA.name, BELA.salt), metadata=other)
        again = naming(created.game.id, 1, BELA.name, BELA.salt)
        assert (await refused(client.games.NamePlayer(again, metadata=other))).reason == "LIMIT"
