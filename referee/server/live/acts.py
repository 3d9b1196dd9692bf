"""Acts at a live game: an act, its answer and where that goes, and the errors that help its author."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

from referee.games.game import Violation
from referee.log.entry import Clock
from referee.log.errors import Code, LogError
from referee.log.events import Author, Role
from referee.log.intent import act_name, author_of
from referee.log.keys import key_id
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.server.live.refusals import MalformedIntent, MalformedMove, NotAwaited, WeakKey
from referee.server.live.view import awaited_text
from referee.server.live.watch import Commit, Watcher
from referee.server.store.store import StoreFailed
from referee.text.words.catalogue import phrase


class Accepted(NamedTuple):
    """The entry that an act became, and the receipt for the history up to what followed it at once."""

    seq: int
    note: bytes
    size: int
    head: bytes
    clock: Clock
    """The clock of that entry."""
    repeated: bool = False
    """True if it is the first answer given again."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Every rule that the act breaks; ``recorded`` if the attempt became an entry."""

    violations: tuple[Violation, ...]
    recorded: Accepted | None


Answer = Accepted | Refused


def encode(violations: Sequence[Violation]) -> bytes:
    """Encode violations, for ``decode``."""
    return json.dumps([(v.rule_id, v.cells, dict(v.facts)) for v in violations]).encode()


def decode(data: bytes) -> tuple[Violation, ...]:
    """Return what ``encode`` was given."""
    return tuple(
        Violation(rule_id, tuple((x, y) for x, y in cells), facts) for rule_id, cells, facts in json.loads(data)
    )


def key_id_for(record: Record, intent: log_pb2.Intent, author: Author, body: bytes, signature: bytes) -> bytes:
    """Return the id of the key with which the author signed ``body``. Raise ``NotAwaited`` if it has none."""
    if intent.HasField("join"):
        return key_id(intent.join.key)
    key = record.keyring.signer(author, body, signature)
    if key is None:
        opened = record.opened
        expected = {
            Role.SEAT: phrase("a player who has joined"),
            Role.SCRIBE: phrase("one of the game's {n} scribes", n=len(opened.scribe_keys)),
            Role.ARBITER: phrase("one of the game's {n} arbiters", n=len(opened.arbiter_keys)),
        }[author.role]
        what = phrase("{author} has no key; expected {expected}", author=author.phrase, expected=expected)
        raise NotAwaited(what, awaited_text(record))
    return key.id


def check_seat_key(record: Record, intent: log_pb2.Intent, own_keys: Collection[bytes]) -> None:
    """Raise ``WeakKey`` if the act would let a seat play with the key of another role. ``own_keys``: the referee's.

    A player must neither rule on a game nor sign for it. Only new acts are checked: earlier logs stay as they are, and
    the audit comments on them.
    """
    if intent.HasField("join"):
        key = intent.join.key
    elif intent.HasField("change_key"):
        key = intent.change_key.key
    else:
        return
    if key in own_keys:
        raise WeakKey("this is a key of the referee's own; use a key of your own for the seat")
    office = record.keyring.office_of(key)
    # At a real table the scribe may well be one of the players.
    if office is not None and (office.role is Role.ARBITER or record.game.deal.is_dealt):
        raise WeakKey(f"this is the key of {office} of this game; use another one for the seat")


def explain(record: Record, intent: log_pb2.Intent, error: LogError) -> NoReturn:
    """Raise the error in a form that helps the author of the intent."""
    act = act_name(intent)
    if error.code is Code.MALFORMED:
        kind = MalformedMove if act in ("move", "declare") else MalformedIntent
        raise kind(f"{error.what}; expected {error.expected}") from error
    if error.code is Code.NOT_AWAITED and act == "join":
        author = author_of(intent)
        others = [key for seat, keys in record.game.keys.items() if seat != author.index for key in keys]
        if author.role is Role.SEAT and intent.join.key in others:
            raise WeakKey("another seat already uses this key") from error
    if error.code in (Code.NOT_AWAITED, Code.AUTHOR):
        # For acts of the table the awaited acts say little: these may come at any time.
        of_table = act not in ("join", "reveal", "move", "declare") and error.expected
        what, expected = error.said
        if of_table:
            what = error.phrase or f"{what}; expected {expected}"
        raise NotAwaited(what, awaited_text(record)) from error
    raise error


def legal_moves(record: Record) -> tuple[int | None, list[bytes]]:
    """Return the seat on turn and its canonical moves; None and no moves if no seat has to decide."""
    game = record.game
    seats = game.awaited()
    if not seats:
        return None, []
    return seats[0], [game.position.encoded_move(move) for move in game.position.state.legal_moves()]


class Act(NamedTuple):
    """An act that a seat, a scribe or an arbiter puts before the rules of one game."""

    intent: log_pb2.Intent
    """The strict decode of ``body``."""
    author: Author
    """The one that it names."""
    body: bytes
    signature: bytes
    received_ms: int
    """The time when it had arrived whole, by the referee's clock."""
    remark: bytes | None = None
    """The text that it commits to, as in the game's file."""
    late_ms: int = 0
    """The longest that it may have waited for the event loop."""
    thought_ms: int | None = None
    """The author's own time from having the turn to sending, if it says one."""


class Reply:
    """The destination of the answer to an act. This one discards it: the referee enters some acts unasked."""

    __slots__ = ()

    watcher: Watcher | None = None
    """The watcher of the game that ``deliver`` hands the commit to; the game pushes it to all others."""

    def deliver(self, outcome: Answer | StoreFailed, commit: Commit | None) -> None:
        """Take the answer, and the commit that it made if any; or what that commit failed with. Called once."""


class AwaitedReply(Reply):
    """The answer for a caller that awaits ``answer``, and may be gone by then."""

    __slots__ = ("answer",)

    def __init__(self) -> None:
        self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

    def deliver(self, outcome: Answer | StoreFailed, commit: Commit | None) -> None:  # noqa: ARG002 - watchers get it
        if self.answer.done():
            return
        if isinstance(outcome, StoreFailed):
            self.answer.set_exception(outcome)
        else:
            self.answer.set_result(outcome)
