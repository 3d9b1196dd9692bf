"""The heads of games that a public log is made of: the first and the last that was signed of each.

Kept in the order in which they came, whether there is a public log or not: two short rows for a game, so that a log
that is begun later has every game, too. A head has a leaf once its place in the log is fixed, which is for good: the
log can be written again from here. In the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from referee.log.errors import LogError
from referee.log.note import Checkpoint, Note
from referee.server.store.errors import StoreFailed
from referee.server.store.session import Session
from referee.server.store.state import State
from referee.server.store.store import Head, LogState

_SIZE_BYTES = 8
_FIRST_AND_LAST = f"""SELECT note FROM (
        SELECT number, (SELECT seq FROM entries WHERE game = number AND length(note) > 0 ORDER BY seq LIMIT 1) AS its
        FROM games
        UNION SELECT number, (SELECT max(seq) FROM entries WHERE game = number) FROM games WHERE state = {State.OVER}
    ) AS ends JOIN entries ON game = number AND seq = its ORDER BY """  # noqa: S608 - a number of our own


def head_in(note: bytes) -> Head | None:
    """Return the head that the note signs; None if it is damaged."""
    try:
        head = Checkpoint.parse(Note.parse(note).text)
    except LogError:
        return None
    return Head(head.game_id, head.size, head.root)


def keep(session: Session, heads: Iterable[Head]) -> None:
    """Keep the heads that are not there, without a leaf."""
    session.executemany(
        "INSERT INTO heads (game, size, root) VALUES (?, ?, ?) ON CONFLICT (game, size, root) DO NOTHING", heads
    )


def keep_of_all(session: Session, order: str) -> None:
    """Keep the heads of all games that are there, which were opened before heads were kept.

    ``order``: what the entries are ordered by, so that no game ends before it was opened.
    """
    notes = session.execute(_FIRST_AND_LAST + order).fetchall()
    keep(session, [head for (note,) in notes if (head := head_in(note)) is not None])


def keep_last(session: Session, game: int) -> None:
    """Keep the last head of the game of this number."""
    query = "SELECT note FROM entries WHERE game = ? ORDER BY seq DESC LIMIT 1"
    row = session.execute(query, (game,)).fetchone()
    if row is not None and (head := head_in(row[0])) is not None:
        keep(session, [head])


def size(session: Session) -> int:
    """Return how many heads have a leaf: these are the leaves from 0 on."""
    size_: int = session.execute("SELECT coalesce(max(leaf) + 1, 0) FROM heads").fetchone()[0]
    return size_


def settled(session: Session) -> int | None:
    """Return ``size`` if every head has a leaf; otherwise None."""
    query = "SELECT (SELECT coalesce(max(leaf) + 1, 0) FROM heads), EXISTS (SELECT 1 FROM heads WHERE leaf IS NULL)"
    size_, is_more = session.execute(query).fetchone()
    return None if is_more else size_


def number(session: Session, limit: int) -> int:
    """Give at most ``limit`` heads the next leaves, in the order in which they came; return ``size``."""
    first = size(session)
    query = "SELECT place FROM heads WHERE leaf IS NULL ORDER BY place LIMIT ?"
    places = [place for (place,) in session.execute(query, (limit,))]
    session.executemany("UPDATE heads SET leaf = ? WHERE place = ?", list(enumerate(places, first)))
    return first + len(places)


def leaves(session: Session, first: int, limit: int) -> list[Head]:
    """Return at most ``limit`` heads from that leaf on."""
    query = "SELECT game, size, root FROM heads WHERE leaf >= ? ORDER BY leaf LIMIT ?"
    return [Head(*row) for row in session.execute(query, (first, limit))]


def of_game(session: Session, game_id: bytes) -> list[tuple[Head, int | None]]:
    """Return the game's heads, smallest first, each with its leaf or None."""
    query = "SELECT game, size, root, leaf FROM heads WHERE game = ? ORDER BY size, place"
    return [(Head(*row[:3]), row[3]) for row in session.execute(query, (game_id,))]


def put_back(session: Session, first: int, heads: Iterable[Head]) -> None:
    """Make these the leaves from ``first`` on, and take their leaves from all others from there on.

    Raise ``StoreFailed`` if they are not what can follow there.
    """
    session.execute("UPDATE heads SET leaf = NULL WHERE leaf >= ?", (first,))
    session.executemany(
        """INSERT INTO heads (game, size, root, leaf) VALUES (?, ?, ?, ?)
        ON CONFLICT (game, size, root) DO UPDATE SET leaf = excluded.leaf""",
        [(*head, leaf) for leaf, head in enumerate(heads, first)],
    )
    (count,) = session.execute("SELECT count(leaf) FROM heads").fetchone()
    if count != size(session):
        raise StoreFailed("a head that stands further back, or leaves that do not follow on those that are there")


def state_of(value: Any) -> LogState | None:
    """Return the state of the log that ``value_of`` made this of; None of None."""
    return None if value is None else LogState(int.from_bytes(value[:_SIZE_BYTES]), bytes(value[_SIZE_BYTES:]))


def value_of(state: LogState) -> bytes:
    """Return what the database keeps."""
    return state.size.to_bytes(_SIZE_BYTES) + state.root
