"""Whose act is awaited, told to whoever is to make it."""

from __future__ import annotations

from referee.games.game import Chance, Decision
from referee.log.intent import Author, Role
from referee.log.replay import Record
from referee.log.steps import Phase
from referee.table.table import Table
from referee.v1 import game_service_pb2 as pb

MAX_MOVES = 5000


def awaited(record: Record, author: Author) -> pb.Turn | None:
    """The author's turn, without moves; None if nothing is awaited from it. Any scribe stands for all."""
    course = record.course
    turn: pb.Turn | None = None
    if author.role is Role.SEAT:
        turn = _of_seat(record, author.index)
    elif record.phase is Phase.PLAYING:
        for pending in course.pending():
            if isinstance(pending, Decision) and record.opened.seats[pending.seat].scribed:
                turn = pb.Turn(awaited=pb.AWAITED_MOVE, seat=pending.seat)
            elif isinstance(pending, Chance) and not course.dealt:
                turn = pb.Turn(awaited=pb.AWAITED_DECLARE)
    if turn is not None:
        turn.size, turn.head = record.size, record.head
    return turn


def _of_seat(record: Record, seat: int) -> pb.Turn | None:
    course = record.course
    if record.phase is Phase.PLAYING:
        for pending in course.pending():
            if isinstance(pending, Decision) and pending.seat == seat:
                return pb.Turn(awaited=pb.AWAITED_MOVE, seat=seat)
    elif record.phase is Phase.JOINING and seat not in course.joins:
        return pb.Turn(awaited=pb.AWAITED_JOIN, seat=seat)
    elif record.phase is Phase.REVEALING and seat in course.joins and seat not in course.seeds:
        return pb.Turn(awaited=pb.AWAITED_REVEAL, seat=seat)
    return None


class Turns:
    """What one author has been told of one game."""

    def __init__(self, table: Table, author: Author, *, moves: bool) -> None:
        """``moves``: legal moves are wanted with every turn."""
        self._table = table
        self._author = author
        self._moves = moves
        self._told = 0

    async def now(self) -> pb.Turn | None:
        """The author's turn, if it is and has not been told. Only for who has every entry so far.

        None as well while it is not known, as something is under way: then there is more to come, or a sign of life.
        """
        record = self._table.peek()
        if record is None or record.size == self._told:
            return None
        turn = awaited(record, self._author)
        self._told = record.size
        if turn is not None and self._moves and turn.awaited == pb.AWAITED_MOVE:
            _, _, moves = await self._table.legal_moves()
            turn.moves.extend(moves[:MAX_MOVES])
            turn.more_moves = len(moves) > MAX_MOVES
        return turn
