"""What a store is to the referee: whole commits in, in order and durable; games, entries and tokens out.

Knows bytes, not what they say. Small on purpose: what keeps these promises on another database can stand in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from referee.store.marks import Marks


class StoreFailed(Exception):
    """Nothing of the commit can be relied on. What the store now holds has to be read again."""


class StoreDamaged(StoreFailed):
    """What was asked for cannot be read any more, and no repetition will help; the rest may be well."""


@dataclass(slots=True)
class Row:
    """One entry as it is kept."""

    seq: int
    data: bytes
    note: bytes = b""
    """The signed checkpoint over the log up to and including this entry; only on the last entry of a commit."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What a token or a client certificate allows. The token itself is known to its bearer alone."""

    digest: bytes
    """SHA-256 of the token, or of the certificate (DER)."""
    principal: str
    """Whose it is; empty for a token that came with a game and is whoever's bears it."""
    scopes: frozenset[str]
    game_id: bytes | None = None
    """None: not for a certain game."""
    seat: int | None = None
    certificate: bool = False
    issued_ms: int = 0
    expires_ms: int = 0
    """0: never."""
    revoked_ms: int = 0
    """0: it is not."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What a game brings along besides its entries."""

    header_hash: bytes
    header: bytes
    secret: bytes | None
    """r, in a dealt game."""
    grants: Sequence[Grant]
    principals: Sequence[str] = ()
    """Per seat, whose own tokens admit to it; empty for a seat whose token is among the grants. Or none at all."""
    proofs: bool = False
    """Certificates are to be made for its entries."""


class Certificate(NamedTuple):
    """One that belongs to an entry, as it stands in the game's file."""

    seq: int
    part: int
    """Which one of the entry's: 0, 1, ..."""
    data: bytes


class Proved(NamedTuple):
    """What was made for the entries of a game, and how far that is."""

    certificates: Sequence[Certificate]
    first: int | None
    """The first entry that is still to be looked at; None: there is none, and none will come."""


class Change(NamedTuple):
    """One game's part of a commit: all of it becomes durable or none."""

    game_id: bytes
    rows: Sequence[Row]
    opening: Opening | None = None
    """With entry 0, and only then."""
    answer: bytes | None = None
    """To keep for whoever sends the intent of the first row again, where the entry alone does not tell it."""
    closed: bytes | None = None
    """With the last entry: the game as lists show it."""
    root: bytes = b""
    """Of the tree up to and including the last row: the head that is let out when this is durable."""
    proved: Proved | None = None
    """With no rows: what is not signed for needs no head."""
    remark: bytes | None = None
    """The text of the first row, as it stands in the game's file."""

    @property
    def has_more(self) -> bool:
        """Whether it is more than entries."""
        return any(part is not None for part in (self.opening, self.answer, self.closed, self.proved, self.remark))


@dataclass(frozen=True, slots=True)
class StoredGame:
    """A game as it was opened, and as it ended."""

    number: int
    """Later games have higher numbers."""
    game_id: bytes
    closed: bytes | None


@dataclass(frozen=True, slots=True)
class Player:
    """A principal's seat."""

    game_id: bytes
    seat: int
    principal: str


Done = Callable[[StoreFailed | None], None]


class Store(Protocol):
    """One writer, and readers that see every commit whose ``done`` was called.

    What is asked for raises ``StoreFailed``; ``StoreDamaged`` where it cannot be read any more.
    """

    @property
    def marks(self) -> Marks:
        """Heads that must not be contradicted; raised by every commit before ``done`` is called."""

    def commit(self, change: Change, done: Done) -> None:
        """Makes the change durable together with whatever else is waiting, then calls ``done`` on the event loop.

        A game has at most one change with rows under way.
        """

    async def game(self, game_id: bytes) -> StoredGame | None:
        """The game, if there is one."""

    async def games(self, before: int | None, limit: int, *, closed: bool | None = None) -> list[StoredGame]:
        """Newest first, those with lower numbers than ``before``; only closed or only open ones if asked."""

    async def entries(self, game_id: bytes, first: int, limit: int) -> list[Row]:
        """From entry ``first`` on, in order."""

    async def last_notes(self, games: Sequence[StoredGame]) -> dict[bytes, bytes]:
        """The signed checkpoint of each game's last entry."""

    async def header(self, game_id: bytes) -> bytes:
        """The file header of a game."""

    async def secret(self, game_id: bytes) -> bytes | None:
        """r of a dealt game that is not closed."""

    async def answer(self, game_id: bytes, seq: int) -> bytes | None:
        """What was kept with the entry."""

    async def proofs(self, game_id: bytes, first: int, end: int) -> list[Certificate]:
        """Those of entries from ``first`` up to before ``end``, in order."""

    async def remarks(self, game_id: bytes, first: int, end: int) -> dict[int, bytes]:
        """The texts of entries from ``first`` up to before ``end``, in order, by entry."""

    async def erase_remark(self, game_id: bytes, seq: int) -> bool:
        """Erases the entry's text, durably; False if there is none. Raises ``StoreFailed``."""

    async def unproved(self) -> list[tuple[bytes, int]]:
        """The games for which certificates are still to be made, and from which entry on."""

    async def grant(self, digest: bytes) -> Grant | None:
        """What the token or certificate with this SHA-256 allows, or allowed."""

    async def grants(
        self, before: int | None, limit: int, *, principal: str = "", valid_ms: int | None = None
    ) -> list[tuple[int, Grant]]:
        """Newest first with their numbers, those with lower numbers than ``before``; only a principal's if asked.

        ``valid_ms``: only those of principals, and valid then.
        """

    async def add_grant(self, grant: Grant) -> bool:
        """Durable when this returns; False if there is one with this digest. Raises ``StoreFailed``."""

    async def revoke_grant(self, beginning: bytes, now_ms: int) -> Grant | None:
        """Revokes the grant whose digest begins so, durably, if it was not before; None if there is no such one."""

    async def players(self, game_id: bytes | None = None) -> list[Player]:
        """Seats that are a principal's, in one game or in all that are open."""

    def set_organiser(self, digest: bytes) -> None:
        """The token with this SHA-256 is the organiser's, and no other. At start only. Raises ``StoreFailed``."""

    def give_up(self, game_id: bytes) -> None:
        """From now on there is no such game; its entries are kept. While nobody commits. Raises ``StoreFailed``."""

    async def close(self) -> None:
        """Waits for what is under way, then lets go."""
