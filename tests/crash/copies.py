"""A club whose machine is lost again and again: copies of some time before, put back without the marks.

Whatever the organiser then decides, no two signed histories of a game may stand side by side without a declaration.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

from referee.live import recovery
from referee.live.context import Context
from referee.log.engines import installed
from referee.log.fork import Side, find_fork, read_side
from referee.log.note import VerifierKey
from referee.service.backup import back_up, lay_down
from referee.service.data import Data, open_data, origin_of
from referee.v1 import game_service_pb2 as pb
from tests.service.conftest import running
from tests.service.player import SCRIBE, Client, Play
from tests.service.resend import moved

GAMES = 3
DECLARED: dict[str, Any] = {"declaring_scribe_key": SCRIBE.public.raw}


class Copies:
    """The same seed plays the same games and makes the same decisions."""

    def __init__(self, folder: Path, seed: int, *, protected: bool = True) -> None:
        """``protected``: whether what is restored is in doubt."""
        self._folder, self._rng, self._protected = folder, random.Random(seed), protected
        self._data = folder / "data"
        self._plays: list[Play] = []
        self._known: dict[str, list[bytes]] = {}
        """By game: files that somebody has kept."""
        self.decided: Counter[str] = Counter()
        self.found: Counter[str] = Counter()
        """What two people find who compare their files of a game."""

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
        async with running(self._data) as (_, client):
            await self._play(client)
            for play in self._plays:
                self._keep(play.id, await client.log(play.id))
        self._compare()
        shutil.rmtree(copy)

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
        doubts = await recovery.in_doubt(context)
        if not self._protected:
            for doubt in doubts:
                opened.store.marks.settle(doubt.game_id)
            return
        left = {play.id: play for play in self._plays}
        for doubt in doubts:
            how = self._rng.choice(("from", "continue", "end"))
            self.decided[how] += 1
            if how != "from" or not await self._mended(context, doubt.game_id):
                await recovery.go_on(context, doubt.game_id, end=how == "end")
            left.pop(doubt.game_id.hex(), None)
        for game_id in left:  # opened after the copy
            if await context.store.game(bytes.fromhex(game_id)) is None:
                self.decided["unknown"] += 1
                await self._mended(context, bytes.fromhex(game_id))
                self._plays = [play for play in self._plays if play.id != game_id]

    async def _mended(self, context: Context, game_id: bytes) -> bool:
        """Take any of the files, not always the newest."""
        path = self._folder / "file.gamelog"
        path.write_bytes(self._rng.choice(self._known[game_id.hex()]))
        try:
            with path.open("rb") as stream:
                await recovery.restore(context, game_id, stream)
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


async def _size(play: Play) -> int:
    found = await play.client.games.GetGame(pb.GetGameRequest(game_id=play.id))
    size: int = found.game.size
    return size
