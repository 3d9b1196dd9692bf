"""An event's file, and what its organiser keeps beside it: keys, the seed, names.

``NAME.eventlog`` is for everybody: a log as docs/log-format.md has it, whole after each command. ``NAME.private`` is a
folder for the organiser alone. Raises ``LogError``, and ``OSError`` for files.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Final, cast

from referee import __version__, dealer
from referee.events.names import Names
from referee.games.event import GAME, State, Terms
from referee.games.event.acts import Act
from referee.games.event.position import commitment
from referee.log import file, intent
from referee.log.deck import SEED_BYTES
from referee.log.endings import end_message
from referee.log.engines import Engines
from referee.log.entry import FORMAT_VERSION, NONCE_BYTES, Clock, Written
from referee.log.errors import Code, LogError
from referee.log.frames import FrameType
from referee.log.header import build_header, header_hash
from referee.log.intent import Author, Role
from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.wire import strict
from referee.wire.event import CODECS

SUFFIX: Final = ".eventlog"
_DESK: Final = Author(Role.SCRIBE, 0)
_CODEC: Final = CODECS[GAME.version]
_ORGANISER, _REFEREE, _SEED, _NAMES = "organiser.pem", "referee.pem", "seed", "names.csv"


class EventLog:
    """An event as it is entered: its record, and the exact bytes of the entries. Knows no file."""

    def __init__(self, header: bytes, record: Record, entries: list[bytes], key: PrivateKey) -> None:
        """``key``: the organiser's, who signs every act."""
        self.header = header
        self.record = record
        self.entries = entries
        self._key = key

    @classmethod
    def new(cls, terms: Terms, key: PrivateKey, engines: Engines | None = None) -> EventLog:
        """Begin an event. Raise ``LogError``."""
        header, opened = opening(_CODEC.encode_components(terms), [key.public.raw], f"tile-referee {__version__}")
        record, written = Record.start(strict.encode(opened), _now(), engines=engines)
        return cls(header, record, [written.data], key)

    @property
    def state(self) -> State:
        """The event as it is. It must not be changed."""
        return cast("State", self.record.game.position.state)

    @property
    def event_id(self) -> int:
        """By which the event's games name it."""
        return event_id(self.record.game_id)

    def enter(self, act: Act) -> None:
        """Sign an act and enter it. Raise ``LogError``; ``RulesError`` with every rule that it breaks."""
        data = _CODEC.encode_move(act, self.state.terms)
        self._keep(self.record.admit(intent.move(self.record.place, _DESK, self._key, data), _now(self.record.last_ms)))
        if (end := self.record.game.reached()) is not None:
            self._keep(self.record.write(end_message(end), _now(self.record.last_ms)))

    def up_to(self, size: int) -> EventLog:
        """Return another of its first so many entries."""
        entries = self.entries[:size]
        return EventLog(self.header, Record.replay(entries), entries, self._key)

    def _keep(self, written: Written) -> None:
        self.entries.append(written.data)

    def file(self, signer: CheckpointSigner) -> bytes:
        """Return the file."""
        stream = BytesIO()
        writer = file.Writer(stream)
        writer.header(self.header)
        for entry in self.entries:
            writer.entry(entry)
        writer.end(signer.sign(self.record.game_id, self.record.size, self.record.root()))
        return stream.getvalue()


def opening(terms: bytes, organisers: Sequence[bytes], producer: str) -> tuple[bytes, log_pb2.GameOpen]:
    """Return the header of a new event's file, and what it is opened with.

    ``terms``: their exact bytes; ``organisers``: public keys of those who enter acts.
    """
    header = build_header(GAME.rules_id, GAME.version, GAME.catalogue, _CODEC.signed_file(), producer)
    opened = log_pb2.GameOpen(
        format_version=FORMAT_VERSION,
        rules_id=GAME.rules_id,
        rules_version=GAME.version,
        tables=terms,
        seats=[log_pb2.Seat(scribed=True)],
        scribe_keys=organisers,
        nonce=secrets.token_bytes(NONCE_BYTES),
        header_hash=header_hash(header),
    )
    dealer.declare(opened, _DESK.index)
    return header, opened


