"""The message that says whose act is awaited, for the author who is to make it."""

from __future__ import annotations

from referee.live.game import LiveGame
from referee.live.view import awaited_seats, is_scribe_awaited
from referee.log.game import Phase
from referee.log.intent import Author, Role
from referee.log.replay import Record
from referee.v1 import game_service_pb2 as pb

MAX_MOVES = 5000


_OF_SEATS = {Phase.JOINING: pb.AWAITED_JOIN, Phase.REVEALING: pb.AWAITED_REVEAL, Phase.PLAYING: pb.AWAITED_MOVE}


def awaited(record: Record, author: Author) -> pb.Turn | None:
    """Return the author's turn, without moves; None if nothing is awaited from it. Any scribe stands for all."""
    seats = awaited_seats(record)
    if author.role is Role.SEAT:
        seats = [seat for seat in seats if seat == author.index]
    else:
        seats = [seat for seat in seats if author.role is Role.SCRIBE and record.opened.seats[seat].scribed]
    if seats:
        return pb.Turn(awaited=_OF_SEATS[record.phase], seat=seats[0], size=record.size, head=record.head)
    if author.role is Role.SCRIBE and is_scribe_awaited(record):
        return pb.Turn(awaited=pb.AWAITED_DECLARE, size=record.size, head=record.head)
    return None


class TurnMessages:
    """What one author has been sent about one game."""

    def __init__(self, game: LiveGame, author: Author, *, moves: bool) -> None:
        """``moves``: legal moves are wanted with every turn."""
        self._game = game
        self._author = author
        self._moves = moves
        self._told = 0

    async def now(self) -> pb.Turn | None:
        """Return the author's turn, if it is on turn and has not been told. Only for an author who has every entry so
        far.

        None as well while it is not known, as something is under way: then there is more to come, or a sign of life.
        """
        record = self._game.peek()
        if record is None or record.size == self._told:
            return None
        turn = awaited(record, self._author)
        self._told = record.size
        if turn is not None and (left_ms := self._game.left_ms(turn.seat)) is not None:
            turn.left_ms = left_ms
        if turn is not None and self._moves and turn.awaited == pb.AWAITED_MOVE:
            _, _, moves = await self._game.legal_moves()
            turn.moves.extend(moves[:MAX_MOVES])
            turn.more_moves = len(moves) > MAX_MOVES
        return turn
