"""What a PostgreSQL server, or this machine, must be like for a referee to begin. Each refusal is one line."""

from __future__ import annotations

from time import time

from referee.store.errors import StoreFailed
from referee.store.session import Session

MOST_OFF_MS = 250


def check_clock(session: Session, url: str) -> None:
    """Raise ``StoreFailed`` if this machine's clock is off the database's: clocks of games go on at another node."""
    before_ms = time() * 1000
    (there_ms,) = session.execute("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8").fetchone()
    off_ms = max(before_ms - there_ms, there_ms - time() * 1000)  # not counting the way there and back
    if off_ms > MOST_OFF_MS:
        what = f"this machine's clock is {off_ms / 1000:.1f} s off the database's"
        raise StoreFailed(f"{url}: {what}; expected at most {MOST_OFF_MS / 1000} s: set both by NTP")


def check_standby(session: Session, url: str) -> None:
    """Raise ``StoreFailed`` if commits wait for no standby."""
    if not standby_names(session):
        what = "synchronous_standby_names is empty, so what is acknowledged can be lost with the primary"
        raise StoreFailed(f"{url}: {what}; expected a standby, or no --require-standby")


def standby_names(session: Session) -> str:
    """Return whom commits wait for, as the server is told; empty: for nobody."""
    names: str = session.execute("SELECT current_setting('synchronous_standby_names')").fetchone()[0]
    return names
