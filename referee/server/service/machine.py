"""What the referee needs of its machine, looked at every second: the time, and space on the disks.

The operator is told once when something is wrong, and metrics say it all the while. Knows no games.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from shutil import disk_usage
from typing import NamedTuple

import structlog

from referee.server.live.timing import Handle
from referee.server.service.data import Data, DataError

LOOK_MS = 1000
"""How often it looks: most time of a clock that is given back, however the referee ends."""
OFF_MS = 2000
"""By how much the referee's time may be off the machine's clock before the operator is told."""
SHORT_BYTES = 4 << 20
"""With less space a file may not grow, and what is written goes where the reserve was."""

_log = structlog.get_logger("referee.machine")


class Space(NamedTuple):
    """What is free on one disk."""

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
        """By how much the clock was off when the operator was told; 0: it was right."""
        self._handle: Handle | None = None
        self.disks: dict[str, Space] = {}
        """By what is on them; marks on the disk of the data have no line of their own."""

    @property
    def ahead_ms(self) -> int:
        """By how much the referee's time is ahead of the machine's clock."""
        return self._data.time.ahead_ms()

    @property
    def backup_ms(self) -> int | None:
        """When the newest copy of the games was made, in milliseconds since 1970; 0: never.

        None if the referee's own copies are not what protects them, or it cannot be told.
        """
        with suppress(OSError, DataError):
            return None if self._data.can_go_back_together is None else self._data.backup_ms()
        return None

    def start(self) -> None:
        """Look now and every second from now on."""
        for path, lacking_bytes in self._data.lacking.items():
            _log.warning("no reserve", file=str(path), lacking_bytes=lacking_bytes)
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
            # Clocks that wait since an outage would be charged with it if this start ended before they go on.
            if not self._data.time.waiting:
                self._data.note_alive()
        except OSError as error:
            _log.warning("cannot note that it is running", error=str(error))
        self._look_at_clock()
        for disk, path in self._paths.items():
            self._look_at_disk(disk, path)

    def _look_at_clock(self) -> None:
        ahead_ms = self.ahead_ms
        if abs(ahead_ms) <= OFF_MS:
            if self._told_ms:
                _log.info("clock right again", ahead_s=ahead_ms / 1000)
            self._told_ms = 0
        elif abs(ahead_ms - self._told_ms) > OFF_MS:
            _log.warning("clock off", ahead_s=ahead_ms / 1000)
            self._told_ms = ahead_ms

    def _look_at_disk(self, disk: str, path: Path) -> None:
        try:
            free = disk_usage(path).free
        except OSError as error:
            _log.warning("cannot look at the disk", path=str(path), error=str(error))
            return
        before = self.disks.get(disk)
        now = self.disks[disk] = Space(free, free < SHORT_BYTES)
        if now.is_short and not (before and before.is_short):
            _log.warning("disk full", path=str(path), free_bytes=free)
        elif before and before.is_short and not now.is_short:
            _log.info("disk has space again", path=str(path), free_bytes=free)
