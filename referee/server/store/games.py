"""Games and their entries as a database keeps them: how they are found, opened, ended and mended.

In the caller's transaction. ``number`` is a game's in this database, which nobody outside of it knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from referee.log.entry import decode_entry
from referee.log.errors import LogError
from referee.server.store import certificates, grants, heads
from referee.server.store.errors import StoreFailed
from referee.server.store.seal import Seal
from referee.server.store.session import Session
from referee.server.store.state import State, signed, unsigned
from referee.server.store.store import Listing, Opening, Player, Row, StoredGame

_GAME = "SELECT number, id, closed.data, event, round, place, opened_ms FROM"
_CLOSED = "LEFT JOIN closed ON closed.game = number"
_GAMES = f"{_GAME} games {_CLOSED} WHERE"
_ENTRIES = """SELECT seq, data, note FROM entries WHERE game = (SELECT number FROM games WHERE id = ?)
    AND seq >= ? ORDER BY seq LIMIT ?"""
_NOTES = """SELECT id, note FROM games JOIN entries ON entries.game = number
    AND seq = (SELECT max(seq) FROM entries WHERE game = number) WHERE number BETWEEN ? AND ?"""
_LAST_ENTRIES = """SELECT id, opened_ms, data FROM games JOIN entries ON entries.game = number
    AND seq = (SELECT max(seq) FROM entries WHERE game = number) WHERE state = ?"""
_OPEN_NOTES = """SELECT id, note FROM games JOIN entries ON entries.game = number
    AND seq = (SELECT max(seq) FROM entries WHERE game = number) WHERE state = ?"""
_PLAYERS = "SELECT id, seat, principal FROM players JOIN games ON games.number = game"
_LAST = (1 << 63) - 1

# --- finding ---------------------------------------------------------------------------------------------------


def number_of(session: Session, game_id: bytes) -> int:
    """Return the game's number. Raise ``StoreFailed`` if it is not there."""
    row = session.execute("SELECT number FROM games WHERE id = ?", (game_id,)).fetchone()
    if row is None:
        raise StoreFailed(f"no game {game_id.hex()}")
    number: int = row[0]
    return number


def find(session: Session, game_id: bytes) -> StoredGame | None:
    """Return the game, as ``Store.game`` says; so do those below."""
    row = session.execute(f"{_GAMES} id = ? AND state <> ?", (game_id, State.GIVEN_UP)).fetchone()
    return _stored(row) if row else None


def newest(session: Session, before: int | None, limit: int, closed: bool | None) -> list[StoredGame]:
    # With the plus the games are gone through by number; those of one state the index has by number, too.
    kind, state = ("+state <> ?", State.GIVEN_UP) if closed is None else ("state = ?", State(closed))
    return _page(session, f"{_GAMES} {kind}", before, limit, state)


def of_event(session: Session, event_id: int, before: int | None, limit: int) -> list[StoredGame]:
    return _page(session, f"{_GAMES} event = ? AND +state <> ?", before, limit, signed(event_id), State.GIVEN_UP)


def of_player(session: Session, principal: str, before: int | None, limit: int) -> list[StoredGame]:
    # The index of players has the games by number; a cross join is made in the order in which it stands.
    what = f"{_GAME} players CROSS JOIN games {_CLOSED} WHERE number = players.game AND principal = ? AND +state <> ?"
    return _page(session, what, before, limit, principal, State.GIVEN_UP, by="players.game")


def between(session: Session, first: bytes, last: bytes, before: int | None, limit: int) -> list[StoredGame]:
    what = f"{_GAMES} id BETWEEN ? AND ? AND +state <> ?"
    return _page(session, what, before, limit, first, last, State.GIVEN_UP, by="+number")


def _page(
    session: Session, query: str, before: int | None, limit: int, *values: Any, by: str = "number"
) -> list[StoredGame]:
    """Return a page of what the query finds, newest first. ``by``: the number in it, as the index has it."""
    rows = session.execute(
        f"{query} AND {by} < ? ORDER BY {by} DESC LIMIT ?", (*values, _LAST if before is None else before, limit)
    )
    return [_stored(row) for row in rows]


def _stored(row: Any) -> StoredGame:
    number, game_id, closed, event_id, round_, table, opened_ms = row
    return StoredGame(number, game_id, closed, Listing(unsigned(event_id), round_, table, opened_ms))


def first_since(session: Session, opened_ms: int) -> int | None:
    query = "SELECT number FROM games WHERE opened_ms >= ? ORDER BY opened_ms, number LIMIT 1"
    row = session.execute(query, (opened_ms,)).fetchone()
    return row[0] if row else None


def entries(session: Session, game_id: bytes, first: int, limit: int) -> list[Row]:
    return [Row(*row) for row in session.execute(_ENTRIES, (game_id, first, limit))]


def notes(session: Session, first: int, last: int) -> dict[bytes, bytes]:
    """Return by game id the note of the last entry of each game whose number is among these."""
    return dict(session.execute(_NOTES, (first, last)).fetchall())


