"""The statements that every database understands: for games, heads, grants, certificates and texts of acts.

All are in the caller's transaction. ``number`` is a game's in this database; nothing outside of it knows that number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from referee.log.entry import decode_entry
from referee.log.errors import LogError
from referee.log.note import Checkpoint, Note
from referee.server.store.seal import Seal
from referee.server.store.session import Session, State, signed, unsigned
from referee.server.store.store import (
    Certificate,
    Grant,
    Head,
    Listing,
    LogState,
    NewCertificates,
    Opening,
    Player,
    Row,
    SeatName,
    StoredGame,
    StoreFailed,
)

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

# --- games and their entries: finding --------------------------------------------------------------------------


def number_of(session: Session, game_id: bytes) -> int:
    """Return the game's number. Raise ``StoreFailed`` if it is not there."""
    row = session.execute("SELECT number FROM games WHERE id = ?", (game_id,)).fetchone()
    if row is None:
        raise StoreFailed(f"no game {game_id.hex()}")
    number: int = row[0]
    return number


def find_game(session: Session, game_id: bytes) -> StoredGame | None:
    """Return the game, as ``Store.game`` says; so do those below."""
    row = session.execute(f"{_GAMES} id = ? AND state <> ?", (game_id, State.GIVEN_UP)).fetchone()
    return _stored(row) if row else None


def newest_games(session: Session, before: int | None, limit: int, closed: bool | None) -> list[StoredGame]:
    # With the plus the games are gone through by number; those of one state the index has by number, too.
    kind, state = ("+state <> ?", State.GIVEN_UP) if closed is None else ("state = ?", State(closed))
    return _page(session, f"{_GAMES} {kind}", before, limit, state)


def games_of_event(session: Session, event_id: int, before: int | None, limit: int) -> list[StoredGame]:
    return _page(session, f"{_GAMES} event = ? AND +state <> ?", before, limit, signed(event_id), State.GIVEN_UP)


def games_of_player(session: Session, principal: str, before: int | None, limit: int) -> list[StoredGame]:
    # The index of players has the games by number; a cross join is made in the order in which it stands.
    what = f"{_GAME} players CROSS JOIN games {_CLOSED} WHERE number = players.game AND principal = ? AND +state <> ?"
    return _page(session, what, before, limit, principal, State.GIVEN_UP, by="players.game")


def games_between(session: Session, first: bytes, last: bytes, before: int | None, limit: int) -> list[StoredGame]:
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


# --- games and their entries: changing -------------------------------------------------------------------------


def open_game(session: Session, seal: Seal, game_id: bytes, opening: Opening) -> int:
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
        [(g.digest, g.principal, scopes_text(g), number, g.seat, g.issued_ms) for g in opening.grants],
    )
    session.executemany(
        "INSERT INTO players (game, seat, principal) VALUES (?, ?, ?)",
        [(number, seat, principal) for seat, principal in enumerate(opening.principals) if principal],
    )
    _insert_names(session, number, opening.names)
    if opening.wants_certificates:
        await_certificates(session, number)
    return number


def _in_order(session: Session, opened_ms: int) -> int:
    """Return the time for lists, never earlier than before: the order of numbers is that of time, too."""
    newest_ms: int = session.execute("SELECT coalesce(max(opened_ms), 0) FROM games").fetchone()[0]
    return max(opened_ms, newest_ms)


def keep_answer(session: Session, number: int, seq: int, answer: bytes) -> None:
    """Keep the answer to the entry."""
    session.execute("INSERT INTO answers (game, seq, data) VALUES (?, ?, ?)", (number, seq, answer))


def close_game(session: Session, number: int, closed: bytes) -> None:
    """Note that the game is over, and as what lists show it."""
    kept = "INSERT INTO closed (game, data) VALUES (?, ?) ON CONFLICT (game) DO UPDATE SET data = excluded.data"
    session.execute(kept, (number, closed))
    session.execute("UPDATE games SET state = ? WHERE number = ?", (State.OVER, number))
    # It is in the log by now.
    session.execute("DELETE FROM secrets WHERE game = ?", (number,))


