"""What goes wrong with a store, whatever database it is on."""

from __future__ import annotations


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
