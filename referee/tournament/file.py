"""The file of a tournament, and the folder that its organiser keeps beside it: keys, the seed, names.

``NAME.eventlog`` is public: a log as docs/log-format.md has it, whole after each command. ``NAME.private`` is for the
organiser alone. If a referee on the network keeps the tournament, the file mirrors what that has. Raises ``LogError``,
``OSError`` for files, and what a ``Keeper`` raises.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from referee.games.game import InputError
from referee.log.deck import SEED_BYTES
from referee.log.errors import Code, LogError
from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner
from referee.log.replay import Record
from referee.tournament.log import AwayLog, EventLog, Home, Keeper, parts_of
from referee.tournament.names import Names
from referee.tournament.rules import Terms
from referee.tournament.rules.position import commitment

SUFFIX: Final = ".eventlog"
_ORGANISER, _REFEREE, _SEED, _NAMES, _HOME = "organiser.pem", "referee.pem", "seed", "names.csv", "referee.json"


class EventFile:
    """The file of an event, and the folder beside it."""

    def __init__(self, path: Path, keeper: Keeper | None = None) -> None:
        """``keeper``: reaches the referee that keeps the event, if one does."""
        self.path = path
        self.private = path.with_suffix(".private")
        self.log: EventLog
        self.names: Names
        self._keeper = keeper
        self._is_in_doubt = False
        """True if sending broke off: the referee may have more acts than this log, and the new names are only on
        disk."""

    @classmethod
    def create(
        cls, path: Path, terms: Terms, seed: bytes, keeper: Keeper | None = None, *, arbiters: Sequence[bytes] = ()
    ) -> EventFile:
        """Begin an event whose terms commit to ``seed``, at the keeper's referee if there is one.

        ``arbiters``: public keys of others who may sign acts.

        Raise ``FileExistsError``: none is replaced.
        """
        made = cls(path, keeper)
        if path.exists():
            raise FileExistsError(17, "File exists", str(path))
        made.private.mkdir(mode=0o700)
        try:
            made._begin(terms, seed, arbiters)
        except BaseException:
            # The key of an event that may have been begun is on no other machine.
            shutil.rmtree(made.private)
            raise
        _write(path.with_suffix(".vkey"), f"{made.verifier}\n".encode(), mode=0o644)
        made.save()
        return made

    def _begin(self, terms: Terms, seed: bytes, arbiters: Sequence[bytes]) -> None:
        key = PrivateKey.generate()
        key.save(self.private / _ORGANISER)
        _write(self.private / _SEED, f"{seed.hex()}\n".encode())
        self.names = Names({})
        if self._keeper is None:
            PrivateKey.generate().save(self.private / _REFEREE)
            self.log = EventLog.new(terms, key, arbiters=arbiters)
        else:
            home, self.log = self._keeper.begin(terms, key, arbiters)
            _write(self.private / _HOME, home.to_json().encode())

    @classmethod
    @contextmanager
    def opened(cls, path: Path, keeper: Keeper | None = None) -> Iterator[EventFile]:
        """Read an event to enter acts, and lock it meanwhile. ``save`` keeps the new acts.

        Raise ``BlockingIOError`` if another process has it open.
        """
        made = cls(path, keeper)
        descriptor = os.open(made.private, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            made._read(PrivateKey.load(made.private / _ORGANISER))
            size = made.log.record.size
            made.follow()
            if made.log.record.size > size:
                made._write_file()
            yield made
        finally:
            os.close(descriptor)

    @classmethod
    def read_only(cls, path: Path, keeper: Keeper | None = None) -> EventFile:
        """Read an event to look at it; names are there if the organiser's folder is."""
        made = cls(path, keeper)
        made._read(PrivateKey.generate())
        return made

    def _read(self, key: PrivateKey) -> None:
        header, entries, note = read(self.path)
        record = Record.replay(entries)
        is_away = self.home is not None
        self.log = AwayLog(header, record, entries, key, note) if is_away else EventLog(header, record, entries, key)
        self.names = Names.read(self.private / _NAMES).of(self.log.state.entrants)

    def follow(self, *, waits: bool = True) -> None:
        """Take over what others entered, if a referee keeps the event. Raise ``InputError`` if none can be reached.

        ``waits``: for a referee that is away.
        """
        if isinstance(self.log, AwayLog) and (home := self.home) is not None:
            if self._keeper is None:
                raise InputError(
                    str(self.path), f"the referee at {home.server} keeps it", "an event of this file alone"
                )
            self._keeper.follow(home, self.log, waits=waits)
            self.names = Names.read(self.private / _NAMES).of(self.log.state.entrants)
            self._is_in_doubt = False

    @property
    def home(self) -> Home | None:
        """The referee that keeps the event; None: this file is all there is. Raise ``InputError``."""
        try:
            path = self.private / _HOME
            return Home.of_json(path.read_text(encoding="utf-8"), str(path))
        except FileNotFoundError:
            return None

    @property
    def seed(self) -> bytes:
        """The seed to which the terms commit."""
        return bytes.fromhex((self.private / _SEED).read_text(encoding="ascii"))

    @property
    def verifier(self) -> str:
        """The key with which the file is checked."""
        home = self.home
        return str(self.signer.verifier) if home is None else home.verifier

    @property
    def signer(self) -> CheckpointSigner:
        """The signer of the log's head."""
        return CheckpointSigner(self.path.stem if self.path.stem.isalnum() else "event", self._referee)

    @property
    def _referee(self) -> PrivateKey:
        return PrivateKey.load(self.private / _REFEREE)

    @contextmanager
    def entering(self) -> Iterator[None]:
        """Keep what is entered within, if nothing goes wrong: all of it or nothing.

        After something that was sent broke off, the referee is asked first what it took.
        """
        if self._is_in_doubt:
            self.follow()
        size = self.log.record.size
        try:
            yield
            self.save()
        except BaseException:
            self.log = self.log.without(size)
            self.names = self.names.of(self.log.state.entrants)
            raise

    def save(self) -> None:
        """Put the file in the place of the one before, whole or not at all; names first, as entries rest on them.

        Of an event that a referee keeps, what was entered is sent before. If that breaks off, the file has what the
        referee took.
        """
        _write(self.private / _NAMES, self.names.csv().encode())
        if self._keeper is not None and isinstance(self.log, AwayLog) and (home := self.home) is not None:
            self._is_in_doubt = True
            try:
                self._keeper.send(home, self.log)
                self._is_in_doubt = False
            finally:
                self._write_file()
        else:
            self._write_file()

    def _write_file(self) -> None:
        log = self.log
        data = log.file_with(log.note) if isinstance(log, AwayLog) else log.file(self.signer)
        _write(self.path, data, mode=0o644)


def new_seed() -> tuple[bytes, bytes]:
    """Return an organiser's seed, and the commitment to it for the terms."""
    seed = secrets.token_bytes(SEED_BYTES)
    return seed, commitment(seed)


def read(path: Path) -> tuple[bytes, list[bytes], bytes]:
    """Return header, entries and the signed head of a whole event file. Raise ``LogError``."""
    with path.open("rb") as stream:
        parts = parts_of(stream)
    if not parts.is_whole:
        raise LogError(Code.TORN, "the file was cut", "a file up to END")
    return parts.header, parts.entries, parts.note


def _write(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Replace a file at once, so that a crash leaves the old one or the new one."""
    new = path.with_name(f"{path.name}.new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, mode)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    new.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
