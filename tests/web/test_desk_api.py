"""Requests of an organiser's and an arbiter's page to the gateway: rulings prepared, calls answered, games opened."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from referee.log.entry import decode_entry
from referee.log.events import Author, Role
from referee.log.intent import unsigned
from referee.log.v1 import log_pb2
from referee.v1 import arbiter_service_pb2 as table_pb
from referee.v1 import game_service_pb2 as pb
from referee_clients.rulings import Prepared
from referee_clients.sdk.channel import Security
from referee_clients.web.desk_api import routes
from referee_clients.web.upstream import Upstream
from tests.cli.rule import Club as Hall
from tests.cli.rule import Game, declared, here
from tests.server.service.arbiter import ARBITERS, Table
from tests.server.service.conftest import running
from tests.server.service.player import Client, bearer
from tests.waiting import MOST_S
from tests.web.club import Club, pages, started
from tests.web.gateway import check_refusal

FIRST = Author(Role.ARBITER, 0)


@asynccontextmanager
async def desk(folder: Path) -> AsyncIterator[tuple[str, Client]]:
    """Yield the address of pages of a referee, and a caller with its organiser's token."""
    async with running(folder) as (server, client):
        key = (await client.create()).verifier_key
        async with pages(server.address, key) as address:
            yield address, client


async def sent(address: str, path: str, question: Any, token: str = "", **headers: str) -> httpx.Response:
    async with httpx.AsyncClient(base_url=address, timeout=60) as browser:
        own = {"Origin": address, "Content-Type": "application/json"} | headers
        own |= {"Authorization": f"Bearer {token}"} if token else {}
        body = question if isinstance(question, bytes) else json.dumps(question).encode()
        return await browser.post(f"/api/v1{path}", content=body, headers=own)


@dataclass
class Twice:
    """Rulings on a game, each prepared for the page and then made by command in the same place."""

    game: Game
    browser: httpx.Client
    address: str
    kinds: set[str] = field(default_factory=set)

    def rule(self, kind: str, arbiter: int = 0, **words: Any) -> None:
        """Make one, and check that both are the same bytes."""
        seq = self.game.play(lambda _: True).record.size
        fields = {name.replace("_", "-"): each for name, each in words.items()}
        answer = self.browser.post(
            f"/api/v1/games/{self.game.id}/ruling",
            json={"ruling": kind, "arbiter": arbiter, **fields},
            headers={"Origin": self.address},
        )
        assert answer.status_code == 200, answer.text
        options: list[object] = [fields.pop("move")] if "move" in fields else []
        for name, each in fields.items():
            options.append(f"--{name}={','.join(map(str, each)) if isinstance(each, list) else each}")
        by = (*self.game.by("arbiter", f"arbiter{arbiter}"), "--arbiter", arbiter, "--yes")
        code, _, error = here("rule", kind, self.game.id, *options, *by)
        assert (code, error) == (0, ""), kind
        entered = decode_entry(self.game.play(lambda _: True).entries[seq])
        assert entered.signed.intent == Prepared.read(answer.content).body, kind
        self.kinds.add(kind)


@pytest.mark.long
def test_every_ruling_is_byte_for_byte_what_the_command_signs(tmp_path: Path) -> None:
    """A reason has a salt, so none is given here."""
    with started(tmp_path) as made, httpx.Client(base_url=made.address, timeout=60) as browser:
        game = declared(Hall(tmp_path, made.referee), "--clock", "10m+5s", "--illegal", "strikes:9")
        twice = Twice(game, browser, made.address)
        both = twice.rule
        play = game.until("place_domino")
        before = play.record.size - 1
        both("pause")
        both("adjourn", arbiter=1)
        both("resume")
        both("set-clock", seat=1, left="1m30s", rule="TBL-2")
        both("penalty", seat=1, time="30s", points=2, strikes=1)
        both("penalty", seat=1)
        for ending in ("adjudicated", "illegal-moves"):
            both("forfeit", seat=2, ending=ending)
            both("reinstate", seat=2)
        both("skip", seat=game.until("place_domino").seat_on_turn())
        play = game.until("place_domino")
        domino = next(iter(play.record.game.position.state.legal_moves())).domino
        both("accept", seat=play.seat_on_turn(), move=f"discard {domino}")
        protest = game.play(lambda _: True).record.size
        scribe = (*game.by("scribe"), "--scribe", 0, "--seat", 0, "--yes")
        assert here("protest", game.id, "--entry", before, "--rule", "KDO-1", *scribe)[0] == 0
        both("dismiss", decides=protest)
        both("restore", to=before)
        both("adjudicate", places=[2, 1, 2], scores=[5, 9, -5])
        names = {field.name.replace("_", "-") for field in log_pb2.Rule.DESCRIPTOR.oneofs_by_name["ruling"].fields}
        assert names - twice.kinds == {"void"}, "which ends the game as well"


