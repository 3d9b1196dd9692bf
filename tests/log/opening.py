"""A game before play, in which seats come, or do not, and change their keys."""

from __future__ import annotations

from typing import Any

from referee.log import intent
from referee.log.entry import Clock
from referee.log.events import Author, Role
from referee.log.header import build_header
from referee.log.keys import PrivateKey
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from tests.log import games, toy
from tests.log.games import Played, key, seed


class Opening:
    """Three seats of the toy, dealt; every method that acts returns the game."""

    def __init__(
        self, *, table_rules: int = 2, dealt: bool = True, seats: int = 3, scribed: tuple[int, ...] = (), **terms: Any
    ) -> None:
        header = build_header("toy", 1, toy.Toy.catalogue, log_pb2.DESCRIPTOR, "tests")
        opened = games.game_open(header, dealt=dealt, scribed=scribed, seats=seats, options=bytes([6]))
        opened.terms.CopyFrom(log_pb2.Terms(table_rules=table_rules, **{"absence_ms": 1_000, **terms}))
        self.played: Played = games.start(opened, header=header)
        self.now = self.record.last_ms
        self.keys = {Author(Role.SEAT, seat): key(f"seat {seat}") for seat in range(seats)}
        """With which the seats sign."""
        self.settle()

    @property
    def record(self) -> Record:
        return self.played.record

    @property
    def game(self) -> Any:
        return self.record.game

    def settle(self) -> None:
        """Everything that the referee has to enter now."""
        while (event := self.record.due(self.now)) is not None:
            self.played.keep(self.record.write(event, Clock(self.now)))

    def admit(self, signed: intent.SignedIntent) -> Opening:
        self.played.keep(self.record.admit(signed, Clock(self.now)))
        self.settle()
        return self

    def join(self, *seats: int) -> Opening:
        for seat in seats:
            p = seed(f"p {seat}") if self.game.deal.is_dealt else None
            self.admit(intent.join(self.record.place, seat, self.keys[Author(Role.SEAT, seat)], p))
        return self

    def reveal(self, *seats: int) -> Opening:
        for seat in seats:
            signing = self.keys[Author(Role.SEAT, seat)]
            self.admit(intent.reveal(self.record.place, seat, signing, seed(f"p {seat}")))
        return self

    def absent(self, seat: int, *, after: int = 1_000, since: int = 0) -> Opening:
        """Record the seat as absent.

        ``after``: for how long; ``since``: from when, counted from the moment at which the seat could come."""
        since_ms = self.game.missing_from_ms + since
        self.now = max(self.now, since_ms + after)
        event = log_pb2.Absent(seat=seat, since_ms=since_ms)
        self.played.keep(self.record.write(event, Clock(self.now)))
        self.settle()
        return self

    def act(self, author: Author, message: intent.TableAct) -> Opening:
        signing = self.keys.get(author, key(str(author)))
        return self.admit(intent.act(self.record.place, author, signing, message))

    def rule(self, rule_id: str = "TBL-38", **ruling: Any) -> Opening:
        return self.act(Author(Role.ARBITER, 0), log_pb2.Rule(rule_id=rule_id, **ruling))

    def change(self, seat: int, new: PrivateKey, *, by: Author | None = None, named: int | None = None) -> Opening:
        """Name another key. The seat signs with its old one until ``self.keys`` says otherwise."""
        return self.act(by or Author(Role.SEAT, seat), log_pb2.ChangeKey(seat=named, key=new.public.raw))

    def play(self) -> Opening:
        """Every awaited seat takes one, to the end."""
        while seats := self.game.awaited():
            author = Author(Role.SEAT, seats[0])
            data = self.game.position.codec.encode_move(toy.Take(1), self.game.position.components)
            self.admit(intent.move(self.record.place, author, self.keys[author], data))
        return self
