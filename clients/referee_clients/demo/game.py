"""The demo's game: bots in processes, a spectator who checks everything. Shows it; writes no files, knows no rules."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from referee.log.events import Moved
from referee.log.judge import Happened
from referee.log.note import VerifierKey
from referee.log.replay import Record
from referee.notation.registry import notation
from referee.transcript.words import entry_words
from referee.v1.game_service_pb2 import WatchGameResponse
from referee_clients.demo.children import Child, Children
from referee_clients.demo.screen import Screen
from referee_clients.join import format_join
from referee_clients.sdk.connection import Connection
from referee_clients.sdk.ledger import Ledger
from referee_clients.sdk.organiser import Opened


async def play(children: Children, opened: Opened, bots: Sequence[str], seed: int, screen: Screen) -> Record:
    """Start the bots, watch until the end and see them out. Raise ``ChildFailed`` and ``ClientError``."""
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
    """Follow the game without a token: as everybody can, and checking what everybody can check."""
    ledger = Ledger(opened.game_id, VerifierKey.parse(opened.verifier))

    async def show(message: WatchGameResponse) -> None:
        if not message.HasField("commit"):
            return
        # An act comes first in its commit; what follows from it at once is drawn and dealt.
        if ledger.happened and isinstance(ledger.happened[0].event, Moved):
            screen.moved(_words(ledger.record, ledger.happened[0]))
        screen.show(ledger.record)

    async with Connection(opened.joins[0].address, opened.game_id) as connection:
        await connection.watch(ledger, show)
    return ledger.record


def _words(record: Record, happened: Happened) -> str:
    return f"{happened.seq:>4}  {entry_words(happened, notation(record.opened.rules_id))}"
