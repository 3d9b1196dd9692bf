"""An organiser's day at one referee."""

from __future__ import annotations

import asyncio
import csv
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess

from referee.v1 import game_service_pb2 as pb
from tests.cli.inside import referee
from tests.server.service.player import Client, bearer


@dataclass
class Day:
    folder: Path
    address: str
    client: Client

    async def run(self, *words: object, code: int = 0, **more: str) -> CompletedProcess[str]:
        env = {"REFEREE_SERVER": self.address, "COLUMNS": "80", **more}
        done = await asyncio.to_thread(referee, *words, env=env, cwd=self.folder)
        assert done.returncode == code, done.stderr
        return done

    async def games(self, *words: object) -> list[dict[str, str]]:
        done = await self.run("games", "--data", "data", "--csv", *words)
        return list(csv.DictReader(StringIO(done.stdout)))

    async def abort(self, game: str) -> None:
        await self.client.games.AbortGame(pb.AbortGameRequest(game_id=game), metadata=bearer(self.client.organiser))
