"""The tables of the database, and how those of earlier versions become them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from google.protobuf.message import DecodeError

from referee.log.v1 import log_pb2
from referee.server.store import heads
from referee.server.store.errors import StoreFailed
from referee.server.store.state import State, signed

VERSION = 7


# Entries are in the order of their commits, whatever game they are of: clustered by game, every batch would touch
# as many pages as it has games, and write them twice.
_GAMES = """
CREATE TABLE headers (hash BLOB NOT NULL PRIMARY KEY, data BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE games (number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, header BLOB NOT NULL) STRICT;
CREATE TABLE entries (
    place INTEGER PRIMARY KEY, game INTEGER NOT NULL, seq INTEGER NOT NULL, data BLOB NOT NULL, note BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX entries_of_game ON entries (game, seq);
CREATE TABLE answers (game INTEGER NOT NULL, seq INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (game, seq)) STRICT;
CREATE TABLE closed (game INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
CREATE TABLE secrets (game INTEGER PRIMARY KEY, seed BLOB NOT NULL) STRICT;
"""
_ACCESS = """
CREATE TABLE grants (
    number INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, principal TEXT NOT NULL, scopes TEXT NOT NULL,
    game INTEGER, seat INTEGER, certificate INTEGER NOT NULL DEFAULT 0, issued_ms INTEGER NOT NULL DEFAULT 0,
    expires_ms INTEGER NOT NULL DEFAULT 0, revoked_ms INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE players (
    game INTEGER NOT NULL, seat INTEGER NOT NULL, principal TEXT NOT NULL, PRIMARY KEY (game, seat)
) STRICT, WITHOUT ROWID;
CREATE TABLE facts (name TEXT NOT NULL PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
"""
_TOKENS_TO_GRANTS = """
INSERT INTO grants (hash, principal, scopes, game, seat)
    SELECT hash, iif(role = 'organiser', role, ''),
    CASE role WHEN 'organiser' THEN 'admin audit organise' WHEN 'seat' THEN 'play' ELSE role END, game, seat
    FROM tokens;
DROP TABLE tokens;
"""
# A list of the few open games must not go through all that ever were.
_STATES = f"""
ALTER TABLE games ADD COLUMN state INTEGER NOT NULL DEFAULT {State.OPEN};
UPDATE games SET state = {State.OVER} WHERE number IN (SELECT game FROM closed);
CREATE INDEX games_by_state ON games (state);
"""  # noqa: S608 - numbers of our own
# Certificates come later than the entries that they are for; a game stays in the second table until all are there.
_PROOFS = """
CREATE TABLE proofs (
    game INTEGER NOT NULL, seq INTEGER NOT NULL, part INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (game, seq, part)
) STRICT;
CREATE TABLE unproved (game INTEGER PRIMARY KEY, seq INTEGER NOT NULL) STRICT;
"""
# Texts of people, apart from all that is signed: they can be erased.
_REMARKS = """
CREATE TABLE remarks (game INTEGER NOT NULL, seq INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (game, seq)) STRICT;
"""
# What lists find a game by. Of games that are there their entry 0 has it; lists by time are gone through by number, so
# no game may be earlier than the one before it.
_LISTINGS = """
ALTER TABLE games ADD COLUMN event INTEGER;
ALTER TABLE games ADD COLUMN round INTEGER;
ALTER TABLE games ADD COLUMN place INTEGER;
ALTER TABLE games ADD COLUMN opened_ms INTEGER NOT NULL DEFAULT 0;
UPDATE games SET event = opened_with('event_id', data), round = opened_with('round', data),
    place = opened_with('table', data), opened_ms = opened_with('referee_ms', data)
    FROM entries WHERE entries.game = number AND seq = 0;
UPDATE games SET opened_ms = latest
    FROM (SELECT number AS its, max(opened_ms) OVER (ORDER BY number) AS latest FROM games) WHERE its = number;
CREATE INDEX games_by_event ON games (event);
CREATE INDEX games_by_time ON games (opened_ms);
CREATE INDEX players_by_principal ON players (principal);
"""
# What a public log is made of. A game may be lost, and its heads stay: they have its id, not its number.
_HEADS = """
CREATE TABLE heads (
    place INTEGER PRIMARY KEY, game BLOB NOT NULL, size INTEGER NOT NULL, root BLOB NOT NULL, leaf INTEGER,
    UNIQUE (game, size, root)
) STRICT;
CREATE UNIQUE INDEX heads_by_leaf ON heads (leaf);
"""
_FROM = {
    0: _GAMES + _ACCESS + _STATES + _PROOFS + _REMARKS + _LISTINGS + _HEADS,
    1: _ACCESS + _TOKENS_TO_GRANTS + _STATES + _PROOFS + _REMARKS + _LISTINGS + _HEADS,
    2: _STATES + _PROOFS + _REMARKS + _LISTINGS + _HEADS,
    3: _PROOFS + _REMARKS + _LISTINGS + _HEADS,
    4: _REMARKS + _LISTINGS + _HEADS,
    5: _LISTINGS + _HEADS,
    6: _HEADS,
}


def make(connection: sqlite3.Connection, path: Path, before: Callable[[int], None]) -> None:
    """Make the tables, or what they lack. ``before`` is called with the version that they have, if there are any.

    Raise what ``before`` raises, ``sqlite3.Error``, and ``StoreFailed`` if they are of a later version.
    """
    with connection:
        connection.execute("BEGIN IMMEDIATE")  # before looking, or two could find the same version and both begin
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == VERSION:
            return
        if version not in _FROM:
            copy = copy_of(path, VERSION)
            or_copy = f", or {copy}, the copy from before the upgrade" if copy.exists() else ""
            what = f"a newer program wrote it (store version {version}; this program has {VERSION})"
            raise StoreFailed(f"{path}: {what}, and nothing was changed; expected the newer program{or_copy}")
        if version:
            before(version)
        connection.create_function("opened_with", 2, _opened_with, deterministic=True)
        # Not as a script, before which Python would commit.
        for statement in (*_FROM[version].split(";"), f"PRAGMA user_version = {VERSION}"):
            connection.execute(statement)
        heads.keep_of_all(connection, "entries.place")


def copy_of(path: Path, version: int) -> Path:
    """Return where a database of that version is copied to before it is upgraded."""
    return path.with_name(f"{path.name}.v{version}")


def _opened_with(name: str, data: bytes) -> int | None:
    """Return what a game was opened with, from the bytes of its entry 0; of one that is damaged, nothing."""
    try:
        entry = log_pb2.Entry.FromString(data)
        if name == "referee_ms":
            return signed(entry.referee_ms)
        opened = log_pb2.GameOpen.FromString(entry.open)
        return signed(getattr(opened, name)) if opened.HasField(name) else None  # type: ignore[arg-type]
    except DecodeError:
        return 0 if name == "referee_ms" else None
