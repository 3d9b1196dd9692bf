"""The protocol of a store, and its errors: whole commits in, in order and durable; games, entries and tokens out.

A store knows bytes and not their meaning. Another database can take the place of ``sqlite`` if it keeps these promises
and those of ``marks``: outside of this package only the place that opens a store knows more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from referee.server.store.marks import Marks
from referee.server.store.nodes import Nodes


class Cause(StrEnum):
    """The reason why nothing can be written, as callers see it: no addresses, no words of a database."""

    UNKNOWN = "unknown"
    STANDBY = "no standby"
    """Commits wait for one, or the referee requires one, and none is connected."""
    NO_PRIMARY = "no primary"
    """Servers of the database answer, and none takes writes."""
    DATABASE = "no answer"


class StoreFailed(Exception):
    """A store did not do what it was asked. After a commit, its contents have to be read again."""


class StoreDamaged(StoreFailed):
    """The requested data cannot be read any more, and asking again will not help; other games may be well."""


class TakenOver(StoreFailed):
    """Another referee writes to this database from now on, and this one never again."""


class WentBack(TakenOver):
    """The database went back: entries that were let out may be missing. This referee signs nothing more."""


class Contradiction(StoreFailed):
    """A head of a game that cannot be of one history with a head that was let out before."""


class NotReady(StoreFailed):
    """Nothing can be written for the time being, and callers may know why."""

    def __init__(self, cause: Cause, referees: int = 1) -> None:
        """``referees``: how many run on the database."""
        self.cause = cause
        self.referees = referees
        super().__init__(cause.value)


BUSY_S = 5.0
"""The default time that a store waits for another process's lock on its database, such as a backup's."""


@dataclass(slots=True)
class Row:
    """One entry as it is kept."""

    seq: int
    """Its place in the log of its game: 0, 1, ..."""
    data: bytes
    """Its exact bytes."""
    note: bytes = b""
    """The signed checkpoint over the log up to and including this entry; only on the last entry of a commit."""


@dataclass(frozen=True, slots=True)
class Grant:
    """The rights that a token or a client certificate gives. Only the token's bearer knows the token itself."""

    digest: bytes
    """SHA-256 of the token, or of the certificate (DER)."""
    principal: str
    """The owner; empty for a token that came with a game and serves any bearer."""
    scopes: frozenset[str]
    game_id: bytes | None = None
    """The game; None: not for a certain game."""
    seat: int | None = None
    certificate: bool = False
    """True if the digest is that of a client certificate."""
    issued_ms: int = 0
    """This time and the two below: in milliseconds since 1970."""
    expires_ms: int = 0
    """0: never."""
    revoked_ms: int = 0
    """0: it is not revoked."""


class Listing(NamedTuple):
    """The keys by which lists find a game, as far as it has them."""

    event_id: int | None = None
    """A number of 64 bits, without a sign; the two below are of 32."""
    round: int | None = None
    table: int | None = None
    opened_ms: int = 0
    """The time of its opening, in milliseconds since 1970."""


UNLISTED: Final = Listing()
"""The listing of a game that only its id finds."""


class SeatName(NamedTuple):
    """The name of a seat's player: beside all that is signed, so that it can be erased."""

    seat: int
    name: str
    salt: bytes
    """The salt of the commitment in entry 0; empty: there is none."""
    source: int
    """The giver, by the numbers of the API's ``NameSource``."""
    named_ms: int
    """The time, in milliseconds since 1970."""


@dataclass(frozen=True, slots=True)
class Opening:
    """The data of a new game besides its entries."""

    header_hash: bytes
    """Many games have the same header: it may be kept once."""
    header: bytes
    """The header of the game's file."""
    secret: bytes | None
    """r, in a dealt game. A copy of the database alone must not give it away; see ``Store.secret``."""
    grants: Sequence[Grant]
    """Tokens that come with the game; their ``game_id`` is the game's."""
    principals: Sequence[str] = ()
    """Per seat, whose own tokens admit to it; empty for a seat whose token is among the grants. Or none at all."""
    wants_certificates: bool = False
    """True if certificates are to be made for the game's entries."""
    listing: Listing = UNLISTED
    names: Sequence[SeatName] = ()


class Certificate(NamedTuple):
    """One certificate of an entry, as it stands in the game's file."""

    seq: int
    part: int
    """The number of the part of the entry's certificates: 0, 1, ..."""
    data: bytes


