"""What follows when a token is revoked: it admits nobody any more, and what came with it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import structlog

from referee.server.live.errors import RETRY_S
from referee.server.service.auth import Authenticator
from referee.server.service.calls import Calls
from referee.server.store.store import Grant, Store, StoreFailed

_log = structlog.get_logger("referee.access")


class Revocations:
    """The tokens that are revoked here, and those that may have been, here or at another node."""

    def __init__(self, store: Store, door: Authenticator, calls: Calls, now_ms: Callable[[], int]) -> None:
        self._store = store
        self._door = door
        self._calls = calls
        self._now_ms = now_ms
        self._under_way: set[asyncio.Task[Grant | None]] = set()
        self._unchecked: set[bytes] = set()
        """Digests with which calls came that may be valid no more."""
        self._checking: asyncio.Task[None] | None = None

    async def revoke(self, beginning: bytes, by: str) -> Grant | None:
        """Revoke as ``Store.revoke_grant`` does, and end what came with the token, but for the call that asks for it.

        A caller who leaves changes nothing of that. ``by``: who asks, for the log. Raise ``StoreFailed``.
        """
        task = asyncio.create_task(self._revoke(beginning, by, asyncio.current_task()))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return await asyncio.shield(task)

    async def _revoke(self, beginning: bytes, by: str, asking: asyncio.Task[Any] | None) -> Grant | None:
        try:
            grant = await self._store.revoke_grant(beginning, self._now_ms())
        except StoreFailed:
            self.heard()  # it may be durable all the same
            raise
        if grant is not None:
            self._door.forget(grant.digest)
            _log.info("token revoked", id=beginning.hex(), principal=grant.principal, by=by)
            self._calls.revoke(grant.digest, asking)
        return grant

    def heard(self) -> None:
        """Take that some token may have been revoked: the store is asked about all that are in use."""
        self._door.forget_all()
        self._unchecked |= self._calls.digests()
        if self._unchecked and self._checking is None:
            self._checking = asyncio.create_task(self._check())

    async def _check(self) -> None:
        try:
            while self._unchecked:
                digest = self._unchecked.pop()
                try:
                    grant = await self._store.grant(digest)
                except StoreFailed:
                    self._unchecked.add(digest)
                    await asyncio.sleep(RETRY_S)
                    continue
                is_gone = grant is None and not self._door.is_lent(digest)  # an organiser's that another one replaced
                if is_gone or (grant is not None and grant.revoked_ms):
                    self._calls.revoke(digest)
        finally:
            self._checking = None

    async def close(self) -> None:
        """Finish what is under way; to be called when no calls are left."""
        await asyncio.gather(*self._under_way, return_exceptions=True)
        if self._checking is not None:
            self._checking.cancel()