def give_up_game(session: Session, game_id: bytes) -> None:
    session.execute("UPDATE games SET state = ? WHERE id = ?", (State.GIVEN_UP, game_id))


def mend_game(session: Session, game_id: bytes, header: bytes, rows: Sequence[Row], closed: bytes | None) -> None:
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
        close_game(session, number, closed)
        keep_last_head(session, number)


# --- the heads that a public log is made of: the first and the last that was signed of each game ---------------------
# They are kept in the order in which they came, whether there is a public log or not: a log that is begun later has
# every game, too. A head has a leaf once its place in the log is fixed, which is for good.

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


def keep_heads(session: Session, heads: Iterable[Head]) -> None:
    """Keep the heads that are not there, without a leaf."""
    session.executemany(
        "INSERT INTO heads (game, size, root) VALUES (?, ?, ?) ON CONFLICT (game, size, root) DO NOTHING", heads
    )


def keep_heads_of_all(session: Session, order: str) -> None:
    """Keep the heads of all existing games, which were opened before heads were kept.

    ``order``: the order of the entries, so that no game ends before it was opened.
    """
    notes = session.execute(_FIRST_AND_LAST + order).fetchall()
    keep_heads(session, [head for (note,) in notes if (head := head_in(note)) is not None])


def keep_last_head(session: Session, game: int) -> None:
    """Keep the last head of the game of this number."""
    query = "SELECT note FROM entries WHERE game = ? ORDER BY seq DESC LIMIT 1"
    row = session.execute(query, (game,)).fetchone()
    if row is not None and (head := head_in(row[0])) is not None:
        keep_heads(session, [head])


def log_size(session: Session) -> int:
    """Return how many heads have a leaf: these are the leaves from 0 on."""
    size_: int = session.execute("SELECT coalesce(max(leaf) + 1, 0) FROM heads").fetchone()[0]
    return size_


def settled_size(session: Session) -> int | None:
    """Return ``size`` if every head has a leaf; otherwise None."""
    query = "SELECT (SELECT coalesce(max(leaf) + 1, 0) FROM heads), EXISTS (SELECT 1 FROM heads WHERE leaf IS NULL)"
    size_, is_more = session.execute(query).fetchone()
    return None if is_more else size_


def number_heads(session: Session, limit: int) -> int:
    """Give at most ``limit`` heads the next leaves, in the order in which they came; return ``size``."""
    first = log_size(session)
    query = "SELECT place FROM heads WHERE leaf IS NULL ORDER BY place LIMIT ?"
    places = [place for (place,) in session.execute(query, (limit,))]
    session.executemany("UPDATE heads SET leaf = ? WHERE place = ?", list(enumerate(places, first)))
    return first + len(places)


def leaves(session: Session, first: int, limit: int) -> list[Head]:
    """Return at most ``limit`` heads from that leaf on."""
    query = "SELECT game, size, root FROM heads WHERE leaf >= ? ORDER BY leaf LIMIT ?"
    return [Head(*row) for row in session.execute(query, (first, limit))]


def heads_of_game(session: Session, game_id: bytes) -> list[tuple[Head, int | None]]:
    """Return the game's heads, smallest first, each with its leaf or None."""
    query = "SELECT game, size, root, leaf FROM heads WHERE game = ? ORDER BY size, place"
    return [(Head(*row[:3]), row[3]) for row in session.execute(query, (game_id,))]


def put_back_leaves(session: Session, first: int, heads: Iterable[Head]) -> None:
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
    if count != log_size(session):
        raise StoreFailed("a head that stands further back, or leaves that do not follow on those that are there")


def log_state_of(value: Any) -> LogState | None:
    """Return the state of the log that ``value_of`` made this of; None of None."""
    return None if value is None else LogState(int.from_bytes(value[:_SIZE_BYTES]), bytes(value[_SIZE_BYTES:]))


def log_state_value(state: LogState) -> bytes:
    """Return what the database keeps."""
    return state.size.to_bytes(_SIZE_BYTES) + state.root


