"""An event that a referee on the network keeps: its acts are judged here first, and sent when all of them are allowed.

The file beside the organiser mirrors what the referee has. Knows no network: who does is given as a ``Keeper``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Final, Protocol

from referee.games.game import InputError
from referee.log import intent
from referee.log.errors import RulesError
from referee.log.heads import check_head
from referee.log.intent import Place, SignedIntent
from referee.log.keys import PrivateKey
from referee.log.note import VerifierKey, open_checkpoint
from referee.log.replay import Record
from referee.tournament.log import EventLog, encoded
from referee.tournament.rules import State, Terms
from referee.tournament.rules.acts import Act

_FIELDS: Final = ("server", "token", "verifier", "ca", "certificate", "key", "insecure")


@dataclass(frozen=True)
class Home:
    """The referee that keeps an event, and what its organiser shows there."""

    server: str
    token: str = field(repr=False)
    """With which acts are sent."""
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
    """What the referee has of the event, and the acts that it is to have."""

    def __init__(self, header: bytes, record: Record, entries: list[bytes], key: PrivateKey, note: bytes = b"") -> None:
        """``note``: the referee's checkpoint of the newest entry."""
        super().__init__(header, record, entries, key)
        self.note = note
        self.acts: list[Act] = []
        """To be sent, in order."""
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
    """How an event is reached that a referee keeps."""

    def begin(self, terms: Terms, key: PrivateKey, arbiters: Sequence[bytes]) -> tuple[Home, AwayLog]:
        """Begin an event, whose organiser has the key, and its arbiters those."""
        ...

    def follow(self, home: Home, log: AwayLog, *, waits: bool = True) -> None:
        """Take over what the log lacks. ``waits``: for a referee that is away."""
        ...

    def send(self, home: Home, log: AwayLog) -> None:
        """Send the log's acts in order, and take over what they became; each is entered once, whatever breaks."""
        ...