async def test_what_ends_a_game_or_names_a_key_is_prepared_as_well(club: Club) -> None:
    table = await Table.dealt(club.client)
    path, place = f"/games/{table.play.id}/ruling", table.play.place

    async def body(question: dict[str, Any]) -> bytes:
        return Prepared.read((await sent(club.address, path, question)).content).body

    assert await body({"ruling": "void"}) == unsigned(place, FIRST, log_pb2.Rule(rule_id="TBL-36", void=log_pb2.Void()))
    key = ARBITERS[0].public.raw
    changed = unsigned(place, FIRST, log_pb2.ChangeKey(seat=0, key=key))
    assert await body({"ruling": "change-key", "seat": 0, "new-key": key.hex()}) == changed


async def test_a_reason_is_committed_to(tmp_path: Path) -> None:
    async with desk(tmp_path / "data") as (address, client):
        table = await Table.dealt(client)
        path = f"/games/{table.play.id}/ruling"
        salts = set()
        for _ in range(2):
            found = Prepared.read((await sent(address, path, {"ruling": "pause", "reason": "Žluťoučký\nkůň"})).content)
            assert found.words is not None
            assert found.words.text == "Žluťoučký\nkůň"
            salts.add(found.words.salt)
        assert len(salts) == 2


UNREADABLE: list[tuple[dict[str, Any], str]] = [
    ({}, "ruling"),
    ({"ruling": "dance"}, "ruling"),
    ({"ruling": 7}, "ruling"),
    ({"ruling": "pause", "seat": 0}, "seat"),
    ({"ruling": "pause", "\x1b" * 100: 0}, "\x1b" * 40),
    ({"ruling": "restore"}, "to"),
    ({"ruling": "restore", "to": -1}, "to"),
    ({"ruling": "restore", "to": True}, "to"),
    ({"ruling": "restore", "to": 1 << 32}, "to"),
    ({"ruling": "set-clock", "seat": 0, "left": "5"}, "left"),
    ({"ruling": "set-clock", "seat": 0, "left": "31d"}, "left"),
    ({"ruling": "forfeit", "seat": 0, "ending": "tired"}, "ending"),
    ({"ruling": "adjudicate", "places": "12"}, "places"),
    ({"ruling": "adjudicate", "places": [0.5]}, "places"),
    ({"ruling": "accept", "seat": 0, "move": "dance"}, "move"),
    ({"ruling": "pause", "reason": "\x1b"}, "reason"),
    ({"ruling": "pause", "reason": "x" * 4001}, "reason"),
    ({"ruling": "pause", "reason": "\ud800"}, "reason"),
    ({"ruling": "change-key", "seat": 0, "new-key": "00" * 32}, "new-key"),
    ({"ruling": "change-key", "seat": 0, "new-key": "/etc/passwd"}, "new-key"),
]
"""Questions that are no ruling, and the field that is wrong."""
NOT_AWAITED: list[dict[str, Any]] = [
    {"ruling": "resume"},
    {"ruling": "pause", "arbiter": 9},
    {"ruling": "void", "rule": "X-1"},
    {"ruling": "restore", "to": 10_000},
    {"ruling": "dismiss", "decides": 1},
    {"ruling": "penalty", "seat": 7},
    {"ruling": "adjudicate", "places": [1]},
]
"""Rulings that the game does not await."""


async def test_what_cannot_be_prepared_is_said(tmp_path: Path) -> None:
    async with desk(tmp_path / "data") as (address, client):
        table = await Table.dealt(client)
        path = f"/games/{table.play.id}/ruling"
        for question, field in UNREADABLE:
            answer = await sent(address, path, question)
            assert check_refusal(answer, 400, "INVALID_ARGUMENT") == {"field": field}, question
        for question in NOT_AWAITED:
            check_refusal(await sent(address, path, question), 409, "NOT_AWAITED")
        for body in (b"", b"{", b"[]", b"\xff", b'{"a":1,"a":1}', b"[" * 19_000):
            check_refusal(await sent(address, path, body), 400, "INVALID_ARGUMENT")
        check_refusal(await sent(address, path, b" " * 21_000), 413, "TOO_LARGE")
        pause = {"ruling": "pause"}
        check_refusal(await sent(address, path, pause, Origin="http://evil.example"), 403, "FOREIGN_ORIGIN")
        check_refusal(await sent(address, path, pause, **{"Content-Type": "text/plain"}), 415, "WRONG_TYPE")
        check_refusal(await sent(address, f"/games/{'0' * 32}/ruling", pause), 404, "UNKNOWN_GAME")
        check_refusal(await sent(address, "/games/x/ruling", pause), 400, "INVALID_ARGUMENT")


