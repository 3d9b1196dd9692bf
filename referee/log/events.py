"""What entries say: one typed value for each, read in one place.

``read_entry`` is the only code that asks a message which of its fields is set. Whoever wants to know what an entry is
matches on these classes and ends with ``assert_never``: so a new kind of entry is an error of types wherever it has not
been thought of. Whether an event may stand is for ``referee.log.judge`` to say, what it does for ``LoggedGame``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Protocol, assert_never

from referee.games.game import Ending, ForcedPass
from referee.games.results import Result
from referee.log.entry import event_name
from referee.log.errors import Code, LogError
from referee.log.intent import Author, author_of
from referee.log.v1 import log_pb2

_which = log_pb2.Intent.WhichOneof
"""The method itself: to find it in a message takes as long as to call it."""

UNNAMED: Final = -1
"""The seat of an act that names none."""


class Decoder(Protocol):
    """What a game offers for reading its entries; ``referee.log.position.Position`` is one."""

    def decoded_move(self, data: bytes) -> Any:
        """Return the engine's own move. Raise ``LogError``."""
        ...

    def decoded_outcome(self, data: bytes) -> Any:
        """Return the engine's own outcome. Raise ``LogError``."""
        ...


# --- the referee's own -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Opened:
    """Entry 0: the game and its terms."""

    data: bytes
    """Exact bytes of GameOpen."""


@dataclass(frozen=True, slots=True)
class Dealt:
    """Chance that the committed deck gives."""

    outcome: Any
    data: bytes
    """Exact bytes of the outcome."""


@dataclass(frozen=True, slots=True)
class Passed:
    """A seat had no legal action."""

    seat: int


@dataclass(frozen=True, slots=True)
class StoodIn:
    """TBL-2: the move that is entered for a seat which makes none."""

    seat: int
    move: Any


@dataclass(frozen=True, slots=True)
class TimedOut:
    """A seat's flag fell."""

    name: ClassVar[str] = "timeout"
    seat: int


@dataclass(frozen=True, slots=True)
class WasAbsent:
    """A seat was awaited, and its player not connected."""

    name: ClassVar[str] = "absent"
    seat: int
    since_ms: int


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The referee was not running, and was last seen at ``alive_ms``."""

    alive_ms: int


@dataclass(frozen=True, slots=True)
class Recovered:
    """The referee lost entries that it had signed for, and goes on without them."""

    lost_size: int
    lost_root: bytes


@dataclass(frozen=True, slots=True)
class Ended:
    """The end, with what the game is worth."""

    result: Result


@dataclass(frozen=True, slots=True)
class Disclosed:
    """The referee opens its own commitment, after the end of a dealt game."""

    seed: bytes


# --- what seats and scribes sign -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Joined:
    """A seat brings its key and, in a dealt game, its commitment."""

    author: Author
    key: bytes
    commitment: bytes


@dataclass(frozen=True, slots=True)
class Revealed:
    """A seat opens its commitment."""

    author: Author
    seed: bytes


@dataclass(frozen=True, slots=True)
class KeyChanged:
    """A seat's acts are to be signed with another key (TBL-40): by the seat itself, or by an arbiter."""

    name: ClassVar[str] = "change_key"
    author: Author
    seat: int
    """Named by an arbiter alone."""
    key: bytes


@dataclass(frozen=True, slots=True)
class Moved:
    """A move, signed by its seat or by the scribe who enters it."""

    author: Author
    move: Any


@dataclass(frozen=True, slots=True)
class Refused:
    """An attempt at a move that the rules forbid, which the terms want recorded."""

    author: Author
    move: Any
    rule_ids: tuple[str, ...]
    """The rules that it breaks, as the referee says: ascending, none twice."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What was drawn or rolled at a physical table, as its scribe declares it."""

    author: Author
    outcome: Any


@dataclass(frozen=True, slots=True)
class Resigned:
    """A seat gives up."""

    name: ClassVar[str] = "resign"
    author: Author
    seat: int = UNNAMED
    """Named by a scribe, who resigns for it."""


