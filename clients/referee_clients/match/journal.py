"""The journal of a match, ``games.jsonl``: its first line is the configuration, every other one a game that is over.

A match keeps nothing else; every report is computed from the journal. A line is on disk before the game counts, and
games stand in the order of the schedule: so the games after the last line are missing.
"""

from __future__ import annotations

import fcntl
import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from referee.games.game import Ending
from referee.log.file import regular
from referee_clients.match.game import FAULTS, Act, Outcome
from referee_clients.match.worker import Task

NAME: Final = "games.jsonl"
FORMAT: Final = 2
_ENCODE: Final = json.JSONEncoder(separators=(",", ":")).encode


class JournalError(ValueError):
    """The journal cannot be used; the message has the fault, its place, and the expected text."""


@dataclass(frozen=True, slots=True)
class Game:
    """A game that is over."""

    task: Task
    ending: Ending
    scores: tuple[int, ...]
    places: tuple[int, ...]
    turns: int
    out: Mapping[int, Ending]
    """Seats that lost before the end and how, in that order."""
    acts: tuple[Act, ...]
    position: str
    times: tuple[Mapping[int, int], ...] = field(compare=False)
    """Per seat: the number of decisions in each ``bucket`` of time."""

    @classmethod
    def of(cls, task: Task, outcome: Outcome) -> Game:
        """Return what is kept of a game."""
        return cls(
            task,
            outcome.ending,
            outcome.scores,
            outcome.places,
            outcome.turns,
            outcome.out,
            outcome.acts,
            outcome.position,
            outcome.times,
        )

    @property
    def faulty(self) -> frozenset[int]:
        """Bots that lost a seat by a fault."""
        return frozenset(self.task.seats[seat] for seat, ending in self.out.items() if ending in FAULTS)

    def to_json(self) -> dict[str, Any]:
        """Return the line, without its checksum."""
        return {
            "block": self.task.block,
            "rot": self.task.rotation,
            "seats": self.task.seats,
            "ending": self.ending.name,
            "scores": self.scores,
            "places": self.places,
            "turns": self.turns,
            "out": [[seat, ending.name] for seat, ending in self.out.items()],
            "acts": self.acts,
            "position": self.position,
            "times": [{str(number): count for number, count in sorted(each.items())} for each in self.times],
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Game:
        """Return the game of a line. Raise ``KeyError``, ``TypeError`` or ``ValueError``."""
        return cls(
            Task(told["block"], told["rot"], tuple(told["seats"])),
            Ending[told["ending"]],
            tuple(told["scores"]),
            tuple(told["places"]),
            told["turns"],
            {seat: Ending[name] for seat, name in told["out"]},
            tuple(told["acts"]),
            told["position"],
            tuple({int(number): count for number, count in each.items()} for each in told["times"]),
        )


def line(told: Mapping[str, Any]) -> bytes:
    """Return a line of the journal: an object whose last member is the CRC-32 of the text before it."""
    body = _ENCODE(told)[:-1]
    return f'{body},"crc":"{zlib.crc32(body.encode()):08x}"}}\n'.encode()


def unline(data: bytes) -> dict[str, Any]:
    """Return what a line says. Raise ``ValueError`` if it is damaged."""
    told = json.loads(data)
    if type(told) is not dict or line({name: value for name, value in told.items() if name != "crc"}) != data:
        raise ValueError("damaged")
    del told["crc"]
    return told


def config_hash(config: Mapping[str, Any]) -> str:
    """Return what identifies a match's configuration."""
    return sha256(json.dumps(config, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:32]


class Journal:
    """The journal of one match, locked against other writers."""

    def __init__(self, path: Path, config: Mapping[str, Any], games: Sequence[Game]) -> None:
        self.path = path
        self.config = config
        self.games = tuple(games)
        """The games that were there when it was opened."""
        self._stream = path.open("ab")

    @classmethod
    @contextmanager
    def create(cls, folder: Path, config: Mapping[str, Any], games: Sequence[Game] = ()) -> Iterator[Journal]:
        """Begin a match, of which these games are over. Raise ``JournalError`` if the folder has one, ``OSError``."""
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder):
            path = folder / NAME
            if path.exists():
                raise JournalError(
                    f"{path}: there is a match already; resume it with --resume {folder}, or name a new folder"
                )
            made = path.with_suffix(".new")
            with made.open("wb") as stream:
                stream.write(line({"match": FORMAT, "hash": config_hash(config), **config}))
                stream.writelines(line(game.to_json()) for game in games)
                stream.flush()
                os.fsync(stream.fileno())
            made.rename(path)
            _sync(folder)
            journal = cls(path, config, games)
            try:
                yield journal
            finally:
                journal._stream.close()

    @classmethod
    @contextmanager
    def passing(cls, config: Mapping[str, Any], games: Sequence[Game] = ()) -> Iterator[Journal]:
        """Begin a match of which nothing is kept; these games are over. Raise ``OSError``."""
        with TemporaryDirectory(prefix="referee-match-") as folder, cls.create(Path(folder), config, games) as journal:
            yield journal

    @classmethod
    @contextmanager
    def resume(cls, folder: Path) -> Iterator[Journal]:
        """Go on with a match; a last line that was not written to its end is cut off.

        Raise ``JournalError``, ``OSError``.
        """
        with _locked(folder):
            path = folder / NAME
            config, games, end = _read(path)
            if end < path.stat().st_size:
                with path.open("r+b") as stream:
                    stream.truncate(end)
                    os.fsync(stream.fileno())
            journal = cls(path, config, games)
            try:
                yield journal
            finally:
                journal._stream.close()

    def append(self, games: Sequence[Game]) -> None:
        """Write games; they are on disk when this returns. Raise ``OSError``."""
        self._stream.write(b"".join(line(game.to_json()) for game in games))
        self._stream.flush()
        os.fsync(self._stream.fileno())


def read(folder: Path) -> tuple[dict[str, Any], list[Game]]:
    """Return a match's configuration and games, while it may be played on. Raise ``JournalError``, ``OSError``."""
    config, games, _ = _read(folder / NAME)
    return config, games


def _read(path: Path) -> tuple[dict[str, Any], list[Game], int]:
    """Return the configuration, the games, and where the last whole line ends."""
    try:
        with regular(path) as stream:
            data = stream.read()
    except FileNotFoundError:
        raise JournalError(f"{path}: there is no match in this folder") from None
    lines = data.split(b"\n")
    whole, end = lines[:-1], len(data) - len(lines[-1])
    found: list[dict[str, Any]] = []
    for number, each in enumerate(whole, 1):
        try:
            found.append(unline(each + b"\n"))
        except ValueError:
            if number == len(whole) > 1:
                end -= len(each) + 1
                break
            raise JournalError(
                f"{path}: line {number} is damaged; without it and what follows it, --resume plays those games again"
                if number > 1
                else f"{path}: the first line is damaged, or no match's; expected a configuration with its checksum"
            ) from None
    if not found:
        raise JournalError(f"{path}: it is empty; expected a match's configuration")
    config = found[0]
    if config.pop("match", None) != FORMAT or config.pop("hash", None) != config_hash(config):
        raise JournalError(f"{path}: the configuration is not the one that the match began with, or of another version")
    try:
        return config, [Game.from_json(each) for each in found[1:]], end
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise JournalError(f"{path}: a line is no game of this version ({type(error).__name__}: {error})") from None


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Raise ``JournalError`` if another process plays this match."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        raise JournalError(f"{folder}: there is no such folder") from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise JournalError(f"{folder}: another process plays this match; wait for it, or end it") from None
        yield
    finally:
        os.close(descriptor)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
