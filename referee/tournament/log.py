"""The log of a tournament: its record and entries, kept here or by a referee elsewhere. Knows no file, no network."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from io import BytesIO
from typing import BinaryIO, Final, NamedTuple, Protocol, cast

import referee as program
from referee import dealer
from referee.games.game import InputError
from referee.log import file, intent
from referee.log.codec import end_message
from referee.log.engines import Engines
from referee.log.entry import FORMAT_VERSION, NONCE_BYTES, Clock, Written
from referee.log.errors import Code, LogError, RulesError
from referee.log.events import Author, Role
from referee.log.file import FrameType
from referee.log.header import build_header, header_hash
from referee.log.heads import check_head
from referee.log.intent import Place, SignedIntent
from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner, VerifierKey, open_checkpoint
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.tournament.rules import TOURNAMENT, State, Terms
from referee.tournament.rules.acts import Act
from referee.tournament.wire import CODECS
from referee.wire import strict

DESK: Final = Author(Role.SCRIBE, 0)
_CODEC: Final = CODECS[TOURNAMENT.version]
_ANY: Final = Terms()
"""Acts are encoded alike, whatever the terms."""


class EventLog:
    """An event as it is entered: its record, and the exact bytes of the entries. Knows no file."""

    def __init__(self, header: bytes, record: Record, entries: list[bytes], key: PrivateKey) -> None:
        """``key``: the key that signs acts, the organiser's or an arbiter's."""
        self.header = header
        self.record = record
        self.entries = entries
        self.key = key

    @classmethod
    def new(
        cls, terms: Terms, key: PrivateKey, engines: Engines | None = None, *, arbiters: Sequence[bytes] = ()
    ) -> EventLog:
        """Begin an event. ``arbiters``: public keys of others who may sign acts. Raise ``LogError``."""
        header, opened = opening(terms_data(terms), [key.public.raw, *arbiters], f"tile-referee {program.__version__}")
        record, written = Record.start(strict.encode(opened), _now(), engines=engines)
        return cls(header, record, [written.data], key)

    @property
    def state(self) -> State:
        """The event as it is. It must not be changed."""
        return cast("State", self.record.game.position.state)

    @property
    def event_id(self) -> int:
        """The number by which the event's games name it."""
        return event_id(self.record.game_id)

    @property
    def author(self) -> Author:
        """The owner of the key: the organiser is scribe 0, arbiters come after. Raise ``LogError`` for any other
        key."""
        keys = list(self.record.opened.scribe_keys)
        if self.key.public.raw not in keys:
            what = "the key is neither the organiser's nor an arbiter's of this event"
            raise LogError(Code.AUTHOR, what, "one that `event new` named")
        return Author(DESK.role, keys.index(self.key.public.raw))

    def enter(self, act: Act) -> None:
        """Sign an act and enter it. Raise ``LogError``; ``RulesError`` with every rule that it breaks."""
        if self.record.game.is_over:
            raise RulesError(self.state.check(act))
        signed = intent.move(self.record.place, self.author, self.key, encoded(act))
        self._keep(self.record.admit(signed, _now(self.record.last_ms)))
        if (end := self.record.game.reached()) is not None:
            self._keep(self.record.write(end_message(end), _now(self.record.last_ms)))

    def without(self, size: int) -> EventLog:
        """Return the log without the entries after its first ``size``, which were not kept."""
        return self.up_to(size) if self.record.size > size else self

    def up_to(self, size: int) -> EventLog:
        """Return a log of its first ``size`` entries."""
        entries = self.entries[:size]
        return EventLog(self.header, Record.replay(entries), entries, self.key)

    def _keep(self, written: Written) -> None:
        self.entries.append(written.data)

    def file(self, signer: CheckpointSigner) -> bytes:
        """Return the file, with a head that is signed now."""
        return self.file_with(signer.sign(self.record.game_id, self.record.size, self.record.root()))

    def file_with(self, note: bytes) -> bytes:
        """Return the file. ``note``: the signed head of the log."""
        stream = BytesIO()
        writer = file.Writer(stream)
        writer.header(self.header)
        for entry in self.entries:
            writer.entry(entry)
        writer.end(note)
        return stream.getvalue()


def encoded(act: Act) -> bytes:
    """Return the exact bytes of an act. Raise ``InputError`` if no bytes can say it."""
    try:
        return _CODEC.encode_move(act, _ANY)
    except ValueError:  # a number that the schema does not hold
        raise InputError("act", "a number that is too large", "numbers of an event") from None


def opening(terms: bytes, organisers: Sequence[bytes], producer: str) -> tuple[bytes, log_pb2.GameOpen]:
    """Return the header of a new event's file, and what it is opened with.

    ``terms``: their exact bytes; ``organisers``: public keys of those who enter acts.
    """
    header = build_header(TOURNAMENT.rules_id, TOURNAMENT.version, TOURNAMENT.catalogue, _CODEC.signed_file(), producer)
    opened = log_pb2.GameOpen(
        format_version=FORMAT_VERSION,
        rules_id=TOURNAMENT.rules_id,
        rules_version=TOURNAMENT.version,
        tables=terms,
        seats=[log_pb2.Seat(scribed=True)],
        scribe_keys=organisers,
        nonce=secrets.token_bytes(NONCE_BYTES),
        header_hash=header_hash(header),
    )
    dealer.declare(opened, DESK.index)
    return header, opened