def last_times(session: Session) -> Iterator[tuple[bytes, int]]:
    """Yield each game that is not over, and when its last entry was written, in milliseconds since 1970."""
    rows = session.execute(_LAST_ENTRIES, (State.OPEN,))
    for game_id, opened_ms, data in rows.fetchall():
        try:
            yield game_id, decode_entry(data).referee_ms
        except LogError:
            yield game_id, opened_ms  # it will be set aside for that


def open_notes(session: Session) -> dict[bytes, bytes]:
    """Return by game id the note of the last entry of each game that is not over."""
    return dict(session.execute(_OPEN_NOTES, (State.OPEN,)).fetchall())


def numbers(session: Session) -> list[int]:
    """Return those of all games, in order."""
    return [number for (number,) in session.execute("SELECT number FROM games ORDER BY number")]


def header(session: Session, game_id: bytes) -> bytes:
    row = session.execute("SELECT data FROM headers JOIN games ON header = hash WHERE id = ?", (game_id,)).fetchone()
    return row[0] if row else b""


def sealed_secret(session: Session, game_id: bytes) -> bytes | None:
    row = session.execute("SELECT seed FROM secrets JOIN games ON number = game WHERE id = ?", (game_id,)).fetchone()
    return row[0] if row else None


def has_secrets(session: Session) -> bool:
    return session.execute("SELECT 1 FROM secrets LIMIT 1").fetchone() is not None


def answer(session: Session, game_id: bytes, seq: int) -> bytes | None:
    query = "SELECT data FROM answers JOIN games ON number = game WHERE id = ? AND seq = ?"
    row = session.execute(query, (game_id, seq)).fetchone()
    return row[0] if row else None


def players(session: Session, game_id: bytes | None) -> list[Player]:
    which, value = ("state", State.OPEN) if game_id is None else ("id", game_id)
    rows = session.execute(f"{_PLAYERS} WHERE {which} = ? ORDER BY number, seat", (value,))
    return [Player(*row) for row in rows]


# --- changing --------------------------------------------------------------------------------------------------


def open_(session: Session, seal: Seal, game_id: bytes, opening: Opening) -> int:
    """Keep what the game brings along besides its entries; return its number, higher than that of any other game."""
    header = (opening.header_hash, opening.header)
    session.execute("INSERT INTO headers (hash, data) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING", header)
    event_id, round_, table, opened_ms = opening.listing
    number: int
    (number,) = session.execute(
        """INSERT INTO games (id, header, event, round, place, opened_ms) VALUES (?, ?, ?, ?, ?, ?)
        RETURNING number""",
        (game_id, opening.header_hash, signed(event_id), round_, table, _in_order(session, opened_ms)),
    ).fetchone()
    if opening.secret is not None:
        sealed = seal.seal(game_id, opening.secret)
        session.execute("INSERT INTO secrets (game, seed) VALUES (?, ?)", (number, sealed))
    session.executemany(
        "INSERT INTO grants (hash, principal, scopes, game, seat, issued_ms) VALUES (?, ?, ?, ?, ?, ?)",
        [(g.digest, g.principal, grants.scopes_text(g), number, g.seat, g.issued_ms) for g in opening.grants],
    )
    session.executemany(
        "INSERT INTO players (game, seat, principal) VALUES (?, ?, ?)",
        [(number, seat, principal) for seat, principal in enumerate(opening.principals) if principal],
    )
    if opening.wants_certificates:
        certificates.begin(session, number)
    return number


def _in_order(session: Session, opened_ms: int) -> int:
    """Return the time for lists, never earlier than before: the order of numbers is that of time, too."""
    newest_ms: int = session.execute("SELECT coalesce(max(opened_ms), 0) FROM games").fetchone()[0]
    return max(opened_ms, newest_ms)


def keep_answer(session: Session, number: int, seq: int, answer: bytes) -> None:
    """Keep the answer to the entry."""
    session.execute("INSERT INTO answers (game, seq, data) VALUES (?, ?, ?)", (number, seq, answer))


def close(session: Session, number: int, closed: bytes) -> None:
    """Note that the game is over, and as what lists show it."""
    kept = "INSERT INTO closed (game, data) VALUES (?, ?) ON CONFLICT (game) DO UPDATE SET data = excluded.data"
    session.execute(kept, (number, closed))
    session.execute("UPDATE games SET state = ? WHERE number = ?", (State.OVER, number))
    # It is in the log by now.
    session.execute("DELETE FROM secrets WHERE game = ?", (number,))


def give_up(session: Session, game_id: bytes) -> None:
    session.execute("UPDATE games SET state = ? WHERE id = ?", (State.GIVEN_UP, game_id))


def mend(session: Session, game_id: bytes, header: bytes, rows: Sequence[Row], closed: bytes | None) -> None:
    number = number_of(session, game_id)
    session.execute(
        "UPDATE headers SET data = ? WHERE hash = (SELECT header FROM games WHERE number = ?)", (header, number)
    )
    # Not in its place: entries are in the order in which they came.
    session.executemany("DELETE FROM entries WHERE game = ? AND seq = ?", [(number, row.seq) for row in rows])
    session.executemany(
        "INSERT INTO entries (game, seq, data, note) VALUES (?, ?, ?, ?)",
        [(number, row.seq, row.data, row.note) for row in rows],
    )
    if closed is not None:
        close(session, number, closed)
        heads.keep_last(session, number)