@dataclass(frozen=True, slots=True)
class TakeBackProposed:
    """A seat proposes to go back to the position after an entry."""

    name: ClassVar[str] = "take_back"
    author: Author
    to_seq: int
    seat: int = UNNAMED


@dataclass(frozen=True, slots=True)
class Consented:
    """A seat agrees to the proposal of an entry."""

    name: ClassVar[str] = "consent"
    author: Author
    to_seq: int
    seat: int = UNNAMED


@dataclass(frozen=True, slots=True)
class Protested:
    """A seat protests against an entry."""

    name: ClassVar[str] = "protest"
    author: Author
    against_seq: int
    rule_id: str
    seat: int = UNNAMED
    remark: bytes = b""
    """What it commits to, of words that go with it."""


@dataclass(frozen=True, slots=True)
class Appealed:
    """A seat appeals against the ruling of an entry."""

    name: ClassVar[str] = "appeal"
    author: Author
    against_seq: int
    rule_id: str
    seat: int = UNNAMED
    remark: bytes = b""
    """What it commits to, of words that go with it."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """A scribe goes back to the position after an entry."""

    name: ClassVar[str] = "correct"
    author: Author
    to_seq: int


# --- rulings ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Restore:
    """The position is again that after an entry."""

    name: ClassVar[str] = "restore"
    to_seq: int


@dataclass(frozen=True, slots=True)
class Adjudicate:
    """The arbiter gives the result."""

    name: ClassVar[str] = "adjudicate"
    result: Result


@dataclass(frozen=True, slots=True)
class Void:
    """The game does not count."""

    name: ClassVar[str] = "void"


@dataclass(frozen=True, slots=True)
class Pause:
    """No seat is awaited for now."""

    name: ClassVar[str] = "pause"


@dataclass(frozen=True, slots=True)
class Resume:
    """The game goes on."""

    name: ClassVar[str] = "resume"


@dataclass(frozen=True, slots=True)
class Adjourn:
    """The game goes on another day."""

    name: ClassVar[str] = "adjourn"


@dataclass(frozen=True, slots=True)
class SetClock:
    """A seat has this many milliseconds left."""

    name: ClassVar[str] = "set_clock"
    seat: int
    left_ms: int


@dataclass(frozen=True, slots=True)
class Penalty:
    """Time, points or strikes against a seat; nothing of them is a warning."""

    name: ClassVar[str] = "penalty"
    seat: int
    time_ms: int
    points: int
    strikes: int


@dataclass(frozen=True, slots=True)
class Forfeit:
    """A seat is out."""

    name: ClassVar[str] = "forfeit"
    seat: int
    ending: Ending | None
    """None: the ruling does not say how."""


@dataclass(frozen=True, slots=True)
class Reinstate:
    """A seat that had forfeited plays again."""

    name: ClassVar[str] = "reinstate"
    seat: int


@dataclass(frozen=True, slots=True)
class Skip:
    """A seat loses its decision to the stand-in."""

    name: ClassVar[str] = "skip"
    seat: int


@dataclass(frozen=True, slots=True)
class Accept:
    """TBL-7: a seat's move stands against rules."""

    name: ClassVar[str] = "accept"
    seat: int
    move: Any
    rule_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dismiss:
    """A protest or an appeal is turned down."""

    name: ClassVar[str] = "dismiss"


Ruling = (
    Restore
    | Adjudicate
    | Void
    | Pause
    | Resume
    | Adjourn
    | SetClock
    | Penalty
    | Forfeit
    | Reinstate
    | Skip
    | Accept
    | Dismiss
)


@dataclass(frozen=True, slots=True)
class Ruled:
    """What an arbiter rules."""

    name: ClassVar[str] = "rule"
    author: Author
    ruling: Ruling
    rule_id: str
    decides: int | None
    """The entry of the protest or appeal that it decides."""
    remark: bytes
    """What it commits to, of words that go with it."""
    message: log_pb2.Rule = field(compare=False, repr=False)
    """The message, as it was signed."""


