"""The referee's health: whether it can write, which probes learn, and whether its machine has time and disk space."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from shutil import disk_usage
from typing import Final, NamedTuple

import structlog
from grpc_health.v1 import health, health_pb2

from referee.server.live.referee_time import Handle
from referee.server.service.data import Data, DataError
from referee.server.store.store import Cause, NotReady, Store, StoreFailed

LATE_S: Final = 3.0
"""A write that takes longer, or has failed for longer, makes the referee not ready."""
_EVERY_S: Final = 0.5
_GOOD: Final = 2
"""The number of good writes in a row that make it ready again."""
WRITING: Final = ("GameService", "ArbiterService", "EventService", "AccessService")
"""The services that write. The others are of use whatever becomes of the store."""

_readiness_log = structlog.get_logger("referee.readiness")


class Readiness:
    """Looks at the store all the time, and tells the health service what it finds."""

    def __init__(self, store: Store, servicer: health.aio.HealthServicer, names: Iterable[str]) -> None:
        """``names``: those of all services that are reported, with the empty one for the whole referee."""
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
        """Stop checking; the last report stands."""
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
        # A caller who asks for health does not wait for that: it takes seconds to notice that a server is gone.
        stuck_s = round(self._store.stuck_s, 1)
        await self._find_cause()
        if is_ready:
            _readiness_log.info("ready again")
        else:
            _readiness_log.error("not ready", stuck_s=stuck_s, cause=self._cause.value)

    async def _find_cause(self) -> None:
        """Find out why nothing can be written, for callers; if that fails, the watch over health continues."""
        try:
            self._cause = await self._store.find_cause()
        except Exception as error:  # noqa: BLE001 - the watch over health continues whatever fails
            _readiness_log.error("store continues after a fault", error=f"{type(error).__name__}: {error}")


LOOK_MS = 1000
"""The interval of its checks: the most time of a clock that is given back, however the referee ends."""
OFF_MS = 2000
"""The largest difference between the referee's time and the machine's clock that is not reported to the operator."""
SHORT_BYTES = 4 << 20
"""The space below which a file may not grow, and writes go where the reserve was."""

_machine_log = structlog.get_logger("referee.machine")


class Space(NamedTuple):
    """The free space on one disk."""

    free_bytes: int
    is_short: bool
    """Acts take the reserve."""


class Machine:
    """``start``, then ``stop``; on the event loop."""

    def __init__(self, data: Data) -> None:
        self._data = data
        self._paths = {"data": data.path}
        if data.marks_path.stat().st_dev != data.path.stat().st_dev:
            self._paths["marks"] = data.marks_path.parent
        self._told_ms = 0
        """The difference of the clock at the last report to the operator; 0: it was right."""
        self._handle: Handle | None = None
        self.disks: dict[str, Space] = {}
        """The space of the disks by their contents; marks on the disk of the data have no line of their own."""

    @property
    def ahead_ms(self) -> int:
        """The lead of the referee's time over the machine's clock."""
        return self._data.time.ahead_ms()

    @property
    def backup_ms(self) -> int | None:
        """The time when the newest copy of the games was made, in milliseconds since 1970; 0: never.

        None if the games do not depend on the referee's own copies, or it cannot be found out.
        """
        with suppress(OSError, DataError):
            return None if self._data.can_go_back_together is None else self._data.backup_ms()
        return None

    def start(self) -> None:
        """Look now and every second from now on."""
        for path, lacking_bytes in self._data.lacking.items():
            _machine_log.warning("no reserve", file=str(path), lacking_bytes=lacking_bytes)
        self._look_again()

    def stop(self) -> None:
        """Look a last time."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
        self._look()

    def _look_again(self) -> None:
        self._look()
        self._handle = self._data.time.call_at(self._data.time.now_ms() + LOOK_MS, self._look_again)

    def _look(self) -> None:
        try:
            # Clocks that wait since an outage would be charged with it if this start ended before their restart.
            if not self._data.time.waiting:
                self._data.note_alive()
        except OSError as error:
            _machine_log.warning("cannot note that it is running", error=str(error))
        self._look_at_clock()
        for disk, path in self._paths.items():
            self._look_at_disk(disk, path)

    def _look_at_clock(self) -> None:
        ahead_ms = self.ahead_ms
        if abs(ahead_ms) <= OFF_MS:
            if self._told_ms:
                _machine_log.info("clock right again", ahead_s=ahead_ms / 1000)
            self._told_ms = 0
        elif abs(ahead_ms - self._told_ms) > OFF_MS:
            _machine_log.warning("clock off", ahead_s=ahead_ms / 1000)
            self._told_ms = ahead_ms

    def _look_at_disk(self, disk: str, path: Path) -> None:
        try:
            free = disk_usage(path).free
        except OSError as error:
            _machine_log.warning("cannot look at the disk", path=str(path), error=str(error))
            return
        before = self.disks.get(disk)
        now = self.disks[disk] = Space(free, free < SHORT_BYTES)
        if now.is_short and not (before and before.is_short):
            _machine_log.warning("disk full", path=str(path), free_bytes=free)
        elif before and before.is_short and not now.is_short:
            _machine_log.info("disk has space again", path=str(path), free_bytes=free)
