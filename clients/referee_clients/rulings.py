"""The rulings of an arbiter at one game: their effect, their check, and the file in which one waits for a signature.

The module knows no terminal. The file is one JSON object, ``{"intent": BASE64, "words": {"salt": BASE64, "text":
TEXT}}``; a ruling without a reason has no ``words``. The file says nothing twice: game, place, arbiter and ruling are
in the intent's bytes alone.
"""

from __future__ import annotations

import binascii
import json
import re
import secrets
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, Final

from referee.log import file, intent, remarks
from referee.log.codec import read_rule
from referee.log.entry import Clock, decode_entry
from referee.log.errors import Code, LogError
from referee.log.events import Accept, Act, Author, Restore, Role, Ruled, Ruling, SetClock, Skip
from referee.log.file import FrameType
from referee.log.intent import Place, SignedIntent, TableAct, author_of, decode_intent, sign_bytes, unsigned
from referee.log.keys import PrivateKey
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.telling.game_file import Transcript
from referee.telling.table_text import usual_rule
from referee.telling.words import ruling_words
from referee.text.notation import game_text, grammar
from referee.text.notation.grammar import grammar_of
from referee.text.notation.questions import QueryError, an_object, only, parse_object, required
from referee.text.notation.registry import notation
from referee.text.notation.times import in_words
from referee.text.notation.violations import NotationError, sentence
from referee.text.words.catalogue import Phrase, phrase
from referee.v1 import arbiter_service_pb2 as pb
from referee_clients.sdk.arbiter import TRIES, Arbiter
from referee_clients.sdk.errors import ClientError, WentOn

OF_POSITION: Final = frozenset({"restore", "adjudicate", "skip", "accept"})
"""Rulings that mean the position in which they are made: never sent for another one."""
_WHILE_PLAYED: Final = frozenset({"skip", "accept"})
"""Rulings that the rules allow only in a game that is not suspended (TBL-35)."""


class NotAllowed(ClientError):
    """The act may not stand now: why, in words. Nothing was sent."""

    def __init__(self, why: str | Phrase) -> None:
        super().__init__(str(why))
        self.phrase = why if isinstance(why, Phrase) else None
        """The reason, if it can be said in other languages."""


class BadMove(ClientError):
    """No move of the position in notation; the message has the fault and its place."""


def check(record: Record, author: Author, key: PrivateKey, act: TableAct) -> Act:
    """Return what the act says, if it may stand in the record. Raise ``NotAllowed``."""
    return check_signed(record, intent.act(record.place, author, key, act))


def check_signed(record: Record, signed: SignedIntent) -> Act:
    """Return what an act says that is signed, if it may stand in the record. Raise ``NotAllowed``."""
    try:
        return record.check(signed)
    except LogError as error:
        raise refused(error) from None


def refused(error: LogError) -> NotAllowed:
    """Return why an act may not stand now."""
    if error.phrase is not None:
        return NotAllowed(phrase("not allowed now: {what}", what=error.phrase))
    expected = f"; expected {error.expected}" if error.expected else ""
    return NotAllowed(f"not allowed now: {error.what}{expected}")


def kind_of(ruling: log_pb2.Rule) -> str:
    """Return its name in the log, such as ``restore``."""
    return ruling.WhichOneof("ruling") or ""


@dataclass(frozen=True, slots=True)
class Look:
    """A game as it stood when its file was fetched."""

    entries: Sequence[bytes]
    record: Record
    transcript: Transcript

    @classmethod
    def at(cls, entries: Sequence[bytes]) -> Look:
        """Return the game after these entries. Raise ``LogError``."""
        record = Record(decode_entry(entries[0]).open)
        transcript = Transcript(record.opened)
        for entry in entries:
            transcript.see(record.read(entry))
        return cls(entries, record, transcript)

    @property
    def is_suspended(self) -> bool:
        """Return whether it is paused or adjourned: then no seat can move."""
        game = self.record.game
        return game.arbitration.suspended is not None and game.reached() is None


