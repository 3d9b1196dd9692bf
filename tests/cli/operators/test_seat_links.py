"""``referee new``: links beside join strings, and cards of the seats, for one game and for a round."""

from __future__ import annotations

import asyncio
import html
import json
import re
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from subprocess import CompletedProcess
from urllib.parse import unquote

import pytest

from referee.cli.shared.remote import Addresses
from referee.v1 import game_service_pb2 as pb
from referee_clients.join import parse_join
from tests.cli.inside import referee
from tests.server.service.conftest import running
from tests.server.service.player import Client

CLUB = "https://club.example"
ROUND = """\
table,rules,seat 0,seat 1,principal 1
1,kingdomino,Ada,Bo,bo.bot
2,kingdomino,Čeněk,Dan & Co,
3,rollwrite,Eve,Fay,
"""
LINK = re.compile(r"(\S+)/seat#([0-9a-f]{32})/([0-9])/(\S+)")


class Organiser:
    """At one referee, in a folder."""

    def __init__(self, folder: Path, address: str, client: Client) -> None:
        self.folder = folder
        self.address = address
        self._client = client

    async def new(self, *words: object, code: int = 0) -> CompletedProcess[str]:
        said = ("new", "--server", self.address, "--data", "data", *words)
        done = await asyncio.to_thread(referee, *said, cwd=self.folder)
        assert done.returncode == code, done.stderr
        return done

    async def games(self) -> int:
        """How many there are."""
        return len((await self._client.games.ListGames(pb.ListGamesRequest())).games)

    def on_cards(self, name: str) -> list[str]:
        """Return the seats on a sheet, which others cannot read."""
        sheet = self.folder / name
        assert stat.S_IMODE(sheet.stat().st_mode) == 0o600
        text = sheet.read_text(encoding="utf-8")
        assert text.count("<svg") == text.count("<li>")
        return [html.unescape(found) for found in re.findall(r'class="text">(.*)</p>', text)]


@pytest.fixture
async def organiser(tmp_path: Path) -> AsyncIterator[Organiser]:
    async with running(tmp_path / "data") as (server, client):
        yield Organiser(tmp_path, server.address, client)


async def test_a_link_says_the_same_as_the_join_string_beside_it(organiser: Organiser) -> None:
    done = await organiser.new("--seats", 3, "--web", f"{CLUB}/")
    joins = [parse_join(line) for line in re.findall(r"^seat \d: (.*)$", done.stdout, re.MULTILINE)]
    links = [found.groups() for found in LINK.finditer(done.stdout)]
    assert len(joins) == 3
    assert [(origin, game, int(seat), unquote(token)) for origin, game, seat, token in links] == [
        (CLUB, join.game_id, join.seat, join.token) for join in joins
    ]
    assert "links work on this machine only" not in done.stderr

    told = json.loads(
        (await organiser.new("--scribed", 0, "--declare", _key(organiser), "--web", CLUB, "--json")).stdout
    )
    assert (set(told["joins"]), set(told["links"])) == ({"1"}, {"1"})

    done = await organiser.new("--web", "https://127.0.0.1:8443", "--out", "joins.txt")
    assert "these links work on this machine only, as they carry the address https://127.0.0.1:8443" in done.stderr
    lines = (organiser.folder / "joins.txt").read_text().splitlines()
    assert not any(parse_join(line).token in done.stdout for line in lines[:2])
    assert [LINK.fullmatch(line.removeprefix("link ")) is not None for line in lines] == [False, False, True, True]


async def test_without_pages_there_are_no_links_and_cards_have_join_strings(
    organiser: Organiser,
) -> None:
    told = json.loads((await organiser.new("--json", "--sheet", "seats.html")).stdout)
    assert told["links"] == {}
    assert organiser.on_cards("seats.html") == list(told["joins"].values())


async def test_a_round_has_one_sheet(organiser: Organiser) -> None:
    (organiser.folder / "round.csv").write_text(ROUND, encoding="utf-8")
    words = ("--from", "round.csv", "--event", 7, "--round", 2, "--web", CLUB)

    await organiser.new(*words, "--sheet", "round.html", "--dry-run")
    assert not (organiser.folder / "round.html").exists()

    # The third table cannot be opened; the cards of those before it are not lost.
    (organiser.folder / "two").mkdir()
    (organiser.folder / "two" / "event-7-round-2-table-3.txt").symlink_to("nowhere")
    refused = await organiser.new(*words, "--sheet", "two.html", "--out", "two", code=2)
    assert "table-3.txt: File exists" in refused.stderr
    cards = organiser.on_cards("two.html")
    files = [(organiser.folder / "two" / f"event-7-round-2-table-{table}.txt").read_text() for table in (1, 2)]
    assert [line.removeprefix("link ") for file in files for line in file.splitlines() if "link" in line] == cards
    assert len(cards) == 3, "the bot's seat has no card"

    done = await organiser.new(*words, "--sheet", "rest.html", "--json")
    told = json.loads(done.stdout)
    assert organiser.on_cards("rest.html") == list(told[2]["links"].values())
    assert "2 cards in rest.html" in done.stderr
    text = (organiser.folder / "rest.html").read_text(encoding="utf-8")
    assert "Roll &amp; Write · Event 7 · Round 2 · Table 3" in text
    assert "Player 2: Fay" in text

    again = await organiser.new(*words, "--sheet", "none.html")
    assert "none.html: not made, as no seat got a token" in again.stderr
    assert not (organiser.folder / "none.html").exists()
    assert await organiser.games() == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--web", "http://club.example"),
            "--web 'http://club.example': seats cannot be played there, as browsers give",
        ),
        (("--web", "club.example"), "--web 'club.example': expected http:// or https:// and a name"),
        (("--web", f"{CLUB}/seat"), "expected http:// or https:// and a name"),
        (("--web", f"{CLUB}#/"), "expected http:// or https:// and a name"),
        (("--web", "https://a b"), "expected http:// or https:// and a name"),
        (("--sheet", "data"), "--sheet data: File exists"),
        (("--sheet", "no/folder.html"), "--sheet no/folder.html: No such file or directory"),
        (("--sheet", "new.html", "--out", "data"), "--out data: File exists"),
    ],
)
async def test_nothing_is_opened_for_a_place_that_cannot_be(
    organiser: Organiser, words: tuple[str, ...], said: str
) -> None:
    done = await organiser.new(*words, code=2)
    assert said in done.stderr
    assert await organiser.games() == 0
    assert not (organiser.folder / "new.html").exists()


async def test_a_directory_remembers_where_its_pages_are(organiser: Organiser) -> None:
    data, address = organiser.folder / "data", organiser.address
    Addresses.of(address, "", CLUB).remember(data)
    words = ("new", "--data", data, "--json")
    told = json.loads((await asyncio.to_thread(referee, *words)).stdout)
    assert all(link.startswith(f"{CLUB}/seat#") for link in told["links"].values())
    told = json.loads((await asyncio.to_thread(referee, *words, "--web", "https://other.example")).stdout)
    assert all(link.startswith("https://other.example/seat#") for link in told["links"].values())
    # An earlier version wrote it so.
    (data / "address").write_text(json.dumps({"here": address, "public": address}))
    assert json.loads((await asyncio.to_thread(referee, *words)).stdout)["links"] == {}


def _key(organiser: Organiser) -> Path:
    path = organiser.folder / "scribe.pem"
    referee("keys", path, "--new")
    return path
