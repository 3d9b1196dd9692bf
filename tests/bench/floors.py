"""Servers that do nothing, or only what cannot be left out: the floors that acts over gRPC are held against.

``python -m tests.bench.floors KIND`` prints where it listens. Kinds: ``unary`` and ``stream`` send back what came;
``composite`` checks one signature, makes one, and shares a durable commit, with no rules, no decoding and no log.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import grpc
from nacl.signing import SigningKey, VerifyKey

from referee.server.store.store import Change, Row, StoreFailed
from referee.server.store.writer import GroupWriter

SIGNATURE_BYTES, KEY_BYTES = 64, 32


async def echo(request: bytes, context: Any) -> bytes:
    return request


async def echo_stream(_: object, context: Any) -> None:
    while (message := await context.read()) is not grpc.aio.EOF:
        await context.write(message)


class Composite:
    """Messages are key, signature and what was signed; the answer is the signature over it, durable."""

    def __init__(self, folder: Path) -> None:
        self._key = SigningKey.generate()
        self._database = sqlite3.connect(folder / "floor.db", isolation_level=None, check_same_thread=False)
        for statement in (
            "PRAGMA journal_mode = WAL",
            "PRAGMA synchronous = FULL",
            "CREATE TABLE entries (place INTEGER PRIMARY KEY, data BLOB NOT NULL, note BLOB NOT NULL) STRICT",
        ):
            self._database.execute(statement)
        self._writer = GroupWriter(self._write)

    def _write(self, changes: Sequence[Change]) -> None:
        rows = [row for change in changes for row in change.rows]
        values: list[bytes] = []
        for row in rows:
            values += (row.data, row.note)
        self._database.execute("BEGIN IMMEDIATE")
        self._database.execute(
            f"INSERT INTO entries (data, note) VALUES {', '.join(['(?, ?)'] * len(rows))}",
            values,
        )
        self._database.execute("COMMIT")

    async def stream(self, _: object, context: Any) -> None:
        loop = asyncio.get_running_loop()
        keys: dict[bytes, VerifyKey] = {}
        while (message := await context.read()) is not grpc.aio.EOF:
            raw, signature, data = message[:32], message[32:96], message[96:]
            key = keys.get(raw) or keys.setdefault(raw, VerifyKey(raw))
            key.verify(data, signature)
            note = self._key.sign(data).signature
            durable: asyncio.Future[StoreFailed | None] = loop.create_future()
            self._writer.commit(Change(raw, [Row(0, data, note)]), durable.set_result)
            if await durable is not None:
                raise AssertionError("the floor could not commit")
            await context.write(message)


async def main(kind: str) -> None:
    server = grpc.aio.server()
    with TemporaryDirectory() as folder:
        handler: Any
        if kind == "unary":
            handler = grpc.unary_unary_rpc_method_handler(echo)
        elif kind == "stream":
            handler = grpc.stream_stream_rpc_method_handler(echo_stream)
        else:
            handler = grpc.stream_stream_rpc_method_handler(Composite(Path(folder)).stream)
        server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("Floor", {"Call": handler})])
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        print(f"listening on 127.0.0.1:{port}", flush=True)
        await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
