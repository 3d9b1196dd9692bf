"""The desk's files and referee: the scribe's key, tokens of its games, players' names. No log has any of this."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from referee.games import registry
from referee.games.game import InputError, UnknownRules
from referee.log.errors import LogError
from referee.log.keys import PrivateKey
from referee.log.names import Person, Row, names_text, rows_of
from referee.log.note import VerifierKey
from referee_clients.sdk.channel import Security
from referee_clients.sdk.game_copy import GameCopy
from referee_clients.sdk.organiser import Table

KEY_FILE, ARBITER_FILE, GAMES_FILE, NAMES_FILE, REFEREE = (
    "scribe.pem",
    "arbiter.pem",
    "games.json",
    "names.csv",
    "referee",
)
_OLD_NAMES = "names.json"
"""Names that an earlier desk wrote: by game, as a list."""
MOST_OF_A_NAME = 20
"""Characters."""


class FolderError(Exception):
    """The folder cannot be used; the message has the fault, in one line."""


@dataclass(frozen=True, slots=True)
class Known:
    """A game that was opened at this desk."""

    game_id: str
    rules_id: str
    server: str
    """The address of its referee; empty for the desk's own."""
    token: str = field(repr=False)
    verifier: str
    arbiter_token: str = field(repr=False, default="")
    """Empty for a game without an arbiter."""


class Folder:
    """All files are readable by their owner only; each is replaced as a whole."""

    def __init__(self, path: Path, arbiter_key: Path | None = None) -> None:
        """Make what is not there. ``arbiter_key``: kept elsewhere. Raise ``FolderError``."""
        self.path = path
        self._arbiter_path = arbiter_key or path / ARBITER_FILE
        if arbiter_key is not None and not arbiter_key.exists():
            raise FolderError(f"{arbiter_key}: no such file; referee keys FILE --new makes a key")
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.key = _key(path / KEY_FILE)
        except OSError as error:
            raise FolderError(f"{error.filename}: {error.strerror}") from None
        except LogError as error:
            raise FolderError(f"{error.what}; expected {error.expected}") from None
        games = _read(path / GAMES_FILE)
        try:
            self._games = {game_id: Known(game_id, **fields) for game_id, fields in games.items()}
            for game in self._games.values():
                registry.get(game.rules_id)
                VerifierKey.parse(game.verifier)
        except (TypeError, AttributeError, UnknownRules, LogError):
            raise FolderError(f"{path / GAMES_FILE}: not what the desk wrote") from None
        self._old_names: Mapping[str, Any] = _read(path / _OLD_NAMES)
        self._names = _names_in(path / NAMES_FILE)

    def arbiter(self, *, make: bool = False) -> PrivateKey | None:
        """Return the arbiter's key; None if there is none and it is not to be made. Raise ``FolderError``."""
        if not make and not self._arbiter_path.exists():
            return None
        try:
            key = _key(self._arbiter_path)
        except OSError as error:
            raise FolderError(f"{error.filename}: {error.strerror}") from None
        except LogError as error:
            raise FolderError(f"{error.what}; expected {error.expected}") from None
        if key.public.raw == self.key.public.raw:
            raise FolderError(f"{self._arbiter_path}: this is the scribe's key; expected another for the arbiter")
        return key

    @property
    def arbiter_file(self) -> Path:
        """Return the file of the arbiter's key, which may not exist yet."""
        return self._arbiter_path

    @property
    def referee(self) -> Path:
        """The data of the desk's own referee."""
        return self.path / REFEREE

    def games(self, server: str) -> list[Known]:
        """Return those at this referee, the newest first."""
        return [game for game in reversed(self._games.values()) if game.server == server]

    def add(self, table: Table, rules_id: str, server: str, people: Mapping[int, Person]) -> Known:
        """Return a game that has just been opened; its verifier key is written as well. Raise ``FolderError``."""
        known = Known(table.game_id, rules_id, server, table.token, table.verifier, table.arbiter_token)
        self._games[known.game_id] = known
        games = {game_id: asdict(game) for game_id, game in self._games.items()}
        _write(self.path / GAMES_FILE, {game_id: _without_id(fields) for game_id, fields in games.items()})
        self._names += [Row(seat + 1, person, known.game_id) for seat, person in people.items()]
        _write_text(self.path / NAMES_FILE, names_text(self._names))
        try:
            self.key_file(known.game_id).write_text(f"{known.verifier}\n", encoding="utf-8")
        except OSError as error:
            raise FolderError(f"{error.filename}: {error.strerror}") from None
        return known

    def names(self, game_id: str, seats: int) -> tuple[str, ...]:
        """Return the names by seat, empty for none. The file may be edited, so it is believed only so far."""
        old = self._old_names.get(game_id)
        listed = enumerate(old) if isinstance(old, list) else ()
        kept = {seat: name for seat, name in listed if isinstance(name, str)}
        kept |= {row.number - 1: row.person.name for row in self._names if row.game == game_id}
        return tuple(shown_name(kept.get(seat, "")) for seat in range(seats))

    def log_file(self, game_id: str) -> Path:
        return self.path / f"{game_id}.gamelog"

    def copy(self, game_id: str) -> GameCopy:
        """Return the desk's copy of a game while that is played; ``log_file`` is the one of afterwards."""
        return GameCopy(self.path, game_id, "desk", keeps_end=False)

    def key_file(self, game_id: str) -> Path:
        """Return the referee's verifier key, beside the game's file."""
        return self.path / f"{game_id}.vkey"


def shown_name(name: str) -> str:
    """Return the part of a name that fits."""
    return "".join(letter for letter in name if letter.isprintable()).strip()[:MOST_OF_A_NAME]


def _key(path: Path) -> PrivateKey:
    if path.exists():
        return PrivateKey.load(path)
    key = PrivateKey.generate()
    key.save(path)
    return key


def _without_id(fields: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in fields.items() if name != "game_id"}


def _read(path: Path) -> Mapping[str, Any]:
    """Return the file's object; empty if there is none. Raise ``FolderError``."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise FolderError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise FolderError(f"{path}: not JSON ({error})") from None
    if not isinstance(found, dict):
        raise FolderError(f"{path}: not what the desk wrote")
    return found


def _names_in(path: Path) -> list[Row]:
    """Return the names that the desk wrote. Raise ``FolderError``."""
    try:
        return rows_of(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise FolderError(f"{path}: {error.strerror}") from None
    except (UnicodeDecodeError, InputError) as error:
        raise FolderError(f"{path}: {error}") from None


def _write(path: Path, value: object) -> None:
    """Whole or not at all. Raise ``FolderError``."""
    _write_text(path, json.dumps(value, indent=1, ensure_ascii=False))


def _write_text(path: Path, text: str) -> None:
    """Whole or not at all. Raise ``FolderError``."""
    part = path.with_name(f"{path.name}.part")
    try:
        part.unlink(missing_ok=True)
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise FolderError(f"{path}: {error.strerror}") from None


ReadComponents = Callable[[str, Path], bytes]
"""The exact bytes of a game's components, from a file. Raises ``ValueError``, in words."""


@dataclass(frozen=True, slots=True)
class Place:
    """The referee of the desk's games."""

    address: str
    token: str = field(repr=False)
    """The organiser's, which opens games; empty: none can be opened."""
    security: Security
    server: str = ""
    """The address in the scribe's words; empty for the desk's own."""