class Parts(NamedTuple):
    """The parts of a file."""

    header: bytes
    entries: list[bytes]
    note: bytes
    """The newest checkpoint; empty without one."""
    is_whole: bool
    """True if it has END; the file of an unfinished event that a referee keeps has none."""


def parts_of(stream: BinaryIO) -> Parts:
    """Return the parts of an event's file. Raise ``LogError``."""
    header, entries, note, is_whole = b"", list[bytes](), b"", False
    for frame in file.read(stream):
        match frame.type:
            case FrameType.HEADER:
                header = frame.payload
            case FrameType.ENTRY:
                entries.append(frame.payload)
            case FrameType.CHECKPOINT | FrameType.OLD_CHECKPOINT:
                note = frame.payload
            case FrameType.END:
                is_whole = True
    return Parts(header, entries, note, is_whole)


def terms_data(terms: Terms) -> bytes:
    """Return the exact bytes of an event's terms."""
    return _CODEC.encode_components(terms)


def event_id(game_id: bytes) -> int:
    """Return the number by which games name the event of this log."""
    return int.from_bytes(game_id[:8], "big") >> 1


def _now(earliest: int = 0) -> Clock:
    """Return a time not before the previous entry, whatever this machine's clock shows."""
    return Clock(max(time.time_ns() // 1_000_000, earliest))


# An event that a referee on the network keeps: its acts are judged here first, and sent when all of them are allowed.
#
# The file beside the organiser mirrors what the referee has. Knows no network: who does is given as a ``Keeper``.

_FIELDS: Final = ("server", "token", "verifier", "ca", "certificate", "key", "insecure")


@dataclass(frozen=True)
class Home:
    """The referee that keeps an event, and what its organiser shows there."""

    server: str
    token: str = field(repr=False)
    """The token with which acts are sent."""
    verifier: str
    """The key of the event's checkpoints."""
    ca: str = ""
    """This and the two below: files for TLS."""
    certificate: str = ""
    key: str = ""
    insecure: bool = False

    def to_json(self) -> str:
        """Return what ``of_json`` reads."""
        return json.dumps(asdict(self), indent=1) + "\n"

    @classmethod
    def of_json(cls, text: str, where: str) -> Home:
        """Raise ``InputError``."""
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError):
            raise InputError(where, "it cannot be read", f"JSON with {', '.join(_FIELDS)}") from None


class AwayLog(EventLog):
    """The entries that the referee has of an event, and the acts to be sent to it."""

    def __init__(self, header: bytes, record: Record, entries: list[bytes], key: PrivateKey, note: bytes = b"") -> None:
        """``note``: the referee's checkpoint of the newest entry."""
        super().__init__(header, record, entries, key)
        self.note = note
        self.acts: list[Act] = []
        """The acts to be sent, in order."""
        self._ahead: State | None = None
        """The event after them."""

    @property
    def state(self) -> State:
        """The event as it will be."""
        return super().state if self._ahead is None else self._ahead

    def enter(self, act: Act) -> None:
        """Judge an act, and note it. Raise ``RulesError`` with every rule that it breaks."""
        if broken := self.state.check(act):
            raise RulesError(broken)
        ahead = self.state.copy()
        ahead.apply(act)
        self.acts.append(act)
        self._ahead = ahead

    def without(self, size: int) -> AwayLog:  # noqa: ARG002 - what the referee has stays
        """Return the log without the acts that are to be sent."""
        self.forget()
        return self

    def forget(self) -> None:
        """Drop the acts that are to be sent, or have been."""
        self.acts, self._ahead = [], None

    def signed(self, act: Act, place: Place) -> SignedIntent:
        """Return the act as it is sent. Raise ``LogError`` if the key is no organiser's of this event."""
        return intent.move(place, self.author, self.key, encoded(act))

    def take(self, entries: Sequence[bytes], note: bytes, verifier: VerifierKey) -> None:
        """Take over what the referee entered, as far as it is not there: checked in full. Raise ``LogError``."""
        for data in entries:
            self.record.read(data)
            self.entries.append(data)
        check_head(open_checkpoint(note, verifier), self.record.game_id, self.record.tree)
        self.note = note


class Keeper(Protocol):
    """The way to an event that a referee keeps."""

    def begin(self, terms: Terms, key: PrivateKey, arbiters: Sequence[bytes]) -> tuple[Home, AwayLog]:
        """Begin an event, whose organiser has the key, and its arbiters those."""
        ...

    def follow(self, home: Home, log: AwayLog, *, waits: bool = True) -> None:
        """Take over what the log lacks. ``waits``: for a referee that is away."""
        ...

    def send(self, home: Home, log: AwayLog) -> None:
        """Send the log's acts in order, and take over what they became; each is entered once, whatever breaks."""
        ...
