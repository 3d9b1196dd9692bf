"""Contested games in a referee's store, as if it had kept them itself: a server that starts with it has them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

from referee.log.engines import installed
from referee.log.replay import Record
from referee.server.live.context import Context
from referee.server.live.opening import new_token, token_digest
from referee.server.service.data import open_data
from referee.server.store.store import Grant, Opening, Row, StoreFailed
from tests.contested.games import Contested
from tests.log.games import SECRET

ORIGIN = "referee.local"


async def keep(folder: Path, games: Iterable[Contested]) -> dict[bytes, list[str]]:
    """Put them into this data directory, which may be a new one; tokens by game and seat."""
    tokens: dict[bytes, list[str]] = {}
    opened = open_data(folder, ORIGIN)
    try:
        context = Context(opened.store, opened.signer, installed())
        for made in games:
            tokens[made.played.record.game_id] = await _keep(context, made)
    finally:
        await opened.close()
    return tokens


async def _keep(context: Context, made: Contested) -> list[str]:
    secret = SECRET if made.opened.HasField("dealt") else None
    record = Record.replay(made.entries, secret=secret)
    rows = [Row(seq, data) for seq, data in enumerate(made.entries)]
    tokens = [new_token() for _ in made.opened.seats]
    grants = [
        Grant(token_digest(token), "", frozenset({"play"}), record.game_id, seat)
        for seat, token in enumerate(tokens)
        if not made.opened.seats[seat].scribed
    ]
    opening = Opening(made.opened.header_hash, made.header, secret, grants, wants_certificates=record.wants_proofs)
    done: asyncio.Future[StoreFailed | None] = asyncio.get_running_loop().create_future()
    context.store.commit(context.change(record, rows, opening), done.set_result)
    assert await done is None
    return tokens
