"""A club whose games are ruled on by commands."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from referee.games.game import Decision
from referee.log.keys import PrivateKey
from referee.v1 import game_service_pb2 as pb
from tests import one_loop
from tests.cli import inside
from tests.cli.command import REFEREE
from tests.server.service.player import SCRIBE, Play, connected, seat_key


def here(*words: object, typed: str = "") -> tuple[int, str, str]:
    """Run the command: exit code, standard output, standard error."""
    done = inside.referee(*words, stdin=typed)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="session")
def club(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Club]:
    path = tmp_path_factory.mktemp("club")
    words: list[str | Path] = [REFEREE, "serve", "--data", path / "data", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield Club(path, process.stdout.readline().strip().removeprefix("listening on "))
        finally:
            process.terminate()


@dataclass
class Club:
    """A referee in a process of its own, with the keys of its players, scribes and arbiters."""

    path: Path
    address: str
    keys: dict[str, Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        made = {"scribe": SCRIBE, "seat0": seat_key(0), "seat1": seat_key(1)}
        for number in range(2):
            made[f"arbiter{number}"] = PrivateKey(bytes([number + 1]) * 32)
        for name, key in made.items():
            self.keys[name] = self.path / f"{name}.pem"
            key.save(self.keys[name])

    def new(self, *words: object) -> Game:
        arbiters = [word for number in range(2) for word in ("--arbiter-key", self.keys[f"arbiter{number}"])]
        code, text, error = here(
            "new", "--server", self.address, "--data", self.path / "data", "--json", *arbiters, *words
        )
        assert (code, error.startswith("warning: these join strings work on this machine only")) == (0, True)
        return Game(self, json.loads(text))


@dataclass
class Game:
    """One that was opened by command."""

    club: Club
    created: dict[str, Any]

    @property
    def id(self) -> str:
        return str(self.created["game"])

    def by(self, who: str, key: str = "") -> list[object]:
        """Return the options of an actor: the address, token and key."""
        token = self.club.path / f"{self.id}.{who}"
        if not token.exists():
            token.write_text(self.created[f"{who}_token"])
        return ["--server", self.club.address, "--token-file", token, "--key", self.club.keys[key or who]]

    def play(self, done: Callable[[Play], bool]) -> Play:
        """Goes on until then, everybody in one hand."""

        async def run() -> Play:
            async with connected(self.club.address, "") as client:
                game = (await client.games.GetGame(pb.GetGameRequest(game_id=self.id))).game
                joins = [self.created["joins"].get(str(seat), "") for seat in range(len(game.seats))]
                tokens = [join.rpartition("#")[2] for join in joins]
                created = pb.CreateGameResponse(
                    game=game,
                    seat_tokens=tokens,
                    scribe_token=self.created["scribe_token"],
                    verifier_key=self.created["verifier_key"],
                )
                play = Play(client, created, random.Random(1))
                await play.catch_up(game.size)
                while not done(play):
                    assert await play.step()
                return play

        return one_loop.run(run())

    def until(self, kind: str) -> Play:
        def awaited(play: Play) -> bool:
            found = play.record.game.position.pending()[0]
            return isinstance(found, Decision) and kind in found.kinds

        return self.play(awaited)


def declared(club: Club, *words: object) -> Game:
    """At a physical table of three."""
    scribed = [word for seat in range(3) for word in ("--scribed", seat)]
    key = club.keys["scribe"]
    return club.new("--rules", "kingdomino", "--seats", 3, "--declare", key, *scribed, *words)
