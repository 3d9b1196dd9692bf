"""The demo's game: bots in processes, a spectator who checks everything. Shows it; writes no files, knows no rules."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from referee.games import registry
from referee.games.game import UnknownRules
from referee.log.events import Moved
from referee.log.judge import Happened
from referee.log.note import VerifierKey
from referee.log.replay import Record
from referee.telling.words import entry_words
from referee.text.notation.outcomes import counted
from referee.text.notation.registry import notation
from referee.v1.game_service_pb2 import WatchGameResponse
from referee_clients.bots import load, names
from referee_clients.children import Child, Children
from referee_clients.join import format_join
from referee_clients.sdk.connection import Connection
from referee_clients.sdk.ledger import Ledger
from referee_clients.sdk.organiser import Opened
from referee_clients.terminal.demo.screen import Screen


def players_of(game: str, bots: str | None) -> list[str]:
    """Return the bot of each seat. Raise ``ValueError``.

    ``bots``: as typed; None: all of the game's but ``sampler``.
    """
    sys.path.insert(0, str(Path.cwd()))
    try:
        rules = registry.get(game)
    except UnknownRules as error:
        raise ValueError(f"{error}: there are {', '.join(registry.names())}") from error
    players = names(game, slow=False) if bots is None else [name.strip() for name in bots.split(",")]
    for name in players:
        load(name, game)
    if not rules.min_seats <= len(players) <= rules.max_seats:
        expected = f"{rules.min_seats} to {rules.max_seats}"
        raise ValueError(f"{counted(len(players), 'bot')}: {game} is for {expected}")
    return list(players)


async def start_bots(children: Children, opened: Opened, bots: Sequence[str], seed: int, *words: str) -> list[Child]:
    """Start a process for each seat."""
    players: list[Child] = []
    for join, bot in zip(opened.joins, bots, strict=True):
        how = ["bot", bot, "--join", "-", "--seed", str(seed + join.seat), "--verifier", opened.verifier, *words]
        line = format_join(join.address, join.game_id, join.seat, join.token)
        players.append(await children.start(f"{bot}, seat {join.seat}", how, stdin=line + "\n"))
    return players


async def play(children: Children, opened: Opened, bots: Sequence[str], seed: int, screen: Screen) -> Record:
    """Start the bots, watch until the end and see them out. Raise ``ChildFailed`` and ``ClientError``."""
    players = await start_bots(children, opened, bots, seed)
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
