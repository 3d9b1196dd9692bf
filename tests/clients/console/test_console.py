"""The arbiter's console, driven by keys, at a real referee with running games."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from referee.log.events import Author, Role
from referee.log.keys import PrivateKey
from referee.log.v1 import log_pb2
from referee.server.service.server import Server
from referee.v1 import access_service_pb2, access_service_pb2_grpc
from referee_clients.rulings import Bench, NotAllowed
from referee_clients.sdk.arbiter import Arbiter
from referee_clients.status import docket_lines
from referee_clients.terminal.console.cases import Post
from referee_clients.terminal.console.ruling import KINDS, RulingScreen
from referee_clients.terminal.console.screen import ConsoleApp, Games
from referee_clients.terminal.desk import acts
from referee_clients.terminal.widgets import Beside, Help
from tests.addresses import free_address
from tests.server.service.arbiter import ARBITERS, Table
from tests.server.service.conftest import logged, running
from tests.server.service.player import Client, bearer
from tests.waiting import until, waiting_for

__all__ = ["logged"]


@pytest.fixture
async def there(tmp_path: Path) -> AsyncIterator[tuple[Server, Client]]:
    async with running(tmp_path / "data") as found:
        yield found


@pytest.fixture
def client(there: tuple[Server, Client]) -> Client:
    return there[1]


@pytest.fixture
def address(there: tuple[Server, Client]) -> str:
    return there[0].address


async def everywhere(client: Client) -> str:
    """Return a token for the arbiter of every game."""
    access: Any = access_service_pb2_grpc.AccessServiceStub(client.channel)
    request = access_service_pb2.IssueTokenRequest(principal="ada", scopes=[access_service_pb2.SCOPE_ARBITER])
    return str((await access.IssueToken(request, metadata=bearer(client.organiser))).secret)


_NOTHING = "No open game has your key among its arbiters. Your tokens show no other game."


class Console:
    """One that runs."""

    def __init__(self, app: ConsoleApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    def text(self, name: str) -> str:
        return str(self.app.screen.query_one(f"#{name}", Static).content)

    def listed(self) -> list[str]:
        return [str(option.prompt) for option in self.app.screen.query_one(OptionList).options]

    @property
    def line(self) -> Input:
        return self.app.screen.query_one(Input)

    async def shows(self, screen: type[Any]) -> None:
        await until(lambda: isinstance(self.app.screen, screen), screen.__name__)
        await self.pilot.pause()

    async def says(self, words: str) -> None:
        await until(lambda: words in self.text("said"), words)

    async def look(self) -> None:
        """Refresh, as the console does every two seconds."""
        await self.shows(Games)
        assert isinstance(self.app.screen, Games)
        await self.app.screen.refresh_games()
        await self.pilot.pause()

    async def ruling(self, key: str) -> str:
        """Press the key of a ruling: what is shown that it will do."""
        await self.pilot.press(key)
        await self.shows(RulingScreen)
        return self.text("what")

    async def entered(self) -> str:
        """Confirm the ruling: what is said then."""
        await self.pilot.press("enter")
        await self.shows(Games)
        return self.text("said")


@asynccontextmanager
async def console(
    address: str, tokens: list[str], key: PrivateKey = ARBITERS[0], size: tuple[int, int] = (80, 24)
) -> AsyncIterator[Console]:
    app = ConsoleApp(Post(address, tokens, key))
    async with app.run_test(size=size) as pilot:
        found = Console(app, pilot)
        await found.look()
        yield found


async def test_calls_come_first_and_a_ruling_takes_three_keys(client: Client, address: str) -> None:
    tables = [await Table.dealt(client) for _ in range(2)]
    table = max(tables, key=lambda each: each.play.id)  # the other one would be first
    await Table.dealt(client, arbiter_keys=[ARBITERS[1].public.raw])  # is not ours
    async with console(address, [await everywhere(client)]) as arbiter:
        assert arbiter.text("title").endswith(": 2 games; no calls")
        assert [line[2:10] for line in arbiter.listed()] == sorted(each.play.id[:8] for each in tables)
        await Arbiter(client.channel, table.play.id, table.token(Role.SEAT, 1)).call("he looked")
        await arbiter.look()
        assert arbiter.text("title").endswith(": 2 games; 1 for you")
        first = arbiter.listed()[0]
        assert first.startswith(f"! {table.play.id[:8]}  kingdomino ")
        assert re.search(rf"  in play: player {table.on_turn() + 1} \((1h|59m\d+s)\)\n", first)
        assert '\n    player 2 calls for an arbiter: "he looked" (' in first
        await arbiter.pilot.press("a")
        await arbiter.says("This game has no open call for an arbiter.")  # the selection stays where it was
        await arbiter.pilot.press("up")
        await arbiter.look()
        await until(lambda: table.play.id in arbiter.text("facts"), "the docket of the game")
        assert arbiter.text("facts").splitlines()[1].startswith('player 2 calls for an arbiter: "he looked" (call 1')
        await arbiter.pilot.press("a")
        await arbiter.says('Answered, and shown no longer: player 2 calls for an arbiter: "he looked"')
        assert not (await table.docket()).calls
        # Select, kind of ruling, confirm.
        assert await arbiter.ruling("p") == "arbiter 0 rules: the game is paused"
        size = table.play.record.size
        await arbiter.pilot.press("enter")
        await arbiter.shows(Games)
        assert arbiter.text("said") == f"Entered as entry {size}: arbiter 0 rules: the game is paused"
        await table.play.catch_up(size + 1)
        # The facts are those of `referee docket`; the entries those of the desk.
        await until(lambda: "the game is paused" in arbiter.text("facts"), "the docket")
        assert arbiter.text("facts").splitlines()[:-1] == docket_lines(await table.docket())
        await until(lambda: "arbiter: pause" in arbiter.text("history"), "the entry")
        assert arbiter.text("history").splitlines()[-1] == f"{size:>4}  arbiter: pause"


@pytest.mark.long
async def test_a_line_that_is_no_ruling_of_this_arbiters_is_not_entered(client: Client, address: str) -> None:
    table = await Table.dealt(client)
    async with console(address, [table.token(Role.ARBITER)], ARBITERS[1], size=(120, 40)) as arbiter:
        assert arbiter.app.screen.query_one("#entries").display
        await arbiter.pilot.press("d")
        await arbiter.says("No protest and no appeal is open at this game.")
        shown = await arbiter.ruling("e")
        assert arbiter.line.value == "arbiter 1: result places 1 2"
        assert shown.splitlines() == [
            "arbiter 1 rules: the game is over: player 1: place 1; player 2: place 2 (TBL-36)",
            "",
            "This ruling is for the position now, but play continues: F5 pauses the game first.",
        ]
        for typed, said in (
            ("result places 1 2", "Not yet: expected"),
            ("0: resign", "This is no ruling"),
            ("arbiter: result places 1 2", "You are arbiter 1 of this game"),
            ("arbiter 1: result places 1 3", "Not allowed now: the places 1 3 are no ranking (TBL-36)"),
        ):
            arbiter.line.value = typed
            await arbiter.pilot.press("enter")
            await arbiter.says("Not entered")
            assert said in arbiter.text("what")


@pytest.mark.long
async def test_a_ruling_in_a_game_that_goes_on_meanwhile(client: Client, address: str) -> None:
    table = await Table.dealt(client)
    ends = 'arbiter 1: result places 2 1 under TBL-2 "both left"'
    async with console(address, [table.token(Role.ARBITER)], ARBITERS[1], size=(120, 40)) as arbiter:
        await arbiter.ruling("e")
        arbiter.line.value = ends
        await arbiter.pilot.pause()
        assert 'player 1: place 2; player 2: place 1 (TBL-2)\nreason: "both left"' in arbiter.text("what")
        await table.play.step()
        newest = table.play.record.size - 1
        await arbiter.pilot.press("enter")
        await arbiter.says(f"Not entered: other entries came meanwhile: its newest entry is {newest}; your act was not")
        await arbiter.pilot.press("f5")
        await arbiter.says(f"The game is paused, as entry {newest + 1}. It stays paused until you resume it (g).")
        await until(lambda: "play continues" not in arbiter.text("what"), "what it means while it is paused")
        await arbiter.pilot.press("escape")
        await arbiter.shows(Games)
        assert arbiter.text("said").startswith(f"The game is paused, as entry {newest + 1}. It stays paused"), "it was"
        await arbiter.ruling("w")
        said = await arbiter.entered()
        assert said.startswith(f"Entered as entry {newest + 2}: arbiter 1 rules: player ")
        assert said.endswith(": a warning (TBL-33). It stays paused until you resume it (g).")
        await arbiter.ruling("e")
        arbiter.line.value = ends
        said = await arbiter.entered()
        assert said.startswith(f"Entered as entry {newest + 3}: arbiter 1 rules: the game is over")
        await arbiter.look()
        assert arbiter.listed() == []
        assert arbiter.text("said").endswith(f"\nGame {table.play.id[:8]} is over.")
        assert arbiter.text("facts") == _NOTHING
    *_, ruling = (await Arbiter(client.channel, table.play.id).docket()).rulings
    assert (ruling.arbiter, ruling.text, list(ruling.rule.adjudicate.places)) == (1, "both left", [2, 1])


async def protested(client: Client) -> tuple[Table, int]:
    """Return a game with a protest, and its entry; ours is the second of two arbiters."""
    table = await Table.dealt(client, arbiter_keys=[ARBITERS[1].public.raw, ARBITERS[0].public.raw])
    await table.play.step()
    return table, await table.act(Author(Role.SEAT, 0), log_pb2.Protest(against_seq=1, rule_id="KDO-1"), "why?")


@pytest.mark.long
async def test_every_key_of_the_help_begins_a_ruling(client: Client, address: str) -> None:
    """Each line is in the notation; what the rules forbid now is said in words."""
    table, _ = await protested(client)
    async with console(address, [table.token(Role.ARBITER)]) as arbiter:
        await arbiter.pilot.press("f1")
        await arbiter.shows(Help)
        page = arbiter.text("help")
    calls = Arbiter(client.channel, table.play.id, table.token(Role.ARBITER))
    bench = Bench(calls, Author(Role.ARBITER, 1), ARBITERS[0])
    look = await bench.look()
    for kind in KINDS:
        assert f"\n    {kind.key}  {kind.words}\n" in page
        line = f"arbiter 1: {kind.line(look)}"
        meant = acts.read("kingdomino", look.record.game.position.state, line)
        assert meant is not None, line
        assert str(meant) == line
        if kind.key == "g":
            with pytest.raises(NotAllowed, match=r"the game is not suspended \(TBL-32\)"):
                bench.told(look, acts.message(look.record, meant, bench.author))
        else:
            assert bench.told(look, acts.message(look.record, meant, bench.author))[0].startswith("arbiter 1 rules: ")


@pytest.mark.long
async def test_the_list_of_rulings_has_what_is_possible(client: Client, address: str) -> None:
    table, protest = await protested(client)
    async with console(address, [table.token(Role.ARBITER)]) as arbiter:
        assert arbiter.listed()[0].endswith(f"; protest open: an arbiter has to rule on entry {protest}")
        await until(lambda: '"why?"; open: an arbiter has to rule on it' in arbiter.text("facts"), "the protest")
        assert "time left: player 1 " in arbiter.text("facts")
        await arbiter.pilot.press("enter")
        await arbiter.shows(Beside)
        assert arbiter.listed()[0] == f"Arbiter 1: the protest of entry {protest} is turned down"
        assert "Arbiter 1: pause" in arbiter.listed()
        assert "Arbiter 1: play resumes" not in arbiter.listed()
        await arbiter.pilot.press("enter")
        await arbiter.shows(RulingScreen)
        assert arbiter.line.value == f"arbiter 1: dismiss decides {protest}"
        assert "dismissed (TBL-31)" in await arbiter.entered()
        await arbiter.look()
        assert arbiter.text("title").endswith(": 1 game; no calls")


async def test_the_referee_goes_away_and_comes_back(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        address = free_address()
        async with running(tmp_path / "data", listen=address) as (_, client):
            table = await Table.dealt(client)
            arbiter = await stack.enter_async_context(console(address, [table.token(Role.ARBITER)]))
            await arbiter.ruling("p")
        await arbiter.pilot.press("enter")
        await arbiter.says("No answer came. The act may be entered all the same: look at the entries")
        while isinstance(arbiter.app.screen, RulingScreen):  # until the attempt has ended
            await arbiter.pilot.press("escape")
        await arbiter.look()
        assert arbiter.text("title").endswith(": NO CONNECTION (no answer, UNAVAILABLE)")
        assert len(arbiter.listed()) == 1, "what was known stays in sight"
        async with running(tmp_path / "data", listen=address):
            async with waiting_for("the referee to be found again"):
                while "NO CONNECTION" in arbiter.text("title"):
                    await arbiter.look()
            async with console(address, ["x" * 43]) as stranger:
                await stranger.says("The games cannot be listed: the referee does not know this token")
                assert stranger.text("title").endswith(": NO CONNECTION (refused)")
