"""Whether the referee can write, as health checks and probes learn it: SERVING only while acts can become durable."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final

import structlog
from grpc_health.v1 import health, health_pb2

from referee.server.store.store import Cause, NotReady, Store, StoreFailed

LATE_S: Final = 3.0
"""A write that takes longer, or has failed for longer, makes the referee not ready."""
_EVERY_S: Final = 0.5
_GOOD: Final = 2
"""So many writes in a row make it ready again."""
WRITING: Final = ("GameService", "ArbiterService", "EventService", "AccessService")
"""The services that write. The others are of use whatever becomes of the store."""

_log = structlog.get_logger("referee.readiness")


class Readiness:
    """Looks at the store all the time, and tells the health service what it finds."""

    def __init__(self, store: Store, servicer: health.aio.HealthServicer, names: Iterable[str]) -> None:
        """``names``: of all services that are told of, with the empty one for the whole referee."""
        self._store = store
        self._servicer = servicer
        self._names = [name for name in names if not name or name.rpartition(".")[2] in WRITING]
        self._task: asyncio.Task[None] | None = None
        self._probe: asyncio.Task[None] | None = None
        self._why: asyncio.Task[None] | None = None
        self._cause = Cause.UNKNOWN
        self._good = 0
        self.is_ready = True

    def start(self) -> None:
        """Begin to look."""
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Look no more; what was told last stands."""
        tasks = [task for task in (self._task, self._probe, self._why) if task is not None]
        for task in tasks:
            task.cancel()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        for error in found:
            if isinstance(error, Exception) and not isinstance(error, StoreFailed):
                raise error

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(_EVERY_S)
            if self.is_ready and self._store.stuck_s > LATE_S:
                self._good = 0
                await self._tell(is_ready=False)
            elif not self.is_ready:
                self._look()
                if self._good >= _GOOD:
                    await self._tell(is_ready=True)

    def check(self) -> None:
        """Raise ``NotReady`` while nothing can be written."""
        if not self.is_ready:
            raise NotReady(self._cause, 1 + len(self._store.nodes.others))

    def _look(self) -> None:
        """Try to write, one attempt at a time: one that hangs is not joined by others. Look for the cause beside it."""
        if self._why is None or self._why.done():
            self._why = asyncio.create_task(self._find_cause())
        if self._probe is not None:
            if not self._probe.done():
                return
            self._good = self._good + 1 if self._probe.exception() is None else 0
        self._probe = asyncio.create_task(self._store.probe()) if self._good < _GOOD else None

    async def _tell(self, *, is_ready: bool) -> None:
        self.is_ready, self._cause = is_ready, Cause.UNKNOWN
        told = health_pb2.HealthCheckResponse.SERVING if is_ready else health_pb2.HealthCheckResponse.NOT_SERVING
        for name in self._names:
            await self._servicer.set(name, told)
        # Whoever asks for health is not kept waiting for that: a server that is gone takes seconds to be missed.
        stuck_s = round(self._store.stuck_s, 1)
        await self._find_cause()
        if is_ready:
            _log.info("ready again")
        else:
            _log.error("not ready", stuck_s=stuck_s, cause=self._cause.value)

    async def _find_cause(self) -> None:
        """Find out why nothing can be written, for callers; if that fails, health is looked after all the same."""
        try:
            self._cause = await self._store.find_cause()
        except Exception as error:  # noqa: BLE001 - whoever looks after health goes on whatever fails
            _log.error("the store goes on after a fault", error=f"{type(error).__name__}: {error}")
