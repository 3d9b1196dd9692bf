"""A tiny game for tests of the log: turn over a card, take 1 to its value; a card of 0 forces a pass.

Its bytes are not protobuf: nothing in the log may depend on what a move looks like inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from referee.games.game import (
    Chance,
    Decision,
    Ending,
    Fact,
    Forced,
    ForcedPass,
    Kind,
    Over,
    Pending,
    Rule,
    SetupError,
    Stream,
    UnknownRules,
    Violation,
)
from referee.games.sampling import Below, drawn
from referee.log.engines import Engines
from referee.log.v1 import log_pb2
from referee.wire.strict import MalformedError

CARDS = bytes([0, 1, 2, 3, 4, 5, 6, 7])


@dataclass(frozen=True)
class Take:
    count: int


@dataclass(frozen=True)
class Turned:
    card: int


@dataclass(frozen=True)
class Options:
    turns: int = 6


class ToyState:
    def __init__(self, seats: int, turns: int, cards: bytes) -> None:
        self.seats = seats
        self.turns = turns
        self.left = sorted(cards)
        self.card: int | None = None
        self.done = 0
        self.scores = [0] * seats

    def pending(self) -> tuple[Pending, ...]:
        if self.done == self.turns:
            places = tuple(1 + sum(other > score for other in self.scores) for score in self.scores)
            return (Over(Ending.RULES, tuple(self.scores), places),)
        seat = self.done % self.seats
        if self.card is None:
            return (Chance("card"),)
        return (Forced(seat),) if self.card == 0 else (Decision(seat, ("take",)),)

    def check(self, event: Any) -> tuple[Violation, ...]:
        if isinstance(event, Turned):
            return () if event.card in self.left else (Violation("TOY-1"),)
        if isinstance(event, ForcedPass):
            return ()
        found = [Violation("TOY-2")] if event.count > (self.card or 0) else []
        return tuple(found + ([Violation("TOY-3")] if event.count in (0, 99) else []))

    def apply(self, event: Any) -> None:
        if isinstance(event, Turned):
            self.left.remove(event.card)
            self.card = event.card
            return
        if isinstance(event, Take):
            if event.count == 66:
                raise ZeroDivisionError("a defect of the engine")
            self.scores[self.done % self.seats] += event.count
        self.card = None
        self.done += 1

    def legal_moves(self) -> Iterator[Take]:
        return (Take(n) for n in range(1, (self.card or 0) + 1))

    def chance_outcomes(self) -> Iterator[tuple[Any, int]]:
        return ((Turned(card), 1) for card in self.left)

    def sample(self, below: Below) -> Turned:
        return Turned(drawn(self.left, 1, below)[0])

    def observation(self, seat: int | None) -> Any:
        return None

    def stand_in(self, seat: int) -> Take:
        return Take(1)

    def comments(self) -> tuple[str, ...]:
        return ()

    def course(self) -> Mapping[str, Fact]:
        return {}

    def copy(self) -> ToyState:
        other = ToyState(self.seats, self.turns, b"")
        other.left, other.card, other.done, other.scores = [*self.left], self.card, self.done, [*self.scores]
        return other

    def encode(self) -> bytes:
        return repr((self.seats, self.turns, self.left, self.card, self.done, self.scores)).encode()

    def digest(self) -> bytes:
        return sha256(self.encode()).digest()


class ToyDealer:
    def __init__(self, cards: bytes, stream: Stream) -> None:
        self.order = [sorted(cards)[i] for i in stream.permutation("shuffle/cards/0", len(cards))]
        self.asked = 0

    def outcome(self, state: Any) -> Turned:
        self.asked += 1
        return Turned(self.order[self.asked - 1])


class Toy:
    rules_id = "toy"
    version = 1
    min_seats = 1
    max_seats = 4
    declares_components = False
    waivable = frozenset({"TOY-2"})
    catalogue = (
        Rule("TOY-1", Kind.CONSTRAINT, "A card is turned over once.", "page 1", "toy.check"),
        Rule("TOY-2", Kind.CONSTRAINT, "Take no more than the card says.", "page 1", "toy.check"),
        Rule("TOY-3", Kind.CONSTRAINT, "Take at least one.", "page 2", "toy.check"),
    )

    def new(self, seats: int, options: Options, components: bytes) -> ToyState:
        if not self.min_seats <= seats <= self.max_seats or options.turns > len(components):
            raise SetupError("", f"{seats} seats, {options.turns} turns")
        return ToyState(seats, options.turns, components)

    def dealer(self, seats: int, options: Options, components: bytes, stream: Stream) -> ToyDealer:
        return ToyDealer(components, stream)


def _one(data: bytes, thing: str) -> int:
    if len(data) != 1:
        raise MalformedError(f"{thing} of {len(data)} bytes", thing, 0, "one byte")
    return data[0]


class ToyCodec:
    def __init__(self, cards: bytes = CARDS) -> None:
        self.cards = cards

    def decode_options(self, data: bytes) -> Options:
        return Options(_one(data, "turns")) if data else Options()

    def encode_options(self, options: Options) -> bytes:
        return bytes([options.turns])

    def decode_components(self, data: bytes) -> bytes:
        return data

    def encode_components(self, components: bytes | None) -> bytes:
        return self.cards if components is None else components

    def decode_move(self, data: bytes, components: Any) -> Take:
        return Take(_one(data, "take"))

    def encode_move(self, move: Take, components: Any) -> bytes:
        return bytes([move.count])

    def decode_outcome(self, data: bytes, components: Any) -> Turned:
        return Turned(_one(data, "card"))

    def encode_outcome(self, outcome: Turned, components: Any) -> bytes:
        return bytes([outcome.card])

    def position(self, state: Any) -> Any:
        raise NotImplementedError

    def signed_file(self) -> Any:
        return log_pb2.DESCRIPTOR


def _only(value: Any) -> Any:
    def get(rules_id: str, version: int) -> Any:
        if (rules_id, version) != ("toy", 1):
            raise UnknownRules(f"no rules {rules_id!r} version {version}")
        return value

    return get


def engines(cards: bytes = CARDS) -> Engines:
    """Return the toy rules, with these cards for components."""
    return Engines(_only(Toy()), _only(ToyCodec(cards)))


ENGINES = engines()
