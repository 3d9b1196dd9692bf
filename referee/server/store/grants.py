"""Grants as the database keeps them: found by their digest, listed newest first, never removed but revoked."""

from __future__ import annotations

from typing import Any

from referee.server.store.errors import StoreFailed
from referee.server.store.session import Session
from referee.server.store.store import Grant

# Without its game a grant for one game would be one for every game: then it is none.
_GRANTS = """SELECT hash, principal, scopes, id, seat, certificate, issued_ms, expires_ms, revoked_ms, grants.number
    FROM grants LEFT JOIN games ON games.number = game WHERE (game IS NULL OR id IS NOT NULL)"""


def find(session: Session, digest: bytes) -> Grant | None:
    """Return the grant of the token or certificate with this SHA-256."""
    row = session.execute(f"{_GRANTS} AND hash = ?", (digest,)).fetchone()
    return _grant(row)[1] if row else None


def page(
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


def add(session: Session, grant: Grant) -> bool:
    """Keep the grant; return False if there is one with this digest. Raise ``StoreFailed`` if its game is not there."""
    # Kept by number, which nobody outside of the database knows.
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


def revoke(session: Session, beginning: bytes, now_ms: int) -> Grant | None:
    """Revoke the grant whose digest begins so, if it was not revoked before, and return it; None if there is none."""
    last = beginning + b"\xff" * (32 - len(beginning))
    row = session.execute(f"{_GRANTS} AND hash BETWEEN ? AND ?", (beginning, last)).fetchone()
    if row is None:
        return None
    session.execute("UPDATE grants SET revoked_ms = ? WHERE hash = ? AND revoked_ms = 0", (now_ms, row[0]))
    return find(session, row[0])


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
