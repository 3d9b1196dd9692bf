"""What goes wrong with a store, whatever database it is on."""

from __future__ import annotations

from enum import StrEnum


class Cause(StrEnum):
    """Why nothing can be written, as far as it is told: no addresses, no words of a database."""

    UNKNOWN = "unknown"
    STANDBY = "no standby"
    """Commits wait for one, or the referee requires one, and none is connected."""
    NO_PRIMARY = "no primary"
    """Servers of the database answer, and none takes writes."""
    DATABASE = "no answer"


class StoreFailed(Exception):
    """A store did not do what it was asked. After a commit: what it holds now has to be read again."""


class StoreDamaged(StoreFailed):
    """What was asked for cannot be read any more, and asking again will not help; other games may be well."""


class TakenOver(StoreFailed):
    """Another referee writes to this database from now on, and this one never again."""


class WentBack(TakenOver):
    """The database is not what it was: what was let out may be missing. This referee signs nothing more."""


class Contradiction(StoreFailed):
    """A head of a game that cannot be of one history with a head that was let out before."""


class NotReady(StoreFailed):
    """Nothing can be written for the time being, and callers may know why."""

    def __init__(self, cause: Cause, referees: int = 1) -> None:
        """``referees``: how many run on the database."""
        self.cause = cause
        self.referees = referees
        super().__init__(cause.value)
