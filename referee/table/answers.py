"""What a table answers to an act and what of it is kept in the store; and the moves of the seat on turn."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from referee.games.game import Violation
from referee.log.replay import Record


class Accepted(NamedTuple):
    """The entry that an act became, and the receipt for the history up to what followed it at once."""

    seq: int
    note: bytes
    size: int
    head: bytes
    repeated: bool = False
    """Whether it is the first answer given again."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Every rule that the act breaks; ``recorded`` if the attempt became an entry."""

    violations: tuple[Violation, ...]
    recorded: Accepted | None


Answer = Accepted | Refused


def encode(violations: Sequence[Violation]) -> bytes:
    """For ``decode``."""
    return json.dumps([(v.rule_id, v.cells, dict(v.facts)) for v in violations]).encode()


def decode(data: bytes) -> tuple[Violation, ...]:
    """What ``encode`` was given."""
    return tuple(
        Violation(rule_id, tuple((x, y) for x, y in cells), facts) for rule_id, cells, facts in json.loads(data)
    )


def legal_moves(record: Record) -> tuple[int | None, list[bytes]]:
    """The seat on turn and its canonical moves; no seat and none, if none has to decide."""
    course = record.course
    seats = course.awaited()
    if not seats:
        return None, []
    return seats[0], [course.codec.encode_move(move, course.tables) for move in course.state.legal_moves()]
