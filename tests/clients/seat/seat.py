"""A seat in a test: a person's screen, others who play beside it, and the game that they share."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from referee.log.note import VerifierKey
from referee_clients import Join, parse_join
from referee_clients.sdk.channel import Security
from referee_clients.sdk.errors import ClientError
from referee_clients.terminal.seat.screen import SeatApp, SeatScreen
from referee_clients.terminal.seat.seat import Seat, SeatKeys
from tests.cli.inside import referee as command
from tests.clients.desk.table import Table
from tests.clients.referee_process import Referee
from tests.waiting import until


@dataclass(frozen=True)
class Game:
    """One that was opened."""

    id: str
    joins: list[Join]
    verifier: VerifierKey
    arbiter_token: str


def open_game(referee: Referee, *words: object) -> Game:
    """Open a game with these words of ``referee new``."""
    done = command("new", "--server", referee.address, "--data", referee.folder, *words, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    joins = [parse_join(text) for _, text in sorted(told["joins"].items())]
    return Game(told["game"], joins, VerifierKey.parse(told["verifier_key"]), told.get("arbiter_token", ""))


class AtSeat(Table[SeatApp]):
    """A person at a seat."""

    @property
    def screen(self) -> SeatScreen:
        found = self.app.screen_stack[-1]
        assert isinstance(found, SeatScreen)
        return found

    async def is_on_turn(self) -> None:
        """Until a move of this seat is awaited, or the game is over."""
        await until(lambda: self.is_over() or (self.screen.desk is not None and self.screen.desk.moves), "our turn")

    def is_over(self) -> bool:
        return self.text("awaited").startswith("The game is over")

    async def plays(self, words: str) -> None:
        """Enter a move, and confirm it."""
        await self.submit(words, f"{words}: ")
        await self.submit(words, "Accepted as entry ")

    async def confirms(self, words: str) -> str:
        """Enter something with keys, and confirm it: what is said then."""
        told = await self.enter(words)
        assert told.endswith("Press Enter again to enter it."), told
        await self.pilot.press("enter")
        await self.answered()
        return self.text("verdict")


@asynccontextmanager
async def running(join: Join, key: Path, verifier: VerifierKey | None = None) -> AsyncIterator[AtSeat]:
    """Yield a person's screen at this seat."""
    app = SeatApp(join, SeatKeys(key), verifier=verifier)
    async with app.run_test(size=(100, 40)) as pilot:
        yield AtSeat(app, pilot)


@contextmanager
def beside(join: Join, key: Path) -> Iterator[Seat]:
    """Another seat, without a screen."""
    seat = Seat(join, SeatKeys(key), security=Security(), on_commit=lambda: None, on_way=lambda _: None)
    task = asyncio.ensure_future(_follow(seat))
    try:
        yield seat
    finally:
        task.cancel()


async def _follow(seat: Seat) -> None:
    with suppress(ClientError):
        await seat.run()
