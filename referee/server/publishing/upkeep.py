"""The published tiles compared with the database, from which they were made; a damaged one is made again.

A look goes through the whole log, some bundles at a time. Nothing is replaced before it has come to the end and found
that the leaves in the database have the root that was signed: only then are they what the files have to say.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic

import structlog

from referee.log.errors import LogError
from referee.log.public.sources import Folder
from referee.log.public.tiles import PARTIAL, WIDTH, Edge
from referee.server.store.store import Head, LogState, Store

AT_ONCE = 4
"""Bundles that are compared in one go: about 40 KB each are read, with the tiles that they fill."""
REST_S = 6 * 3600.0
"""From the end of a look to the begin of the next."""
_MOST_NAMED = 10

_log = structlog.get_logger("referee.log")


class Upkeep:
    """Looks after the files of one log. Only who writes the log may have one at work."""

    def __init__(self, store: Store, leaf: Callable[[Head], bytes], folder: Folder) -> None:
        """``leaf``: makes the leaf of a head."""
        self.looks = 0
        """Looks that came to their end, since the start."""
        self.mended = 0
        """Files that were made again, since the start."""
        self.damaged = 0
        """Files that are not what they should be, by the newest look."""
        self.named: tuple[str, ...] = ()
        """The first of them, by their paths in the folder."""
        self.contradicts = False
        """The heads in the database are not those that were signed: then no file is made again."""
        self._store = store
        self._leaf = leaf
        self._folder = folder
        self._look: _Look | None = None
        self._next_s = 0.0

    @property
    def trouble(self) -> str:
        """Return what is wrong, in words; empty: nothing, as far as was looked."""
        if not self.damaged and not self.contradicts:
            return ""
        more = f" and {self.damaged - len(self.named)} more" if self.damaged > len(self.named) else ""
        files = f"damaged files in {self._folder.path}: {', '.join(self.named)}{more}" if self.damaged else ""
        heads = "the heads in the database are not those that were signed" if self.contradicts else ""
        return "; ".join(filter(None, (heads, files)))

    async def compare_some(self, signed: LogState, size: int) -> None:
        """Compare what comes next, if a look is due. Raise ``StoreFailed``.

        ``signed``: how far the log is signed; ``size``: how many of its leaves are written.
        """
        if self._look is None:
            if monotonic() < self._next_s:
                return
            self._look = _Look(signed)
        look = self._look
        for _ in range(AT_ONCE):
            heads = await self._store.leaves(look.edge.size, min(WIDTH, look.signed.size - look.edge.size))
            if not heads:
                self._look = self._after(look)
                return
            await asyncio.to_thread(self._compare, look, heads, is_last=size == look.edge.size + len(heads))

    def _compare(self, look: _Look, heads: Sequence[Head], *, is_last: bool) -> None:
        """``is_last``: the log has no more leaves, so it has partial tiles of these."""
        files = [file for file in look.edge.append(list(map(self._leaf, heads))) if PARTIAL not in file[0]]
        for path, data in (*files, *(look.edge.partials() if is_last else ())):
            if self._is_there(path, data):
                continue
            if not look.mends:
                look.found(path)
                if look.count <= _MOST_NAMED:  # a disk may have lost thousands
                    _log.error("log file damaged", file=path)
                continue
            try:
                self._folder.mend(path, data)
            except OSError as error:
                look.found(path)
                if look.count <= _MOST_NAMED:
                    _log.error("log file not made again", file=path, error=error.strerror)
            else:
                self.mended += 1
                if self.mended <= _MOST_NAMED:
                    _log.warning("log file made again", file=path)

    def _is_there(self, path: str, data: bytes) -> bool:
        try:
            return self._folder.read(path, len(data)) == data
        except (LogError, OSError):
            return False

    def _after(self, look: _Look) -> _Look | None:
        """Return the look that follows at once, if one has to; otherwise have the next wait."""
        self.damaged, self.named = look.count, tuple(look.names)
        self.contradicts = look.edge.root() != look.signed.root
        if self.contradicts:
            _log.error("log contradicts the database", why=self.trouble)
        elif look.count and not look.mends:
            return _Look(look.signed, mends=True)
        self.looks += 1
        self._next_s = monotonic() + REST_S
        return None


class _Look:
    """One way through the log."""

    def __init__(self, signed: LogState, *, mends: bool = False) -> None:
        """``mends``: what is damaged is made again; a look before this one has found that it may be."""
        self.signed = signed
        self.mends = mends
        self.edge = Edge()
        self.count = 0
        self.names: list[str] = []

    def found(self, path: str) -> None:
        """Note a file that is not what it should be."""
        self.count += 1
        if len(self.names) < _MOST_NAMED:
            self.names.append(path)
