"""The typed value of each kind of entry, which ``referee.log.codec`` makes, and the authors of acts.

A reader of entries matches on these classes and ends with ``assert_never``: so a new kind of entry is an error of types
wherever code does not handle it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Final, assert_never

from referee.games.game import Ending, ForcedPass
from referee.games.results import Result
from referee.log.v1 import log_pb2
from referee.text.words.catalogue import Phrase, player_phrase


class Role(StrEnum):
    """In what capacity somebody signs; the values are the fields of ``Intent.author``."""

    SEAT = "seat"
    SCRIBE = "scribe"
    ARBITER = "arbiter"


@dataclass(frozen=True, slots=True)
class Author:
    """The signer: a seat's number, or an index into the game's scribe or arbiter keys."""

    role: Role
    index: int

    def __str__(self) -> str:
        return f"{self.role} {self.index}"

    @property
    def phrase(self) -> Phrase:
        """The author for people: a player, from 1, or an official; for a place of another phrase."""
        if self.role is Role.SEAT:
            return player_phrase(self.index)
        return Phrase(f"{self.role} {{n}}", {"n": self.index})


UNNAMED: Final = -1
"""The seat of an act that names none."""


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
    """The referee lost entries that it had signed, or may have lost some, and continues without them."""

    lost_size: int
    """Entries that the newest signed head covers; 0 if the referee does not know that head."""
    lost_root: bytes
    """Root of that head, 32 bytes; empty if the referee does not know it."""
    copied_ms: int = 0
    """When the copy was made that the record was restored from, in milliseconds since 1970; 0 if the head is known."""


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
    """A draw or a roll at a physical table, as its scribe declares it."""

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
    """The commitment to the words that go with it."""


@dataclass(frozen=True, slots=True)
class Appealed:
    """A seat appeals against the ruling of an entry."""

    name: ClassVar[str] = "appeal"
    author: Author
    against_seq: int
    rule_id: str
    seat: int = UNNAMED
    remark: bytes = b""
    """The commitment to the words that go with it."""


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
    """The game continues."""

    name: ClassVar[str] = "resume"


@dataclass(frozen=True, slots=True)
class Adjourn:
    """The game continues another day."""

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
    """A ruling of an arbiter."""

    name: ClassVar[str] = "rule"
    author: Author
    ruling: Ruling
    rule_id: str
    decides: int | None
    """The entry of the protest or appeal that it decides."""
    remark: bytes
    """The commitment to the words that go with it."""
    message: log_pb2.Rule = field(compare=False, repr=False)
    """The message, as it was signed."""


SeatAct = Resigned | TakeBackProposed | Consented | Protested | Appealed
TableAct = SeatAct | Corrected | Ruled | KeyChanged
"""The acts at the table beside moves; each has the ``name`` of its field in ``Intent``."""
Act = Joined | Revealed | Moved | Declared | TableAct
"""Everything that an author signs."""
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


def needs_rule(ruling: Ruling) -> bool:
    """Return whether a ruling of this kind names the rule that it applies (TBL-30)."""
    return not isinstance(ruling, Pause | Resume | Adjourn)


TABLE_ACTS: Final = tuple(
    kind.name for kind in (Resigned, Consented, Protested, Appealed, TakeBackProposed, Corrected, Ruled, KeyChanged)
)
"""Fields of ``Intent`` that are acts by the rules of the table."""