def event_id(game_id: bytes) -> int:
    """Return the number by which games name the event of this log."""
    return int.from_bytes(game_id[:8], "big") >> 1


class EventFile:
    """The file of an event, and the folder beside it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.private = path.with_suffix(".private")
        self.log: EventLog
        self.names: Names

    @classmethod
    def create(cls, path: Path, terms: Terms, seed: bytes) -> EventFile:
        """Begin an event whose terms commit to ``seed``. Raise ``FileExistsError``: none is replaced."""
        made = cls(path)
        if path.exists():
            raise FileExistsError(17, "File exists", str(path))
        made.private.mkdir(mode=0o700)
        for name in (_ORGANISER, _REFEREE):
            PrivateKey.generate().save(made.private / name)
        _write(made.private / _SEED, f"{seed.hex()}\n".encode())
        made.names = Names({})
        made.log = EventLog.new(terms, PrivateKey.load(made.private / _ORGANISER))
        _write(path.with_suffix(".vkey"), f"{made.signer.verifier}\n".encode(), mode=0o644)
        made.save()
        return made

    @classmethod
    @contextmanager
    def opened(cls, path: Path) -> Iterator[EventFile]:
        """Read an event to enter acts; nobody else can as long. What was entered is kept by ``save``.

        Raise ``BlockingIOError`` if somebody else does.
        """
        made = cls(path)
        descriptor = os.open(made.private, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            header, entries = read(path)
            record = Record.replay(entries)
            made.log = EventLog(header, record, entries, PrivateKey.load(made.private / _ORGANISER))
            made.names = Names.read(made.private / _NAMES).of(made.log.state.entrants)
            yield made
        finally:
            os.close(descriptor)

    @classmethod
    def read_only(cls, path: Path) -> EventFile:
        """Read an event to look at it; names are there if the organiser's folder is."""
        made = cls(path)
        header, entries = read(path)
        made.log = EventLog(header, Record.replay(entries), entries, PrivateKey.generate())
        made.names = Names.read(made.private / _NAMES).of(made.log.state.entrants)
        return made

    @property
    def seed(self) -> bytes:
        """What the terms commit to."""
        return bytes.fromhex((self.private / _SEED).read_text(encoding="ascii"))

    @property
    def signer(self) -> CheckpointSigner:
        """Who signs the head of the log."""
        return CheckpointSigner(self.path.stem if self.path.stem.isalnum() else "event", self._referee)

    @property
    def _referee(self) -> PrivateKey:
        return PrivateKey.load(self.private / _REFEREE)

    @contextmanager
    def entering(self) -> Iterator[None]:
        """Keep what is entered within, if nothing goes wrong: all of it or nothing."""
        names, size = self.names, len(self.log.entries)
        try:
            yield
            self.save()
        except BaseException:
            self.names = names
            if len(self.log.entries) > size:
                self.log = self.log.up_to(size)
            raise

    def save(self) -> None:
        """Put the file in the place of the one before, whole or not at all; names first, as entries rest on them."""
        _write(self.private / _NAMES, self.names.csv().encode())
        _write(self.path, self.log.file(self.signer), mode=0o644)


def new_seed() -> tuple[bytes, bytes]:
    """Return an organiser's seed, and the commitment to it for the terms."""
    seed = secrets.token_bytes(SEED_BYTES)
    return seed, commitment(seed)


def read(path: Path) -> tuple[bytes, list[bytes]]:
    """Return header and entries of a whole event file. Raise ``LogError``."""
    header, entries, ended = b"", [], False
    with path.open("rb") as stream:
        for frame in file.read(stream):
            match frame.type:
                case FrameType.HEADER:
                    header = frame.payload
                case FrameType.ENTRY:
                    entries.append(frame.payload)
                case FrameType.END:
                    ended = True
    if not ended:
        raise LogError(Code.TORN, "the file was cut", "a file up to END")
    return header, entries


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


def _now(earliest: int = 0) -> Clock:
    """Not before the entry before, whatever becomes of this machine's clock."""
    return Clock(max(time.time_ns() // 1_000_000, earliest))
