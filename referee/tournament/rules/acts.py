"""The organiser's acts, as values, without judgement. Each is an entry of the tournament's log."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

Tables = tuple[tuple[int, ...], ...]
"""The entrants of each table, in the order of their seats."""


class Origin(IntEnum):
    """The source of a pairing; the values are the schema's."""

    SWISS = 1
    PLANNED = 2
    KNOCK_OUT = 3
    MANUAL = 4
    EXTERNAL = 5

    @property
    def words(self) -> str:
        """``knock-out``, for people."""
        return self.name.lower().replace("_", "-")


@dataclass(frozen=True)
class GameLog:
    """A game's log up to its end."""

    game_id: bytes
    size: int
    root: bytes


@dataclass(frozen=True)
class Result:
    """The result of a table."""

    places: tuple[int, ...]
    """The places by seat: 1 is the winner, equal places are a draw, 0 was not there."""
    scores: tuple[int, ...] = ()
    """The scores in the game, by seat; or none."""
    forfeited: tuple[int, ...] = ()
    """Seats that forfeited, ascending."""
    log: GameLog | None = None
    """The game's log; None: by sheet."""


@dataclass(frozen=True)
class Enter:
    """An entrant gets a number."""

    number: int
    player: bytes = b""
    """A salted hash of the name, 32 bytes, or empty."""
    key: bytes = b""
    """The key with which the entrant plays seats, 32 bytes, or empty."""
    first_round: int = 0
    """The first round that a late entrant plays."""
    late_points: int = 0
    """The points of a late entrant for all rounds before, in 60ths."""


@dataclass(frozen=True)
class CheckIn:
    """The entrant is there."""

    number: int
    commitment: bytes = b""
    """The commitment to a share of the draw, 32 bytes, or empty."""


@dataclass(frozen=True)
class Forbid:
    """Two entrants are not to meet; ``hard``: never, rather than not if it can be avoided."""

    first: int
    second: int
    hard: bool = False


@dataclass(frozen=True)
class CloseEntries:
    """Check-in has ended."""


@dataclass(frozen=True)
class Share:
    """Opens an entrant's commitment."""

    number: int
    seed: bytes


@dataclass(frozen=True)
class Draw:
    """Opens the organiser's commitment; every lot is known from here on."""

    seed: bytes


@dataclass(frozen=True)
class Plan:
    """The planned seating of a round."""

    round: int
    tables: Tables


@dataclass(frozen=True)
class Withdraw:
    """The entrant plays no more, unless readmitted."""

    number: int


@dataclass(frozen=True)
class Readmit:
    """An entrant who withdrew plays again."""

    number: int


@dataclass(frozen=True)
class Absent:
    """The entrant does not play in this round."""

    number: int
    round: int


@dataclass(frozen=True)
class Expel:
    """The entrant is out, and in no standing."""

    number: int
    reason: str


@dataclass(frozen=True)
class Pair:
    """The pairing of a round."""

    round: int
    tables: Tables
    byes: tuple[int, ...]
    vector: tuple[int, ...]
    bound: int
    origin: Origin
    engine: str = ""
    """The program that made the pairing, and its version."""
    reason: str = ""
    """The reason for a manual or an external pairing."""
    engine_vector: tuple[int, ...] = ()
    """The vector of the engine's own pairing."""


@dataclass(frozen=True)
class Publish:
    """The pairing of the round counts."""

    round: int


@dataclass(frozen=True)
class OpenTable:
    """The game of a table."""

    round: int
    table: int
    """1 is the first."""
    game_id: bytes


@dataclass(frozen=True)
class EnterResult:
    """A table has a result."""

    round: int
    table: int
    result: Result


@dataclass(frozen=True)
class Amend:
    """A result that was entered is another."""

    round: int
    table: int
    result: Result
    reason: str


@dataclass(frozen=True)
class Award:
    """An entrant gets these points, in 60ths, for a round, instead of the table's."""

    round: int
    number: int
    points: int
    reason: str


@dataclass(frozen=True)
class Void:
    """The table does not count."""

    round: int
    table: int
    reason: str


@dataclass(frozen=True)
class Reopen:
    """A published round is to be paired again; its results are gone."""

    round: int
    reason: str


@dataclass(frozen=True)
class CloseRound:
    """Every table is decided; ``standings``: SHA-256 of their text."""

    round: int
    standings: bytes


@dataclass(frozen=True)
class Cut:
    """The best entrants reach the knock-out, as many as the terms say."""


@dataclass(frozen=True)
class Close:
    """The event is over; ``standings``: SHA-256 of the text of the final ones."""

    standings: bytes


@dataclass(frozen=True)
class Abandon:
    """The event ends here, without final standings."""

    reason: str


RegisterAct = Enter | CheckIn | Forbid | CloseEntries | Share | Draw | Withdraw | Readmit | Absent | Expel
"""About entrants."""
TableAct = EnterResult | Amend | OpenTable | Void | Award
"""About a table of a round, or an entrant there."""
RoundAct = Plan | Pair | Publish | Reopen | CloseRound | Cut | Close | Abandon
"""About a round, or the event."""
Act = RegisterAct | TableAct | RoundAct
