"""The demo's game: bots in processes, a spectator who checks everything. Shows it; writes no files, knows no rules."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from clients.demo.children import Child, Children
from clients.demo.screen import Screen
from clients.join import format_join
from clients.sdk.connection import Connection
from clients.sdk.ledger import Ledger
from clients.sdk.organiser import Opened
from referee.log.entry import decode_entry
from referee.log.intent import decode_intent
from referee.log.note import VerifierKey
from referee.log.replay import Record
from referee.notation.registry import notation
from referee.v1.game_service_pb2 import WatchGameResponse


async def play(children: Children, opened: Opened, bots: Sequence[str], seed: int, screen: Screen) -> Record:
    """Starts the bots, watches until the end and sees them out. Raises ``ChildFailed`` and ``ClientError``."""
    players: list[Child] = []
    for join, bot in zip(opened.joins, bots, strict=True):
        words = ["bot", bot, "--join", "-", "--seed", str(seed + join.seat), "--verifier", opened.verifier]
        line = format_join(join.address, join.game_id, join.seat, join.token)
        players.append(await children.start(f"{bot}, seat {join.seat}", words, stdin=line + "\n"))
    game = asyncio.create_task(_watch(opened, screen))
    failure = asyncio.create_task(children.first_failure())
    try:
        await asyncio.wait((game, failure), return_when=asyncio.FIRST_COMPLETED)
        if not game.done():
            raise failure.result()
        for player in players:
            if await player.process.wait():
                raise player.failure()
        return game.result()
    finally:
        for task in (game, failure):
            task.cancel()
        await asyncio.gather(game, failure, return_exceptions=True)


async def _watch(opened: Opened, screen: Screen) -> Record:
    """Follows the game without a token: as everybody can, and checking what everybody can check."""
    ledger = Ledger(opened.game_id, VerifierKey.parse(opened.verifier))
    before: Any = None

    async def show(message: WatchGameResponse) -> None:
        nonlocal before
        if not message.HasField("commit"):
            return
        # An act comes first in its commit; what follows from it at once is drawn and dealt.
        if before is not None and (words := _words(message.commit.entries[0], ledger.record, before)):
            screen.moved(words)
        screen.show(ledger.record)
        before = ledger.record.course.state.copy()

    async with Connection(opened.joins[0].address, opened.game_id) as connection:
        await connection.watch(ledger, show)
    return ledger.record


def _words(data: bytes, record: Record, before: Any) -> str:
    """What the entry says, if it is a move."""
    entry = decode_entry(data)
    if entry.WhichOneof("event") != "signed":
        return ""
    intent = decode_intent(entry.signed.intent)
    if intent.WhichOneof("act") != "move":
        return ""
    move = record.course.codec.decode_move(intent.move, record.course.tables)
    return f"{entry.seq:>4}  seat {intent.seat}: {notation(record.opened.rules_id).describe(move, before)}"