SeatAct = Resigned | TakeBackProposed | Consented | Protested | Appealed
TableAct = SeatAct | Corrected | Ruled | KeyChanged
"""What is done at the table beside moves; each has the ``name`` of its field in ``Intent``."""
Act = Joined | Revealed | Moved | Declared | TableAct
"""What somebody signs."""
RefereeEvent = (
    Opened | Dealt | Passed | StoodIn | TimedOut | WasAbsent | Interrupted | Recovered | Ended | Disclosed | Refused
)
Event = Act | RefereeEvent


def change_of(event: Event) -> Any:
    """Return the engine's event by which the position becomes another; None if the position stays, or goes back."""
    match event:
        case Moved(_, move) | StoodIn(_, move) | Ruled(ruling=Accept(move=move)):
            return move
        case Dealt(outcome) | Declared(_, outcome):
            return outcome
        case Passed(seat):
            return ForcedPass(seat)
        case Opened() | Recovered() | Ended() | Disclosed() | Joined() | Revealed():
            return None
        case Refused() | TimedOut() | WasAbsent() | Interrupted():
            return None
        case Resigned() | TakeBackProposed() | Consented() | Protested() | Appealed():
            return None
        case Corrected() | Ruled() | KeyChanged():
            return None
        case _:
            assert_never(event)


# --- reading ---------------------------------------------------------------------------------------------------------


def read_entry(entry: log_pb2.Entry, intent: log_pb2.Intent | None, decoder: Decoder) -> Event:
    """Return what an entry says that ``decode_entry`` accepted. Raise ``LogError``: ``MALFORMED``, ``UNSUPPORTED``.

    ``intent``: what ``decode_intent`` made of the one in it, of an entry that holds one.
    """
    kind = event_name(entry)
    if kind == "signed" and intent is not None:
        return read_act(intent, author_of(intent), decoder)
    if kind == "refused" and intent is not None:
        attempt = read_act(intent, author_of(intent), decoder)
        if not isinstance(attempt, Moved):
            raise LogError(Code.NOT_AWAITED, "a refused act", "a refused move")
        return Refused(attempt.author, attempt.move, tuple(entry.refused.rule_ids))
    read = _EVENTS.get(kind)
    if read is None:
        raise LogError(Code.UNSUPPORTED, f"an entry with {kind}")
    return read(entry, decoder)


def read_act(intent: log_pb2.Intent, author: Author, decoder: Decoder) -> Act:
    """Return what an intent of this author says that ``decode_intent`` accepted. Raise what ``read_entry`` raises."""
    kind = _which(intent, "act")
    if kind == "move":
        return Moved(author, decoder.decoded_move(intent.move))
    read = _ACTS.get(kind or "")
    if read is None:
        raise LogError(Code.UNSUPPORTED, f"{kind} is not offered by this version")
    return read(intent, author, decoder)


def act_name(intent: log_pb2.Intent) -> str:
    """Return the field of an intent's act, such as ``take_back``, for messages that know no game."""
    return _which(intent, "act") or ""


def read_rule(rule: log_pb2.Rule, author: Author, decode_move: Callable[[bytes], Any]) -> Ruled:
    """Return what a ruling says. Raise what ``decode_move`` raises; ``LogError`` (``MALFORMED``) for one of no kind."""
    kind = rule.WhichOneof("ruling")
    if kind is None:
        raise LogError(Code.MALFORMED, "a rule without a ruling", "one ruling")
    ruling: Ruling
    if kind == "accept":
        given = rule.accept
        ruling = Accept(_seat(given), decode_move(given.move), tuple(given.rule_ids))
    else:
        ruling = _RULINGS[kind](rule)
    decides = rule.decides if rule.HasField("decides") else None
    return Ruled(author, ruling, rule.rule_id, decides, rule.remark, rule)


def needs_rule(ruling: Ruling) -> bool:
    """Return whether a ruling of this kind names the rule that it applies (TBL-30)."""
    return not isinstance(ruling, Pause | Resume | Adjourn)


def read_end(end: log_pb2.GameEnd) -> Result:
    """Return what a GameEnd says. Raise ``LogError`` (``MALFORMED``) for one that does not say how the game ended."""
    if end.ending == log_pb2.ENDING_UNSPECIFIED:
        raise LogError(Code.MALFORMED, "GameEnd without an ending", "how the game ended")
    return Result(Ending(end.ending), tuple(end.scores), tuple(end.places))


