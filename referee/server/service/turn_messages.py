"""The message that says whose act is awaited, for the author who is to make it."""

from __future__ import annotations

from referee.log.game import Phase
from referee.log.intent import Author, Role
from referee.log.replay import Record
from referee.server.live.game import LiveGame
from referee.server.live.view import awaited_seats, is_scribe_awaited
from referee.v1 import game_service_pb2 as pb

MAX_MOVES = 5000


_OF_SEATS = {Phase.JOINING: pb.AWAITED_JOIN, Phase.REVEALING: pb.AWAITED_REVEAL, Phase.PLAYING: pb.AWAITED_MOVE}


def awaited(record: Record, author: Author) -> tuple[pb.Awaited.ValueType, int] | None:
    """Return what is awaited from the author, and of which seat (0 for a draw); None: nothing.

    Any scribe stands for all.
    """
    seats = awaited_seats(record)
    if author.role is Role.SEAT:
        seats = [seat for seat in seats if seat == author.index]
    else:
        seats = [seat for seat in seats if author.role is Role.SCRIBE and record.opened.seats[seat].scribed]
    if seats:
        return _OF_SEATS[record.phase], seats[0]
    if author.role is Role.SCRIBE and is_scribe_awaited(record):
        return pb.AWAITED_DECLARE, 0
    return None


class TurnMessages:
    """What one author has been sent about one game."""

    def __init__(self, game: LiveGame, author: Author, *, moves: bool) -> None:
        """``moves``: legal moves are wanted with every turn."""
        self._game = game
        self._author = author
        self._moves = moves
        self._told = 0

    async def tell(self, turn: pb.Turn) -> bool:
        """Fill in the author's turn if it is on turn and has not been told; return whether that is so.

        Only for an author who has every entry so far.
        It is not told while something is under way, either: then there is more to come, or a sign of life.
        """
        record = self._game.peek()
        if record is None or record.size == self._told:
            return False
        found = awaited(record, self._author)
        self._told = record.size
        if found is None:
            return False
        turn.awaited, turn.seat = found
        turn.size, turn.head = record.size, record.head
        if (left_ms := self._game.left_ms(turn.seat)) is not None:
            turn.left_ms = left_ms
        if self._moves and turn.awaited == pb.AWAITED_MOVE:
            _, _, moves = await self._game.legal_moves()
            turn.moves.extend(moves[:MAX_MOVES])
            turn.more_moves = len(moves) > MAX_MOVES
        return True
