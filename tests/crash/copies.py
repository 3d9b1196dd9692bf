"""A club whose machine is lost again and again: earlier copies, put back without the marks.

Whatever the organiser then decides, no two signed histories of a game may stand side by side without a declaration.
"""

from __future__ import annotations

import asyncio
import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

from referee.log.engines import installed
from referee.log.fork import Side, find_fork, read_side
from referee.log.note import VerifierKey
from referee.server.live import recovery, restoration
from referee.server.live.context import Context
from referee.server.service.backup import back_up, lay_down
from referee.server.service.data import Data, open_data, origin_of
from referee.v1 import game_service_pb2 as pb
from tests.cli.inside import referee
from tests.server.service.conftest import running
from tests.server.service.engines import PostgreSQL
from tests.server.service.nodes import directories
from tests.server.service.player import SCRIBE, Client, Play
from tests.server.service.resend import moved
from tests.server.store.postgres import Postgres

GAMES = 3
DECLARED: dict[str, Any] = {"declaring_scribe_key": SCRIBE.public.raw}


class Copies:
    """A campaign: the same seed plays the same games and makes the same decisions."""

    def __init__(self, folder: Path, seed: int, *, protected: bool = True) -> None:
        """``protected``: whether what is restored is in doubt."""
        self._folder, self._rng, self._protected = folder, random.Random(seed), protected
        self._data = folder / "data"
        self._plays: list[Play] = []
        self._known: dict[str, list[bytes]] = {}
        """By game: files that somebody has kept."""
        self.decided: Counter[str] = Counter()
        self.found: Counter[str] = Counter()
        """The findings of two people who compare their files of a game."""

    async def round(self, number: int) -> None:
        """Play, copy, play on, lose the machine, restore, decide, and play on with what is left."""
        copy = self._folder / f"copy-{number}"
        async with running(self._data) as (_, client):
            await self._play(client)
            back_up(self._data, copy, 1_700_000_000_000 + number)
            await self._play(client)
            for play in self._plays:
                self._keep(play.id, await client.log(play.id))
        self._data = self._folder / f"data-{number}"
        backup = lay_down(copy, self._data, number)
        opened = open_data(
            self._data, origin_of(self._data, None), new_marks=True, copied_ms=backup.copied_ms, alone=True
        )
        try:
            await self._decide(opened)
        finally:
            await opened.close()
        await self._play_and_keep()
        self._compare()
        shutil.rmtree(copy)

    async def _play_and_keep(self) -> None:
        async with running(self._data) as (_, client):
            await self._play(client)
            for play in self._plays:
                self._keep(play.id, await client.log(play.id))

    def _keep(self, game_id: str, data: bytes) -> None:
        files = self._known.setdefault(game_id, [])
        if data not in files:
            files.append(data)

    async def _play(self, client: Client) -> None:
        """Some acts in games that are open, and in new ones in the place of those that are over."""
        going = []
        for play in self._plays:
            moved(play, client)
            again = Play(client, play.created, play.rng)
            await again.catch_up(await _size(again))
            if again.next_act() is not None:
                going.append(again)
        while len(going) < GAMES:
            kind = DECLARED if self._rng.random() < 0.5 else {}
            going.append(await client.play(seed=self._rng.randrange(1 << 20), **kind))
        for play in going:
            for _ in range(self._rng.randint(0, 6)):
                await play.step()
            if not play.entries:
                await play.step()
        self._plays = going

    async def _decide(self, opened: Data) -> None:
        context = Context(opened.store, opened.signer, installed(), time=opened.time)
        doubts = [doubt.game_id for doubt in await recovery.in_doubt(context)]
        # A game whose loss the marks know has its own words.
        doubts += [known.game_id for known in await recovery.find(context)]
        if not self._protected:
            for game_id in doubts:
                opened.store.marks.settle(game_id)
            return
        left = {play.id: play for play in self._plays}
        for game_id in doubts:
            how = self._rng.choice(("from", "continue", "end"))
            self.decided[how] += 1
            if how != "from" or not await self._mended(context, game_id):
                await recovery.go_on(context, game_id, end=how == "end")
            left.pop(game_id.hex(), None)
        for name in left:  # opened after the copy
            if await context.store.game(bytes.fromhex(name)) is None:
                self.decided["unknown"] += 1
                await self._mended(context, bytes.fromhex(name))
                self._plays = [play for play in self._plays if play.id != name]

    async def _mended(self, context: Context, game_id: bytes) -> bool:
        """Take any of the files, not always the newest."""
        path = self._folder / "file.gamelog"
        path.write_bytes(self._rng.choice(self._known[game_id.hex()]))
        try:
            with path.open("rb") as stream:
                await restoration.restore(context, game_id, stream)
        except recovery.CannotRecover:
            return False
        return True

    def _compare(self) -> None:
        verifier = VerifierKey.parse((self._data / "referee.vkey").read_text().strip())
        for files in self._known.values():
            sides: list[Side] = [read_side(data, verifier) for data in files]
            newest = sides[-1]
            for side in sides[:-1]:
                fork = find_fork(side, newest)
                what = "one history" if fork is None else "fork" if fork.declared_by is None else "declared"
                self.found[what] += 1


class ClusterCopies(Copies):
    """Two referees on one database, of which an earlier copy is put back; with it the marks of one may be lost.

    The one that knows most decides, with its marks or without, and the other one plays on.
    """

    def __init__(self, folder: Path, seed: int, postgres: Postgres, *, protected: bool = True) -> None:
        super().__init__(folder, seed, protected=protected)
        self._paths = [folder / "one", folder / "two"]
        self._engine = PostgreSQL(self._paths[0], postgres)
        self.lost: Counter[str] = Counter()

    async def round(self, number: int) -> None:
        """Play, copy, play on, put the copy back, decide, and play on with what is left."""
        if not number:
            await directories(self._engine.place(self._paths[0]), *self._paths)
            shutil.copy2(self._paths[0] / "organiser.token", self._paths[1])
        await self._play_and_keep_in(0)
        await self._play_and_keep_in(1)
        self._engine.back_up()
        last, other = number % 2, 1 - number % 2
        await self._play_and_keep_in(last)
        self._engine.restore()
        lost = self._rng.choice(((), ("marks.db",), ("marks.db", "cluster.mark")))
        self.lost[" and ".join(lost)] += 1
        for name in lost:
            (self._paths[last] / name).unlink()
        if not self._protected:  # nothing knows that the database went back
            for path in self._paths:
                for name in ("marks.db", "cluster.mark"):
                    (path / name).unlink(missing_ok=True)
            await self._play_and_keep_in(other)
            self._compare()
            return
        await self._accepted(last)
        opened = open_data(self._paths[last], origin_of(self._paths[last], None), alone=True)
        try:
            await self._decide(opened)
        finally:
            await opened.close()
        await self._accepted(other)
        await self._play_and_keep_in(other)
        self._compare()

    async def _accepted(self, place: int) -> None:
        """Accept that the database went back; the first says which games are in doubt, the second what is left."""
        words = ("recover", "--data", self._paths[place], "--accept-rollback")
        done = await asyncio.to_thread(referee, *words)
        assert not done.stderr, done

    async def _play_and_keep_in(self, place: int) -> None:
        self._data = self._paths[place]
        await self._play_and_keep()


async def _size(play: Play) -> int:
    found = await play.client.games.GetGame(pb.GetGameRequest(game_id=play.id))
    size: int = found.game.size
    return size