# --- grants, which are never removed but revoked ---------------------------------------------------------------

# Without its game a grant for one game would be one for every game: then it is none.
_GRANTS = """SELECT hash, principal, scopes, id, seat, certificate, issued_ms, expires_ms, revoked_ms, grants.number
    FROM grants LEFT JOIN games ON games.number = game WHERE (game IS NULL OR id IS NOT NULL)"""


def find_grant(session: Session, digest: bytes) -> Grant | None:
    """Return the grant of the token or certificate with this SHA-256."""
    row = session.execute(f"{_GRANTS} AND hash = ?", (digest,)).fetchone()
    return _grant(row)[1] if row else None


def page_of_grants(
    session: Session, before: int | None, limit: int, principal: str, valid_ms: int | None
) -> list[tuple[int, Grant]]:
    """Return at most ``limit`` grants with their numbers, as ``Store.grants`` says."""
    which, values = "TRUE", list[Any]()
    if before is not None:
        which, values = f"{which} AND grants.number < ?", [*values, before]
    if principal:
        which, values = f"{which} AND principal = ?", [*values, principal]
    if valid_ms is not None:
        which += " AND principal <> '' AND revoked_ms = 0 AND (expires_ms = 0 OR expires_ms > ?)"
        values.append(valid_ms)
    rows = session.execute(f"{_GRANTS} AND {which} ORDER BY grants.number DESC LIMIT ?", (*values, limit))
    return [_grant(row) for row in rows]


def add_grant(session: Session, grant: Grant) -> bool:
    """Keep the grant; return False if there is one with this digest. Raise ``StoreFailed`` if its game is not there."""
    # Kept by number, which is known only inside the database.
    game = session.execute("SELECT number FROM games WHERE id = ?", (grant.game_id,)).fetchone()
    if grant.game_id is not None and game is None:
        raise StoreFailed(f"no game {grant.game_id.hex()}")
    added = session.execute(
        """INSERT INTO grants (hash, principal, scopes, game, seat, certificate, issued_ms, expires_ms)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING""",
        (
            grant.digest,
            grant.principal,
            scopes_text(grant),
            game and game[0],
            grant.seat,
            int(grant.certificate),
            grant.issued_ms,
            grant.expires_ms,
        ),
    )
    return added.rowcount == 1


def revoke_grant(session: Session, beginning: bytes, now_ms: int) -> Grant | None:
    """Revoke the grant whose digest begins so, if it was not revoked before, and return it; None if there is none."""
    last = beginning + b"\xff" * (32 - len(beginning))
    row = session.execute(f"{_GRANTS} AND hash BETWEEN ? AND ?", (beginning, last)).fetchone()
    if row is None:
        return None
    session.execute("UPDATE grants SET revoked_ms = ? WHERE hash = ? AND revoked_ms = 0", (now_ms, row[0]))
    return find_grant(session, row[0])


def set_organiser(session: Session, digest: bytes) -> None:
    """Make the token with this SHA-256 the organiser's, and any other that this made so before none."""
    # Tokens of that name that were issued by hand have a time of issue.
    session.execute("DELETE FROM grants WHERE principal = 'organiser' AND issued_ms = 0 AND hash <> ?", (digest,))
    session.execute(
        "INSERT INTO grants (hash, principal, scopes) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        (digest, "organiser", "admin audit organise"),
    )


def scopes_text(grant: Grant) -> str:
    """Return the grant's scopes as the database keeps them."""
    return " ".join(sorted(grant.scopes))


def _grant(row: Any) -> tuple[int, Grant]:
    digest, principal, scopes, game_id, seat, certificate, *times, number = row
    return number, Grant(digest, principal, frozenset(scopes.split()), game_id, seat, bool(certificate), *times)


# --- certificates: their tables have names from when certificates were called proofs -----------------------------


def await_certificates(session: Session, game: int) -> None:
    """Note that certificates are to be made for the game of this number."""
    session.execute("INSERT INTO unproved (game, seq) VALUES (?, 0)", (game,))


