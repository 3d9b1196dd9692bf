"""The way between a node and the servers: it is cut without a word, and what was on it arrives when it is mended."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp

_SOCKET = ".s.PGSQL.5432"
_CHUNK = 1 << 16


class Relay:
    """Has a socket for each server, in a folder that stands for the server's."""

    def __init__(self, servers: Sequence[Path]) -> None:
        # Beside the servers': the path of a socket has a limit.
        self._folder = Path(mkdtemp(prefix="referee-way-", dir=servers[0].parent))
        self._servers = servers
        self._listening: list[asyncio.Server] = []
        self._passing: set[asyncio.Task[None]] = set()
        self._is_whole = asyncio.Event()
        self._is_whole.set()

    async def start(self) -> None:
        for there, here in zip(self._servers, self.folders, strict=True):
            here.mkdir()

            def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, there: Path = there) -> None:
                passing = asyncio.create_task(self._connected(there, reader, writer))
                self._passing.add(passing)
                passing.add_done_callback(self._passing.discard)

            self._listening.append(await asyncio.start_unix_server(connected, here / _SOCKET))

    @property
    def folders(self) -> list[Path]:
        return [self._folder / str(number) for number in range(len(self._servers))]

    def cut(self) -> None:
        """Nothing passes in either direction, and no end is heard of."""
        self._is_whole.clear()

    def mend(self) -> None:
        self._is_whole.set()

    async def close(self) -> None:
        for listening in self._listening:
            listening.close()
        for task in self._passing:
            task.cancel()
        await asyncio.gather(*self._passing, return_exceptions=True)
        shutil.rmtree(self._folder, ignore_errors=True)

    async def _connected(self, there: Path, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._is_whole.wait()
            far_reader, far_writer = await asyncio.open_unix_connection(there / _SOCKET)
            ways = [
                asyncio.create_task(self._pass_on(reader, far_writer)),
                asyncio.create_task(self._pass_on(far_reader, writer)),
            ]
            try:
                await asyncio.wait(ways)
            finally:
                for way in ways:
                    way.cancel()
                far_writer.close()
        except OSError:
            pass  # the server is gone, and so is the connection
        finally:
            writer.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                await self._is_whole.wait()
                writer.write(data)
                await writer.drain()
        await self._is_whole.wait()
        writer.close()
