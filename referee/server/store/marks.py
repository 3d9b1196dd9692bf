"""High-water marks: for every game the newest head that was let out, kept apart from the games themselves.

A database can go back: to a backup, to a snapshot of its disk. Signatures cannot. A mark is raised when a commit is
durable and before callers learn of it, so it is ahead of the database only if the database went back; then nothing is
signed that contradicts it.

If the marks are lost as well, the games that were open are in doubt: each may lack entries that were signed. The new
marks say so until the organiser has decided how the game continues.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Mark:
    """The newest head of a game that may be known outside."""

    size: int
    """Entries that the head covers."""
    root: bytes
    """Root of the tree over them, 32 bytes."""


class Marks(Protocol):
    """The marks that belong to one store, in a place of their own: what sets the games back leaves them as they are.

    A store is not opened without its marks, nor with those of another store. Marks are durable and are never lowered or
    removed, except as ``permit`` and ``forget`` say; what these replace is kept for good among the lost marks, as
    evidence. A method that reads or writes what is kept raises ``StoreFailed`` if it cannot; the others do no I/O and
    raise nothing of that kind.

    All methods are called on the event loop, except ``raise_to`` and ``let_go``, which any thread may call. None of
    those on the event loop may wait for a lock that ``raise_to`` holds while it writes, or for another process, except
    ``forget``, which is called only while no commit is under way.
    """

    def check(self, game_id: bytes, size: int, root: bytes) -> None:
        """Raise ``Contradiction`` if this head, which is about to be signed, cannot follow the game's mark.

        It cannot if it has fewer entries than the mark, or as many and another root. Called for every commit, so it
        looks only at marks in memory: those that were raised by this object or given to ``hold``, until ``let_go``. A
        game without such a mark passes, and so does one whose mark was permitted to be contradicted.
        """

    def of(self, game_id: bytes) -> Mark | None:
        """Return what the game must reach: its mark, or None if it has none or ``is_permitted``."""

    def kept(self, game_id: bytes) -> Mark | None:
        """Return the game's mark as it is kept, permitted to be contradicted or not; None if there is none."""

    def all(self) -> dict[bytes, Mark]:
        """Return every mark that is kept, by game id."""

    def raise_to(self, heads: Sequence[tuple[bytes, int, bytes]]) -> None:
        """Raise the marks of these heads: game id, size and root, each game at most once. Durable when this returns.

        The heads are durable in the store and about to be let out. Equal to the mark is no contradiction. Raise
        ``Contradiction`` if a head cannot follow its mark as it is kept, which another process may have raised: that
        mark stays, and the marks of the other heads may have been raised or not. Raise ``StoreFailed`` if the marks
        cannot be written. A permission that was used ends, and the mark that it was for is among the lost ones.
        """

    def permit(self, game_id: bytes) -> None:
        """Let the next head of the game contradict its mark, once, until this object is closed."""

    def is_permitted(self, game_id: bytes) -> bool:
        """Return whether ``permit`` was called for the game and no head was raised since."""

    def forget(self, game_id: bytes) -> None:
        """Expect nothing more of the game: its mark is among the lost ones when this returns, durably."""

    @property
    def doubts(self) -> Mapping[bytes, int]:
        """The games in doubt, and when the copy of each was made, at the earliest; milliseconds since 1970. No I/O."""

    def doubt(self, games: Mapping[bytes, int]) -> None:
        """Put these games in doubt; for each, when its copy was made. Durable when this returns."""

    def settle(self, game_id: bytes) -> None:
        """End the doubt about a game, if there is one. Durable when this returns."""

    def hold(self, game_id: bytes, mark: Mark) -> None:
        """Keep the mark of an unfinished game in memory, for ``check``."""

    def let_go(self, game_id: bytes) -> None:
        """Drop the mark of a game in which nothing can follow from memory; it stays kept."""