class NewCertificates(NamedTuple):
    """Certificates that were made for entries of a game, and where to continue."""

    made: Sequence[Certificate]
    """The certificates. One for an entry and part that has one already is left out: the kept one stays."""
    next_seq: int | None
    """The first entry that is still to be looked at; None: all have been, and none will follow."""


class Change(NamedTuple):
    """One game's part of a commit: all of it becomes durable or none."""

    game_id: bytes
    """16 bytes."""
    rows: Sequence[Row]
    """Entries that follow those that are there, in order."""
    opening: Opening | None = None
    """The opening; it goes with entry 0, and only then."""
    answer: bytes | None = None
    """The answer for an author who sends the intent of the first row again, where the entry alone does not say it."""
    closed: bytes | None = None
    """With the last entry: the game as lists show it. From then on the game is closed and its secret is gone."""
    root: bytes = b""
    """The root of the tree up to and including the last row: the head that is let out when this is durable."""
    certificates: NewCertificates | None = None
    """Certificates, with no rows: they are not signed for and need no head."""
    remark: bytes | None = None
    """The text of the first row, as it stands in the game's file."""

    @property
    def has_more(self) -> bool:
        """Return whether it is more than entries."""
        return (
            self.opening is not None
            or self.answer is not None
            or self.closed is not None
            or self.certificates is not None
            or self.remark is not None
        )


class Head(NamedTuple):
    """The head of a game as the public log has it."""

    game_id: bytes
    size: int
    """Entries that it covers, at least 1."""
    root: bytes


class LogState(NamedTuple):
    """The end of the signed part of the public log."""

    size: int
    """Leaves."""
    root: bytes


@dataclass(frozen=True, slots=True)
class StoredGame:
    """A game as it was opened, and as it ended."""

    number: int
    """A number from 1; a game that was opened later has a higher number."""
    game_id: bytes
    closed: bytes | None
    """The game as its last change listed it; None: it is open."""
    listing: Listing = UNLISTED
    """Its listing at the opening. But its time is never before that of a lower number, whatever the clock said."""


@dataclass(frozen=True, slots=True)
class Player:
    """A principal's seat."""

    game_id: bytes
    seat: int
    principal: str


class Upgrade(NamedTuple):
    """A database of an earlier version that is about to be brought up to date."""

    path: Path | str
    """The file, or the address of the database."""
    version: int
    copy: Path | None
    """The path of the old copy; None: it is in the backups made by the database's operator."""


class Standbys(NamedTuple):
    """The servers that follow the database's own."""

    named: bool
    """The database's server is set to have commits wait for one."""
    waited_for: int | None
    """The number of followers that commits wait for; this and the next two are None if the referee may not see it."""
    others: int | None
    """The number of other followers."""
    lag_bytes: int | None
    """The bytes of the database's log that the nearest lacks, of those that are waited for if there are any; None:
    there is none."""
    waived: bool = False
    """Referees that require one run without it, by `referee cluster waive-standby`."""

    @property
    def is_waited_for(self) -> bool | None:
        """Return whether commits wait for one that follows; None: the referee may not see it."""
        return False if not self.named else None if self.waited_for is None else self.waited_for > 0


Done = Callable[[StoreFailed | None], None]
"""Called once, on the event loop, with the failure of a change or None."""
Observer = Callable[[float, int, int, StoreFailed | None], None]
"""Called on the event loop after each batch, with its seconds, changes and rows, and what it failed with or None."""


