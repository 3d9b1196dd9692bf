"""The tables of the database, and how those of earlier versions become them."""

from __future__ import annotations

import sqlite3
from enum import IntEnum

from referee.store.errors import StoreFailed

VERSION = 5


class State(IntEnum):
    """How far a game is, as far as the store has to know."""

    OPEN = 0
    OVER = 1
    GIVEN_UP = 2
    """Kept, but in no list: for everybody who asks there is no such game."""


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
_FROM = {
    0: _GAMES + _ACCESS + _STATES + _PROOFS + _REMARKS,
    1: _ACCESS + _TOKENS_TO_GRANTS + _STATES + _PROOFS + _REMARKS,
    2: _STATES + _PROOFS + _REMARKS,
    3: _PROOFS + _REMARKS,
    4: _REMARKS,
}


def make(connection: sqlite3.Connection, path: object) -> None:
    """Make the tables, or what they lack. Raise ``sqlite3.Error``; ``StoreFailed`` if they are of a later version."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")  # before looking, or two could find the same version and both begin
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == VERSION:
            return
        if version not in _FROM:
            raise StoreFailed(f"{path}: store version {version}; expected {VERSION}")
        # Not as a script, before which Python would commit.
        for statement in (*_FROM[version].split(";"), f"PRAGMA user_version = {VERSION}"):
            connection.execute(statement)
