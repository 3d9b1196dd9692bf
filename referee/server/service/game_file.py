"""A game's file as it stands, in pieces."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from io import BytesIO

from referee.log import file
from referee.server.live.archive import HASHED_AT_ONCE
from referee.server.live.games import LiveGames
from referee.server.live.turns import Work
from referee.server.service.limits import Account

CHUNK_BYTES = 64 * 1024
_ENTRIES_AT_ONCE = 256
"""Entries whose certificates and texts are read at one time."""
_CERTIFICATE_BYTES, _REMARK_BYTES = 16 << 20, 4 << 20
"""Bytes in one file. What would make it longer than a file may be is left out; entries never are."""


async def game_file(live_games: LiveGames, game_id: bytes, payer: Account) -> AsyncGenerator[bytes]:
    """Yield the file. Raises as ``LiveGames.game``."""
    archive = await live_games.archive(game_id, payer)
    log = archive or await live_games.game(game_id, payer)
    stream = BytesIO()
    writer = file.Writer(stream)
    writer.header(await log.header())
    closed, note = log.is_closed, b""
    certificates: dict[int, list[bytes]] = {}
    words: dict[int, bytes] = {}
    room, room_for_words = _CERTIFICATE_BYTES, _REMARK_BYTES
    store, turns = live_games.context.store, live_games.context.turns
    async for row in log.rows():
        if row.seq % HASHED_AT_ONCE == 0:
            await turns.next(payer)
            payer.charge(Work.READ, HASHED_AT_ONCE)
        writer.entry(row.data)
        note = row.note
        if row.seq % _ENTRIES_AT_ONCE == 0:
            certificates.clear()
            for made in await store.certificates(game_id, row.seq, row.seq + _ENTRIES_AT_ONCE):
                certificates.setdefault(made.seq, []).append(made.data)
            words = await store.remarks(game_id, row.seq, row.seq + _ENTRIES_AT_ONCE)
        for certificate in certificates.get(row.seq, ()):
            room -= len(certificate)
            if room >= 0:
                writer.proof(certificate)
        if row.seq in words:
            room_for_words -= len(words[row.seq])
            if room_for_words >= 0:
                writer.remark(words[row.seq])
        if stream.tell() >= CHUNK_BYTES:
            yield _drained(stream)
    if closed:
        writer.end(note)
    else:
        writer.old_checkpoint(note)
    yield _drained(stream)


def _drained(stream: BytesIO) -> bytes:
    data = stream.getvalue()
    stream.seek(0)
    stream.truncate()
    return data
