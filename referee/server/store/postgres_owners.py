"""``Nodes`` of several referees on one PostgreSQL database: what one of them knows of the others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any, Protocol, TypeVar

import structlog

from referee.server.store import postgres_nodes as nodes
from referee.server.store.nodes import Health, News, Node, Own, Shown
from referee.server.store.postgres_nodes import Beat, Living

_T = TypeVar("_T")
_KEPT = 10_000
_log = structlog.get_logger("referee.server.store")


class Asked(Protocol):
    """The store, as far as nodes ask it; ``PostgresStore`` says what its methods do."""

    async def ask(self, query: Callable[..., _T], *arguments: Any) -> _T: ...

    async def change(self, change: Callable[..., _T], *arguments: Any) -> _T: ...

    async def change_own(self, change: Callable[..., _T], *arguments: Any) -> _T: ...

    def beat_now(self) -> None: ...


class PostgresNodes:
    """As the database has them. ``seen`` and ``beaten`` are called in threads of the store, the rest on the loop."""

    shares = True

    def __init__(self, store: Asked, node: int) -> None:
        self._store = store
        self.node = node
        self.name = nodes.name()
        self.address = ""
        self.others: Sequence[Node] = ()
        self._owners: dict[bytes, int] = {}
        """Other nodes, by game."""
        self._given = 0
        self._draining = False
        self.declines = False
        """Whether the next sign of life is to say that it takes no more games."""
        self._revoked: bytes | None = None
        self._reconnections, self._beaten_s = 0, monotonic()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._told: Callable[[News], None] | None = None

    # --- what the store finds out ----------------------------------------------------------------------------------

    def connected(self) -> None:
        """Take that there is another connection than before."""
        self._reconnections += 1

    def seen(self, living: Sequence[Living], revoked: bytes | None) -> None:
        """Take what a look found. ``revoked``: changes whenever a token is revoked."""
        known, self.others = (
            self.others,
            [Node(each.id, each.name, each.address, each.draining) for each in living if each.id != self.node],
        )
        if not {node.id for node in known} <= {node.id for node in self.others}:
            self._tell(News.GONE)
        before, self._revoked = self._revoked, revoked
        if before != revoked:
            self._tell(News.REVOKED)

    def beaten(self, beat: Beat, began_s: float) -> None:
        """Take what a beat found, and when it began: the database may have taken it then, and answered late."""
        self._beaten_s = began_s
        if beat.given != self._given:
            self._given = beat.given
            self._tell(News.GIVEN)
        if beat.draining and not self._draining:
            self._draining = True
            self._tell(News.DRAIN)

    def _tell(self, news: News) -> None:
        if self._told is not None and self._loop is not None:
            with suppress(RuntimeError):  # it has stopped in the meantime
                self._loop.call_soon_threadsafe(self._told, news)

    # --- ``Nodes`` -------------------------------------------------------------------------------------------------

    @property
    def this(self) -> Node:
        return Node(self.node, self.name, self.address, self._draining)

    @property
    def health(self) -> Health:
        return Health(monotonic() - self._beaten_s, self._reconnections)

    async def elsewhere(self, game_id: bytes) -> Node | None:
        known = self._owners.get(game_id)
        for node in self.others:
            if node.id == known:
                return node
        row = await self._store.ask(nodes.owner, game_id)
        if row is None or row[0] == self.node:
            self._owners.pop(game_id, None)
            return None
        if len(self._owners) >= _KEPT:
            self._owners.clear()
        node = Node(*row)
        self._owners[game_id] = node.id
        return node

    async def owners(self, game_ids: Sequence[bytes]) -> dict[bytes, Node]:
        return await self._store.ask(nodes.owners, game_ids)

    def forget(self, game_id: bytes) -> None:
        self._owners.pop(game_id, None)

    def serve(self, address: str) -> None:
        self.address = address
        self._store.beat_now()

    def decline(self) -> None:
        self._draining = self.declines = True  # what it says itself is no news
        self._store.beat_now()

    def when(self, told: Callable[[News], None]) -> None:
        self._loop, self._told = asyncio.get_running_loop(), told
        if self._draining:  # it was told to before there was anybody to hear it
            self._tell(News.DRAIN)

    async def own(self) -> list[Own]:
        return await self._store.ask(nodes.own, self.node)

    async def alive_ms(self, game_id: bytes) -> int | None:
        return await self._store.ask(nodes.alive_ms, game_id)

    async def hand_over(self, game_id: bytes, to: Node) -> None:
        await self._store.change(nodes.hand_over, self.node, game_id, to.id)
        _log.info("game handed over", game=game_id.hex(), from_node=self.this.words, to_node=to.words)

    async def show(self, games: Sequence[Shown]) -> None:
        await self._store.change_own(nodes.show, self.node, games)

    async def shown(self, game_ids: Sequence[bytes]) -> dict[bytes, bytes | None]:
        return await self._store.ask(nodes.shown, self.node, game_ids)
