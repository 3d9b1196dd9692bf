"""The contract of every game with the rest of the referee: a state machine with explicit chance.

This module knows no game, and like every module below ``referee.games`` no I/O, clock, randomness, float or protobuf.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any, Protocol

from referee.games.sampling import Below

Cell = tuple[int, int]
"""(x, y): x grows east, y grows south, the fountain or castle is (0, 0)."""

Fact = str | int


class Kind(Enum):
    """The kind of a rule, which determines the kind of test that it must have."""

    CONSTRAINT = "constraint"
    """Forbids moves; ``check`` names it."""
    TRANSITION = "transition"
    """Says what happens; ``apply`` does it."""
    SCORING = "scoring"
    """Gives points or places."""
    DERIVED = "derived"
    """Follows from the others; held by a property."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One decision that a referee has to make. ``id`` is stable for ever."""

    id: str
    kind: Kind
    text: str
    citation: str
    function: str
    """Dotted name, below ``referee.games``, of the function that holds it."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that an event breaks, with the facts. Sentences are made from it at the edge."""

    rule_id: str
    cells: tuple[Cell, ...] = ()
    facts: Mapping[str, Fact] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Decision:
    """A seat has to choose a move of one of these kinds."""

    seat: int
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chance:
    """The dealer or the scribe has to bring an outcome of this kind."""

    kind: str


@dataclass(frozen=True, slots=True)
class Forced:
    """The seat on turn has no legal move: the referee enters a ``ForcedPass``."""

    seat: int


@dataclass(frozen=True, slots=True)
class Over:
    """Nothing is awaited any more."""

    ending: Ending
    scores: tuple[int, ...]
    places: tuple[int, ...]
    """The places per seat: 1 is the winner; equal places are a draw."""


class Ending(Enum):
    """How games end: the first two by their rules, the others at the table. The values are ``log.v1.Ending``'s."""

    RULES = 1
    STALLED = 2
    """The turn limit or the entry limit was reached."""
    RESIGNED = 3
    FLAG = 4
    DISCONNECTED = 5
    ILLEGAL_MOVES = 6
    ADJUDICATED = 7
    ABORTED = 8
    VOIDED = 9
    REFEREE_FAULT = 10
    CRASHED = 11

    @property
    def words(self) -> str:
        """``illegal moves``, for people."""
        return self.name.lower().replace("_", " ")

    @property
    def log_name(self) -> str:
        """``ENDING_ILLEGAL_MOVES``, as the log's schema has it."""
        return f"ENDING_{self.name}"


Pending = Decision | Chance | Forced | Over


# The awaited values are asked for before every event, and there are few: each is made once.


@lru_cache(maxsize=256)
def decision(seat: int, kinds: tuple[str, ...]) -> tuple[Pending, ...]:
    """Return that the seat has to choose a move of one of these kinds."""
    return (Decision(seat, kinds),)


@lru_cache(maxsize=256)
def chance(kind: str) -> tuple[Pending, ...]:
    """Return that an outcome of this kind has to come."""
    return (Chance(kind),)


@dataclass(frozen=True, slots=True)
class ForcedPass:
    """The event that answers ``Forced``; never a seat's choice."""

    seat: int


class Stream(Protocol):
    """The source of a dealer's randomness: the committed deck, or a test's."""

    def permutation(self, label: str, n: int) -> list[int]:
        """Return the numbers 0..n-1 in an order that depends on the label."""

    def uniform(self, label: str, n: int) -> int:
        """Return a number in 0..n-1 that depends on the label."""


class State(Protocol):
    """A game in progress. ``check`` never changes it; ``apply`` only after a check."""

    @property
    def seats(self) -> int:
        """The number of seats."""

    def pending(self) -> tuple[Pending, ...]:
        """Return everything that is awaited now; never empty."""

    def check(self, event: Any) -> tuple[Violation, ...]:
        """Return every rule that the event would break; empty means legal."""

    def apply(self, event: Any) -> None:
        """Move on. The event breaks no rule, or waivable ones only; otherwise the result is undefined."""

    def legal_moves(self) -> Iterator[Any]:
        """Return canonical moves of the seat on turn, in canonical order; each passes ``check``."""

    def stand_in(self, seat: int) -> Any:
        """Return the move for a seat that makes none: it has forfeited (TBL-2), or an arbiter passes it over.

        It follows from the position alone, passes ``check`` and does as little as the rules allow. Raises
        ``ValueError`` unless a decision of the seat is awaited.
        """

    def chance_outcomes(self) -> Iterator[tuple[Any, int]]:
        """Return outcomes that can come next, with integer weights."""

    def sample(self, below: Below) -> Any:
        """Return one outcome that can come next, as likely as it is, however many there are.

        ``below``: returns a number in 0..n-1, all equally likely. Raise ``ValueError`` unless chance is awaited.
        """

    def observation(self, seat: int | None) -> Any:
        """Return the data that the seat (or, for None, the public) may know."""

    def comments(self) -> tuple[str, ...]:
        """Return sentences on oddities that no rule forbids, yet every report has to mention; often none."""

    def course(self) -> Mapping[str, Fact]:
        """Return how far an event has come, which has no winner; empty for a game, whose result says it."""

    def copy(self) -> State:
        """Return an independent state."""

    def encode(self) -> bytes:
        """Return the canonical encoding, as the game's documentation specifies it."""

    def digest(self) -> bytes:
        """Return SHA-256 of ``encode()``."""


class Dealer(Protocol):
    """The hidden order of a dealt game: brings each outcome when its turn has come."""

    def outcome(self, state: State, /) -> Any:
        """Return the outcome that ``state`` awaits. Called once for every chance event, in order."""


class Game(Protocol):
    """A registered (rules id, version): its setup and its rules."""

    rules_id: str
    version: int
    min_seats: int
    max_seats: int
    catalogue: Sequence[Rule]
    waivable: frozenset[str]
    """TBL-7: ids of the constraints that a move may break and still stand, if an arbiter rules so: ``apply`` takes an
    event whose violations are all among them, and the game continues."""
    declares_components: bool
    """True if a game may be opened with other components than ``default_components()``. They may have a ``provenance``:
    where they are from, in words that every report repeats."""

    def default_components(self) -> Any:
        """Return the version's own components: its tiles, its dominoes or its sheet."""

    def new(self, seats: int, options: Any, components: Any) -> State:
        """Return the state before the first event. Raise ``SetupError``."""

    def dealer(self, seats: int, options: Any, components: Any, stream: Stream) -> Dealer:
        """Return the order that ``stream`` gives this game."""


class InputError(ValueError):
    """A part of the input is wrong, in one line.

    ``field`` names the part, and is empty if there is only one; ``what`` is the fault; ``expected`` is empty if that
    tells it, too.
    """

    def __init__(self, field: str, what: str, expected: str = "", *, sep: str = ",") -> None:
        """``sep``: the separator of the two, as the text found may have commas itself."""
        where = f"{field}: " if field else ""
        super().__init__(f"{where}{what}{sep} expected {expected}" if expected else f"{where}{what}")
        self.field = field
        self.what = what
        self.expected = expected


class SetupError(InputError):
    """Seats, options or components that no game can be set up with. ``field``: ``seats``, or an option's name."""

    def __init__(self, field: str, what: str, *, beside: str = "") -> None:
        """``beside``: another option that it cannot be combined with."""
        super().__init__(field, f"not together with {beside}: {what}" if beside else what)
        self.beside = beside


class UnknownRules(LookupError):
    """No engine is registered for this (rules id, version)."""
