"""A store that knows no database, written from the protocols alone: what is asked of the other is asked of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import perf_counter

from referee.log.errors import LogError
from referee.log.note import Checkpoint, Note
from referee.server.store.marks import Mark
from referee.server.store.nodes import Alone
from referee.server.store.store import (
    Cause,
    Certificate,
    Change,
    Contradiction,
    Done,
    Grant,
    Head,
    LogState,
    Observer,
    Opening,
    Player,
    Row,
    SeatName,
    StoredGame,
    StoreFailed,
    TakenOver,
)


class MemoryMarks:
    """``Marks`` that are gone with the process."""

    def __init__(self) -> None:
        self.lost: set[tuple[bytes, int, bytes]] = set()
        self.doubts: dict[bytes, int] = {}
        self._kept: dict[bytes, Mark] = {}
        self._held: dict[bytes, Mark] = {}
        self._permitted: set[bytes] = set()

    def check(self, game_id: bytes, size: int, root: bytes) -> None:
        if game_id not in self._permitted:
            _hold_against(self._held.get(game_id), size, root)

    def of(self, game_id: bytes) -> Mark | None:
        return None if game_id in self._permitted else self.kept(game_id)

    def kept(self, game_id: bytes) -> Mark | None:
        return self._kept.get(game_id)

    def all(self) -> dict[bytes, Mark]:
        return dict(self._kept)

    def raise_to(self, heads: Sequence[tuple[bytes, int, bytes]]) -> None:
        for game_id, size, root in heads:
            if game_id in self._permitted:
                self._lose(game_id)
            _hold_against(self._kept.get(game_id), size, root)
            self._kept[game_id] = self._held[game_id] = Mark(size, root)
            self._permitted.discard(game_id)

    def permit(self, game_id: bytes) -> None:
        self._permitted.add(game_id)

    def is_permitted(self, game_id: bytes) -> bool:
        return game_id in self._permitted

    def forget(self, game_id: bytes) -> None:
        self._lose(game_id)
        self.let_go(game_id)

    def doubt(self, games: Mapping[bytes, int]) -> None:
        for game_id, copied_ms in games.items():
            self.doubts[game_id] = min(copied_ms, self.doubts.get(game_id, copied_ms))

    def settle(self, game_id: bytes) -> None:
        self.doubts.pop(game_id, None)

    def hold(self, game_id: bytes, mark: Mark) -> None:
        self._held[game_id] = mark

    def let_go(self, game_id: bytes) -> None:
        self._held.pop(game_id, None)

    def _lose(self, game_id: bytes) -> None:
        if (mark := self._kept.pop(game_id, None)) is not None:
            self.lost.add((game_id, mark.size, mark.root))


def _hold_against(mark: Mark | None, size: int, root: bytes) -> None:
    if mark is not None and (size < mark.size or (size == mark.size and root != mark.root)):
        raise Contradiction(f"a head of {size} entries, and one of {mark.size} was signed before")


@dataclass(slots=True)
class _Game:
    number: int
    opening: Opening
    rows: dict[int, Row] = field(default_factory=dict)
    answers: dict[int, bytes] = field(default_factory=dict)
    remarks: dict[int, bytes] = field(default_factory=dict)
    names: dict[int, SeatName] = field(default_factory=dict)
    certificates: dict[tuple[int, int], bytes] = field(default_factory=dict)
    awaits: int | None = None
    closed: bytes | None = None
    is_given_up: bool = False


class MemoryStore:
    """``Store`` that is gone with the process."""

    def __init__(self) -> None:
        self.marks = MemoryMarks()
        self.nodes = Alone()
        self.standbys = None
        self.observer: Observer | None = None
        self._games: dict[bytes, _Game] = {}
        self._grants: dict[bytes, Grant] = {}
        self._waiting: list[tuple[Change, Done]] = []
        self._unnumbered: list[Head] = []
        self._leaves: list[Head] = []
        self._log_state: LogState | None = None
        self._is_closed = False

    # --- writing: each change is a batch of its own ------------------------------------------------------------

    def commit(self, change: Change, done: Done) -> None:
        if self._is_closed:
            raise StoreFailed("the store is closed")
        self._waiting.append((change, done))
        asyncio.get_running_loop().call_soon(self._next)

    def observe(self, observer: Observer) -> None:
        self.observer = observer

    def when_taken_over(self, told: Callable[[TakenOver], None]) -> None:
        """No other process takes it over."""

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def waiting_s(self) -> float:
        return 0.0

    @property
    def stuck_s(self) -> float:
        return 0.0

    async def probe(self) -> None:
        """Memory takes everything."""

    known_cause = Cause.UNKNOWN

    async def doubt_of(self, _: bytes) -> int:
        return 0

    async def find_cause(self) -> Cause:
        return self.known_cause

    @property
    def is_gathering(self) -> bool:
        return False

    def _next(self) -> None:
        if not self._waiting:
            return  # closing was quicker
        (change, done), failure, began = self._waiting.pop(0), None, perf_counter()
        try:
            self._keep(change)
        except StoreFailed as error:
            failure = error
        done(failure)
        if self.observer is not None:
            self.observer(perf_counter() - began, 1, len(change.rows), failure)

    def _keep(self, change: Change) -> None:
        game = self._games.get(change.game_id)
        if (game is None) != (change.opening is not None):
            raise StoreFailed(f"{'no' if game is None else 'there is a'} game {change.game_id.hex()}")
        places = [row.seq for row in change.rows]
        if len({*places}) < len(places) or (game is not None and game.rows.keys() & places):
            raise StoreFailed("an entry is never replaced")
        if change.opening is not None:
            game = self._games[change.game_id] = _Game(len(self._games) + 1, change.opening)
            game.names.update((name.seat, name) for name in change.opening.names)
            self._grants.update((grant.digest, grant) for grant in change.opening.grants)
            game.awaits = 0 if change.opening.wants_certificates else None
        assert game is not None
        game.rows.update((row.seq, row) for row in change.rows)
        if change.answer is not None:
            game.answers[places[0]] = change.answer
        if change.remark is not None:
            game.remarks[places[0]] = change.remark
        if change.closed is not None:
            game.closed = change.closed
        if change.certificates is not None:
            for seq, part, data in change.certificates.made:
                game.certificates.setdefault((seq, part), data)
            game.awaits = change.certificates.next_seq
        if change.root:
            head = Head(change.game_id, places[-1] + 1, change.root)
            self.marks.raise_to([head])
            if change.opening is not None or change.closed is not None:
                self._keep_head(head)
        if change.closed is not None:
            self.marks.let_go(change.game_id)

    async def erase_remark(self, game_id: bytes, seq: int) -> bool:
        return self._of(game_id).remarks.pop(seq, None) is not None

    async def keep_name(self, game_id: bytes, name: SeatName) -> None:
        if game_id not in self._games:
            raise StoreFailed(f"no game {game_id.hex()}")
        self._games[game_id].names[name.seat] = name

    async def erase_name(self, game_id: bytes, seat: int) -> bool:
        return self._of(game_id).names.pop(seat, None) is not None

    async def add_grant(self, grant: Grant) -> bool:
        if grant.game_id is not None and grant.game_id not in self._games:
            raise StoreFailed(f"no game {grant.game_id.hex()}")
        return self._grants.setdefault(grant.digest, grant) is grant

    async def revoke_grant(self, beginning: bytes, now_ms: int) -> Grant | None:
        found = next((grant for digest, grant in self._grants.items() if digest.startswith(beginning)), None)
        if found is not None and not found.revoked_ms:
            found = self._grants[found.digest] = replace(found, revoked_ms=now_ms)
        return found

    def set_organiser(self, digest: bytes) -> None:
        for other in [*self._grants.values()]:
            if other.principal == "organiser" and not other.issued_ms and other.digest != digest:
                del self._grants[other.digest]
        self._grants.setdefault(digest, Grant(digest, "organiser", frozenset({"admin", "audit", "organise"})))

    def give_up(self, game_id: bytes) -> None:
        self._of(game_id).is_given_up = True

    def mend(self, game_id: bytes, header: bytes, rows: Sequence[Row], closed: bytes | None) -> None:
        game = self._of(game_id)
        game.opening = replace(game.opening, header=header)
        game.rows.update((row.seq, row) for row in rows)
        if closed is not None:
            game.closed = closed
            with suppress(LogError):
                head = Checkpoint.parse(Note.parse(game.rows[max(game.rows)].note).text)
                self._keep_head(Head(game_id, head.size, head.root))

    def _keep_head(self, head: Head) -> None:
        if head not in [*self._leaves, *self._unnumbered]:
            self._unnumbered.append(head)

    async def number_heads(self, limit: int) -> int | None:
        self._leaves += self._unnumbered[:limit]
        del self._unnumbered[:limit]
        return len(self._leaves)

    async def leaves(self, first: int, limit: int) -> list[Head]:
        return self._leaves[first : first + limit]

    async def heads_of(self, game_id: bytes) -> list[tuple[Head, int | None]]:
        every = [*enumerate(self._leaves), *((None, head) for head in self._unnumbered)]
        return sorted(((head, leaf) for leaf, head in every if head.game_id == game_id), key=lambda each: each[0].size)

    async def log_state(self) -> LogState | None:
        return self._log_state

    async def keep_log_state(self, state: LogState) -> bool:
        self._log_state = state
        return True

    def put_back_leaves(self, first: int, heads: Sequence[Head], state: LogState) -> None:
        if first > len(self._leaves) or {*heads} & {*self._leaves[:first]}:
            raise StoreFailed("they cannot follow there")
        freed = self._leaves[first:]
        self._leaves[first:] = heads
        self._unnumbered = [head for head in [*freed, *self._unnumbered] if head not in heads]
        self._log_state = state

    async def close(self) -> None:
        self._is_closed = True
        while self._waiting:
            self._next()

    # --- reading -------------------------------------------------------------------------------------------------

    async def game(self, game_id: bytes) -> StoredGame | None:
        return next((each for each in self._stored() if each.game_id == game_id), None)

    async def games(self, before: int | None, limit: int, *, closed: bool | None = None) -> list[StoredGame]:
        newest = sorted(self._stored(), key=lambda each: -each.number)
        wanted = [each for each in newest if closed is None or (each.closed is not None) == closed]
        return [each for each in wanted if before is None or each.number < before][:limit]

    async def games_of_event(self, event_id: int, before: int | None, limit: int) -> list[StoredGame]:
        return [each for each in await self.games(before, 1 << 30) if each.listing.event_id == event_id][:limit]

    async def games_of_player(self, principal: str, before: int | None, limit: int) -> list[StoredGame]:
        all_games = await self.games(before, 1 << 30)
        return [each for each in all_games if principal and principal in self._games[each.game_id].opening.principals][
            :limit
        ]

    async def games_between(self, first: bytes, last: bytes, before: int | None, limit: int) -> list[StoredGame]:
        return [each for each in await self.games(before, 1 << 30) if first <= each.game_id <= last][:limit]

    async def first_since(self, opened_ms: int) -> int | None:
        games = [each.number for each in self._stored() if each.listing.opened_ms >= opened_ms]
        return min(games, default=None)

    def _stored(self) -> list[StoredGame]:
        latest, found = 0, []
        for game_id, game in self._games.items():
            latest = max(latest, game.opening.listing.opened_ms)
            listing = game.opening.listing._replace(opened_ms=latest)
            if not game.is_given_up:
                found.append(StoredGame(game.number, game_id, game.closed, listing))
        return found

    async def entries(self, game_id: bytes, first: int, limit: int) -> list[Row]:
        rows = self._of(game_id).rows
        # A copy: no caller can change a row that is kept.
        return [replace(row) for seq, row in sorted(rows.items()) if seq >= first][:limit]

    async def last_notes(self, games: Sequence[StoredGame]) -> dict[bytes, bytes]:
        rows = {each.game_id: self._games[each.game_id].rows for each in games}
        return {game_id: found[max(found)].note for game_id, found in rows.items() if found}

    async def header(self, game_id: bytes) -> bytes:
        return self._of(game_id).opening.header

    async def secret(self, game_id: bytes) -> bytes | None:
        game = self._of(game_id)
        return game.opening.secret if game.closed is None else None

    async def answer(self, game_id: bytes, seq: int) -> bytes | None:
        return self._of(game_id).answers.get(seq)

    async def certificates(self, game_id: bytes, first: int, end: int) -> list[Certificate]:
        kept = self._of(game_id).certificates
        return [Certificate(*place, data) for place, data in sorted(kept.items()) if first <= place[0] < end]

    async def awaiting_certificates(self) -> list[tuple[bytes, int]]:
        games = self._games.items()
        return [(each, game.awaits) for each, game in games if game.awaits is not None and not game.is_given_up]

    async def names(self, games: Sequence[bytes]) -> dict[bytes, list[SeatName]]:
        known = {game_id: self._games[game_id] for game_id in games if game_id in self._games}
        return {
            game_id: sorted(game.names.values())
            for game_id, game in known.items()
            if game.names and not game.is_given_up
        }

    async def remarks(self, game_id: bytes, first: int, end: int) -> dict[int, bytes]:
        kept = self._of(game_id).remarks
        return {seq: data for seq, data in sorted(kept.items()) if first <= seq < end}

    async def grant(self, digest: bytes) -> Grant | None:
        return self._grants.get(digest)

    async def grants(
        self, before: int | None, limit: int, *, principal: str = "", valid_ms: int | None = None
    ) -> list[tuple[int, Grant]]:
        def is_valid(grant: Grant, now_ms: int) -> bool:
            return bool(grant.principal) and not grant.revoked_ms and not 0 < grant.expires_ms <= now_ms

        return [
            (number, grant)
            for number, grant in reversed([*enumerate(self._grants.values(), start=1)])
            if (before is None or number < before) and (not principal or grant.principal == principal)
            if valid_ms is None or is_valid(grant, valid_ms)
        ][:limit]

    async def players(self, game_id: bytes | None = None) -> list[Player]:
        return [
            Player(each, seat, principal)
            for each, game in self._games.items()
            if each == game_id or (game_id is None and game.closed is None and not game.is_given_up)
            for seat, principal in enumerate(game.opening.principals)
            if principal
        ]

    def _of(self, game_id: bytes) -> _Game:
        """One without anything if there is none."""
        return self._games.get(game_id) or _Game(0, Opening(b"", b"", None, ()))
