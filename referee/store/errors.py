"""What goes wrong with a store, whatever database it is on."""

from __future__ import annotations


class StoreFailed(Exception):
    """A store did not do what it was asked. After a commit: what it holds now has to be read again."""


class StoreDamaged(StoreFailed):
    """What was asked for cannot be read any more, and asking again will not help; other games may be well."""


class Away(StoreFailed):
    """The database does not answer, or not in time; that may pass."""


class Occupied(StoreFailed):
    """Another referee is running on this database; when it is gone, this one may."""


class TakenOver(StoreFailed):
    """Another referee writes to this database from now on, and this one never again."""


class Contradiction(StoreFailed):
    """A head of a game that cannot be of one history with a head that was let out before."""