async def test_status_and_calls_need_a_token(tmp_path: Path) -> None:
    async with (
        desk(tmp_path / "data") as (address, client),
        httpx.AsyncClient(base_url=address, timeout=MOST_S) as browser,
    ):
        table = await Table.dealt(client)
        arbiter = table.token(Role.ARBITER)
        asked = table_pb.CallArbiterRequest(game_id=table.play.id, text="<b>come</b>")
        await table.calls.CallArbiter(asked, metadata=bearer(table.token(Role.SEAT, 0)))

        async def status(token: str) -> httpx.Response:
            return await browser.get("/api/v1/status", headers={"Authorization": f"Bearer {token}"})

        check_refusal(await browser.get("/api/v1/status"), 401, "UNAUTHENTICATED")
        check_refusal(await status("wrong"), 401, "UNAUTHENTICATED")
        check_refusal(await status(table.token(Role.SEAT, 0)), 403, "PERMISSION_DENIED")
        (game,) = (await status(arbiter)).json()["games"]
        assert game["arbiter_keys"] == [key.public.raw.hex() for key in ARBITERS]
        (call,) = game["calls"]
        assert call["text"] == "<b>come</b>"
        assert len((await status(client.organiser)).json()["games"]) == 2

        path, number = f"/games/{table.play.id}/answer", {"number": call["number"]}
        check_refusal(await sent(address, path, number), 401, "UNAUTHENTICATED")
        check_refusal(await sent(address, path, number, table.token(Role.SEAT, 0)), 403, "PERMISSION_DENIED")
        check_refusal(await sent(address, path, {}, arbiter), 400, "INVALID_ARGUMENT")
        assert (await sent(address, path, number, arbiter)).json() == {"answered": True}
        assert (await sent(address, path, number, arbiter)).json() == {"answered": False}


WISHES: dict[str, Any] = {
    "rules": "kingdomino",
    "seats": 3,
    "options": {"harmony": True},
    "clock": "5m+3s",
    "illegal": ["strikes:3"],
    "take-backs": True,
    "arbiter-key": [ARBITERS[0].public.raw.hex()],
    "protest-time": "10m",
    "event": 7,
    "round": 2,
    "table": 1,
}
"""For a game of three with arbiters, a clock and strikes, at a table of a tournament."""
UNGRANTED: list[tuple[dict[str, Any], str]] = [
    ({"rules": "chess"}, "rules"),
    ({"seats": 9}, "seats"),
    ({"seats": "3"}, "seats"),
    ({"clock": "fast"}, "clock"),
    ({"options": {"harmony": 1}}, "options"),
    ({"options": []}, "options"),
    ({"arbiter-key": ["/etc/passwd"]}, "arbiter-key"),
    ({"arbiter-key": []}, "protest-time"),
    ({"illegal": ["shout"]}, "illegal"),
    ({"proofs": "some"}, "proofs"),
    ({"components": "/etc/passwd"}, "components"),
    ({"event": -1}, "event"),
]
"""Changes to these wishes, and the field that is wrong then."""


@pytest.mark.long
async def test_a_game_is_opened_in_the_words_of_the_command(tmp_path: Path) -> None:
    async with desk(tmp_path / "data") as (address, client):
        answer = await sent(address, "/games", WISHES, client.organiser)
        assert answer.status_code == 200, answer.text
        assert answer.headers["cache-control"] == "no-store"
        made = answer.json()
        game = (await client.games.GetGame(pb.GetGameRequest(game_id=made["game"]))).game
        opened = log_pb2.GameOpen.FromString(game.open)
        assert (game.rules_id, game.event_id, game.round, game.table, len(game.seats)) == ("kingdomino", 7, 2, 1, 3)
        assert (opened.terms.strikes, opened.terms.clock.increment.base_ms) == (3, 300_000)
        assert list(opened.arbiter_keys) == [ARBITERS[0].public.raw]
        assert made["arbiter_token"]
        links = [seat["link"] for seat in made["seats"]]
        assert [link.rpartition("/")[0] for link in links] == [
            f"{address}/seat#{made['game']}/{seat}" for seat in range(3)
        ]
        for seat in made["seats"]:
            assert {len(row) for row in seat["code"]} == {len(seat["code"])}
            assert set("".join(seat["code"])) == {"0", "1"}


@pytest.mark.long
async def test_a_game_that_cannot_be_opened_so_is_refused_with_its_field(tmp_path: Path) -> None:
    async with desk(tmp_path / "data") as (address, client):
        for changes, field in UNGRANTED:
            refused = await sent(address, "/games", WISHES | changes, client.organiser)
            assert check_refusal(refused, 400, "INVALID_ARGUMENT") == {"field": field}, changes
        check_refusal(await sent(address, "/games", WISHES), 401, "UNAUTHENTICATED")
        made = (await sent(address, "/games", WISHES, client.organiser)).json()
        check_refusal(await sent(address, "/games", WISHES, made["arbiter_token"]), 403, "PERMISSION_DENIED")


async def test_no_token_passes_where_others_could_read_it() -> None:
    async with Upstream("192.0.2.1:1", security=Security()) as referee:
        assert [route.path for route in routes(referee)] == ["/api/v1/games/{id}/ruling"]
    async with Upstream("127.0.0.1:1", security=Security()) as referee:
        assert len(routes(referee)) == 4