def _seat(given: Any) -> int:
    return given.seat if given.HasField("seat") else UNNAMED


def _dispute(given: log_pb2.Protest | log_pb2.Appeal) -> tuple[int, str, int, bytes]:
    return given.against_seq, given.rule_id, _seat(given), given.remark


def _adjudicated(given: log_pb2.Adjudicate) -> Adjudicate:
    return Adjudicate(Result(Ending.ADJUDICATED, tuple(given.scores), tuple(given.places)))


def _penalty(given: log_pb2.Penalty) -> Penalty:
    return Penalty(_seat(given), given.time_ms, given.points, given.strikes)


def _forfeit(given: log_pb2.Forfeit) -> Forfeit:
    return Forfeit(_seat(given), Ending(given.ending) if given.ending else None)


_EVENTS: Final[Mapping[str, Callable[[log_pb2.Entry, Decoder], Event]]] = {
    "open": lambda entry, _: Opened(entry.open),
    "chance": lambda entry, d: Dealt(d.decoded_outcome(entry.chance.outcome), entry.chance.outcome),
    "forced_pass": lambda entry, _: Passed(entry.forced_pass.seat),
    "stand_in": lambda entry, d: StoodIn(entry.stand_in.seat, d.decoded_move(entry.stand_in.move)),
    "timeout": lambda entry, _: TimedOut(entry.timeout.seat),
    "absent": lambda entry, _: WasAbsent(entry.absent.seat, entry.absent.since_ms),
    "interrupted": lambda entry, _: Interrupted(entry.interrupted.alive_ms),
    "recovered": lambda entry, _: Recovered(entry.recovered.lost_size, entry.recovered.lost_root),
    "end": lambda entry, _: Ended(read_end(entry.end)),
    "disclose": lambda entry, _: Disclosed(entry.disclose.seed),
}
_ACTS: Final[Mapping[str, Callable[[log_pb2.Intent, Author, Decoder], Act]]] = {
    "join": lambda i, author, _: Joined(author, i.join.key, i.join.commitment),
    "reveal": lambda i, author, _: Revealed(author, i.reveal.seed),
    "declare": lambda i, author, d: Declared(author, d.decoded_outcome(i.declare)),
    "resign": lambda i, author, _: Resigned(author, _seat(i.resign)),
    "take_back": lambda i, author, _: TakeBackProposed(author, i.take_back.to_seq, _seat(i.take_back)),
    "consent": lambda i, author, _: Consented(author, i.consent.to_seq, _seat(i.consent)),
    "protest": lambda i, author, _: Protested(author, *_dispute(i.protest)),
    "appeal": lambda i, author, _: Appealed(author, *_dispute(i.appeal)),
    "correct": lambda i, author, _: Corrected(author, i.correct.to_seq),
    "rule": lambda i, author, d: read_rule(i.rule, author, d.decoded_move),
    "change_key": lambda i, author, _: KeyChanged(author, _seat(i.change_key), i.change_key.key),
}
_RULINGS: Final[Mapping[str, Callable[[log_pb2.Rule], Ruling]]] = {
    "restore": lambda rule: Restore(rule.restore.to_seq),
    "adjudicate": lambda rule: _adjudicated(rule.adjudicate),
    "void": lambda _: Void(),
    "pause": lambda _: Pause(),
    "resume": lambda _: Resume(),
    "adjourn": lambda _: Adjourn(),
    "set_clock": lambda rule: SetClock(_seat(rule.set_clock), rule.set_clock.left_ms),
    "penalty": lambda rule: _penalty(rule.penalty),
    "forfeit": lambda rule: _forfeit(rule.forfeit),
    "reinstate": lambda rule: Reinstate(_seat(rule.reinstate)),
    "skip": lambda rule: Skip(_seat(rule.skip)),
    "dismiss": lambda _: Dismiss(),
}
TABLE_ACTS: Final = tuple(
    kind.name for kind in (Resigned, Consented, Protested, Appealed, TakeBackProposed, Corrected, Ruled, KeyChanged)
)
"""Fields of ``Intent`` that are acts by the rules of the table."""