class Store(Protocol):
    """Games, their entries, and permissions. One process writes, and reads what it wrote.

    *Place.* All methods are called on the event loop of one thread, which they must not hold up: waits for a disk, a
    network or a lock happen elsewhere. Only ``set_organiser``, ``give_up`` and ``mend`` may wait; no game is played
    then.

    *Order.* A reading method sees every change whose ``done`` was called, and every grant and erasure that returned. It
    may see later changes, but each whole.

    *Durability.* Everything that a method or ``done`` reports as done survives a crash and a power cut.

    *Errors.* For all errors of the database, every method raises ``StoreFailed`` instead; ``StoreDamaged`` if the
    requested data cannot be read any more. A wait that is longer than the one for a lock is a failure.

    *One writer.* When another store is opened on the same database, this one writes nothing more: its commits, grants
    and erasures fail with ``TakenOver`` from then on. It may still read.

    *Given up.* A game after ``give_up`` is kept, and found by ``entries``, ``header`` and the like, but is in no list.
    """

    @property
    def marks(self) -> Marks:
        """The heads that must not be contradicted; those of a change are raised before its ``done`` is called."""

    @property
    def nodes(self) -> Nodes:
        """The owners of games, where several processes share the database."""

    def commit(self, change: Change, done: Done) -> None:
        """Make the change durable, and then its head a mark; then, after this has returned, call ``done``.

        ``done(None)``: all of the change is durable, and its mark is raised. ``done(failure)``: all of it or none of it
        is there, with its mark or without; the caller has to read which, and to raise the mark before it lets the head
        out. Changes may share a batch and with it a failure, whichever of them was to blame. Raise ``StoreFailed``, and
        take nothing, after ``close``.

        Of one game at most one change with rows is under way. A change fails if one of its entries is there already, as
        no entry is ever replaced; if it opens a game that is there; and if it opens none and its game is not there.
        """

    def observe(self, observer: Observer) -> None:
        """Call this observer, instead of the one before, for every batch from now on."""

    def when_taken_over(self, told: Callable[[TakenOver], None]) -> None:
        """Call this, on the event loop and once, when this store writes no more, with the reason.

        That is when another one does; it may be noticed late.
        """

    @property
    def waiting(self) -> int:
        """Return how many changes are not yet done."""

    @property
    def waiting_s(self) -> float:
        """Return for how long the oldest of them has waited, in seconds; 0 without any."""

    @property
    def standbys(self) -> Standbys | None:
        """Return what servers follow the database's own, as of a moment ago; None: there can be none, or it cannot be
        asked.
        """

    @property
    def stuck_s(self) -> float:
        """Return for how long, in seconds, nothing could be written although something was to; 0 if that went well."""

    async def probe(self) -> None:
        """Write something that means nothing, durably. Raise ``StoreFailed``."""

    async def doubt_of(self, game_id: bytes) -> int:
        """Return when the copy was made that leaves the game in doubt, as ``Marks.doubts``; 0: it is not in doubt.

        Another referee on this database may have found out by now. Raise ``StoreFailed``.
        """

    async def find_cause(self) -> Cause:
        """Find out why nothing can be written, for ``known_cause``. Return that. May take some seconds."""

    @property
    def known_cause(self) -> Cause:
        """Return what was found last."""

    @property
    def is_gathering(self) -> bool:
        """Return whether changes wait, but for no batch before them: for a moment, in which others may join them."""

    async def game(self, game_id: bytes) -> StoredGame | None:
        """Return the game; None if there is none or it was given up."""

    async def games(self, before: int | None, limit: int, *, closed: bool | None = None) -> list[StoredGame]:
        """Return at most ``limit`` games, newest first; only closed or only open ones if ``closed`` is given.

        ``before``: only those with lower numbers. However many games are closed, the open ones are found quickly.
        """

    async def games_of_event(self, event_id: int, before: int | None, limit: int) -> list[StoredGame]:
        """Return at most ``limit`` games of the event as ``games`` does, quickly however many others there are."""

    async def games_of_player(self, principal: str, before: int | None, limit: int) -> list[StoredGame]:
        """Return at most ``limit`` games with the principal at a seat as ``games`` does, as quickly."""

    async def games_between(self, first: bytes, last: bytes, before: int | None, limit: int) -> list[StoredGame]:
        """Return at most ``limit`` games with ids from ``first`` to ``last`` as ``games`` does.

        Quickly if there are few: all with such ids are looked at.
        """

    async def first_since(self, opened_ms: int) -> int | None:
        """Return the lowest number of a game that was opened at this time or after it; None if there is none."""

    async def entries(self, game_id: bytes, first: int, limit: int) -> list[Row]:
        """Return at most ``limit`` entries from entry ``first`` on, in order; none if the game is not there."""

    async def last_notes(self, games: Sequence[StoredGame]) -> dict[bytes, bytes]:
        """Return by game id the note of each game's last entry. ``games``: a page as ``games`` returned it.

        Other games may be among the answer; one without entries is not.
        """

    async def header(self, game_id: bytes) -> bytes:
        """Return the game's file header; empty if the game is not there."""

    async def secret(self, game_id: bytes) -> bytes | None:
        """Return r of a dealt game that is open; None for any other game.

        It is kept sealed, with a key that is not in the database: a copy of the database alone does not give it away.
        Raise ``StoreDamaged`` if it is there and the key does not open it.
        """

    async def answer(self, game_id: bytes, seq: int) -> bytes | None:
        """Return what a change kept with this entry, its first; None if nothing."""

    async def certificates(self, game_id: bytes, first: int, end: int) -> list[Certificate]:
        """Return the certificates of entries from ``first`` up to before ``end``, by entry and part."""

    async def awaiting_certificates(self) -> list[tuple[bytes, int]]:
        """Return the games for which certificates are still to be made, oldest first, and the first entry of each.

        A game is among them from an opening that wants certificates, at entry 0, until a ``next_seq`` of None.
        """

    async def remarks(self, game_id: bytes, first: int, end: int) -> dict[int, bytes]:
        """Return by entry, in order, the texts of entries from ``first`` up to before ``end``."""

    async def erase_remark(self, game_id: bytes, seq: int) -> bool:
        """Erase the entry's text, overwriting it where the database can; return False if there was none."""

    async def names(self, games: Sequence[bytes]) -> dict[bytes, list[SeatName]]:
        """Return by game the names of its players, by seat; a game without names is not among them."""

    async def keep_name(self, game_id: bytes, name: SeatName) -> None:
        """Keep the name of the seat's player, in the place of the one before.

        Raise ``StoreFailed`` if the game is not there.
        """

    async def erase_name(self, game_id: bytes, seat: int) -> bool:
        """Erase the name of the seat's player, overwriting it where the database can; False: there was none."""

    async def grant(self, digest: bytes) -> Grant | None:
        """Return the grant of the token or certificate with this SHA-256, expired and revoked ones as well.

        One whose game is not there is none: without its game it would be one for every game.
        """

    async def grants(
        self, before: int | None, limit: int, *, principal: str = "", valid_ms: int | None = None
    ) -> list[tuple[int, Grant]]:
        """Return at most ``limit`` grants with their numbers, newest first; only this principal's if one is given.

        ``before``: only those with lower numbers; a grant that was added later has a higher one. ``valid_ms``: only
        those that have a principal and are neither revoked nor expired at that time, in milliseconds since 1970.
        """

    async def add_grant(self, grant: Grant) -> bool:
        """Keep the grant; return False, and keep the one that is there, if there is one with this digest.

        Raise ``StoreFailed`` if it is for a game that is not there.
        """

    async def revoke_grant(self, beginning: bytes, now_ms: int) -> Grant | None:
        """Revoke the grant whose digest begins so, unless it is revoked already, and return it as it is then.

        None if there is no such grant; if there are several, one of them is meant.
        """

    async def players(self, game_id: bytes | None = None) -> list[Player]:
        """Return the seats that are a principal's, in this game or, without one, in all that are open."""

    def set_organiser(self, digest: bytes) -> None:
        """Make the token with this SHA-256 the organiser's, and any other that this method set none.

        The grant has the principal ``organiser``, the scopes admin, audit and organise, and no time of issue. Called
        when the store was opened, before anything else.
        """

    def give_up(self, game_id: bytes) -> None:
        """Leave the game out of every list and every answer of ``game`` from now on; its entries are kept.

        Called while no commit is under way.
        """

    def mend(self, game_id: bytes, header: bytes, rows: Sequence[Row], closed: bytes | None) -> None:
        """Replace damaged or missing entries by the signed ones; durable when this returns.

        ``header``, ``rows``: those of the game, which is there; those that differ are replaced. ``closed``: as in a
        change; it replaces the kept end. Called while no commit is under way; the marks stay as they are.
        """

    # --- the public log: the heads with which games were opened and ended, each a leaf once it is numbered ---------

    async def number_heads(self, limit: int) -> int | None:
        """Give at most ``limit`` heads that have no leaf the next ones, in order; return how many leaves there are.

        A change that opens or ends a game keeps its head, even if it is never asked for. A leaf is never taken back.
        None: another referee that lives numbers them in this database, and writes the log.
        """

    async def leaves(self, first: int, limit: int) -> list[Head]:
        """Return at most ``limit`` heads from leaf ``first`` on, in order."""

    async def heads_of(self, game_id: bytes) -> list[tuple[Head, int | None]]:
        """Return the game's heads, smallest first, each with its leaf; None: it has none yet."""

    async def log_state(self) -> LogState | None:
        """Return what ``keep_log_state`` kept last; None if nothing."""

    async def keep_log_state(self, state: LogState) -> bool:
        """Keep how far the log is about to be signed, durably; False: as None of ``number_heads``."""

    def put_back_leaves(self, first: int, heads: Sequence[Head], state: LogState) -> None:
        """Make these heads, whose games may not be there, the leaves from ``first`` on, up to ``state``.

        Others that had these leaves get later ones. Called while no commit is under way; durable when this returns.
        """

    async def close(self) -> None:
        """Wait until what was taken is done, then close the database and the marks."""
