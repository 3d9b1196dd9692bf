"""Names on pages: entry 0 proves them, whatever a gateway tells; what it does not prove is marked."""

from __future__ import annotations

import random
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from playwright.async_api import Page, expect

from referee.log.names import Person
from referee.log.v1 import log_pb2
from referee.v1 import game_service_pb2 as pb
from tests.server.service.player import Play, bearer
from tests.web.club import Club
from tests.web.hand import TAKE, Hand
from tests.web.meddler import Meddler, meddling
from tests.web.static import run

ANNA, BELA = Person("Anna <b>Řehořová</b>", b"a" * 16), Person("Béla", b"b" * 16)


@pytest.fixture
async def meddler(club: Club) -> AsyncIterator[Meddler]:
    async with meddling(club.address) as found:
        yield found


@pytest.fixture
async def play(club: Club) -> Play:
    asked = pb.CreateGameRequest(rules_id="kingdomino")
    for seat, person in enumerate((ANNA, BELA)):
        asked.seats.append(log_pb2.Seat(player=person.player))
        asked.names.add(seat=seat, name=person.name, salt=person.salt)
    created = await club.client.games.CreateGame(asked, metadata=bearer(club.client.organiser))
    play = Play(club.client, created, random.Random(1))
    await play.until_play()
    return play


def told(play: Play, *names: tuple[int, str, bytes]) -> Any:
    listed = [
        {"seat": seat, "name": name, "salt": salt.hex(), "source": "OPENING", "named_ms": 0}
        for seat, name, salt in names
    ]
    return lambda _: {"games": {play.id: listed}}


NOBODY = re.compile(r"^Player [12]$")
HONEST = (0, ANNA.name, ANNA.salt), (1, BELA.name, BELA.salt)


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (HONEST, [ANNA.name, BELA.name]),
        ([(1, ANNA.name, ANNA.salt), (0, BELA.name, BELA.salt)], [ANNA.name, BELA.name]),
        (
            [(0, BELA.name, ANNA.salt), (1, ANNA.name, BELA.salt)],
            [f"{BELA.name}(as the organiser says)", f"{ANNA.name}(as the organiser says)"],
        ),
        ([(0, BELA.name, b""), (1, BELA.name, BELA.salt)], [NOBODY, BELA.name]),
        ([(0, "a\u202eb", b""), (7, "Cecil", b"")], [NOBODY, NOBODY]),
        ([], [NOBODY, NOBODY]),
    ],
    ids=["the truth", "seats swapped", "names swapped", "one for both", "no names", "none"],
)
async def test_a_lying_gateway_does_not_swap_players(
    meddler: Meddler, play: Play, page: Page, names: Any, shown: list[str | re.Pattern[str]]
) -> None:
    meddler.answers["names"] = told(play, *names)
    await page.goto(f"{meddler.address}/g/{play.id}")
    await expect(page.locator(".boards h2 .name")).to_have_text(shown)


async def test_the_gateway_tells_names_and_keeps_no_answer(club: Club, play: Play) -> None:
    async with httpx.AsyncClient(base_url=club.address) as gateway:
        answer = await gateway.get("/api/v1/names", params={"g": f"{play.id},{'0' * 32}"})
        listed = answer.json()["games"]
        refused = await gateway.get("/api/v1/names", params={"g": "x"})
    assert answer.headers["cache-control"] == "no-store"
    assert [*listed] == [play.id]
    assert [(name["seat"], name["name"], name["salt"], name["source"]) for name in listed[play.id]] == [
        (0, ANNA.name, ANNA.salt.hex(), "OPENING"),
        (1, BELA.name, BELA.salt.hex(), "OPENING"),
    ]
    assert refused.status_code == 400


def test_what_a_module_proves() -> None:
    """By the seats of an opening: what of the names told is shown, and how."""
    script = """
const { readFileSync } = await import("node:fs");
const { namesOf } = await import(`${STATIC}/players.mjs`);
const { fromHex } = await import(`${STATIC}/verify/bytes.mjs`);
const { seats, told } = JSON.parse(readFileSync(0));
const names = told.map(({ salt, ...rest }) => ({ ...rest, salt: fromHex(salt) }));
console.log(JSON.stringify(await namesOf(seats.map((player) => ({ player: fromHex(player) })), names)));
"""
    seats = [ANNA.player.hex(), BELA.player.hex(), ""]
    names = [
        {"seat": 2, "name": "Anna", "salt": "", "source": "PLAYER"},
        {"seat": 0, "name": ANNA.name, "salt": ANNA.salt.hex(), "source": "OPENING"},
        {"seat": 1, "name": "n" * 81, "salt": "", "source": "ORGANISER"},
    ]
    assert run(script, {"seats": seats, "told": names}) == [
        {"name": ANNA.name, "confirmed": True, "source": "OPENING"},
        None,
        {"name": "Anna", "confirmed": False, "source": "PLAYER"},
    ]


async def test_a_player_gives_a_name_before_the_seat_is_taken(club: Club, page: Page) -> None:
    created = await club.client.create(rules_id="kingdomino")
    await club.client.games.NamePlayer(
        pb.NamePlayerRequest(game_id=created.game.id, player=pb.PlayerName(seat=1, name="Anna")),
        metadata=bearer(created.seat_tokens[1]),
    )
    hand = Hand.of(page, club.address, created)
    await hand.open()
    name = page.get_by_label("Your name")
    await name.fill("  Аnnа ")  # with Cyrillic letters
    await hand.save_key()
    await hand.button(TAKE).click()
    await expect(page.get_by_role("alert").filter(has_text="This looks like the name of Anna")).to_be_visible()
    await name.fill("Béla  Kiss")
    await hand.take()
    await expect(page.locator(".own h2 .name")).to_have_text("Béla Kiss(as the player says)")
    listed = (await club.client.games.GetNames(pb.GetNamesRequest(game_ids=[created.game.id]))).games[0].names
    assert [(told.seat, told.name) for told in listed] == [(0, "Béla Kiss"), (1, "Anna")]


async def test_a_player_whom_the_game_names_sees_it_and_names_nobody(club: Club, page: Page) -> None:
    asked = pb.CreateGameRequest(rules_id="kingdomino")
    for seat, person in enumerate((ANNA, BELA)):
        asked.seats.append(log_pb2.Seat(player=person.player))
        asked.names.add(seat=seat, name=person.name, salt=person.salt)
    created = await club.client.games.CreateGame(asked, metadata=bearer(club.client.organiser))
    hand = Hand.of(page, club.address, created)
    await hand.open()
    await expect(page.get_by_text(f"You play as {ANNA.name}.")).to_be_visible()
    await expect(page.get_by_label("Your name")).to_have_count(0)
    await hand.save_key()
    await hand.take()
    await expect(page.locator(".own h2 .name")).to_have_text(ANNA.name)
    await page.goto(f"{club.address}/wall?g={created.game.id}")
    await expect(page.locator("figcaption .name")).to_have_text([ANNA.name, BELA.name])