@dataclass(frozen=True, slots=True)
class Bench:
    """The arbiter's place at one game. Every method raises ``ClientError``."""

    calls: Arbiter
    author: Author
    key: PrivateKey

    async def look(self) -> Look:
        """Return the game as it is now."""
        return await look_at(self.calls)

    def check(self, look: Look, ruling: log_pb2.Rule) -> Ruled:
        """Return the ruling as it would stand. Raise ``NotAllowed``.

        A ruling that needs a game in play is checked as if a paused game had been resumed, as ``enter`` does it.
        """
        record = look.record
        if _resumes(look, ruling):
            record = Look.at(look.entries).record
            resumed = intent.act(record.place, self.author, self.key, _resume())
            record.admit(resumed, Clock(record.last_ms))
        ruled = check(record, self.author, self.key, ruling)
        assert isinstance(ruled, Ruled)  # noqa: S101 - what was asked about
        return ruled

    def told(self, look: Look, ruling: log_pb2.Rule) -> list[str]:
        """Return what the ruling does, a line for each fact. Raise ``NotAllowed``."""
        last = ["play resumes: the game is resumed just before this ruling"] if _resumes(look, ruling) else []
        return [*told(look, self.check(look, ruling)), *last]

    async def pause(self, look: Look) -> int:
        """Stop the game wherever it stands by now; return the entry. Raise ``NotAllowed``."""
        pause = log_pb2.Rule(pause=log_pb2.Pause())
        check(look.record, self.author, self.key, pause)
        return (await self.calls.act(look.record.place, self.author, self.key, pause, tries=TRIES)).seq

    async def enter(self, look: Look, ruling: log_pb2.Rule, text: str) -> int:
        """Send the ruling; return its entry. ``text``: the reason, or empty.

        Raise ``WentOn`` for one of ``OF_POSITION`` if the game is not as it was looked at: an arbiter never rules on a
        position without having seen it. A paused game that has to be in play for the ruling is resumed just before.
        """
        place = look.record.place
        tries = 1 if kind_of(ruling) in OF_POSITION else TRIES
        if not _resumes(look, ruling):
            return (await self.calls.act(place, self.author, self.key, ruling, text, tries=tries)).seq
        resumed = await self.calls.act(place, self.author, self.key, _resume())
        place = Place(place.game_id, resumed.size, resumed.head)
        try:
            return (await self.calls.act(place, self.author, self.key, ruling, text)).seq
        except WentOn as error:
            raise WentOn(error.newest, "other entries came as soon as the game was resumed") from error


async def look_at(calls: Arbiter) -> Look:
    """Return the game as it is now. Raise ``ClientError``."""
    data = await calls.log()
    try:
        return Look.at(_entries(data))
    except LogError as error:
        raise ClientError(f"the file that the referee sent is not valid: {error}") from None


def _resumes(look: Look, ruling: log_pb2.Rule) -> bool:
    return look.is_suspended and kind_of(ruling) in _WHILE_PLAYED


def _resume() -> log_pb2.Rule:
    return log_pb2.Rule(resume=log_pb2.Resume())


def _entries(data: bytes) -> list[bytes]:
    """Return the entries of a game's file; all whole ones if it breaks off, as the file of a game in play does.

    Raise ``LogError``.
    """
    entries = list[bytes]()
    try:
        for frame in file.read(BytesIO(data)):
            if frame.type == FrameType.ENTRY:
                entries.append(frame.payload)
    except LogError as error:
        if error.code is not Code.TORN:
            raise
    if not entries:
        raise LogError(Code.INCOMPLETE, "no entries", "GameOpen in entry 0")
    return entries


# --- what is ruled -------------------------------------------------------------------------------------------------


def resting(made: log_pb2.Rule, rule_id: str, decides: int | None) -> log_pb2.Rule:
    """Say which rule a ruling rests on and which protest or appeal it decides.

    ``rule_id``: empty for the rule of the table that allows such rulings.
    """
    if decides is not None:
        made.decides = decides
    made.rule_id = rule_id or usual_rule(read_rule(made, Author(Role.ARBITER, 0), lambda move: move).ruling)
    return made


def standing_move(record: Record, seat: int, text: str) -> log_pb2.Accept:
    """Return that a move stands which the seat on turn would make, with every rule that it breaks.

    ``text``: the move in notation, with or without the seat before it. Raise ``BadMove`` if it is none.
    """
    game = record.game
    rules_id = record.opened.rules_id
    line = text if re.match(r"\d+:", text, re.ASCII) else f"{seat}: {text}"
    try:
        act = grammar_of(rules_id).parse(line, "act")
        event = game_text.meant(rules_id, game.position.state, act)
        broken = game.position.violations(event)
        if (mark := game_text.mark_of(act)) is not None:
            grammar.check_against(mark, line, broken, game.position.rules.waivable)
    except NotationError as error:
        raise BadMove(f"{line!r}: {error}") from None
    rule_ids = sorted({violation.rule_id for violation in broken})
    return log_pb2.Accept(seat=seat, move=game.position.encoded_move(event), rule_ids=rule_ids)


# --- what it does --------------------------------------------------------------------------------------------------


def told(look: Look, ruled: Ruled) -> list[str]:
    """Return what a ruling that may stand does, a line for each fact."""
    move = described(look.record, ruled.ruling.move) if isinstance(ruled.ruling, Accept) else ""
    return [f"{ruled.author} rules: {ruling_words(ruled, move)}", *_consequences(look, ruled.ruling)]


def described(record: Record, move: Any) -> str:
    """Return a move of the position in notation."""
    return notation(record.opened.rules_id).describe(move, record.game.position.state)