def keep_certificates(session: Session, game: int, new: NewCertificates) -> None:
    """Keep the certificates that were made for the game of this number, and where to continue.

    Existing ones stay: a failure here would be one of all acts in the same batch.
    """
    session.executemany(
        "INSERT INTO proofs (game, seq, part, data) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(game, *certificate) for certificate in new.made],
    )
    if new.next_seq is None:
        session.execute("DELETE FROM unproved WHERE game = ?", (game,))
    else:
        session.execute("UPDATE unproved SET seq = ? WHERE game = ?", (new.next_seq, game))


def certificates_of_entries(session: Session, game_id: bytes, first: int, end: int) -> list[Certificate]:
    """Return those of entries from ``first`` up to before ``end``, by entry and part."""
    query = """SELECT seq, part, data FROM proofs WHERE game = (SELECT number FROM games WHERE id = ?)
        AND seq >= ? AND seq < ? ORDER BY seq, part"""
    return [Certificate(*row) for row in session.execute(query, (game_id, first, end))]


def awaiting_certificates(session: Session) -> list[tuple[bytes, int]]:
    """Return the ids of games that still await certificates and are not given up, and from which entry on."""
    query = "SELECT id, seq FROM unproved JOIN games ON number = game WHERE state <> ? ORDER BY number"
    return session.execute(query, (State.GIVEN_UP,)).fetchall()


# --- texts of acts -----------------------------------------------------------------------------------------------


def keep_remark(session: Session, game: int, seq: int, data: bytes) -> None:
    """Keep the text of the entry, as it stands in the game's file; ``game`` is the game's number."""
    session.execute("INSERT INTO remarks (game, seq, data) VALUES (?, ?, ?)", (game, seq, data))


def remarks_of_entries(session: Session, game_id: bytes, first: int, end: int) -> dict[int, bytes]:
    """Return by entry, in order, the texts of entries from ``first`` up to before ``end``."""
    query = """SELECT seq, data FROM remarks WHERE game = (SELECT number FROM games WHERE id = ?)
        AND seq >= ? AND seq < ? ORDER BY seq"""
    return dict(session.execute(query, (game_id, first, end)).fetchall())


def erase_remark(session: Session, game_id: bytes, seq: int) -> bool:
    """Take the text out of the database; return whether there was one."""
    query = "DELETE FROM remarks WHERE game = (SELECT number FROM games WHERE id = ?) AND seq = ?"
    return session.execute(query, (game_id, seq)).rowcount > 0


# --- names of players --------------------------------------------------------------------------------------------


def _insert_names(session: Session, game: int, names: Iterable[SeatName]) -> None:
    session.executemany(
        "INSERT INTO names (game, seat, name, salt, source, named_ms) VALUES (?, ?, ?, ?, ?, ?)",
        [(game, *name) for name in names],
    )


def names_of_games(session: Session, games: Sequence[bytes]) -> dict[bytes, list[SeatName]]:
    """Return by game the names of its players, by seat."""
    found: dict[bytes, list[SeatName]] = {}
    query = f"""SELECT id, seat, name, salt, source, named_ms FROM games JOIN names ON names.game = games.number
        WHERE id IN ({", ".join("?" * len(games))}) AND state <> ? ORDER BY seat"""  # noqa: S608 - places alone
    for game_id, *name in session.execute(query, (*games, State.GIVEN_UP)) if games else ():
        found.setdefault(game_id, []).append(SeatName(*name))
    return found


def keep_name(session: Session, game_id: bytes, name: SeatName) -> None:
    """Keep the name of the seat's player, in the place of the one before."""
    number = number_of(session, game_id)
    session.execute("DELETE FROM names WHERE game = ? AND seat = ?", (number, name.seat))
    _insert_names(session, number, [name])


def erase_name(session: Session, game_id: bytes, seat: int) -> bool:
    """Take the name out of the database; return whether there was one."""
    query = "DELETE FROM names WHERE game = (SELECT number FROM games WHERE id = ?) AND seat = ?"
    return session.execute(query, (game_id, seat)).rowcount > 0