def _consequences(look: Look, ruling: Ruling) -> list[str]:
    game, transcript = look.record.game, look.transcript
    match ruling:
        case Restore(to_seq):
            lines = [f"  {seq}  {transcript.entries[seq]}" for seq in transcript.counting_after(to_seq)]
            return ["taken back:", *lines] if lines else ["nothing is taken back"]
        case Accept(_, move):
            rules = {known.id: known for known in game.position.rules.catalogue}
            return ["against the rules:", *(f"  {sentence(each, rules)}" for each in game.position.violations(move))]
        case Skip(seat):
            return [f"the stand-in's move: {described(look.record, game.position.stand_in(seat))}"]
        case SetClock(seat) if game.clocks is not None:
            return [f"the clock showed {in_words(game.clocks.seat(seat).left_ms)} after the last entry"]
        case _:
            return []


# --- a ruling that waits for its arbiter's signature ----------------------------------------------------------------


MOST_BYTES: Final = 64 << 10
"""The largest size of the file."""
_ACTS: Final = ("rule", "change_key")


class NotPrepared(ClientError):
    """The bytes are no such file. The message has the fault and the expected form."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """The act that an arbiter signs, and the reason that goes with it."""

    body: bytes
    """Exact bytes of the intent: these are signed, and nothing else in the file counts."""
    words: pb.Words | None
    intent: log_pb2.Intent = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Raise ``NotPrepared``."""
        try:
            intent = decode_intent(self.body)
            self._check(intent)
        except LogError as error:
            raise NotPrepared(f"{error.what}; expected {error.expected}" if error.expected else error.what) from None
        object.__setattr__(self, "intent", intent)

    def _check(self, intent: log_pb2.Intent) -> None:
        if self.words is not None:
            remark = log_pb2.Remark(seq=intent.seq, salt=self.words.salt, text=self.words.text)
            remarks.check(remark, remarks.committed(intent))
        elif remarks.committed(intent):
            raise NotPrepared("the ruling commits to a reason that is not there; expected words with it")
        if author_of(intent).role is not Role.ARBITER or intent.WhichOneof("act") not in _ACTS:
            raise NotPrepared(f"this is an act of {author_of(intent)}, and no ruling; expected an arbiter's ruling")

    @classmethod
    def of(cls, place: Place, author: Author, act: TableAct, text: str) -> Prepared:
        """Prepare a ruling, or a change of a key, which has no reason. ``text``: the reason, or empty."""
        words = None
        if text and isinstance(act, log_pb2.Rule):
            words = pb.Words(salt=secrets.token_bytes(remarks.SALT_BYTES), text=text)
            act.remark = remarks.commitment(words.salt, text)
        return cls(unsigned(place, author, act), words)

    @classmethod
    def read(cls, data: bytes) -> Prepared:
        """Return what a file says. Raise ``NotPrepared``."""
        try:
            found = parse_object(data, MOST_BYTES)
            only(found, frozenset(("intent", "words")))
            words = None
            if "words" in found:
                given = an_object(found["words"], "words")
                only(given, frozenset(("salt", "text")), "words")
                words = pb.Words(salt=_bytes(given, "salt"), text=_text(given, "text"))
            return cls(_bytes(found, "intent"), words)
        except QueryError as error:
            raise NotPrepared(str(error)) from None

    def json(self) -> dict[str, Any]:
        """Return what ``read`` reads, but for the writing."""
        found: dict[str, Any] = {"intent": b64encode(self.body).decode("ascii")}
        if self.words is not None:
            salt = b64encode(self.words.salt).decode("ascii")
            found["words"] = {"salt": salt, "text": self.words.text}
        return found

    def write(self) -> bytes:
        """Return the file."""
        return json.dumps(self.json(), ensure_ascii=False).encode() + b"\n"

    @property
    def author(self) -> Author:
        """Return who is to sign."""
        return author_of(self.intent)

    @property
    def place(self) -> Place:
        """Return where the ruling stands: in no other place, and after no other history."""
        return Place(self.intent.game_id, self.intent.seq, self.intent.prev)

    @property
    def act(self) -> TableAct:
        """Return what is ruled."""
        found: TableAct = getattr(self.intent, self.intent.WhichOneof("act") or "")
        return found

    def signed(self, key: PrivateKey) -> SignedIntent:
        """Sign the exact bytes."""
        return sign_bytes(self.body, key)


def _text(fields: dict[str, Any], name: str) -> str:
    value = required(fields, name, "file")
    if not isinstance(value, str):
        raise QueryError("expected a string", name)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise QueryError("half of a surrogate pair; expected characters", name) from None
    return value


def _bytes(fields: dict[str, Any], name: str) -> bytes:
    text = _text(fields, name)
    try:
        found = b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        found = b""
    if b64encode(found).decode("ascii") != text:
        raise QueryError("expected base64", name)
    return found
